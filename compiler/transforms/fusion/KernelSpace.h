//===- KernelSpace.h - The iteration space of a kernel --------------------===//
#ifndef COMPILER_TRANSFORMS_FUSION_KERNELSPACE_H
#define COMPILER_TRANSFORMS_FUSION_KERNELSPACE_H

#include "compiler/transforms/fusion/DimMap.h"

namespace hlo::fusion {

/// How a kernel walks its arrays.
enum class Form {
  Other,   ///< none of the forms below
  Loop,    ///< every result has the shape of the space
  Rows,    ///< strategies `row` and `reduce`: reduces over trailing dimensions, row by row
  Columns, ///< reduces over leading or middle dimensions of the space, whose results are walked in
           ///< step: strategy `columns`, or `loop` if all results are of the columns
};

/// The iteration space of a kernel, and the map of each value of its region to the space.
struct KernelSpace {
  Form form = Form::Other;
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<int64_t> reduced; ///< Rows, Columns: dimensions of the space, ascending
  llvm::SmallDenseMap<mlir::Value, DimMap, 8> maps;

  /// The map of a result of this shape: the whole space, or the dimensions that are not reduced
  /// (for Columns also with additional dimensions of size 1). nullopt if it is neither.
  std::optional<DimMap> mapOfResult(llvm::ArrayRef<int64_t> result) const;
  int64_t elements() const { return llvm::product_of(shape); }
  /// The number of elements after the reduces.
  int64_t keptElements() const;
  /// Whether v has the shape of the space, and each element is read at its own index.
  bool isFull(mlir::Value v) const;
};

/// The space of a kernel, with the maps of all values in its region.
KernelSpace spaceOf(hlo::FusionOp fusion);

/// `space`, with the maps of the values of another kernel `fusion` as if it walked that space.
KernelSpace spaceFor(hlo::FusionOp fusion, const KernelSpace &space);

/// Sets `may_alias`: result r may be written to operand o's buffer if the operand is only read at
/// the index of the result's element, before that is written.
void setMayAlias(hlo::FusionOp fusion);

} // namespace hlo::fusion

#endif
