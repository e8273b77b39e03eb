//===- Module.cpp - The whole text ----------------------------------------===//
//
// The outermost production and error recovery. The first two tokens decide between a module with a
// header, a list of computations, and one instruction. After an error the rest of the instruction
// is skipped and parsing continues. The name of a computation with errors stays known, so that its
// users report no further errors.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/ParserImpl.h"

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::StringRef;

OwningOpRef<ModuleOp> hlo::parseHlo(StringRef text, StringRef fileName, MLIRContext *context,
                                    const ParseOptions &options) {
  context->loadDialect<HloDialect>();
  return Parser(text, fileName, context, options).parse();
}

Parser::Parser(StringRef text, StringRef fileName, MLIRContext *context,
               const ParseOptions &options)
    : lexer(text), reporter(text, fileName, context, options.errorLimit), context(context),
      builder(context), opcodes(context), budget(options.budget) {}

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

/// True if a computation begins at the current token: `ENTRY`, `name {`, or a name whose line
/// continues with `(...) -> ... {`.
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

/// Skips the rest of an instruction that began at `from`, to the next line that looks like an
/// instruction, a closing brace or a computation.
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
    case Tok::LSquare: ++open; break;
    case Tok::RBrace:
      if (open == 0 && firstOnLine) {
        return;
      }
      [[fallthrough]];
    case Tok::RParen:
    case Tok::RSquare: open -= open > 0; break;
    default: break;
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
  if (header) {
    module->setLoc(reporter.locate(position()));
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
  if (failed(finishEntry(module))) {
    return failure();
  }
  if (!header) {
    module.setSymName("module_" + entry.getSymName().str());
  }
  return checkAliases(module);
}

/// Selects the entry. The entry layout stores the tuple indices of each array; for a list of pairs
/// (nested tuples) their number is quadratic in the list's length, so it is checked here.
Parser::Result Parser::finishEntry(ModuleOp module) {
  constexpr uint64_t stepsPerLeaf = 16;
  if (!entry) {
    entry = lastComputation;
  }
  entry->setAttr("entry", builder.getUnitAttr());
  auto check = [&](Type type, Location location, StringRef what) -> Result {
    TypeExtent extent = extentOf(type);
    if (extent.steps <= llvm::SaturatingMultiply(stepsPerLeaf, budget.leaves)) {
      return success();
    }
    return emitError(location) << what << " of the entry has " << extent.leaves
                               << " arrays whose tuple indices are " << extent.steps << " numbers; "
                               << budget.text(&Budget::leaves) << ", " << stepsPerLeaf
                               << " for each";
  };
  for (BlockArgument argument : entry.getBody().getArguments()) {
    if (failed(check(argument.getType(), argument.getLoc(), "a parameter"))) {
      return failure();
    }
  }
  Operation *root = entry.getReturn();
  for (Value result : root->getOperands()) {
    if (failed(check(result.getType(), result.getLoc(), "the result"))) {
      return failure();
    }
  }
  return success();
}

/// `(ROOT? name =)? shape opcode(...)`: operands with a shape are parameters.
Parser::Result Parser::parseSingleInstruction(ModuleOp module) {
  Scope scope(UnknownLoc::get(context));
  scope.storage = std::make_unique<Block>();
  scope.block = scope.storage.get();
  scope.implicitParameters = true;
  const char *start = position();
  bool named =
      token().isKeyword("ROOT") || ((at(Tok::Name) || at(Tok::Ident)) && lexer.peekChar() == '=');
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
  return finishEntry(module);
}
