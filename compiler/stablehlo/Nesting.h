//===- Nesting.h - Checks of a text, before it is parsed ------------------===//
#ifndef COMPILER_STABLEHLO_NESTING_H
#define COMPILER_STABLEHLO_NESTING_H

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace hlo::stable {

/// Levels of brackets that texts may have. MLIR's parser takes up to some kilobytes of stack for
/// each; programs of JAX have some ten.
inline constexpr unsigned kMostBrackets = 400;

/// The first bracket of MLIR text that is inside of more than `most` others; none if there is no
/// such bracket. Strings and comments do not count.
std::optional<size_t> findDeepBracket(llvm::StringRef text, unsigned most);

/// What the parser of MLIR 22 does not survive, and its place.
struct ParserTrap {
  size_t at;
  llvm::StringRef message;
};

/// The first trap in MLIR text: `array<index: 1>`, on which the parser crashes, or `%x#N` with an N
/// of more than six digits, for which it makes a table of N entries.
std::optional<ParserTrap> findParserTrap(llvm::StringRef text);

} // namespace hlo::stable

#endif
