//===- Instructions.cpp - One instruction ---------------------------------===//
//
// `ROOT? name = shape? opcode(operands), attributes` becomes one op at the end of
// the scope's block (a parameter: a block argument). Checks what XLA's parser
// checks; result shapes are believed unless the format says that they are
// recomputed, and inferred by the dialect where they are left out.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/ParserImpl.h"
#include "compiler/parser/PrinterImpl.h"
#include "dialect/hlo/InferType.h"
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

/// Elements of an array, or nullopt if unknown or too many to count.
std::optional<int64_t> countElements(RankedTensorType type) {
  auto layout = llvm::dyn_cast_or_null<LayoutAttr>(type.getEncoding());
  if (!type.hasStaticShape() || (layout && !layout.getDynamic().empty())) {
    return std::nullopt;
  }
  int64_t count = 1;
  for (int64_t size : type.getShape()) {
    if (llvm::MulOverflow(count, size, count)) {
      return std::nullopt;
    }
  }
  return count;
}

} // namespace

Parser::Result Parser::checkInstructionName(const Token &name) {
  if (isPrimitiveWord(name.text)) {
    return error(name.begin) << "'" << name.text
                             << "' is an element type and cannot name an instruction; write '"
                             << name.text << "_'";
  }
  if (name.text.starts_with("__") && !name.text.starts_with("__xla_")) {
    return error(name.begin) << "instruction name '" << name.text
                             << "' must not begin with '__'";
  }
  return success();
}

Parser::Result Parser::parseInstruction(Scope &scope) {
  const char *start = position();
  bool isRoot = consumeIfKeyword("ROOT");
  Token nameToken = token();
  if (nameToken.is(Tok::AttrName)) {
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
  Location location =
      NameLoc::get(builder.getStringAttr(name), reporter.locate(nameToken.begin));
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
      failed(completeShape(inst))) {
    return failure();
  }
  return checkShape(inst);
}

Parser::Result Parser::parseOpcode(Instruction &inst) {
  inst.opcodePosition = position();
  if (!at(Tok::Ident)) {
    return unexpected(inst.type ? "an opcode" : "a shape or an opcode");
  }
  StringRef word = token().text;
  inst.info = opcodes.find(word);
  if (!inst.info) {
    inst.info = opcodes.findAsync(word, inst.async);
  }
  if (!inst.info) {
    NearestName nearest(word);
    for (const OpcodeInfo &info : getOpcodes()) {
      nearest.consider(info.name);
    }
    // Types as other languages spell them.
    for (const std::string &type : {word.lower(), "s" + word.drop_front().str()}) {
      if (isPrimitiveWord(type)) {
        nearest.consider(type);
      }
    }
    if (word == "bool" || word == "i1") {
      nearest = NearestName("PRED");
      nearest.consider("pred");
    }
    InFlightDiagnostic diagnostic = error(inst.opcodePosition);
    diagnostic << "unknown " << (lexer.peekChar() == '(' ? "opcode" : "opcode or type") << " '"
               << word << "'" << nearest.suggestion();
    return diagnostic;
  }
  inst.opcode = word;
  lexer.advance();
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
      return error(inst.opcodePosition) << "the shape of a " << inst.info->name
                                        << " must be written";
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
    if (failed(parseOperand(scope, inst))) {
      return failure();
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
      failed(checkAttributes(inst)) || failed(completeShape(inst)) || failed(checkShape(inst))) {
    return failure();
  }
  value = create(scope, inst, reporter.locate(start));
  scope.anonymous.push_back({value, inst.info, start});
  return success();
}

Parser::Result Parser::checkOperandCount(Instruction &inst) {
  int64_t count = inst.operands.size();
  int64_t least = inst.info->minOperands, most = inst.info->maxOperands;
  StringRef opcode = inst.opcode;
  if (inst.async == AsyncPart::Update || inst.async == AsyncPart::Done) {
    least = most = 1;
  } else if (inst.async == AsyncPart::Start) {
    least = 0;
    most = -1; // the wrapped op's operands may come with updates
  }
  if (count < least || (most >= 0 && count > most)) {
    InFlightDiagnostic diagnostic = error(inst.opcodePosition);
    diagnostic << opcode << " takes " << (most < 0 ? "at least " : "") << least << " operand"
               << (least == 1 ? "" : "s") << ", got " << count;
    return diagnostic;
  }
  if ((opcode == "reduce" || opcode == "reduce-window") && count % 2) {
    return error(inst.opcodePosition) << opcode
                                      << " takes as many initial values as arrays, got " << count
                                      << " operands";
  }
  if (opcode == "scatter" && count % 2 == 0) {
    return error(inst.opcodePosition)
           << "scatter takes N arrays, the indices and N updates, got " << count << " operands";
  }
  bool slice = opcode == "dynamic-slice", update = opcode == "dynamic-update-slice";
  if ((slice || update) && inst.async == AsyncPart::None) {
    auto array = llvm::dyn_cast<RankedTensorType>(inst.operands[0].getType());
    int64_t indices = count - (slice ? 1 : 2);
    bool vector = indices == 1 && !isScalar(inst.operands.back().getType());
    if (array && indices != array.getRank() && !vector) {
      return error(inst.opcodePosition) << opcode << " of rank " << array.getRank() << " takes "
                                        << array.getRank() << " start indices, got " << indices;
    }
  }
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

/// Required attributes, and what attributes and operands demand of each other.
Parser::Result Parser::checkAttributes(Instruction &inst) {
  StringRef opcode = inst.info->name;
  if (inst.async == AsyncPart::None || inst.async == AsyncPart::Start) {
    for (const AttrSpec &spec : inst.info->attributes) {
      if (spec.required && !inst.hasSeen(spec.name)) {
        return error(inst.opcodePosition) << inst.opcode << " needs the attribute '" << spec.name
                                          << "'";
      }
    }
  } else {
    return success();
  }
  NamedAttrList &attributes = inst.attributes;
  if (opcode == "broadcast" && !inst.hasSeen("dimensions")) {
    if (!inst.operands.empty() && !isScalar(inst.operands[0].getType())) {
      return error(inst.opcodePosition) << "broadcast needs the attribute 'dimensions'";
    }
    attributes.append("dimensions", builder.getDenseI64ArrayAttr({}));
  }
  if ((opcode == "all-reduce" || opcode == "all-reduce-start" || opcode == "reduce-scatter") &&
      !attributes.get("channel_id")) {
    auto global = llvm::dyn_cast_or_null<BoolAttr>(attributes.get("use_global_device_ids"));
    if (global && global.getValue()) {
      return error(inst.opcodePosition) << opcode
                                        << ": use_global_device_ids=true needs a channel_id";
    }
  }
  if (attributes.get("slice_sizes") && opcode.starts_with("collective-permute") &&
      inst.operands.size() != 4) {
    return error(inst.opcodePosition) << opcode << " with slice_sizes takes 4 operands, got "
                                      << inst.operands.size();
  }
  if (opcode == "conditional" && !inst.operands.empty()) {
    auto selector = llvm::dyn_cast<RankedTensorType>(inst.operands[0].getType());
    Type element = selector && selector.getRank() == 0 ? selector.getElementType() : Type();
    bool pred = element && element.isSignlessInteger(1);
    if (!pred && !(element && element.isSignedInteger(32))) {
      return error(inst.operandPositions[0]) << "the selector of a conditional is pred[] or s32[], "
                                                "got "
                                             << typeToText(inst.operands[0].getType());
    }
    bool indexed = attributes.get("branch_computations") != nullptr;
    if (pred && (indexed || !inst.trueBranch || !inst.falseBranch)) {
      return error(inst.opcodePosition)
             << "a conditional on pred[] has true_computation and false_computation";
    }
    if (!pred && (!indexed || inst.trueBranch || inst.falseBranch)) {
      return error(inst.opcodePosition) << "a conditional on s32[] has branch_computations";
    }
    if (pred) {
      attributes.append("branch_computations",
                        builder.getArrayAttr({inst.trueBranch, inst.falseBranch}));
    }
    size_t branches = llvm::cast<ArrayAttr>(attributes.get("branch_computations")).size();
    if (branches == 0 || branches + 1 != inst.operands.size()) {
      return error(inst.opcodePosition) << "conditional has " << branches << " branches and "
                                        << inst.operands.size() - 1 << " branch operands";
    }
  }
  if (auto constraints =
          llvm::dyn_cast_or_null<ArrayAttr>(attributes.get("operand_layout_constraints"))) {
    if (constraints.size() != inst.operands.size()) {
      return error(inst.opcodePosition)
             << "operand_layout_constraints has " << constraints.size() << " shapes, there are "
             << inst.operands.size() << " operands";
    }
    for (auto [index, shape] : llvm::enumerate(constraints)) {
      Type written = llvm::cast<TypeAttr>(shape).getValue();
      if (!areCompatible(written, inst.operands[index].getType())) {
        return error(inst.operandPositions[index])
               << "operand " << index << " is " << typeToText(inst.operands[index].getType())
               << ", its layout constraint is " << typeToText(written);
      }
    }
  }
  if ((opcode == "send-done" || opcode == "recv-done") && !inst.operands.empty()) {
    Operation *start = inst.operands[0].getDefiningOp();
    if (start && (llvm::isa<SendOp, RecvOp>(start)) &&
        start->getAttr("channel_id") != attributes.get("channel_id")) {
      auto text = [](Attribute id) {
        auto value = llvm::dyn_cast_or_null<IntegerAttr>(id);
        return value ? std::to_string(value.getInt()) : std::string("absent");
      };
      return error(inst.opcodePosition)
             << opcode << " has channel_id " << text(attributes.get("channel_id")) << ", its "
             << (opcode == "send-done" ? "send" : "recv") << " has "
             << text(start->getAttr("channel_id"));
    }
  }
  return success();
}

/// Gives the instruction its type where the text does not.
Parser::Result Parser::completeShape(Instruction &inst) {
  StringRef opcode = inst.info->name;
  if (inst.async != AsyncPart::None) {
    if (!inst.type) {
      return error(inst.opcodePosition) << "the shape of an asynchronous instruction must be "
                                           "written";
    }
    return success();
  }
  Type token = TokenType::get(context);
  Type handle = RankedTensorType::get({}, builder.getIntegerType(32, /*isSigned=*/false));
  // The first element of a tuple type.
  auto data = [&](Type type, const char *at, Type &element) -> Result {
    auto tuple = llvm::dyn_cast_or_null<TupleType>(type);
    if (!tuple || tuple.size() == 0) {
      InFlightDiagnostic diagnostic = error(at);
      diagnostic << opcode << " needs a tuple of the data and more";
      if (type) {
        diagnostic << ", got " << typeToText(type);
      }
      return diagnostic;
    }
    element = tuple.getType(0);
    return success();
  };
  Type element;
  if (opcode == "after-all" || opcode == "send-done" || opcode == "outfeed") {
    inst.type = token;
  } else if (opcode == "add-dependency") {
    inst.type = inst.operands[0].getType();
  } else if (opcode == "send") {
    inst.type = TupleType::get(context, {inst.operands[0].getType(), handle, token});
  } else if (opcode == "recv-done") {
    if (failed(data(inst.operands[0].getType(), inst.operandPositions[0], element))) {
      return failure();
    }
    inst.type = TupleType::get(context, {element, token});
  } else if (opcode == "recv" || opcode == "infeed") {
    const char *place = inst.shapePosition ? inst.shapePosition : inst.opcodePosition;
    if (failed(data(inst.type, place, element))) {
      return failure();
    }
    inst.type = opcode == "recv" ? TupleType::get(context, {element, handle, token})
                                 : TupleType::get(context, {element, token});
  } else if (!inst.type) {
    return inferShape(inst);
  }
  return success();
}

Parser::Result Parser::inferShape(Instruction &inst) {
  StringRef opcode = inst.info->name;
  if (!inst.info->mayOmitShape()) {
    return error(inst.opcodePosition) << "the shape of " << opcode
                                      << " cannot be inferred and must be written";
  }
  if (opcode == "broadcast") {
    auto dims = llvm::cast<DenseI64ArrayAttr>(inst.attributes.get("dimensions"));
    if (!dims.empty()) {
      return error(inst.opcodePosition)
             << "the shape of a broadcast with dimensions must be written";
    }
  }
  if (opcode == "map" && !inst.attributes.get("dimensions")) {
    return error(inst.opcodePosition) << "map without a shape needs the attribute 'dimensions'";
  }
  if (opcode == "triangular-solve" && !inst.attributes.get("transpose_a")) {
    return error(inst.opcodePosition)
           << "triangular-solve without a shape needs the attribute 'transpose_a'";
  }
  // A computation with errors is known by name only; what needs it stays silent.
  bool silent = false;
  FailureOr<Type> type = hlo::inferType(
      opcodes.getOpName(*inst.info).getStringRef(), inst.operands,
      inst.attributes.getDictionary(context),
      [&](StringRef name) -> ComputationOp {
        auto it = computations.find(name);
        ComputationOp op = it == computations.end() ? ComputationOp() : it->second.op;
        silent |= !op;
        return op;
      },
      [&]() {
        return silent ? reporter.silentError(inst.opcodePosition) : error(inst.opcodePosition);
      });
  reporter.unmute();
  if (failed(type)) {
    if (!reporter.hasErrors()) {
      error(inst.opcodePosition) << "the shape of this " << opcode << " cannot be inferred";
    }
    return failure();
  }
  inst.type = *type;
  return success();
}

/// What the parser checks about result shapes.
Parser::Result Parser::checkShape(Instruction &inst) {
  StringRef opcode = inst.info->name;
  bool async = inst.async != AsyncPart::None || opcode.starts_with("async-");
  if (async) {
    return checkAsync(inst);
  }
  const char *place = inst.shapePosition ? inst.shapePosition : inst.opcodePosition;
  if (opcode == "reshape") {
    auto from = llvm::dyn_cast<RankedTensorType>(inst.operands[0].getType());
    auto to = llvm::dyn_cast<RankedTensorType>(inst.type);
    if (from && to) {
      std::optional<int64_t> before = countElements(from), after = countElements(to);
      if (before && after && *before != *after) {
        return error(place) << "reshape of " << *before << " elements to " << *after;
      }
    }
  }
  if (opcode == "dynamic-reshape") {
    auto to = llvm::dyn_cast<RankedTensorType>(inst.type);
    if (!to || to.getRank() + 1 != int64_t(inst.operands.size())) {
      return error(inst.opcodePosition)
             << "dynamic-reshape to rank " << (to ? to.getRank() : 0) << " has "
             << inst.operands.size() - 1 << " sizes";
    }
  }
  return success();
}

Parser::Result Parser::checkAsync(Instruction &inst) {
  StringRef opcode = inst.info->name;
  const char *place = inst.shapePosition ? inst.shapePosition : inst.opcodePosition;
  bool start = inst.async == AsyncPart::Start || opcode == "async-start";
  bool update = inst.async == AsyncPart::Update || opcode == "async-update";
  auto checkState = [&](Type type, const char *at) -> Result {
    auto tuple = llvm::dyn_cast<TupleType>(type);
    if (tuple && tuple.size() >= 2 && llvm::isa<TupleType>(tuple.getType(0))) {
      return success();
    }
    return error(at) << "the state of an asynchronous operation is "
                        "((operands...), result, context...), got "
                     << typeToText(type);
  };
  if ((start || update) && failed(checkState(inst.type, place))) {
    return failure();
  }
  if (start) {
    return success();
  }
  Value state = inst.operands[0];
  if (failed(checkState(state.getType(), inst.operandPositions[0]))) {
    return failure();
  }
  if (update && !areCompatible(inst.type, state.getType())) {
    return error(place) << "an update keeps the shape " << typeToText(state.getType())
                        << " of the state, got " << typeToText(inst.type);
  }
  Operation *previous = state.getDefiningOp();
  if (!previous || !llvm::isa<AsyncStartOp, AsyncUpdateOp>(previous)) {
    return success();
  }
  auto sugar = previous->getAttrOfType<StringAttr>("sugar");
  if (inst.async != AsyncPart::None && sugar && sugar.getValue() != opcode) {
    return error(inst.opcodePosition) << "this continues " << sugar.getValue() << "-start, not "
                                      << opcode << "-start";
  }
  Attribute calls = previous->getAttr("calls");
  Attribute written = inst.attributes.get("calls");
  if (calls && written && calls != written) {
    return error(inst.opcodePosition)
           << "this calls '" << llvm::cast<FlatSymbolRefAttr>(written).getValue()
           << "', its start calls '" << llvm::cast<FlatSymbolRefAttr>(calls).getValue() << "'";
  }
  return success();
}

Operation *Parser::createOp(Block *block, OperationName name, Location location, Type type,
                            ValueRange operands, NamedAttrList &attributes) {
  unsigned regions = name.getStringRef() == "hlo.fusion" ? 1 : 0;
  Operation *op = Operation::create(location, name, type, operands,
                                    attributes.getDictionary(context), OpaqueProperties(nullptr), BlockRange(), regions);
  block->push_back(op);
  return op;
}

/// Turns `X-start` into the attributes of an async-start of a new computation
/// that holds X alone.
void Parser::wrapAsync(Instruction &inst, Location location) {
  NamedAttrList own = std::move(inst.attributes);
  NamedAttrList outer;
  outer.append("sugar", builder.getStringAttr(inst.info->name));
  for (StringRef name : {"async_execution_thread", "output_to_operand_aliasing"}) {
    bool belongsToOp = llvm::any_of(inst.info->attributes,
                                    [&](const AttrSpec &spec) { return spec.name == name; });
    Attribute value = own.get(name);
    if (value && !belongsToOp) {
      own.erase(name);
      outer.append(name, value);
    }
  }
  if (inst.async == AsyncPart::Start) {
    for (StringRef name : {"hlo.metadata", "hlo.backend_config", "hlo.frontend_attributes",
                           "hlo.statistics", "hlo.origin"}) {
      if (Attribute value = inst.common.get(name)) {
        own.append(name, value);
      }
    }
    Type result = llvm::cast<TupleType>(inst.type).getType(1);
    auto empty = llvm::dyn_cast<TupleType>(result);
    if (empty && empty.size() == 0 && inst.info->name == "call") {
      auto callee = computations.lookup(
          llvm::cast<FlatSymbolRefAttr>(own.get("to_apply")).getValue());
      result = callee.op ? callee.op.getResultTypes()[0] : result;
    }
    auto block = std::make_unique<Block>();
    SmallVector<Type> types;
    for (auto [i, operand] : llvm::enumerate(inst.operands)) {
      types.push_back(operand.getType());
      block->addArgument(operand.getType(),
                         NameLoc::get(builder.getStringAttr("p" + std::to_string(i)), location));
    }
    Operation *op = createOp(block.get(), opcodes.getOpName(*inst.info), location, result,
                             block->getArguments(), own);
    std::string name = makeComputationName("async_wrapped");
    OpBuilder ops(context);
    ops.setInsertionPointToEnd(block.get());
    ReturnOp::create(ops, location, op->getResults());
    ops.setInsertionPointToEnd(moduleBlock);
    auto computation = ComputationOp::create(
        ops, NameLoc::get(builder.getStringAttr(name), location), name,
        builder.getFunctionType(types, result));
    if (Attribute thread = outer.get("async_execution_thread")) {
      computation->setAttr("execution_thread", thread);
    }
    computation.getBody().push_back(block.release());
    outer.append("calls", FlatSymbolRefAttr::get(context, name));
  }
  inst.attributes = std::move(outer);
}

Value Parser::create(Scope &scope, Instruction &inst, Location location) {
  if (inst.info->name == "parameter") {
    Parameter &parameter = scope.parameters.back();
    parameter.argument = scope.block->addArgument(inst.type, location);
    parameter.attributes = inst.common.getDictionary(context);
    return parameter.argument;
  }
  OperationName name = opcodes.getOpName(*inst.info);
  if (inst.async != AsyncPart::None) {
    wrapAsync(inst, location);
    StringRef opcode = inst.async == AsyncPart::Start    ? "async-start"
                       : inst.async == AsyncPart::Update ? "async-update"
                                                         : "async-done";
    name = opcodes.getOpName(*opcodes.find(opcode));
  }
  inst.attributes.append(inst.common);
  return createOp(scope.block, name, location, inst.type, inst.operands, inst.attributes)
      ->getResult(0);
}
