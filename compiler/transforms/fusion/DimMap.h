//===- DimMap.h - Dimensions of a value in terms of a kernel's iteration space ---===//
#ifndef COMPILER_TRANSFORMS_FUSION_DIMMAP_H
#define COMPILER_TRANSFORMS_FUSION_DIMMAP_H

#include "dialect/hlo/Dialect.h"

namespace hlo::fusion {

/// For each dimension of a value: the dimension of the kernel's iteration space whose index it has,
/// kOne for a dimension of size 1, kOther for anything else.
struct DimMap {
  static constexpr int64_t kOne = -1, kOther = -2; // no dimensions, so negative
  llvm::SmallVector<int64_t> dims;
  /// Whether the value's row-major order is that of the iteration space, even if the shapes differ.
  bool inOrder = false;

  static DimMap identity(llvm::ArrayRef<int64_t> shape);
  static DimMap unknown(size_t rank);
  bool operator==(const DimMap &other) const { return dims == other.dims; }
  /// Whether dimension i has the index of dimension i of the space (or has size 1), for all i.
  bool isIdentity() const;
  /// The map of operand `number` of `op`, if the op's (first) result has this map.
  /// `reducedInSpace`: a reduce's reduced dimensions are dimensions of the space with the same
  /// numbers, as in a row kernel; otherwise they are kOther, as in a loop kernel, which reduces
  /// within an iteration.
  DimMap ofOperand(mlir::Operation *op, unsigned number, bool reducedInSpace = true) const;
  /// The map of a value that is read through both maps: kOther where they differ.
  DimMap meet(const DimMap &other) const;
};

} // namespace hlo::fusion

#endif
