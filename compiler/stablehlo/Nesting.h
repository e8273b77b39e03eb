//===- Nesting.h - Brackets of a text, before it is parsed ----------------===//
#ifndef COMPILER_STABLEHLO_NESTING_H
#define COMPILER_STABLEHLO_NESTING_H

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace hlo::stable {

/// The first bracket of MLIR text that is inside of more than `most` others; none if there is no
/// such bracket. Strings and comments do not count.
std::optional<size_t> findDeepBracket(llvm::StringRef text, unsigned most);

} // namespace hlo::stable

#endif
