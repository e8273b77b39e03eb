//===- Tokens.cpp - Helpers of all productions ----------------------------===//
//
// Helpers of all productions: expecting and consuming tokens, numbers, names and lists of integers;
// the wording of "expected ..."; the bound on nesting.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/ParserImpl.h"

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::StringRef;

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
    reporter.giveUp(); // the following errors would come from the same nest
    return failure();
  }
  ++depth;
  return success();
}
