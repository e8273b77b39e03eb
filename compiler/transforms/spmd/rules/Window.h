//===- Window.h - Parts of the family of windows ---------------------------===//
#ifndef COMPILER_TRANSFORMS_SPMD_RULES_WINDOW_H
#define COMPILER_TRANSFORMS_SPMD_RULES_WINDOW_H

#include "compiler/transforms/spmd/Partitioner.h"

namespace hlo::spmd {

/// The computation that an attribute names; null if it does not exist.
ComputationOp computationOf(mlir::Operation *op, llvm::StringRef attribute);

/// The number of dimensions of a window; an array without dimensions has none.
int64_t windowRank(WindowAttr window);

void registerSelectAndScatter(PartitionerTable &table);
void registerScan(PartitionerTable &table);

} // namespace hlo::spmd

#endif
