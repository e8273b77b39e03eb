//===- Module.cpp - Module, header, tables, computations ------------------===//
//
// The outermost productions and error recovery. The first two tokens decide
// between a module with a header, a list of computations, and one instruction.
// After an error the rest of the instruction is skipped and parsing goes on; a
// computation with errors stays known by name, so that its users say nothing.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/ParserImpl.h"
#include "compiler/parser/PrinterImpl.h"
#include "llvm/Support/xxhash.h"

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::StringRef;

namespace {
/// Levels of nested shapes, literals, operands and computations in place. Each
/// costs some kilobytes of stack at most; real programs nest a few dozen.
constexpr int64_t maxDepth = 500;
} // namespace

OwningOpRef<ModuleOp> hlo::parseHlo(StringRef text, StringRef fileName, MLIRContext *context,
                                    const ParseOptions &options) {
  context->loadDialect<HloDialect>();
  return Parser(text, fileName, context, options).parse();
}

Parser::Parser(StringRef text, StringRef fileName, MLIRContext *context,
               const ParseOptions &options)
    : lexer(text), reporter(text, fileName, context, options.errorLimit), context(context),
      builder(context), opcodes(context) {}

OwningOpRef<ModuleOp> Parser::parse() {
  if (lexer.getBuffer().size() >= UINT32_MAX) {
    error(lexer.getBuffer().begin()) << "the text is larger than 4 GB";
    return nullptr;
  }
  OwningOpRef<ModuleOp> module(
      ModuleOp::create(reporter.locate(lexer.getBuffer().begin()), StringRef("module")));
  moduleBlock = module->getBody();
  Result result = parseModuleText(*module);
  if (failed(result) || reporter.hasErrors()) {
    return nullptr;
  }
  return module;
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

bool Parser::atWord(StringRef word) const { return at(Tok::Ident) && token().text == word; }

bool Parser::consumeIf(Tok kind) {
  if (!at(kind)) {
    return false;
  }
  lexer.advance();
  return true;
}

bool Parser::consumeIfKeyword(StringRef word) {
  if (!token().isKeyword(word)) {
    return false;
  }
  lexer.advance();
  return true;
}

bool Parser::consumeIfAttrName(StringRef name) {
  if (!at(Tok::AttrName) || token().text != name) {
    return false;
  }
  lexer.advance();
  return true;
}

InFlightDiagnostic Parser::unexpected(StringRef what, StringRef where) {
  if (at(Tok::Error)) {
    return error(position()) << token().error;
  }
  InFlightDiagnostic diagnostic = error(position());
  diagnostic << "expected " << what << (where.empty() ? "" : " ") << where << ", got ";
  if (at(Tok::Eof)) {
    diagnostic << "the end of the text";
  } else {
    StringRef text(position(), token().text.end() - position());
    diagnostic << "'" << text.take_front(40) << (at(Tok::AttrName) ? "=" : "") << "'";
  }
  return diagnostic;
}

Parser::Result Parser::expect(Tok kind, StringRef what, StringRef where) {
  if (consumeIf(kind)) {
    return success();
  }
  return unexpected(what, where);
}

Parser::Result Parser::parseInteger(int64_t &value, StringRef where) {
  if (!at(Tok::Int)) {
    return unexpected("an integer", where);
  }
  value = token().intValue;
  lexer.advance();
  return success();
}

Parser::Result Parser::parseBoolean(bool &value, StringRef where) {
  value = token().isKeyword("true");
  if (!value && !token().isKeyword("false")) {
    return unexpected("true or false", where);
  }
  lexer.advance();
  return success();
}

Parser::Result Parser::parseNumber(double &value, StringRef where) {
  if (at(Tok::Int)) {
    value = double(token().intValue);
  } else if (at(Tok::Decimal)) {
    value = token().floatValue;
  } else if (at(Tok::NonFinite)) {
    bool negative = token().text.starts_with("-");
    value = token().text.ends_with("inf") ? std::numeric_limits<double>::infinity()
                                          : std::numeric_limits<double>::quiet_NaN();
    value = negative ? -value : value;
  } else {
    return unexpected("a number", where);
  }
  lexer.advance();
  return success();
}

Parser::Result Parser::parseString(std::string &value, StringRef where) {
  if (!at(Tok::String)) {
    return unexpected("a string", where);
  }
  if (!unescape(token().text, value)) {
    return error(position()) << "string with an unknown escape";
  }
  lexer.advance();
  return success();
}

Parser::Result Parser::parseName(StringRef &name, StringRef what) {
  if (!at(Tok::Name) && !at(Tok::Ident)) {
    return unexpected(what);
  }
  name = token().text;
  lexer.advance();
  return success();
}

Parser::Result Parser::parseIntegers(SmallVectorImpl<int64_t> &values, Tok open, Tok close,
                                     StringRef where) {
  auto spell = [](Tok kind) {
    return kind == Tok::LBrace    ? "'{'"
           : kind == Tok::RBrace  ? "',' or '}'"
           : kind == Tok::LSquare ? "'['"
           : kind == Tok::RSquare ? "',' or ']'"
           : kind == Tok::LParen  ? "'('"
                                  : "',' or ')'";
  };
  if (failed(expect(open, spell(open), where))) {
    return failure();
  }
  if (!at(close)) {
    do {
      if (failed(parseInteger(values.emplace_back(), where))) {
        return failure();
      }
    } while (consumeIf(Tok::Comma));
  }
  return expect(close, spell(close), where);
}

Parser::Result Parser::enter(const char *at) {
  if (depth >= maxDepth) {
    error(at) << "nested deeper than " << maxDepth << " levels";
    reporter.giveUp(); // what follows is the rest of the nest
    return failure();
  }
  ++depth;
  return success();
}

//===----------------------------------------------------------------------===//
// Recovery
//===----------------------------------------------------------------------===//

/// Whether a computation begins at the current token: `ENTRY`, `name {`, or a
/// name whose line goes on as `(...) -> ... {`.
bool Parser::looksLikeComputation() const {
  if (token().isKeyword("ENTRY")) {
    return true;
  }
  if (!at(Tok::Name) && !at(Tok::Ident)) {
    return false;
  }
  char next = lexer.peekChar();
  if (next == '{') {
    return true;
  }
  const char *begin = token().begin;
  StringRef line = StringRef(begin, lexer.getBuffer().end() - begin).split('\n').first;
  return next == '(' && line.contains("->") && line.contains('{') && !line.contains(" = ");
}

/// Skips the rest of an instruction that began at `from`: to the next line that
/// looks like an instruction, a closing brace or a computation.
void Parser::skipToInstruction(const char *from) {
  int64_t open = 0;
  while (!at(Tok::Eof)) {
    StringRef between(lexer.previousEnd(), position() - lexer.previousEnd());
    bool firstOnLine = between.contains('\n');
    if (position() > from && firstOnLine) {
      if (looksLikeComputation()) {
        return;
      }
      if (open == 0 && (token().isKeyword("ROOT") ||
                        ((at(Tok::Name) || at(Tok::Ident)) && lexer.peekChar() == '='))) {
        return;
      }
    }
    switch (token().kind) {
    case Tok::LBrace:
    case Tok::LParen:
    case Tok::LSquare:
      ++open;
      break;
    case Tok::RBrace:
      if (open == 0 && firstOnLine) {
        return;
      }
      [[fallthrough]];
    case Tok::RParen:
    case Tok::RSquare:
      open -= open > 0;
      break;
    default:
      break;
    }
    lexer.advance();
  }
}

/// Skips to the next computation after an error outside of a body.
void Parser::skipToComputation() {
  while (!at(Tok::Eof)) {
    StringRef between(lexer.previousEnd(), position() - lexer.previousEnd());
    if (between.contains('\n') && looksLikeComputation()) {
      return;
    }
    lexer.advance();
  }
}

//===----------------------------------------------------------------------===//
// Module
//===----------------------------------------------------------------------===//

Parser::Result Parser::parseModuleText(ModuleOp module) {
  bool header = token().isKeyword("HloModule");
  if (!header && !token().isKeyword("ENTRY")) {
    Lexer::State start = lexer.save();
    lexer.advance();
    bool computationFirst = at(Tok::LBrace);
    lexer.restore(start);
    if (!computationFirst) {
      return parseSingleInstruction(module);
    }
  }
  if (header && failed(parseHeader(module))) {
    skipToComputation();
  }
  if (token().isKeyword("FileNames") && failed(parseStackTables(module))) {
    skipToComputation();
  }
  if (at(Tok::Eof) && !reporter.hasErrors()) {
    return error(position()) << "a module needs at least one computation";
  }
  while (!at(Tok::Eof) && !reporter.isFull()) {
    const char *start = position();
    if (failed(parseComputation())) {
      if (position() == start) {
        lexer.advance();
      }
      if (!looksLikeComputation()) {
        skipToComputation();
      }
    }
  }
  if (reporter.hasErrors()) {
    return failure();
  }
  finishEntry(module);
  if (!header) {
    module.setSymName("module_" + entry.getSymName().str());
  }
  return checkAliases(module);
}

void Parser::finishEntry(ModuleOp module) {
  if (!entry) {
    entry = lastComputation;
  }
  entry->setAttr("entry", builder.getUnitAttr());
}

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
    for (StringRef known :
         {"is_scheduled", "alias_passthrough_params", "replica_count", "num_partitions",
          "entry_computation_layout", "input_output_alias", "buffer_donor",
          "allow_spmd_sharding_propagation_to_parameters",
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
          failed(expect(Tok::LParen, "'('", where)) ||
          failed(parseInteger(parameter, where)) || failed(expect(Tok::Comma, "','", where)) ||
          failed(parseShapeIndex(index))) {
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

/// `{ {"old" {0}} : {"new"}, "HloModule r ..." {"a"} : {"b"} }`
Parser::Result Parser::parseRecoveryTable(std::string &text) {
  StringRef where = "in origin_recovery_table";
  if (failed(expect(Tok::LBrace, "'{'", where))) {
    return failure();
  }
  text += "{";
  while (!at(Tok::RBrace)) {
    text += " ";
    if (failed(parseOriginLeaf(text)) || failed(expect(Tok::Colon, "':'", where))) {
      return failure();
    }
    text += " : ";
    if (failed(parseOriginLeaf(text))) {
      return failure();
    }
    if (consumeIf(Tok::Comma)) {
      std::string recovery;
      if (failed(parseString(recovery, where))) {
        return failure();
      }
      text += ", " + quote(recovery);
    }
  }
  lexer.advance();
  text += " }";
  return success();
}

/// `{ {"inst" {0}}:({log_mode=default,op_id=1}), ... }`
Parser::Result Parser::parseDebugAttributes(std::string &text) {
  StringRef where = "in debug_attributes";
  if (failed(expect(Tok::LBrace, "'{'", where))) {
    return failure();
  }
  text += "{";
  bool firstEntry = true;
  while (!at(Tok::RBrace)) {
    if (!firstEntry && failed(expect(Tok::Comma, "',' or '}'", where))) {
      return failure();
    }
    text += firstEntry ? "" : ",";
    firstEntry = false;
    if (failed(parseOriginLeaf(text)) || failed(expect(Tok::Colon, "':'", where)) ||
        failed(expect(Tok::LParen, "'('", where))) {
      return failure();
    }
    text += ":(";
    bool firstGroup = true;
    while (!at(Tok::RParen)) {
      if (!firstGroup && failed(expect(Tok::Comma, "',' or ')'", where))) {
        return failure();
      }
      text += firstGroup ? "{" : ",{";
      firstGroup = false;
      if (failed(expect(Tok::LBrace, "'{'", where))) {
        return failure();
      }
      bool firstField = true;
      while (!at(Tok::RBrace)) {
        if (!firstField && failed(expect(Tok::Comma, "',' or '}'", where))) {
          return failure();
        }
        StringRef field = at(Tok::AttrName) ? token().text : "";
        text += (firstField ? "" : ",") + field.str() + "=";
        firstField = false;
        if (field == "log_mode") {
          lexer.advance();
          if (!atWord("default") && !atWord("fusion_debugger")) {
            return unexpected("default or fusion_debugger", "as log_mode");
          }
          text += token().text;
          lexer.advance();
        } else if (field == "partitioned") {
          lexer.advance();
          bool value;
          if (failed(parseBoolean(value, where))) {
            return failure();
          }
          text += value ? "true" : "false";
        } else if (field == "callback_id" || field == "op_id") {
          lexer.advance();
          int64_t value;
          if (failed(parseInteger(value, where))) {
            return failure();
          }
          text += std::to_string(value);
        } else {
          return unexpected("log_mode=, callback_id=, partitioned= or op_id=", where);
        }
      }
      lexer.advance();
      text += "}";
    }
    lexer.advance();
    text += ")";
  }
  lexer.advance();
  text += "}";
  return success();
}

Parser::Result Parser::parseStackTables(ModuleOp module) {
  static constexpr StringRef locationFields[] = {"file_name_id", "function_name_id", "line",
                                                 "end_line",     "column",           "end_column"};
  static constexpr StringRef frameFields[] = {"file_location_id", "parent_frame_id"};
  std::string text;
  for (StringRef section : {"FileNames", "FunctionNames", "FileLocations", "StackFrames"}) {
    if (!consumeIfKeyword(section)) {
      return unexpected(section, "in the stack frame tables");
    }
    text += (text.empty() ? "" : "\n") + section.str() + "\n";
    int64_t number = 0;
    while (at(Tok::Int)) {
      lexer.advance();
      text += std::to_string(++number) + " ";
      if (section == "FileNames" || section == "FunctionNames") {
        std::string name;
        if (failed(parseString(name, "in the stack frame tables"))) {
          return failure();
        }
        text += quote(name);
      } else if (failed(parseStackEntry(text, section == "StackFrames"
                                                  ? ArrayRef<StringRef>(frameFields)
                                                  : ArrayRef<StringRef>(locationFields)))) {
        return failure();
      }
      text += "\n";
    }
  }
  module->setAttr("hlo.stack_frames", builder.getStringAttr(text));
  return success();
}

/// `{file_location_id=1 parent_frame_id=2}`: all fields, in any order.
Parser::Result Parser::parseStackEntry(std::string &text, ArrayRef<StringRef> fields) {
  SmallVector<std::optional<int64_t>> values(fields.size());
  if (failed(expect(Tok::LBrace, "'{'", "in the stack frame tables"))) {
    return failure();
  }
  while (!at(Tok::RBrace)) {
    const auto *field =
        at(Tok::AttrName) ? llvm::find(fields, token().text) : fields.end();
    if (field == fields.end()) {
      return unexpected("one of " + llvm::join(fields, "=, ") + "=", "in the stack frame tables");
    }
    lexer.advance();
    int64_t value;
    if (failed(parseInteger(value, "in the stack frame tables"))) {
      return failure();
    }
    values[field - fields.begin()] = value;
    consumeIf(Tok::Comma);
  }
  text += "{";
  for (auto [field, value] : llvm::zip(fields, values)) {
    if (!value) {
      return error(position()) << "the entry has no " << field << "=";
    }
    text += (text.back() == '{' ? "" : " ") + field.str() + "=" + std::to_string(*value);
  }
  text += "}";
  lexer.advance();
  return success();
}

/// Output indices of input_output_alias must exist in the result.
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
        return error(aliasPosition)
               << "input_output_alias: the result " << typeToText(result) << " has no output "
               << joinIntegers(index, "{", "}");
      }
      type = tuple.getType(step);
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Computations
//===----------------------------------------------------------------------===//

Parser::Result Parser::parseComputation() {
  const char *start = position();
  bool isEntry = consumeIfKeyword("ENTRY");
  const char *nameAt = position();
  StringRef name;
  if (failed(parseName(name, "a computation name"))) {
    return failure();
  }
  if (isEntry) {
    if (entryPosition) {
      InFlightDiagnostic diagnostic = error(start);
      diagnostic << "a module has one ENTRY";
      diagnostic.attachNote(reporter.locate(entryPosition)) << "the other one";
    } else {
      entryPosition = start;
    }
  }
  const char *writtenAt = nullptr;
  Type written;
  if (at(Tok::LParen)) {
    if (failed(parseSignature(written))) {
      return failure();
    }
    writtenAt = nameAt;
  }
  if (failed(expect(Tok::LBrace, "'{'", "before the instructions of a computation"))) {
    return failure();
  }
  if (auto it = computations.find(name); it != computations.end()) {
    InFlightDiagnostic diagnostic = error(nameAt);
    diagnostic << "computation '" << name << "' is already defined";
    diagnostic.attachNote(reporter.locate(it->second.position)) << "first defined here";
  }
  Scope scope(UnknownLoc::get(context));
  std::string what = "computation '" + name.str() + "'";
  Result body = parseBody(scope, what);
  ComputationOp op = finishComputation(scope, name, nameAt, written, writtenAt, /*visible=*/true);
  if (failed(body)) {
    return failure();
  }
  if (at(Tok::Comma)) {
    lexer.advance();
    if (!consumeIfAttrName("execution_thread")) {
      return unexpected("execution_thread=", "after a computation");
    }
    std::string thread;
    if (failed(parseString(thread, "as the execution thread"))) {
      return failure();
    }
    if (op && thread != "main") {
      op->setAttr("execution_thread", builder.getStringAttr(thread));
    }
  }
  if (isEntry && op) {
    entry = op;
  }
  lastComputation = op;
  return success();
}

/// `(name: shape, ...) -> shape`. The parameters are read and forgotten.
Parser::Result Parser::parseSignature(Type &result) {
  lexer.advance();
  if (!at(Tok::RParen)) {
    do {
      if (!at(Tok::Name) && !at(Tok::Ident)) {
        return unexpected("'name: shape'", "in a parameter list");
      }
      if (token().sigil) {
        return error(position()) << "parameter names in a signature have no '%'";
      }
      lexer.advance();
      Type ignored;
      if (failed(parseShape(ignored))) {
        return failure();
      }
    } while (consumeIf(Tok::Comma));
  }
  if (failed(expect(Tok::RParen, "',' or ')'", "in a parameter list")) ||
      failed(expect(Tok::Arrow, "'->'", "after the parameters"))) {
    return failure();
  }
  return parseShape(result);
}

/// Instructions up to and with the closing brace.
Parser::Result Parser::parseBody(Scope &scope, StringRef what) {
  scope.storage = std::make_unique<Block>();
  scope.block = scope.storage.get();
  const char *start = position();
  while (!at(Tok::RBrace)) {
    if (at(Tok::Eof) || token().isKeyword("ENTRY")) {
      if (scope.broken) {
        return failure(); // the brace was probably skipped with an error
      }
      scope.broken = true;
      return error(position()) << "the body of " << what << " has no closing '}'";
    }
    if (reporter.isFull()) {
      scope.broken = true;
      return failure();
    }
    const char *from = position();
    if (failed(parseInstruction(scope))) {
      scope.broken = true;
      skipToInstruction(from);
      if (position() == from) {
        lexer.advance();
      }
      if (!at(Tok::RBrace) && looksLikeComputation()) {
        return failure(); // the closing brace was lost with the error
      }
    }
  }
  lexer.advance();
  if (!scope.last && !scope.broken) {
    scope.broken = true;
    return error(start) << what << " has no instructions";
  }
  return success();
}

/// Brings the block arguments into the order of the parameter numbers.
Parser::Result Parser::orderParameters(Scope &scope, StringRef name) {
  bool sorted = llvm::is_sorted(
      scope.parameters, [](const Parameter &a, const Parameter &b) { return a.number < b.number; });
  if (!sorted) {
    llvm::sort(scope.parameters,
               [](const Parameter &a, const Parameter &b) { return a.number < b.number; });
  }
  for (auto [i, parameter] : llvm::enumerate(scope.parameters)) {
    if (parameter.number != int64_t(i)) {
      return error(parameter.position) << "parameter " << parameter.number << " of '" << name
                                       << "', but there is no parameter " << i;
    }
  }
  if (sorted) {
    return success();
  }
  unsigned count = scope.parameters.size();
  for (Parameter &parameter : scope.parameters) {
    BlockArgument old = parameter.argument;
    parameter.argument = scope.block->addArgument(old.getType(), old.getLoc());
    old.replaceAllUsesWith(parameter.argument);
    scope.root = scope.root == old ? Value(parameter.argument) : scope.root;
    scope.last = scope.last == old ? Value(parameter.argument) : scope.last;
  }
  scope.block->eraseArguments(0, count);
  return success();
}

/// Nested instructions are `<opcode>.anon`, `<opcode>.anon.1`, ... as far as the
/// text does not use these names itself.
void Parser::nameAnonymous(Scope &scope) {
  llvm::StringMap<int64_t> next;
  for (auto [value, info, at] : scope.anonymous) {
    std::string stem = info->name.str() + ".anon";
    int64_t &count = next[stem];
    std::string name;
    do {
      name = stem + (count ? "." + std::to_string(count) : "");
      ++count;
    } while (scope.names.contains(name));
    value.setLoc(NameLoc::get(builder.getStringAttr(name), reporter.locate(at)));
  }
}

ComputationOp Parser::finishComputation(Scope &scope, StringRef name, const char *at, Type written,
                                        const char *writtenAt, bool visible) {
  auto enter = [&](ComputationOp op) {
    if (visible) {
      computations.try_emplace(name, KnownComputation{op, at});
    } else {
      computations[builder.getStringAttr(name).getValue()] = {op, at};
    }
    return op;
  };
  if (scope.broken) {
    return enter(ComputationOp());
  }
  nameAnonymous(scope);
  if (failed(orderParameters(scope, name))) {
    return enter(ComputationOp());
  }
  Value root = scope.hasRoot ? scope.root : scope.last;
  Location rootLocation = scope.hasRoot ? scope.rootLocation : scope.lastLocation;
  if (written && !areCompatible(written, root.getType())) {
    InFlightDiagnostic diagnostic = error(writtenAt);
    diagnostic << "the signature of '" << name << "' gives the result " << typeToText(written)
               << ", its root is " << typeToText(root.getType());
    diagnostic.attachNote(rootLocation) << "the root";
    return enter(ComputationOp());
  }
  OpBuilder ops(context);
  ops.setInsertionPointToEnd(scope.block);
  ReturnOp::create(ops, rootLocation, root);
  ops.setInsertionPointToEnd(moduleBlock);
  auto computation = ComputationOp::create(
      ops, NameLoc::get(builder.getStringAttr(name), reporter.locate(at)), name,
      builder.getFunctionType(scope.block->getArgumentTypes(), root.getType()));
  computation.getBody().push_back(scope.storage.release());
  bool anyAttributes = llvm::any_of(
      scope.parameters, [](const Parameter &p) { return p.attributes && !p.attributes.empty(); });
  if (anyAttributes) {
    SmallVector<Attribute> attributes;
    for (const Parameter &parameter : scope.parameters) {
      attributes.push_back(parameter.attributes ? parameter.attributes
                                                : builder.getDictionaryAttr({}));
    }
    computation->setAttr(computation.getArgAttrsAttrName(), builder.getArrayAttr(attributes));
  }
  return enter(computation);
}

/// A name with `stem` that occurs nowhere in the text.
std::string Parser::makeComputationName(StringRef stem) {
  GeneratedStem &generated = generatedStems[stem];
  if (generated.prefix.empty()) {
    StringRef text = lexer.getBuffer();
    generated.prefix = stem.str();
    for (uint64_t salt = llvm::xxh3_64bits(text); text.contains(generated.prefix + "."); ++salt) {
      generated.prefix = stem.str() + "_" + llvm::utohexstr(salt);
    }
  }
  return generated.prefix + "." + std::to_string(generated.count++);
}

/// `(ROOT? name =)? shape opcode(...)`: operands with a shape are parameters.
Parser::Result Parser::parseSingleInstruction(ModuleOp module) {
  Scope scope(UnknownLoc::get(context));
  scope.storage = std::make_unique<Block>();
  scope.block = scope.storage.get();
  scope.implicitParameters = true;
  const char *start = position();
  bool named = token().isKeyword("ROOT") ||
               ((at(Tok::Name) || at(Tok::Ident)) && lexer.peekChar() == '=');
  if (named) {
    if (failed(parseInstruction(scope))) {
      return failure();
    }
  } else {
    if (!atShape()) {
      return unexpected("a module, a computation or an instruction");
    }
    Instruction inst;
    inst.namePosition = start;
    if (failed(parseRightHandSide(scope, inst))) {
      return failure();
    }
    inst.name = inst.info->name;
    scope.lastLocation = NameLoc::get(builder.getStringAttr(inst.name), reporter.locate(start));
    scope.last = create(scope, inst, scope.lastLocation);
  }
  if (!at(Tok::Eof)) {
    return unexpected("the end of the text", "after a single instruction");
  }
  module.setSymName("_");
  module->setAttr("hlo.is_scheduled", builder.getUnitAttr());
  lastComputation = finishComputation(scope, "_", start, Type(), nullptr, /*visible=*/true);
  if (!lastComputation) {
    return failure();
  }
  finishEntry(module);
  return success();
}
