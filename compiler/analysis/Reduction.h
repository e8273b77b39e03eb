//===- Reduction.h - The computation of a reduction -----------------------===//
#ifndef COMPILER_ANALYSIS_REDUCTION_H
#define COMPILER_ANALYSIS_REDUCTION_H

#include "dialect/hlo/Dialect.h"

namespace hlo {

/// The op if the computation is `op(p0, p1)` (in either order) for an associative and commutative
/// op, possibly between converts of narrow floats to f32 and back. Such a reduction may be applied
/// in any order. Null for all others.
mlir::Operation *associativeOp(ComputationOp computation);

/// The element e of a type with op(e, x) == x for every x, as an array of rank 0; null if there is
/// none. `op`: add, multiply, maximum, minimum, and, or, xor.
mlir::DenseElementsAttr identityOf(mlir::Operation *op, mlir::Type element);

/// The least or the greatest element of a float or integer type, infinities included.
mlir::DenseElementsAttr extremeOf(mlir::Type element, bool least);

/// Whether a computation of N accumulators and N elements of the same types is associative and
/// commutative up to rounding. A computation that is marked with `kAnyOrder` is.
bool isAnyOrder(ComputationOp computation);
inline constexpr llvm::StringLiteral kAnyOrder = "hlo.any_order";

/// Whether it is associative up to rounding, for finite elements: those in the order of the text
/// may be grouped in any way. An argmax that takes the last of equal elements is.
bool isAssociative(ComputationOp computation);

/// XLA:CPU rounds window sums of narrow floats after each step. We do the same in windows of up to
/// kMostRoundedWindow positions, and in cumulative sums of up to kMostRoundedScan elements: XLA
/// splits longer ones. Longer sums stay in f32: rounded after each step, a sum stops growing once
/// it is 256 times (bf16) as large as the addends.
inline constexpr int64_t kMostRoundedWindow = 64, kMostRoundedScan = 16;

/// True if the init values are constants that combine with themselves to themselves (zeros of a
/// sum). Then a reduction in free order may use them more than once.
bool absorbsItself(ComputationOp computation, mlir::ValueRange inits);

} // namespace hlo

#endif
