//===- Computations.cpp - Call graph of a module's computations -----------===//
//
// Parses `ENTRY? name signature? { instructions }` into an `hlo.computation`. Parameters may come
// in any order; block arguments are ordered by parameter number. Of a computation with errors only
// the name is recorded.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/ParserImpl.h"
#include "compiler/parser/print/PrinterImpl.h"
#include "llvm/Support/xxhash.h"

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::StringRef;

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

/// `(name: shape, ...) -> shape`. The parameters are parsed and dropped.
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

/// Reorders the block arguments by parameter number.
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

/// Names nested instructions `<opcode>.anon`, `<opcode>.anon.1`, ..., skipping names that occur in
/// the text.
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

/// A name that starts with `stem`, does not occur in the text, and is no other computation's.
std::string Parser::makeComputationName(StringRef stem) {
  GeneratedStem &generated = generatedStems[stem];
  if (generated.prefix.empty()) {
    StringRef text = lexer.getBuffer();
    generated.prefix = stem.str();
    for (uint64_t salt = llvm::xxh3_64bits(text); text.contains(generated.prefix + "."); ++salt) {
      generated.prefix = stem.str() + "_" + llvm::utohexstr(salt);
    }
  }
  // Only the builder has computations that are not in the text.
  std::string name;
  do {
    name = generated.prefix + "." + std::to_string(generated.count++);
  } while (computations.contains(name) || !generatedNames.insert(name).second);
  return name;
}
