//===- Lexer.cpp - Tokens of the HLO text format --------------------------===//
//
// Text in, one token at a time out. At a digit, `-` or `?` the patterns are
// tried in the order decimal, dim labels, DxD, pad, integer; a word is a name
// (`%w`, `w:`), an attribute name (`w=`), a type, a keyword, dim labels or a
// plain identifier, in that order. Nothing here recurses or allocates.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/Lexer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace hlo::parser;
using llvm::isDigit;
using llvm::StringRef;

namespace {
struct CharTable {
  bool identifier[256] = {};
  constexpr CharTable() {
    for (int c = 0; c < 256; ++c) {
      identifier[c] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '.' || c == '-';
    }
  }
};
constexpr CharTable charTable;
} // namespace

bool hlo::parser::isIdentifierChar(char c) { return charTable.identifier[uint8_t(c)]; }
bool hlo::parser::isIdentifierStart(char c) { return llvm::isAlpha(c) || c == '_'; }

bool hlo::parser::isReservedWord(StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"HloModule", "ENTRY", "ROOT", "FileNames", "FunctionNames"}, true)
      .Cases({"FileLocations", "StackFrames", "true", "false", "inf", "nan"}, true)
      .Cases({"maximal", "replicated", "manual", "unknown", "unreduced"}, true)
      .Cases({"last_tile_dim_replicate", "shard_as", "shard_like"}, true)
      .Default(false);
}

bool hlo::parser::isPrimitiveWord(StringRef name) {
  switch (name.empty() ? 0 : name.front()) {
  case 's':
  case 'u':
    name = name.drop_front();
    return name == "1" || name == "2" || name == "4" || name == "8" || name == "16" ||
           name == "32" || name == "64";
  case 'f':
    return llvm::StringSwitch<bool>(name)
#define HLO_FLOAT(NAME, TYPE, SEMANTICS, CODE) .Case(NAME, true)
#include "dialect/hlo/FloatTypes.def"
        .Default(false);
  default:
    return name == "pred" || name == "bf16" || name == "c64" || name == "c128" || name == "token" ||
           name == "opaque";
  }
}

Lexer::Lexer(StringRef buffer)
    : start(buffer.begin()), end(buffer.end()), cursor(buffer.begin()), lastEnd(buffer.begin()) {
  lex();
}

void Lexer::finish(Tok kind, const char *tokenEnd) {
  current.kind = kind;
  current.text = StringRef(current.begin, tokenEnd - current.begin);
  cursor = tokenEnd;
}

void Lexer::fail(const char *message, const char *tokenEnd) {
  finish(Tok::Error, tokenEnd);
  current.error = message;
}

/// Skips blanks and comments; false at a comment that does not end.
bool Lexer::skipBlank() {
  while (cursor < end) {
    char c = *cursor;
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++cursor;
      continue;
    }
    if (c != '/' || cursor + 1 == end) {
      return true;
    }
    if (cursor[1] == '*') {
      size_t close = StringRef(cursor + 2, end - cursor - 2).find("*/");
      if (close == StringRef::npos) {
        return false;
      }
      cursor += close + 4;
    } else if (cursor[1] == '/') {
      while (cursor < end && *cursor != '\n' && *cursor != '\r') {
        ++cursor;
      }
    } else {
      return true;
    }
  }
  return true;
}

char Lexer::peekChar() const {
  Lexer ahead(*this);
  return ahead.skipBlank() && ahead.cursor < end ? *ahead.cursor : 0;
}

void Lexer::lex() {
  bool terminated = skipBlank();
  current.begin = cursor;
  current.sigil = current.colon = false;
  current.error = nullptr;
  if (!terminated) {
    return fail("comment without an end", end);
  }
  if (cursor == end) {
    return finish(Tok::Eof, end);
  }
  char c = *cursor;
  if (isIdentifierStart(c)) {
    return lexWord();
  }
  switch (c) {
  case '%': return lexSigil();
  case '"':
  case '\'': return lexString(c);
  case '=': return finish(Tok::Equal, cursor + 1);
  case ',': return finish(Tok::Comma, cursor + 1);
  case ':': return finish(Tok::Colon, cursor + 1);
  case '*': return finish(Tok::Star, cursor + 1);
  case '#': return finish(Tok::Hash, cursor + 1);
  case '+': return finish(Tok::Plus, cursor + 1);
  case '~': return finish(Tok::Tilde, cursor + 1);
  case '[': return finish(Tok::LSquare, cursor + 1);
  case ']': return finish(Tok::RSquare, cursor + 1);
  case '{': return finish(Tok::LBrace, cursor + 1);
  case '}': return finish(Tok::RBrace, cursor + 1);
  case '(': return finish(Tok::LParen, cursor + 1);
  case ')': return finish(Tok::RParen, cursor + 1);
  case '<':
    if (cursor + 1 < end && cursor[1] == '=') {
      return finish(Tok::LessEqual, cursor + 2);
    }
    return fail("stray '<'", cursor + 1);
  case '.':
    if (end - cursor >= 3 && cursor[1] == '.' && cursor[2] == '.') {
      return finish(Tok::Dots, cursor + 3);
    }
    return fail("stray '.'; a number needs a digit before the point", cursor + 1);
  case '-':
    if (cursor + 1 < end && cursor[1] == '>') {
      return finish(Tok::Arrow, cursor + 2);
    }
    return lexNumber();
  case '?':
    if (lexDimLabels()) {
      return;
    }
    return finish(Tok::Question, cursor + 1);
  default:
    if (isDigit(c)) {
      return lexNumber();
    }
    return fail(c == 0             ? "NUL character"
                : c == '/'         ? "stray '/'"
                : uint8_t(c) > 127 ? "character outside ASCII"
                                   : "stray character",
                cursor + 1);
  }
}

void Lexer::lexSigil() {
  const char *p = cursor + 1;
  if (p == end || !isIdentifierStart(*p)) {
    return fail("expected a name right after '%'", p);
  }
  while (p < end && isIdentifierChar(*p)) {
    ++p;
  }
  finish(Tok::Name, p);
  current.text = current.text.drop_front();
  current.sigil = true;
}

void Lexer::lexWord() {
  const char *p = cursor + 1;
  while (p < end && isIdentifierChar(*p)) {
    ++p;
  }
  if (p < end && *p == ':') {
    finish(Tok::Name, p);
    current.colon = true;
    cursor = p + 1;
    return;
  }
  if (p < end && *p == '=') {
    finish(Tok::AttrName, p);
    cursor = p + 1;
    return;
  }
  StringRef word(cursor, p - cursor);
  if (isPrimitiveWord(word)) {
    return finish(Tok::Primitive, p);
  }
  if (word == "inf") {
    return finish(Tok::NonFinite, p);
  }
  if (word == "nan") {
    lexNonFinite(p, /*isNan=*/true);
    return;
  }
  if (isReservedWord(word)) {
    return finish(Tok::Keyword, p);
  }
  if ((word.front() == 'b' || word.front() == 'f') && lexDimLabels()) {
    return;
  }
  finish(Tok::Ident, p);
}

/// Called after `nan`: consumes a payload `(0x..)` if there is one.
bool Lexer::lexNonFinite(const char *after, bool isNan) {
  if (isNan && end - after > 3 && after[0] == '(' && after[1] == '0' && after[2] == 'x') {
    const char *p = after + 3;
    while (p < end && llvm::isHexDigit(*p)) {
      ++p;
    }
    if (p > after + 3 && p < end && *p == ')') {
      finish(Tok::NonFinite, p + 1);
      return true;
    }
  }
  finish(Tok::NonFinite, after);
  return true;
}

/// Tries `[0-9bf?]{2,}_[0-9io?]{2,}->[0-9bf?]{2,}`.
bool Lexer::lexDimLabels() {
  const char *p = cursor;
  auto take = [&](char a, char b) {
    const char *from = p;
    while (p < end && (isDigit(*p) || *p == a || *p == b || *p == '?')) {
      ++p;
    }
    return p - from >= 2;
  };
  if (!take('b', 'f') || p == end || *p++ != '_' || !take('i', 'o') || end - p < 2 || p[0] != '-' ||
      p[1] != '>') {
    return false;
  }
  p += 2;
  if (!take('b', 'f')) {
    return false;
  }
  finish(Tok::DimLabels, p);
  return true;
}

void Lexer::lexNumber() {
  const char *p = cursor;
  bool negative = *p == '-';
  p += negative;
  if (negative && end - p >= 3 && StringRef(p, 3) == "inf") {
    return finish(Tok::NonFinite, p + 3);
  }
  if (negative && end - p >= 3 && StringRef(p, 3) == "nan") {
    lexNonFinite(p + 3, /*isNan=*/true);
    return;
  }
  const char *digits = p;
  auto skipDigits = [&](const char *q) {
    while (q < end && isDigit(*q)) {
      ++q;
    }
    return q;
  };
  p = skipDigits(p);
  bool hasDigits = p > digits;

  // Decimal: a point, an exponent, or both.
  const char *q = p;
  bool decimal = false;
  if (q < end && *q == '.' && (hasDigits || (q + 1 < end && isDigit(q[1])))) {
    q = skipDigits(q + 1);
    decimal = true;
  }
  if ((hasDigits || decimal) && q < end && (*q == 'e' || *q == 'E')) {
    const char *e = q + 1;
    e += e < end && (*e == '+' || *e == '-');
    if (e < end && isDigit(*e)) {
      q = skipDigits(e);
      decimal = true;
    }
  }
  if (decimal) {
    auto [last, error] = std::from_chars(cursor, q, current.floatValue);
    if (error != std::errc() || last != q) {
      // Out of range: zero if too small, else an error.
      current.floatValue = std::strtod(std::string(cursor, q).c_str(), nullptr);
      if (!std::isfinite(current.floatValue)) {
        return fail("number beyond the range of a double", q);
      }
    }
    return finish(Tok::Decimal, q);
  }
  if (!hasDigits) {
    return fail("stray '-'", cursor + 1);
  }
  if (!negative && p < end && (*p == 'b' || *p == 'f' || *p == '?' || *p == '_') &&
      lexDimLabels()) {
    return;
  }
  if (!negative && p + 1 < end && *p == 'x' && isDigit(p[1])) {
    while (p + 1 < end && *p == 'x' && isDigit(p[1])) {
      p = skipDigits(p + 1);
    }
    return finish(Tok::DxD, p);
  }

  // Pad: groups `lo_hi(_interior)?` joined by `x`.
  auto takePadGroup = [&](const char *from) -> const char * {
    const char *r = from + (from < end && *from == '-');
    const char *next = skipDigits(r);
    if (next == r || next == end || *next != '_') {
      return nullptr;
    }
    r = next + 1;
    r += r < end && *r == '-';
    next = skipDigits(r);
    if (next == r) {
      return nullptr;
    }
    if (next + 1 < end && *next == '_' && isDigit(next[1])) {
      next = skipDigits(next + 1);
    }
    return next;
  };
  if (p < end && *p == '_') {
    if (const char *r = takePadGroup(cursor)) {
      while (r < end && *r == 'x') {
        const char *next = takePadGroup(r + 1);
        if (!next) {
          break;
        }
        r = next;
      }
      return finish(Tok::Pad, r);
    }
  }

  // Integer: negative numbers must fit int64, others uint64 (reinterpreted).
  if (negative) {
    auto [last, error] = std::from_chars(cursor, p, current.intValue);
    if (error != std::errc()) {
      return fail("integer below the range of 64 bits", p);
    }
    return finish(Tok::Int, p);
  }
  uint64_t value = 0;
  auto [last, error] = std::from_chars(cursor, p, value);
  if (error != std::errc()) {
    return fail("integer above the range of 64 bits", p);
  }
  current.intValue = int64_t(value);
  finish(Tok::Int, p);
}

void Lexer::lexString(char quote) {
  for (const char *p = cursor + 1; p < end; ++p) {
    if (*p == '\\') {
      ++p;
    } else if (*p == quote) {
      return finish(Tok::String, p + 1);
    }
  }
  fail("string without an end", end);
}

bool Lexer::takeRawBraces(StringRef &text) {
  int64_t depth = 0;
  bool inString = false;
  for (const char *p = current.begin; p < end; ++p) {
    char c = *p;
    if (inString) {
      if (c == '\\') {
        ++p;
      } else if (c == '"') {
        inString = false;
      }
      continue;
    }
    if (c == '"') {
      inString = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      text = StringRef(current.begin, p + 1 - current.begin);
      cursor = p + 1;
      advance();
      return true;
    }
  }
  return false;
}
