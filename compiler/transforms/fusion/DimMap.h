//===- DimMap.h - Which dimension of a kernel's space an array follows ----===//
#ifndef COMPILER_TRANSFORMS_FUSION_DIMMAP_H
#define COMPILER_TRANSFORMS_FUSION_DIMMAP_H

#include "dialect/hlo/Dialect.h"

namespace hlo::fusion {

/// For each dimension of a value, the dimension of the kernel's iteration space
/// whose index it has; kOne for a dimension of size 1, kOther if it is something else.
struct DimMap {
  static constexpr int64_t kOne = -1, kOther = -2;
  llvm::SmallVector<int64_t> dims;
  /// Whether its elements in memory follow those of the space one by one, whatever the shapes are.
  bool inOrder = false;

  static DimMap identity(llvm::ArrayRef<int64_t> shape);
  static DimMap unknown(size_t rank);
  bool operator==(const DimMap &other) const { return dims == other.dims; }
  /// Whether dimension i follows dimension i of the space (or has size 1), for all i.
  bool isIdentity() const;
  /// The map of operand `number` of `op`, whose (first) result has this map. Reduced dimensions of
  /// a reduce follow the space's dimensions of the same number if `reducedInSpace`, as in a row
  /// kernel; else no dimension, as in a loop kernel, which reduces within an iteration.
  DimMap ofOperand(mlir::Operation *op, unsigned number, bool reducedInSpace = true) const;
  /// Both maps at once: equal, or kOther where they differ.
  DimMap meet(const DimMap &other) const;
};

} // namespace hlo::fusion

#endif
