//===- Instructions.cpp - One instruction ---------------------------------===//
//
// Parses `ROOT? name = shape? opcode(operands), attributes` into one op at the end of the scope's
// block (a parameter: a block argument). Makes the checks of XLA's parser. Written result shapes
// are trusted unless the format recomputes them; omitted ones are inferred by the dialect.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/ParserImpl.h"
#include "compiler/parser/print/PrinterImpl.h"
#include "dialect/hlo/Shapes.h"

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::StringRef;

namespace {
/// The type of a constant: a bounded dimension is static in a literal.
Type withoutBounds(Type type) {
  auto array = llvm::dyn_cast<RankedTensorType>(type);
  auto layout = array ? llvm::dyn_cast_or_null<LayoutAttr>(array.getEncoding()) : LayoutAttr();
  if (!layout || layout.getDynamic().empty()) {
    return type;
  }
  return arrayType(array.getShape(), array.getElementType(), layout.getMinorToMajor(), {},
                   layout.getProperties());
}
} // namespace

Parser::Result Parser::checkInstructionName(const Token &name) {
  if (isPrimitiveWord(name.text)) {
    return error(name.begin) << "'" << name.text
                             << "' is an element type and cannot name an instruction; write '"
                             << name.text << "_'";
  }
  if (name.text.starts_with("__") && !name.text.starts_with("__xla_")) {
    return error(name.begin) << "instruction name '" << name.text << "' must not begin with '__'";
  }
  return success();
}

Parser::Result Parser::parseInstruction(Scope &scope) {
  const char *start = position();
  bool isRoot = consumeIfKeyword("ROOT");
  Token nameToken = token();
  if (nameToken.is(Tok::AttrName)) {
    StringRef before(lexer.previousEnd(), start - lexer.previousEnd());
    if (!isRoot && !before.contains('\n') && !before.empty()) {
      return error(start) << "expected ',' before the attribute '" << nameToken.text << "'";
    }
    return error(start) << "write a blank between '" << nameToken.text << "' and '='";
  }
  StringRef name;
  if (nameToken.is(Tok::Primitive)) {
    return checkInstructionName(nameToken);
  }
  if (failed(parseName(name, "an instruction name"))) {
    scope.broken = true;
    return failure();
  }
  Instruction inst;
  inst.name = name;
  inst.namePosition = nameToken.begin;
  Value value;
  Result result = expect(Tok::Equal, "'='", "after an instruction name");
  if (succeeded(result)) {
    result = checkInstructionName(nameToken);
  }
  if (succeeded(result)) {
    result = parseRightHandSide(scope, inst);
  }
  auto [known, isNew] = scope.names.try_emplace(name, Binding{Value(), nameToken.begin});
  if (!isNew && succeeded(result)) {
    InFlightDiagnostic diagnostic = error(nameToken.begin);
    diagnostic << "instruction '" << name << "' is already defined";
    diagnostic.attachNote(reporter.locate(known->second.position)) << "first defined here";
    result = diagnostic;
  }
  if (isRoot) {
    if (scope.hasRoot && succeeded(result)) {
      InFlightDiagnostic diagnostic = error(start);
      diagnostic << "a computation has one ROOT";
      diagnostic.attachNote(scope.rootLocation) << "the other one";
      result = diagnostic;
    }
    scope.hasRoot = true;
  }
  if (failed(result)) {
    scope.broken = true;
    return failure();
  }
  Location location = NameLoc::get(builder.getStringAttr(name), reporter.locate(nameToken.begin));
  value = create(scope, inst, location);
  known->second.value = value;
  scope.last = value;
  scope.lastLocation = location;
  if (isRoot) {
    scope.root = value;
    scope.rootLocation = location;
  }
  return success();
}

Parser::Result Parser::parseRightHandSide(Scope &scope, Instruction &inst) {
  if (atShape()) {
    inst.shapePosition = position();
    if (failed(parseShape(inst.type))) {
      return failure();
    }
  }
  if (failed(parseOpcode(inst)) || failed(parseOperands(scope, inst)) ||
      failed(parseAttributes(scope, inst)) || failed(checkAttributes(inst)) ||
      failed(completeShape(inst)) || failed(checkExtent(inst))) {
    return failure();
  }
  return checkShape(inst);
}

Parser::Result Parser::parseOpcode(Instruction &inst) {
  inst.opcodePosition = position();
  if (!at(Tok::Ident)) {
    return unexpected(inst.type ? "an opcode" : "a shape or an opcode");
  }
  if (failed(findOpcode(token().text, inst))) {
    return failure();
  }
  lexer.advance();
  return success();
}

/// Looks up the opcode `word`, which stands at the current token.
Parser::Result Parser::findOpcode(StringRef word, Instruction &inst) {
  inst.info = opcodes.find(word);
  if (!inst.info) {
    inst.info = opcodes.findAsync(word, inst.async);
  }
  if (!inst.info) {
    NearestName nearest(word);
    // Suggests the HLO name for a type spelled as in other languages.
    for (const std::string &type : {word.lower(), "s" + word.substr(1).str()}) {
      if (isPrimitiveWord(type)) {
        nearest.consider(type);
      }
    }
    if (lexer.peekChar() == '[') {
      for (StringRef type : {"f32", "f64", "f16", "bf16", "s32", "s64", "s16", "s8", "u32", "u64",
                             "u16", "u8", "pred", "c64", "c128", "token"}) {
        nearest.consider(type);
      }
    } else {
      for (const OpcodeInfo &info : getOpcodes()) {
        nearest.consider(info.name);
      }
    }
    if (word == "bool" || word == "i1") {
      nearest = NearestName("PRED");
      nearest.consider("pred");
    }
    InFlightDiagnostic diagnostic = error(inst.opcodePosition);
    bool isOpcode = infersAll || lexer.peekChar() == '(';
    diagnostic << "unknown " << (isOpcode ? "opcode" : "opcode or type") << " '" << word << "'"
               << nearest.suggestion();
    return diagnostic;
  }
  inst.opcode = word;
  return success();
}

Parser::Result Parser::parseParameterNumber(int64_t &number) {
  const char *start = position();
  if (failed(parseInteger(number, "as a parameter number"))) {
    return failure();
  }
  if (number < 0) {
    return error(start) << "parameter number " << number << " is negative";
  }
  return success();
}

/// The parenthesized part: operands, a parameter number, or a literal.
Parser::Result Parser::parseOperands(Scope &scope, Instruction &inst) {
  if (failed(expect(Tok::LParen, "'('", "after an opcode"))) {
    return failure();
  }
  if (inst.info->name == "parameter" || inst.info->name == "constant") {
    if (!inst.type) {
      return error(inst.opcodePosition)
             << "the shape of a " << inst.info->name << " must be written";
    }
    if (inst.info->name == "constant") {
      Attribute value;
      if (failed(parseLiteral(inst.type, value))) {
        return failure();
      }
      inst.attributes.append("value", value);
      inst.type = withoutBounds(inst.type);
      return expect(Tok::RParen, "')'", "after a literal");
    }
    const char *start = position();
    int64_t number;
    if (failed(parseParameterNumber(number)) ||
        failed(expect(Tok::RParen, "')'", "after a parameter number"))) {
      return failure();
    }
    if (!scope.parameterNumbers.insert(number).second) {
      return error(start) << "parameter " << number << " is defined twice";
    }
    scope.parameters.push_back({number, BlockArgument(), inst.namePosition, DictionaryAttr()});
    return success();
  }
  while (!at(Tok::RParen)) {
    const char *start = position();
    if (failed(parseOperand(scope, inst))) {
      return failure();
    }
    if (inst.operands.size() > budget.operands) {
      return error(start) << inst.opcode << " has more than " << budget.operands << " operands; "
                          << budget.text(&Budget::operands);
    }
    if (!consumeIf(Tok::Comma) && !at(Tok::RParen)) {
      return unexpected("',' or ')'", "after an operand");
    }
  }
  lexer.advance();
  return checkOperandCount(inst);
}

Parser::Result Parser::parseOperand(Scope &scope, Instruction &inst) {
  const char *start = position();
  Type type;
  if (atShape() && failed(parseShape(type))) {
    return failure();
  }
  if (scope.implicitParameters && type && (at(Tok::Comma) || at(Tok::RParen))) {
    std::string name = "_" + std::to_string(scope.parameters.size());
    StringAttr interned = builder.getStringAttr(name);
    return addOperand(scope, inst, interned.getValue(), start, type, start);
  }
  if (at(Tok::Ident) && lexer.peekChar() == '(') {
    Value value;
    const char *nestedAt = position();
    if (failed(parseNested(scope, type, start, value))) {
      return failure();
    }
    inst.operands.push_back(value);
    inst.operandPositions.push_back(nestedAt);
    return success();
  }
  const char *nameAt = position();
  StringRef name;
  if (failed(parseName(name, "an operand"))) {
    return failure();
  }
  if (at(Tok::Hash)) {
    return error(position())
           << "an element of a tuple cannot be named with '#'; use get-tuple-element";
  }
  return addOperand(scope, inst, name, nameAt, type, start);
}

Parser::Result Parser::addOperand(Scope &scope, Instruction &inst, StringRef name, const char *at,
                                  Type type, const char *shapeAt) {
  auto it = scope.names.find(name);
  if (it == scope.names.end()) {
    if (scope.implicitParameters && type) {
      Location location = NameLoc::get(builder.getStringAttr(name), reporter.locate(at));
      BlockArgument argument = scope.block->addArgument(type, location);
      scope.parameters.push_back(
          {int64_t(scope.parameters.size()), argument, at, DictionaryAttr()});
      scope.names.try_emplace(name, Binding{argument, at});
      inst.operands.push_back(argument);
      inst.operandPositions.push_back(at);
      return success();
    }
    if (const char *definition = findInstructionBelow(name)) {
      InFlightDiagnostic diagnostic = error(at);
      diagnostic << "operand '" << name << "' must be defined before it is used";
      diagnostic.attachNote(reporter.locate(definition)) << "its definition";
      return diagnostic;
    }
    NearestName nearest(name);
    for (auto &known : scope.names) {
      nearest.consider(known.first);
    }
    return error(at) << "operand '" << name << "' is not defined above in this computation"
                     << nearest.suggestion();
  }
  Value value = it->second.value;
  if (!value) {
    return failure(); // its own error has been reported
  }
  if (type && !areCompatible(type, value.getType())) {
    InFlightDiagnostic diagnostic = error(shapeAt);
    diagnostic << "operand '" << name << "' is written as " << typeToText(type) << ", but it is "
               << typeToText(value.getType());
    diagnostic.attachNote(reporter.locate(it->second.position)) << "defined here";
    return diagnostic;
  }
  inst.operands.push_back(value);
  inst.operandPositions.push_back(at);
  return success();
}

/// `opcode(operands)` in place of an operand: an instruction of its own.
Parser::Result Parser::parseNested(Scope &scope, Type type, const char *shapeAt, Value &value) {
  const char *start = position();
  if (failed(enter(start))) {
    return failure();
  }
  DepthGuard guard(depth);
  Instruction inst;
  inst.type = type;
  inst.shapePosition = shapeAt;
  inst.namePosition = start;
  if (failed(parseOpcode(inst)) || failed(parseOperands(scope, inst)) ||
      failed(checkAttributes(inst)) || failed(completeShape(inst)) || failed(checkExtent(inst)) ||
      failed(checkShape(inst))) {
    return failure();
  }
  value = create(scope, inst, reporter.locate(start));
  scope.anonymous.push_back({value, inst.info, start});
  return success();
}

Parser::Result Parser::parseAttributes(Scope &scope, Instruction &inst) {
  while (consumeIf(Tok::Comma)) {
    if (failed(parseAttribute(scope, inst))) {
      return failure();
    }
  }
  return success();
}
