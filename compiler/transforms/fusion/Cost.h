//===- Cost.h - What an op costs and what it is to the fusion pass --------===//
#ifndef COMPILER_TRANSFORMS_FUSION_COST_H
#define COMPILER_TRANSFORMS_FUSION_COST_H

#include "compiler/analysis/OpKinds.h"

namespace hlo::fusion {

/// The part that the op plays: that of its row, or a lesser one if it is small.
Role roleOf(mlir::Operation *op);
/// The strategy of a kernel whose root or hero is `op`; `Loop` for the rest.
Strategy strategyOf(mlir::Operation *op);
/// Relative cost of one result element: 0 free, 1 an add, about 20 an exponential.
int64_t costOf(mlir::Operation *op);
/// Relative size of the code of an op, whatever its shape: 1 an add, 20 an exponential.
int64_t codeOf(mlir::Operation *op);
/// Elements of the first result.
int64_t resultElements(mlir::Operation *op);
/// A constant of one repeated element, which is written into each kernel that uses it.
bool isSplatConstant(mlir::Operation *op);
/// Whether a reduce goes over the trailing dimensions, down to the minor one, and only those.
bool isTrailingReduce(hlo::ReduceOp op);

/// The dimension along which a reduce-window accumulates: result i is everything up to (or from)
/// element i. No value for any other window, and for few elements.
std::optional<int64_t> cumulativeDimension(hlo::ReduceWindowOp op);

} // namespace hlo::fusion

#endif
