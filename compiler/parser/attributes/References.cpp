//===- References.cpp - Computations and instructions named in attributes ===//
//
// Called computations are names of earlier computations, or inline bodies, which become
// computations with generated names. Control predecessors are names of instructions.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/ParserImpl.h"

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::StringRef;

/// The position of `name` at the start of a line, after the optional keyword; null if the line does
/// not start so, or if none of `next` follows.
static const char *nameAtStart(StringRef line, StringRef keyword, StringRef name, StringRef next) {
  line = line.ltrim();
  if (line.consume_front(keyword)) {
    line = line.ltrim();
  }
  line.consume_front("%");
  const char *place = line.data();
  if (!line.consume_front(name)) {
    return nullptr;
  }
  line = line.ltrim();
  return !line.empty() && next.contains(line.front()) ? place : nullptr;
}

const char *Parser::findComputation(StringRef name) const {
  StringRef rest = lexer.getBuffer();
  while (!rest.empty()) {
    auto [line, below] = rest.split('\n');
    if (line.contains('{')) {
      if (const char *place = nameAtStart(line, "ENTRY", name, "({")) {
        return place;
      }
    }
    rest = below;
  }
  return nullptr;
}

const char *Parser::findInstructionBelow(StringRef name) const {
  const char *begin = token().begin;
  StringRef rest = StringRef(begin, lexer.getBuffer().end() - begin).split('\n').second;
  while (!rest.empty() && !rest.starts_with("}")) {
    auto [line, below] = rest.split('\n');
    if (const char *place = nameAtStart(line, "ROOT", name, "=")) {
      return place;
    }
    rest = below;
  }
  return nullptr;
}

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
    if (const char *definition = findComputation(name)) {
      InFlightDiagnostic diagnostic = error(start);
      diagnostic << "computation '" << name << "' of " << attribute
                 << " must be defined before it is used";
      diagnostic.attachNote(reporter.locate(definition)) << "its definition";
      return diagnostic;
    }
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
