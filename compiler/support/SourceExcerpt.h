//===- SourceExcerpt.h - Readable excerpts of long source lines -----------===//
#ifndef COMPILER_SUPPORT_SOURCEEXCERPT_H
#define COMPILER_SUPPORT_SOURCEEXCERPT_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace hlo {

/// `text` for a terminal: control characters, line breaks, tabs and bytes that are not UTF-8 become
/// `\xNN`. Names in a module may hold any bytes.
std::string printable(llvm::StringRef text);

/// Rendered diagnostics with source lines of at most about `width` characters. A longer line is cut
/// to a window around its caret, with "..." at the cuts; the caret keeps pointing at its character.
/// HLO headers and literals are often one line of megabytes.
std::string shortenSourceLines(llvm::StringRef rendered, size_t width = 160);

} // namespace hlo

#endif
