//===- Reduction.h - What a reduction's computation does ------------------===//
#ifndef COMPILER_ANALYSIS_REDUCTION_H
#define COMPILER_ANALYSIS_REDUCTION_H

#include "dialect/hlo/Dialect.h"

namespace hlo {

/// The op if the computation is `op(p0, p1)` (in either order), possibly between converts of narrow
/// floats to f32 and back, for an associative and commutative op: it may be applied in any order.
/// Null for all others.
mlir::Operation *associativeOp(ComputationOp computation);

/// Whether a computation of N accumulators and N elements of the same types is associative and
/// commutative up to rounding. A computation that is marked with `kAnyOrder` is.
bool isAnyOrder(ComputationOp computation);
inline constexpr llvm::StringLiteral kAnyOrder = "hlo.any_order";

/// XLA:CPU rounds sums of narrow floats in windows after each step. So do we in windows of up to so
/// many positions, and in cumulative ones of up to so many elements, which XLA takes apart beyond
/// that. Longer sums are kept in f32: rounded after each step they stand still once they are 256
/// times (bf16) as large as what is added.
inline constexpr int64_t kMostRoundedWindow = 64, kMostRoundedScan = 16;

/// Whether combining these init values, if they are constants, with themselves gives them again:
/// then they may take part more than once where the order is free.
bool absorbsItself(ComputationOp computation, mlir::ValueRange inits);

} // namespace hlo

#endif
