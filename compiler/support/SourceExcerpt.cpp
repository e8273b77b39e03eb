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

using namespace llvm;

namespace hlo {

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
      result += line.str() + (i + 1 < lines.size() ? "\n" : "");
      continue;
    }
    size_t caret = lines[i + 1].find('^');
    size_t begin = caret > width / 2 ? caret - width / 2 : 0;
    std::string before = begin > 0 ? kLeftOut.str() : "";
    std::string after = begin + width < line.size() ? kLeftOut.str() : "";
    result += before + line.substr(begin, width).str() + after + "\n";
    result += std::string(before.size() + caret - begin, ' ') + "^";
    ++i;
    result += i + 1 < lines.size() ? "\n" : "";
  }
  return result;
}

} // namespace hlo
