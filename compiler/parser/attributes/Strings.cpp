//===- Strings.cpp - Escapes ---------------------------------------------===//
//
// Converts strings of the text to bytes and back; prints lists of integers.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/ParserImpl.h"
#include "llvm/ADT/StringExtras.h"

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::StringRef;

bool hlo::parser::unescape(StringRef spelling, std::string &value) {
  StringRef body = spelling.drop_front().drop_back();
  value.clear();
  value.reserve(body.size());
  auto appendUtf8 = [&](uint32_t code) {
    if (code < 0x80) {
      value += char(code);
    } else if (code < 0x800) {
      value += {char(0xC0 | code >> 6), char(0x80 | (code & 0x3F))};
    } else if (code < 0x10000) {
      value +=
          {char(0xE0 | code >> 12), char(0x80 | (code >> 6 & 0x3F)), char(0x80 | (code & 0x3F))};
    } else {
      value += {char(0xF0 | code >> 18), char(0x80 | (code >> 12 & 0x3F)),
                char(0x80 | (code >> 6 & 0x3F)), char(0x80 | (code & 0x3F))};
    }
  };
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\') {
      value += body[i];
      continue;
    }
    if (++i == body.size()) {
      return false;
    }
    char c = body[i];
    static constexpr StringRef letters = "abfnrtv\\?'\"";
    static constexpr StringRef meanings = "\a\b\f\n\r\t\v\\?'\"";
    if (size_t at = letters.find(c); at != StringRef::npos) {
      value += meanings[at];
    } else if (c >= '0' && c <= '7') {
      size_t length = 1;
      while (length < 3 && i + length < body.size() && body[i + length] >= '0' &&
             body[i + length] <= '7') {
        ++length;
      }
      unsigned code;
      body.substr(i, length).getAsInteger(8, code);
      if (code > 255) {
        return false;
      }
      value += char(code);
      i += length - 1;
    } else if (c == 'x' || c == 'u' || c == 'U') {
      size_t most = c == 'x' ? 2 : c == 'u' ? 4 : 8;
      size_t length = 0;
      while (length < most && i + 1 + length < body.size() &&
             llvm::isHexDigit(body[i + 1 + length])) {
        ++length;
      }
      if (length == 0 || (c != 'x' && length != most)) {
        return false;
      }
      uint32_t code;
      body.substr(i + 1, length).getAsInteger(16, code);
      if (c == 'x') {
        value += char(code);
      } else if (code > 0x10FFFF) {
        return false;
      } else {
        appendUtf8(code);
      }
      i += length;
    } else {
      return false;
    }
  }
  return true;
}

/// `value`, escaped, between two `mark`s.
static std::string quoteWith(StringRef value, char mark) {
  std::string text(1, mark);
  for (unsigned char c : value) {
    switch (c) {
    case '\n': text += "\\n"; break;
    case '\r': text += "\\r"; break;
    case '\t': text += "\\t"; break;
    case '"': text += "\\\""; break;
    case '\'': text += "\\'"; break;
    case '\\': text += "\\\\"; break;
    default:
      if (c >= 32 && c < 127) {
        text += char(c);
      } else {
        text += {'\\', char('0' + (c >> 6)), char('0' + (c >> 3 & 7)), char('0' + (c & 7))};
      }
    }
  }
  return text + mark;
}

std::string hlo::parser::quote(StringRef value) { return quoteWith(value, '"'); }
std::string hlo::parser::quoteName(StringRef value) { return quoteWith(value, '\''); }

std::string hlo::parser::joinIntegers(ArrayRef<int64_t> values, StringRef open, StringRef close) {
  std::string text = open.str();
  for (auto [i, value] : llvm::enumerate(values)) {
    text += (i ? "," : "") + std::to_string(value);
  }
  return text + close.str();
}
