//===- SizeArguments.h - Attributes for the sizes of dimensions -----------===//
#ifndef COMPILER_ANALYSIS_ENTRY_SIZEARGUMENTS_H
#define COMPILER_ANALYSIS_ENTRY_SIZEARGUMENTS_H

#include "llvm/ADT/StringRef.h"

namespace hlo {

/// Module attribute, array<i64>: four numbers for each argument of the entry that is the size of
/// dimensions: the argument; the bound; the class of sizes that must agree in a call; whether the
/// runtime checks that it is within the bound.
inline constexpr llvm::StringLiteral kSizeArguments = "hlo.size_arguments";
/// Module attribute, i64: at most how many versions of the program hlo-size-versions makes. Without
/// it that follows from the program.
inline constexpr llvm::StringLiteral kMostSizeVersions = "hlo.size_versions";

/// Module attribute, array of arrays of strings "b=1", "x:0=8": sizes for which hlo-size-versions
/// makes versions of their own, each list one for all sizes in it together.
inline constexpr llvm::StringLiteral kSpecialSizes = "hlo.special_sizes";

/// Module attribute, array<i64>: which version of the program serves which sizes, as
/// hlo_size_versions.choices (runtime/abi/hlo/rt.h), the number of choices before it. The entry has
/// a cpurt.case with a branch for each version. Only if all sizes are leaves of the entry.
inline constexpr llvm::StringLiteral kSizeChoices = "hlo.size_choices";

/// Module attribute, unit: the caller's buffers of arrays with dimensions `<=N` are dense for the
/// sizes of the call; without it they have the bounds' shape.
inline constexpr llvm::StringLiteral kDenseBuffers = "hlo.dense_buffers";

} // namespace hlo

#endif
