//===- CText.h - Text of a module inside generated C ----------------------===//
#ifndef COMPILER_TARGET_HEADER_CTEXT_H
#define COMPILER_TARGET_HEADER_CTEXT_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace hlo {

/// `text` as a C identifier: other characters become `_`. Appends `_` to keywords, macros and types
/// that a C or C++ compiler, the standard headers or <hlo/rt.h> define, and `_arg` to names that
/// begin with `__` or with `_` and a capital.
std::string cIdentifier(llvm::StringRef text);

/// `text` for the inside of a C comment: control characters, quotes, backslashes and non-ASCII
/// bytes become `\xNN`; a blank separates characters that would form a comment mark or a trigraph.
/// Cut after `most` characters.
std::string cText(llvm::StringRef text, size_t most = 200);

} // namespace hlo

#endif
