//===- SizeArguments.h - Which arguments of the entry are sizes -----------===//
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

/// Module attribute, unit: the caller's buffers of arrays with dimensions `<=N` are dense for the
/// sizes of the call; without it they have the bounds' shape.
inline constexpr llvm::StringLiteral kDenseBuffers = "hlo.dense_buffers";

} // namespace hlo

#endif
