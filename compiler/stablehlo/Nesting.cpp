//===- Nesting.cpp - Brackets of a text, before it is parsed --------------===//
//
// MLIR's parser calls itself for every level of regions, attributes, types and literals, and has no
// limit. A scan over the characters bounds the depth of its stack beforehand. It passes over
// strings as wholes, because hundreds of megabytes of hexadecimal constants are strings.
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/Nesting.h"
#include <cstring>

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
    case '/':
      if (text.substr(at).starts_with("//")) {
        at = std::min(text.find('\n', at), text.size());
      }
      break;
    default: break;
    }
  }
  return std::nullopt;
}
