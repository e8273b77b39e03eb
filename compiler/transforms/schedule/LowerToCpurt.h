//===- LowerToCpurt.h - A finished plan as cpurt ops ----------------------===//
#ifndef COMPILER_TRANSFORMS_SCHEDULE_LOWERTOCPURT_H
#define COMPILER_TRANSFORMS_SCHEDULE_LOWERTOCPURT_H

#include "compiler/transforms/schedule/Plan.h"

namespace hlo::schedule {

/// Adds `cpurt.global`s, `cpurt.kernel`s and the `cpurt.entry` to the module, and removes
/// the computations that ran at top level. Scalar computations of kernels stay.
void lowerToCpurt(mlir::ModuleOp module, const ComputationGraph &graph, const Plan &plan);

} // namespace hlo::schedule

#endif
