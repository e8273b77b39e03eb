//===- Attributes.cpp - Attributes of instructions ------------------------===//
//
// Parses `name=value` after the operands. The name is looked up in the opcode's row of the table,
// then among the common attributes; its kind there decides the syntax of the value.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/ParserImpl.h"
#include "compiler/parser/print/PrinterImpl.h"
#include "dialect/hlo/Shapes.h"
#include "llvm/ADT/StringExtras.h"

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::StringRef;

namespace {
constexpr AttrSpec asyncStartExtra[] = {
    {"async_execution_thread", AttrKind::String},
    {"output_to_operand_aliasing", AttrKind::Aliasing},
};
constexpr AttrSpec asyncLaterExtra[] = {
    {"async_execution_thread", AttrKind::String},
};
} // namespace

ArrayRef<AttrSpec> Parser::attributesOf(const Instruction &inst) const {
  // In the sugar form, update and done do not repeat attributes of the wrapped op.
  bool later = inst.async == AsyncPart::Update || inst.async == AsyncPart::Done;
  return later ? ArrayRef<AttrSpec>(asyncLaterExtra) : inst.info->attributes;
}

void Parser::suggestAttributes(InFlightDiagnostic &diagnostic, const Instruction &inst,
                               StringRef wrong) {
  NearestName nearest(wrong);
  std::string list;
  for (const AttrSpec &spec : attributesOf(inst)) {
    nearest.consider(spec.name);
    list += (list.empty() ? "" : ", ") + spec.name.str();
  }
  for (StringRef name : getCommonAttributes()) {
    nearest.consider(name);
  }
  diagnostic << nearest.suggestion();
  if (nearest.suggestion().empty()) {
    diagnostic.attachNote() << inst.opcode << " takes "
                            << (list.empty() ? "no attributes of its own" : list)
                            << ", and the common attributes";
  }
}

Parser::Result Parser::parseAttribute(Scope &scope, Instruction &inst) {
  if (!at(Tok::AttrName)) {
    return unexpected("'attribute='", "after ','");
  }
  const char *start = position();
  StringRef name = token().text;
  if (inst.hasSeen(name)) {
    return error(start) << "attribute '" << name << "' is given twice";
  }
  const AttrSpec *found = nullptr;
  auto lookUp = [&](ArrayRef<AttrSpec> specs) {
    for (const AttrSpec &spec : specs) {
      if (spec.name == name) {
        found = &spec;
      }
    }
  };
  lookUp(attributesOf(inst));
  if (!found && (inst.async == AsyncPart::Start || inst.async == AsyncPart::Update)) {
    lookUp(asyncStartExtra);
  }
  if (!found && !isCommonAttribute(name)) {
    InFlightDiagnostic diagnostic = error(start);
    diagnostic << inst.opcode << " has no attribute '" << name << "'";
    suggestAttributes(diagnostic, inst, name);
    return diagnostic;
  }
  inst.seen.push_back(name);
  lexer.advance();
  return found ? parseAttributeValue(*found, inst) : parseCommonAttribute(scope, inst, name, start);
}

Parser::Result Parser::parseCommonAttribute(Scope &scope, Instruction &inst, StringRef name,
                                            const char *at) {
  if (name == "control-predecessors") {
    Attribute value;
    if (failed(parseControlPredecessors(scope, value))) {
      return failure();
    }
    inst.common.append("hlo.control_predecessors", value);
    return success();
  }
  std::string text;
  Result result = failure();
  if (name == "sharding") {
    result = parseSharding(text);
  } else if (name == "frontend_attributes") {
    result = parseFrontendAttributes(text);
  } else if (name == "metadata") {
    result = parseMetadata(text);
  } else if (name == "backend_config") {
    result = parseDictOrString(text, "in backend_config");
  } else if (name == "origin") {
    result = parseOrigin(text);
  } else if (name == "statistics") {
    result = parseStatistics(text);
  } else {
    if (inst.info->name != "parameter") {
      return error(at) << "parameter_replication belongs to parameters, not to " << inst.info->name;
    }
    const char *start = position();
    result = parseBooleanList(text);
    size_t given = text == "{}" ? 0 : StringRef(text).count(',') + 1;
    size_t leaves = inst.type ? leafTypes(inst.type).size() : given;
    if (succeeded(result) && given != leaves) {
      return error(start) << "parameter_replication has " << given << " entries, "
                          << typeToText(inst.type) << " has " << leaves
                          << (leaves == 1 ? " leaf" : " leaves");
    }
  }
  if (succeeded(result)) {
    inst.common.append(("hlo." + name).str(), builder.getStringAttr(text));
  }
  return result;
}

Parser::Result Parser::parseAttributeValue(const AttrSpec &spec, Instruction &inst) {
  StringRef name = spec.name;
  NamedAttrList &attributes = inst.attributes;
  std::string text;
  auto keepText = [&](Result result) {
    if (succeeded(result)) {
      attributes.append(name, builder.getStringAttr(text));
    }
    return result;
  };
  switch (spec.kind) {
  case AttrKind::Integer: {
    int64_t value;
    if (failed(parseInteger(value, "as an attribute"))) {
      return failure();
    }
    attributes.append(name, builder.getI64IntegerAttr(value));
    return success();
  }
  case AttrKind::Boolean: {
    bool value;
    if (failed(parseBoolean(value, "as an attribute"))) {
      return failure();
    }
    attributes.append(name, builder.getBoolAttr(value));
    return success();
  }
  case AttrKind::Float: {
    double value;
    if (failed(parseNumber(value, "as an attribute"))) {
      return failure();
    }
    attributes.append(name, builder.getF64FloatAttr(value));
    return success();
  }
  case AttrKind::String: return keepText(parseString(text, "as an attribute"));
  case AttrKind::Word:
  case AttrKind::LowerWord:
  case AttrKind::UpperWord: return keepText(parseWord(spec, text));
  case AttrKind::IgnoredWord:
    if (!at(Tok::Ident)) {
      return unexpected("a word", "as an attribute");
    }
    lexer.advance();
    return success();
  case AttrKind::Dims: {
    SmallVector<int64_t> values;
    if (failed(parseIntegers(values, Tok::LBrace, Tok::RBrace, "in a list"))) {
      return failure();
    }
    attributes.append(name, builder.getDenseI64ArrayAttr(values));
    return success();
  }
  case AttrKind::OneDim: {
    const char *start = position();
    SmallVector<int64_t> values;
    if (failed(parseIntegers(values, Tok::LBrace, Tok::RBrace, "in a list"))) {
      return failure();
    }
    if (values.size() != 1) {
      return error(start) << name << " of " << inst.info->name << " takes 1 dimension, got "
                          << values.size();
    }
    attributes.append("dimension", builder.getI64IntegerAttr(values[0]));
    return success();
  }
  case AttrKind::Computation:
  case AttrKind::OneComputation:
  case AttrKind::TrueBranch:
  case AttrKind::FalseBranch: {
    FlatSymbolRefAttr ref;
    if (failed(parseComputationRef(ref, name))) {
      return failure();
    }
    if (spec.kind == AttrKind::Computation) {
      attributes.append(name, ref);
    } else if (spec.kind == AttrKind::TrueBranch) {
      inst.trueBranch = ref;
    } else if (spec.kind == AttrKind::FalseBranch) {
      inst.falseBranch = ref;
    } else if (!attributes.get("called_computations")) {
      attributes.append("called_computations", builder.getArrayAttr({ref}));
    }
    return success();
  }
  case AttrKind::Computations: {
    Attribute value;
    if (failed(parseComputationRefs(value, name))) {
      return failure();
    }
    if (!attributes.get(name)) {
      attributes.append(name, value);
    }
    return success();
  }
  case AttrKind::ReplicaGroups: return keepText(parseReplicaGroups(text));
  case AttrKind::Pairs: return keepText(parseIntegerLists(text, /*pairs=*/true));
  case AttrKind::IntLists: return keepText(parseIntegerLists(text, /*pairs=*/false));
  case AttrKind::Aliasing: return keepText(parseAliasing(text));
  case AttrKind::Window:
  case AttrKind::WindowText: {
    WindowAttr window;
    if (failed(parseWindow(window))) {
      return failure();
    }
    if (spec.kind == AttrKind::Window) {
      attributes.append(name, window);
      return success();
    }
    text = windowToText(window);
    return keepText(success());
  }
  case AttrKind::DimLabels:
  case AttrKind::DimLabelsText: {
    ConvDimsAttr labels;
    text = token().text.str();
    if (failed(parseDimLabels(labels))) {
      return failure();
    }
    if (spec.kind == AttrKind::DimLabels) {
      attributes.append(name, labels);
      return success();
    }
    return keepText(success());
  }
  case AttrKind::Padding: return parsePadding(attributes);
  case AttrKind::Slice: return parseSlice(attributes);
  case AttrKind::Precision: {
    Attribute value;
    if (failed(parsePrecision(value))) {
      return failure();
    }
    attributes.append(name, value);
    return success();
  }
  case AttrKind::Shape: {
    Type type;
    if (failed(parseShape(type))) {
      return failure();
    }
    attributes.append(name, TypeAttr::get(type));
    return success();
  }
  case AttrKind::Shapes: {
    Attribute value;
    if (failed(parseShapes(value))) {
      return failure();
    }
    attributes.append(name, value);
    return success();
  }
  case AttrKind::Literal: return keepText(parseTypedLiteral(text));
  case AttrKind::Domain: return keepText(parseDomain(text));
  case AttrKind::Sparsity: return keepText(parseSparsity(text));
  case AttrKind::Accuracy: return keepText(parseAccuracy(text));
  }
  return failure();
}

Parser::Result Parser::parseWord(const AttrSpec &spec, std::string &word) {
  word = token().text.str();
  if (spec.kind == AttrKind::LowerWord) {
    word = StringRef(word).lower();
  } else if (spec.kind == AttrKind::UpperWord) {
    word = StringRef(word).upper();
  }
  SmallVector<StringRef> choices;
  StringRef(spec.words).split(choices, ' ');
  if (at(Tok::Ident) && llvm::is_contained(choices, word)) {
    lexer.advance();
    return success();
  }
  if (!at(Tok::Ident)) {
    return unexpected("a word", "for '" + spec.name.str() + "'");
  }
  NearestName nearest(word);
  llvm::for_each(choices, [&](StringRef choice) { nearest.consider(choice); });
  return error(position()) << "unknown value '" << token().text << "' for '" << spec.name << "'"
                           << nearest.suggestion() << "; known are " << llvm::join(choices, ", ");
}
