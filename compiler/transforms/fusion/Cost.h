//===- Cost.h - Roles, strategies and costs of ops ------------------------===//
#ifndef COMPILER_TRANSFORMS_FUSION_COST_H
#define COMPILER_TRANSFORMS_FUSION_COST_H

#include "compiler/analysis/OpKinds.h"

namespace hlo::fusion {

/// The op's role: that of its row in analysis/OpKinds.cpp, or Compute or Reduce for a hero that is
/// small.
Role roleOf(mlir::Operation *op);
/// The strategy of a kernel whose root or hero is `op`; `Loop` if the op needs no strategy of its
/// own.
Strategy strategyOf(mlir::Operation *op);
/// The relative cost of computing one result element: 0 free, 1 an add, about 20 an exponential.
int64_t costOf(mlir::Operation *op);
/// The relative size of the op's code, which does not depend on its shape: 1 an add, 20 an
/// exponential.
int64_t codeOf(mlir::Operation *op);
/// The number of elements of the first result.
int64_t resultElements(mlir::Operation *op);
/// Whether `op` is a constant of one repeated element. Such a constant is cloned into each kernel
/// that uses it.
bool isSplatConstant(mlir::Operation *op);
/// Whether the reduced dimensions are the trailing ones: the minor one and those next to it.
bool isTrailingReduce(hlo::ReduceOp op);

/// The dimension d along which a reduce-window is a scan: result i combines elements 0..i of d (or
/// i..end). nullopt for any other window, and for a dimension that is too short to need the scan's
/// kernel.
std::optional<int64_t> cumulativeDimension(hlo::ReduceWindowOp op);

} // namespace hlo::fusion

#endif
