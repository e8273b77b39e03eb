//===- Nesting.cpp - Checks of a text, before it is parsed ----------------===//
//
// MLIR's parser calls itself for every level of regions, attributes, types and literals, and has no
// limit. A scan over the characters bounds the depth of its stack beforehand. It passes over
// strings as wholes, because hundreds of megabytes of hexadecimal constants are strings.
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/Nesting.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>

using hlo::stable::ParserTrap;
using llvm::StringRef;

/// The position behind the string whose opening quote is at `at`.
static size_t stringEnd(StringRef text, size_t at) {
  for (++at; at < text.size();) {
    const void *quote = std::memchr(text.data() + at, '"', text.size() - at);
    if (!quote) {
      return text.size();
    }
    size_t end = static_cast<const char *>(quote) - text.data();
    size_t escapes = 0;
    while (end - escapes > at && text[end - escapes - 1] == '\\') {
      ++escapes;
    }
    at = end + 1;
    if (escapes % 2 == 0) {
      break;
    }
  }
  return at;
}

/// The end of the comment at `at`, or `at` if there is none.
static size_t commentEnd(StringRef text, size_t at) {
  return text.substr(at).starts_with("//") ? std::min(text.find('\n', at), text.size()) : at;
}

std::optional<ParserTrap> hlo::stable::findParserTrap(StringRef text) {
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.'; };
  auto isSigil = [](char c) { return StringRef("%@#!^").contains(c); };
  // What has been read: nothing of it, `array`, `array <`.
  enum { nothing, word, open } state = nothing;
  size_t start = 0;
  for (size_t at = 0; at < text.size();) {
    char c = text[at];
    if (c == '"') {
      state = nothing;
      at = stringEnd(text, at);
    } else if (isWord(c)) {
      StringRef read = text.substr(at).take_while(isWord);
      if (state == open && read == "index") {
        return ParserTrap{start,
                          "an array attribute has integers or floats of a fixed width, not index"};
      }
      if (at > 0 && text[at - 1] == '#' && read.size() > 6 && llvm::all_of(read, llvm::isDigit)) {
        return ParserTrap{at, "the number of a result is too large"};
      }
      state = read == "array" && (at == 0 || !isSigil(text[at - 1])) ? word : nothing;
      start = at;
      at += read.size();
    } else if (size_t end = commentEnd(text, at); end != at) {
      at = end;
    } else {
      if (!llvm::isSpace(c)) {
        state = state == word && c == '<' ? open : nothing;
      }
      ++at;
    }
  }
  return std::nullopt;
}

std::optional<size_t> hlo::stable::findDeepBracket(StringRef text, unsigned most) {
  unsigned depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
    case '(':
    case '[':
    case '{':
    case '<':
      if (++depth > most) {
        return at;
      }
      break;
    case ')':
    case ']':
    case '}': depth -= depth > 0; break;
    case '>': depth -= depth > 0 && (at == 0 || text[at - 1] != '-'); break;
    case '"': at = stringEnd(text, at) - 1; break;
    case '/': at = commentEnd(text, at); break;
    default: break;
    }
  }
  return std::nullopt;
}
