//===- LaneDimension.h - Which kernels have their lanes across rows -------===//
//
// The choice that the rewrites of columns and of pairs share, and what they share to act on it.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_FUSION_REWRITES_LANEDIMENSION_H
#define COMPILER_TRANSFORMS_FUSION_REWRITES_LANEDIMENSION_H

#include "compiler/analysis/Columns.h"
#include "compiler/analysis/Shapes.h"
#include "dialect/hlo/Builder.h"

namespace hlo::fusion {

/// A dot that contracts the minor dimension of an array [rows, C] with weights [C] or [C, N].
struct RowProduct {
  mlir::Value array, weights;
  int64_t along = 0; ///< the dimension of the weights that is contracted
};

/// `op` as such a product; nullopt if it is not one.
std::optional<RowProduct> rowProduct(mlir::Operation *op);

/// The shape [rows] of an array [rows, C] whose ops should be computed column by column, with lanes
/// along the rows, if `op` makes, reduces or multiplies such an array; nullopt otherwise.
std::optional<llvm::ArrayRef<int64_t>> rowsAround(mlir::Operation *op);
/// Whether the concatenate has two parts of one shape, contiguous in the result, which share at
/// least half of their work. They should be computed together, with lanes along both.
bool isWorthPairing(ConcatenateOp op);
/// The dimension of few columns that a transpose moves behind the others, in their order; nullopt
/// if it does anything else.
std::optional<int64_t> columnsMovedBehind(TransposeOp op);

/// Whether each operand of the op has the result's shape, or is a scalar.
bool hasOneShape(mlir::Operation *op);
/// An op like `op`, of one result, for other operands; the result has the shape `shape`.
mlir::Value copyFor(HloBuilder &b, mlir::Operation *op, mlir::ValueRange operands,
                    llvm::ArrayRef<int64_t> shape);
/// Erases unused ops, which would become kernels of their own. Calls `beforeErasing` with each.
void eraseUnused(
    mlir::Block &block,
    llvm::function_ref<void(mlir::Operation *)> beforeErasing = [](mlir::Operation *) {});

} // namespace hlo::fusion

#endif
