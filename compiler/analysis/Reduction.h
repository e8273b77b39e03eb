//===- Reduction.h - What a reduction's computation does ------------------===//
#ifndef COMPILER_ANALYSIS_REDUCTION_H
#define COMPILER_ANALYSIS_REDUCTION_H

#include "dialect/hlo/Dialect.h"

namespace hlo {

/// The op if the computation is `op(p0, p1)` (in either order), possibly between converts of narrow
/// floats to f32 and back, for an associative and commutative op: it may be applied in any order. Null
/// for all others.
mlir::Operation *associativeOp(ComputationOp computation);

} // namespace hlo

#endif
