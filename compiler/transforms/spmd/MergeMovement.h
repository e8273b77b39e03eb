//===- MergeMovement.h - One exchange for several movements ----------------===//
#ifndef COMPILER_TRANSFORMS_SPMD_MERGEMOVEMENT_H
#define COMPILER_TRANSFORMS_SPMD_MERGEMOVEMENT_H

#include "mlir/IR/BuiltinOps.h"

namespace hlo::spmd {

/// Of a concatenate whose operands are used in part, or more than once: three numbers for each part
/// of the result, in order: the operand, where it starts in it, and its size. Only while a module
/// is partitioned.
inline constexpr llvm::StringRef kSegments = "hlo.spmd_segments";

/// Merges slices into the pads that they cut and the concatenates that they feed.
void mergeMovement(mlir::ModuleOp module);

} // namespace hlo::spmd

#endif
