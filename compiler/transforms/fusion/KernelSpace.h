//===- KernelSpace.h - The iteration space of a kernel --------------------===//
#ifndef COMPILER_TRANSFORMS_FUSION_KERNELSPACE_H
#define COMPILER_TRANSFORMS_FUSION_KERNELSPACE_H

#include "compiler/transforms/fusion/DimMap.h"

namespace hlo::fusion {

/// How a kernel walks its arrays.
enum class Form {
  Other,   ///< not one of those below
  Loop,    ///< all results have the shape of the space
  Rows,    ///< strategies `row` and `reduce`: over the trailing dimensions of the space, row by row
  Columns, ///< reduces over leading or middle dimensions of the space, whose results are walked in
           ///< step: strategy `columns`, or `loop` if all results are of the columns
};

/// The space of a kernel, and how each value of its region follows it.
struct KernelSpace {
  Form form = Form::Other;
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<int64_t> reduced; ///< Rows, Columns: dimensions of the space, ascending
  llvm::DenseMap<mlir::Value, DimMap> maps;

  /// The map of a result of this shape: the whole space, or what is left of it after the reduces
  /// (columns may have dimensions of size 1 beside it). None if it is neither.
  std::optional<DimMap> mapOfResult(llvm::ArrayRef<int64_t> result) const;
  int64_t elements() const { return llvm::product_of(shape); }
  /// Elements of what is left after the reduces.
  int64_t keptElements() const;
  /// Whether the elements of v are those of the space, each read where it is.
  bool isFull(mlir::Value v) const;
};

/// The space of a kernel with the maps of the values in its region.
KernelSpace spaceOf(hlo::FusionOp fusion);

/// The space of one kernel with the maps of another one's values, as if that walked the same space.
KernelSpace spaceFor(hlo::FusionOp fusion, const KernelSpace &space);

/// Says which results of the kernel may be written over which operands (`may_alias`): those that
/// are read at the index of the result's element alone, before it is written.
void setMayAlias(hlo::FusionOp fusion);

} // namespace hlo::fusion

#endif
