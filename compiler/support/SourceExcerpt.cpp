//===- SourceExcerpt.cpp - Readable excerpts of long source lines ---------===//
//
// In: diagnostics as LLVM's source manager renders them, line by line:
//
//   file:line:col: error: message
//   the whole source line
//        ^
//
// Out: the same with the second and third line cut to a window around the caret.
//
//===----------------------------------------------------------------------===//
#include "compiler/support/SourceExcerpt.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace llvm;

namespace hlo {

/// Length of the UTF-8 sequence at the start of `text`; 0 if the bytes are not valid UTF-8.
static size_t utf8Length(StringRef text) {
  auto *start = reinterpret_cast<const UTF8 *>(text.data());
  unsigned length = getNumBytesForUTF8(*start);
  return length <= text.size() && isLegalUTF8Sequence(start, start + length) ? length : 0;
}

std::string printable(StringRef text) {
  std::string result;
  while (!text.empty()) {
    size_t length = isPrint(text.front()) ? 1 : 0;
    if (length == 0 && static_cast<unsigned char>(text.front()) >= 0x80) {
      length = utf8Length(text);
    }
    if (length == 0) {
      result += "\\x" + toHex(text.take_front(1));
      length = 1;
    } else {
      result += text.take_front(length);
    }
    text = text.drop_front(length);
  }
  return result;
}

/// A source line with `?` for each byte that a terminal cannot show, so that columns are unchanged
/// and the caret below it points at the right character.
static std::string showable(StringRef line) {
  std::string result;
  while (!line.empty()) {
    char c = line.front();
    size_t length = static_cast<unsigned char>(c) >= 0x80 ? utf8Length(line) : 1;
    bool shows = length > 1 || (length == 1 && (isPrint(c) || c == '\t'));
    result += shows ? line.take_front(length) : StringRef("?");
    line = line.drop_front(std::max<size_t>(length, 1));
  }
  return result;
}

static bool isCaretLine(StringRef line) {
  return line.contains('^') && line.find_first_not_of(" \t^~") == StringRef::npos;
}

std::string shortenSourceLines(StringRef rendered, size_t width) {
  static constexpr StringLiteral kLeftOut = "...";
  SmallVector<StringRef> lines;
  rendered.split(lines, '\n');
  std::string result;
  for (size_t i = 0; i < lines.size(); ++i) {
    StringRef line = lines[i];
    bool hasCaret = i + 1 < lines.size() && isCaretLine(lines[i + 1]);
    if (line.size() <= width || !hasCaret) {
      result += showable(line) + (i + 1 < lines.size() ? "\n" : "");
      continue;
    }
    size_t caret = lines[i + 1].find('^');
    size_t begin = caret > width / 2 ? caret - width / 2 : 0;
    std::string before = begin > 0 ? kLeftOut.str() : "";
    std::string after = begin + width < line.size() ? kLeftOut.str() : "";
    result += before + showable(line.substr(begin, width)) + after + "\n";
    result += std::string(before.size() + caret - begin, ' ') + "^";
    ++i;
    result += i + 1 < lines.size() ? "\n" : "";
  }
  return result;
}

} // namespace hlo
