//===- SourceExcerpt.h - Readable excerpts of long source lines -----------===//
#ifndef COMPILER_SUPPORT_SOURCEEXCERPT_H
#define COMPILER_SUPPORT_SOURCEEXCERPT_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace hlo {

/// `text` for a terminal: control characters and bytes that are no UTF-8 as `\xNN`, line breaks
/// and tabs too. Names in a module may hold anything.
std::string printable(llvm::StringRef text);

/// Rendered diagnostics in which no source line is longer than about `width` characters: of a
/// longer one the part around the caret below it is kept, with "..." where something is left out,
/// and the caret stays below its character. HLO headers and literals are often one line of
/// megabytes.
std::string shortenSourceLines(llvm::StringRef rendered, size_t width = 160);

} // namespace hlo

#endif
