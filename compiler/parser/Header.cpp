//===- Header.cpp - Attributes of the module -----------------------------===//
//
// Parses `HloModule name, attribute=value, ...` into module attributes `hlo.<attribute>`:
// structured if later passes compute with the value, else as text.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/ParserImpl.h"
#include "compiler/parser/print/PrinterImpl.h"

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::StringRef;

Parser::Result Parser::parseHeader(ModuleOp module) {
  lexer.advance();
  StringRef name;
  if (failed(parseName(name, "a module name after HloModule"))) {
    return failure();
  }
  module.setSymName(name);
  llvm::StringSet<> seen;
  while (consumeIf(Tok::Comma)) {
    const char *start = position();
    if (!at(Tok::AttrName)) {
      return unexpected("'attribute='", "in the module header");
    }
    StringRef attribute = token().text;
    if (!seen.insert(attribute).second) {
      return error(start) << "module attribute '" << attribute << "' is given twice";
    }
    lexer.advance();
    if (failed(parseHeaderAttribute(module, attribute, start))) {
      return failure();
    }
  }
  return success();
}

Parser::Result Parser::parseHeaderAttribute(ModuleOp module, StringRef name, const char *at) {
  auto set = [&](Attribute value) {
    module->setAttr(("hlo." + name).str(), value);
    return success();
  };
  if (name == "is_scheduled" || name == "alias_passthrough_params") {
    bool value;
    if (failed(parseBoolean(value, "in the module header"))) {
      return failure();
    }
    return value ? set(builder.getUnitAttr()) : success();
  }
  if (name == "replica_count" || name == "num_partitions") {
    int64_t value;
    if (failed(parseInteger(value, "in the module header"))) {
      return failure();
    }
    return set(builder.getI64IntegerAttr(value));
  }
  if (name == "entry_computation_layout" || name == "input_output_alias" ||
      name == "buffer_donor") {
    Attribute value;
    aliasPosition = name == "input_output_alias" ? position() : aliasPosition;
    if (failed(name == "entry_computation_layout" ? parseEntryLayout(value)
               : name == "input_output_alias"     ? parseInputOutputAlias(value)
                                                  : parseBufferDonor(value))) {
      return failure();
    }
    return set(value);
  }
  std::string text;
  Result result = failure();
  if (name == "allow_spmd_sharding_propagation_to_parameters" ||
      name == "allow_spmd_sharding_propagation_to_output") {
    result = parseBooleans(text);
  } else if (name == "frontend_attributes") {
    result = parseFrontendAttributes(text);
  } else if (name == "origin_recovery_table") {
    result = parseRecoveryTable(text);
  } else if (name == "debug_attributes") {
    result = parseDebugAttributes(text);
  } else {
    NearestName nearest(name);
    for (StringRef known : {"is_scheduled", "alias_passthrough_params", "replica_count",
                            "num_partitions", "entry_computation_layout", "input_output_alias",
                            "buffer_donor", "allow_spmd_sharding_propagation_to_parameters",
                            "allow_spmd_sharding_propagation_to_output", "frontend_attributes",
                            "origin_recovery_table", "debug_attributes"}) {
      nearest.consider(known);
    }
    return error(at) << "unknown module attribute '" << name << "'" << nearest.suggestion();
  }
  if (failed(result)) {
    return failure();
  }
  return set(builder.getStringAttr(text));
}

/// `{(f32[2]{0}, s32[])->f32[2]{0}}`
Parser::Result Parser::parseEntryLayout(Attribute &layout) {
  StringRef where = "in entry_computation_layout";
  if (failed(expect(Tok::LBrace, "'{'", where)) || failed(expect(Tok::LParen, "'('", where))) {
    return failure();
  }
  SmallVector<Type> parameters;
  Type result;
  if (!at(Tok::RParen)) {
    do {
      if (failed(parseShape(parameters.emplace_back()))) {
        return failure();
      }
    } while (consumeIf(Tok::Comma));
  }
  if (failed(expect(Tok::RParen, "',' or ')'", where)) ||
      failed(expect(Tok::Arrow, "'->'", where)) || failed(parseShape(result))) {
    return failure();
  }
  layout = TypeAttr::get(builder.getFunctionType(parameters, result));
  return expect(Tok::RBrace, "'}'", where);
}

/// `{ {0}: (1, {}, may-alias), ... }`
Parser::Result Parser::parseInputOutputAlias(Attribute &alias) {
  StringRef where = "in input_output_alias";
  if (failed(expect(Tok::LBrace, "'{'", where))) {
    return failure();
  }
  SmallVector<Attribute> entries;
  if (!at(Tok::RBrace)) {
    do {
      SmallVector<int64_t> output, index;
      int64_t parameter;
      std::string kind = "may-alias";
      if (failed(parseShapeIndex(output)) || failed(expect(Tok::Colon, "':'", where)) ||
          failed(expect(Tok::LParen, "'('", where)) || failed(parseInteger(parameter, where)) ||
          failed(expect(Tok::Comma, "','", where)) || failed(parseShapeIndex(index))) {
        return failure();
      }
      if (consumeIf(Tok::Comma)) {
        if (!atWord("may-alias") && !atWord("must-alias")) {
          return unexpected("may-alias or must-alias", where);
        }
        kind = token().text.str();
        lexer.advance();
      }
      if (failed(expect(Tok::RParen, "',' or ')'", where))) {
        return failure();
      }
      entries.push_back(builder.getDictionaryAttr(
          {builder.getNamedAttr("output_index", builder.getDenseI64ArrayAttr(output)),
           builder.getNamedAttr("parameter", builder.getI64IntegerAttr(parameter)),
           builder.getNamedAttr("parameter_index", builder.getDenseI64ArrayAttr(index)),
           builder.getNamedAttr("kind", builder.getStringAttr(kind))}));
    } while (consumeIf(Tok::Comma));
  }
  alias = builder.getArrayAttr(entries);
  return expect(Tok::RBrace, "',' or '}'", where);
}

/// `{ (0, {}), (1, {2}) }`
Parser::Result Parser::parseBufferDonor(Attribute &donors) {
  StringRef where = "in buffer_donor";
  if (failed(expect(Tok::LBrace, "'{'", where))) {
    return failure();
  }
  SmallVector<Attribute> entries;
  if (!at(Tok::RBrace)) {
    do {
      int64_t parameter;
      SmallVector<int64_t> index;
      if (failed(expect(Tok::LParen, "'('", where)) || failed(parseInteger(parameter, where)) ||
          failed(expect(Tok::Comma, "','", where)) || failed(parseShapeIndex(index)) ||
          failed(expect(Tok::RParen, "')'", where))) {
        return failure();
      }
      Attribute entry = builder.getDictionaryAttr(
          {builder.getNamedAttr("parameter", builder.getI64IntegerAttr(parameter)),
           builder.getNamedAttr("parameter_index", builder.getDenseI64ArrayAttr(index))});
      if (!llvm::is_contained(entries, entry)) {
        entries.push_back(entry);
      }
    } while (consumeIf(Tok::Comma));
  }
  donors = builder.getArrayAttr(entries);
  return expect(Tok::RBrace, "',' or '}'", where);
}

/// `true` or `{true,false}`
Parser::Result Parser::parseBooleans(std::string &text) {
  if (at(Tok::LBrace)) {
    return parseBooleanList(text);
  }
  bool value;
  if (failed(parseBoolean(value, "in the module header"))) {
    return failure();
  }
  text = value ? "{true}" : "{false}";
  return success();
}

/// Reports output indices of input_output_alias that the result does not have.
Parser::Result Parser::checkAliases(ModuleOp module) {
  auto alias = module->getAttrOfType<ArrayAttr>("hlo.input_output_alias");
  if (!alias) {
    return success();
  }
  Type result = entry.getResultTypes()[0];
  if (auto layout = module->getAttrOfType<TypeAttr>("hlo.entry_computation_layout")) {
    result = llvm::cast<FunctionType>(layout.getValue()).getResult(0);
  }
  for (auto element : alias.getAsRange<DictionaryAttr>()) {
    ArrayRef<int64_t> index = element.getAs<DenseI64ArrayAttr>("output_index").asArrayRef();
    Type type = result;
    for (int64_t step : index) {
      auto tuple = llvm::dyn_cast<TupleType>(type);
      if (!tuple || step < 0 || step >= int64_t(tuple.size())) {
        return error(aliasPosition) << "input_output_alias: the result " << typeToText(result)
                                    << " has no output " << joinIntegers(index, "{", "}");
      }
      type = tuple.getType(step);
    }
  }
  return success();
}
