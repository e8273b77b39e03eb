//===- Nesting.h - Brackets of a text, before it is parsed ----------------===//
#ifndef COMPILER_STABLEHLO_NESTING_H
#define COMPILER_STABLEHLO_NESTING_H

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace hlo::stable {

/// The first bracket of MLIR text that is inside of more than `most` others; none if there is no
/// such bracket. Strings and comments do not count.
std::optional<size_t> findDeepBracket(llvm::StringRef text, unsigned most);

/// The first `array<index` of MLIR text, as in `array<index: 1>`; none if there is no such array. It
/// is not valid, but the parser of MLIR 22 crashes instead of saying so.
std::optional<size_t> findIndexArray(llvm::StringRef text);

} // namespace hlo::stable

#endif
