//===- References.cpp - Computations and instructions named in attributes ===//
//
// Called computations are names of earlier ones, or bodies in place, which become
// computations with a name of their own; control predecessors are names.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/ParserImpl.h"

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::StringRef;

Parser::Result Parser::parseComputationRef(FlatSymbolRefAttr &ref, StringRef attribute) {
  if (at(Tok::LBrace)) {
    return parseInlineComputation(ref, attribute);
  }
  const char *start = position();
  StringRef name;
  if (failed(parseName(name, "a computation"))) {
    return failure();
  }
  if (!computations.contains(name)) {
    NearestName nearest(name);
    for (auto &known : computations) {
      nearest.consider(known.first);
    }
    return error(start) << "computation '" << name << "' of " << attribute << " does not exist"
                        << nearest.suggestion();
  }
  ref = FlatSymbolRefAttr::get(context, name);
  return success();
}

Parser::Result Parser::parseComputationRefs(Attribute &refs, StringRef attribute) {
  if (failed(expect(Tok::LBrace, "'{'", "before a list of computations"))) {
    return failure();
  }
  SmallVector<Attribute> list;
  if (!at(Tok::RBrace)) {
    do {
      FlatSymbolRefAttr ref;
      if (failed(parseComputationRef(ref, attribute))) {
        return failure();
      }
      list.push_back(ref);
    } while (consumeIf(Tok::Comma));
  }
  refs = builder.getArrayAttr(list);
  return expect(Tok::RBrace, "',' or '}'", "in a list of computations");
}

Parser::Result Parser::parseInlineComputation(FlatSymbolRefAttr &ref, StringRef attribute) {
  const char *start = position();
  if (failed(enter(start))) {
    return failure();
  }
  DepthGuard guard(depth);
  lexer.advance();
  Scope scope(UnknownLoc::get(context));
  if (failed(parseBody(scope, "the computation"))) {
    return failure();
  }
  std::string name = makeComputationName("inline");
  if (!finishComputation(scope, name, start, Type(), nullptr, /*visible=*/false)) {
    return failure();
  }
  ref = FlatSymbolRefAttr::get(context, name);
  return success();
}

Parser::Result Parser::parseControlPredecessors(Scope &scope, Attribute &value) {
  if (failed(expect(Tok::LBrace, "'{'", "in control-predecessors"))) {
    return failure();
  }
  SmallVector<Attribute> names;
  llvm::StringSet<> seen;
  do {
    const char *start = position();
    StringRef name;
    if (failed(parseName(name, "an instruction"))) {
      return failure();
    }
    if (!scope.names.contains(name)) {
      NearestName nearest(name);
      for (auto &known : scope.names) {
        nearest.consider(known.first);
      }
      return error(start) << "control predecessor '" << name << "' does not exist"
                          << nearest.suggestion();
    }
    if (seen.insert(name).second) {
      names.push_back(builder.getStringAttr(name));
    }
  } while (consumeIf(Tok::Comma));
  value = builder.getArrayAttr(names);
  return expect(Tok::RBrace, "',' or '}'", "in control-predecessors");
}
