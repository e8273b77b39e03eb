//===- CText.h - Text of a module inside generated C ----------------------===//
#ifndef COMPILER_TARGET_CTEXT_H
#define COMPILER_TARGET_CTEXT_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace hlo {

/// `text` made a C identifier: other characters become `_`. A `_` is appended to what a C or C++
/// compiler, the standard headers or <hlo/rt.h> would read as something else (keywords, macros,
/// types that generated headers use), and `_arg` to names that begin with `__` or `_` and a
/// capital.
std::string cIdentifier(llvm::StringRef text);

/// `text` as part of a C comment: control characters, quotes, backslashes and all but ASCII are
/// written as `\xNN`, and a blank separates characters that would form a comment mark or a
/// trigraph. Text beyond `most` characters is cut.
std::string cText(llvm::StringRef text, size_t most = 200);

} // namespace hlo

#endif
