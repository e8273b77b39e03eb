//===- LowerToCpurt.h - A finished plan as cpurt ops ----------------------===//
#ifndef COMPILER_TRANSFORMS_SCHEDULE_LOWERTOCPURT_H
#define COMPILER_TRANSFORMS_SCHEDULE_LOWERTOCPURT_H

#include "compiler/analysis/Prepared.h"
#include "compiler/transforms/schedule/Plan.h"

namespace hlo::schedule {

/// One program of the module: the entry or the prepare computation.
struct PlannedRoot {
  ComputationOp computation;
  Plan plan;
};

/// Adds `cpurt.global`s, `cpurt.kernel`s and a `cpurt.entry` for each root (the entry first) to the
/// module, and removes the computations that ran at top level. Scalar computations of kernels stay.
/// `block`: the places of prepared arrays.
void lowerToCpurt(mlir::ModuleOp module, const ComputationGraph &graph,
                  llvm::ArrayRef<PlannedRoot> roots, const PreparedBlock &block);

} // namespace hlo::schedule

#endif
