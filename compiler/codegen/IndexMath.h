//===- IndexMath.h - Arithmetic on indices, scalar or per lane ------------===//
#ifndef COMPILER_CODEGEN_INDEXMATH_H
#define COMPILER_CODEGEN_INDEXMATH_H

#include "compiler/codegen/Kernel.h"

namespace hlo::codegen {

/// i64 arithmetic on scalars or vectors, with constant folding.
mlir::Value addI(Emission &e, mlir::Value a, mlir::Value b);
mlir::Value subI(Emission &e, mlir::Value a, mlir::Value b);
mlir::Value mulI(Emission &e, mlir::Value a, mlir::Value b);
mlir::Value addI(Emission &e, mlir::Value a, int64_t b);
mlir::Value mulI(Emission &e, mlir::Value a, int64_t b);
/// A scalar i64 as value + constant; no value if it is a constant.
struct SumWithConstant {
  mlir::Value value;
  int64_t constant = 0;
};
SumWithConstant splitConstant(mlir::Value value);
/// True if the results of `op` may be used at the insertion point.
bool isAvailable(Emission &e, mlir::Operation *op);
/// Unsigned quotient and remainder by a positive constant.
mlir::Value divI(Emission &e, mlir::Value a, int64_t b);
mlir::Value remI(Emission &e, mlir::Value a, int64_t b);
/// The smaller and the larger of two, signed.
mlir::Value minI(Emission &e, mlir::Value a, mlir::Value b);
mlir::Value maxI(Emission &e, mlir::Value a, mlir::Value b);
mlir::Value minI(Emission &e, mlir::Value a, int64_t b);
mlir::Value maxI(Emission &e, mlir::Value a, int64_t b);
/// i1 (or vector of i1) of a signed comparison with a constant.
mlir::Value compareI(Emission &e, mlir::arith::CmpIPredicate predicate, mlir::Value a, int64_t b);
/// a && b; null means true.
mlir::Value andMask(Emission &e, mlir::Value a, mlir::Value b);
/// i64 constant, splat over `lanes` lanes if lanes > 1.
mlir::Value constLanes(Emission &e, int64_t value, int64_t lanes);
/// vector<lanes x i64> of 0, 1, 2, ... times stride.
mlir::Value laneOffsets(Emission &e, int64_t lanes, int64_t stride);
/// The value of an i64 constant; nothing for other values.
std::optional<int64_t> constantOf(mlir::Value value);
/// i1: true if any lane of a mask is on.
mlir::Value anyLane(Emission &e, mlir::Value mask);

/// The index base + offsets[l] for each lane l; affine if the offsets are.
Index patternIndex(Emission &e, mlir::Value base, llvm::ArrayRef<int64_t> offsets,
                   Congruence known = {});
/// The distance of each lane from `base`, if it is known; else empty.
llvm::SmallVector<int64_t> knownOffsets(const Index &index, int64_t lanes);
/// Per-lane form of an index: vector<lanes x i64>, or the scalar base if lanes == 1.
mlir::Value laneIndices(Emission &e, const Index &index, int64_t lanes);
Index addIndex(Emission &e, const Index &a, const Index &b, int64_t lanes);
Index addIndex(Emission &e, const Index &a, int64_t b);
Index mulIndex(Emission &e, const Index &a, int64_t factor);
/// The sum of index[d] * strides[d]. A quotient and a remainder by the same divisor are joined
/// again if their strides allow, so that lanes across the end of a dimension are affine in the sum.
Index linearIndex(Emission &e, llvm::ArrayRef<Index> index, llvm::ArrayRef<int64_t> strides,
                  int64_t lanes);
/// Quotient and remainder of every lane by a positive constant. Affine if that can be proved; with
/// known offsets if the base is known modulo the divisor.
std::pair<Index, Index> divRemIndex(Emission &e, const Index &a, int64_t divisor, int64_t lanes);

} // namespace hlo::codegen

#endif
