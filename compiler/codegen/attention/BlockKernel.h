//===- BlockKernel.h - A part of a kernel, for a block of its arrays ------===//
#ifndef COMPILER_CODEGEN_ATTENTION_BLOCKKERNEL_H
#define COMPILER_CODEGEN_ATTENTION_BLOCKKERNEL_H

#include "compiler/codegen/Kernel.h"
#include "compiler/plans/AttentionPlan.h"

#include <map>

namespace hlo::codegen {

/// A block of an attention: how many elements it has of each axis, and where they start.
struct AttentionBlock {
  llvm::ArrayRef<int64_t> sizes;
  llvm::ArrayRef<mlir::Value> starts; ///< addresses of an s64 each
};

/// A kernel inside a kernel: some ops of the region on a block of their arrays, emitted in place by
/// the emitter of another strategy.
///
/// A value of the region becomes one with a dimension for each of its axes of which the block has
/// more than one element, rows first, then keys, then whole axes. What the region reads from memory
/// becomes a dynamic-slice of it.
class BlockKernel {
public:
  BlockKernel(KernelBuilder &outer, Attention &attention, const AttentionBlock &block);
  ~BlockKernel();

  /// Reads `v` from a buffer, in the order of its axes above, or in the order `axes`.
  mlir::Value read(mlir::Value v, llvm::ArrayRef<int64_t> axes, mlir::Value buffer);
  /// The block of a value with these axes.
  mlir::Value rebuild(mlir::Value v, llvm::ArrayRef<int64_t> axes);
  mlir::Value rebuild(mlir::Value v) { return rebuild(v, attention.axesOf.find(v)->second); }
  /// The block of the scores.
  mlir::Value scores();
  /// The product of the weights' block and the values, [rows, columns] or, if `turned`, [columns,
  /// rows]; with the conversions behind it.
  mlir::Value weighted(bool turned);
  /// The sum of the values' block times zero, in f32, by the computation of an addition: zero if
  /// all are finite.
  mlir::Value valuesTimesZero(mlir::FlatSymbolRefAttr addition);
  /// `array` with the block `update`, which has these axes in this order, written over it.
  mlir::Value update(mlir::Value array, llvm::ArrayRef<int64_t> arrayAxes, mlir::Value update,
                     llvm::ArrayRef<int64_t> axes);
  /// The whole array that an operand of this kernel points to.
  mlir::Value argument(mlir::Type type, mlir::Value pointer);

  /// Emits all tasks of the kernel that computes `roots`.
  mlir::LogicalResult emit(llvm::ArrayRef<mlir::Value> roots, llvm::ArrayRef<mlir::Value> results,
                           mlir::LogicalResult (*emitter)(KernelBuilder &));

  /// The axes of `axes` of which the block has several elements, in the order of the class comment.
  AxisNumbers kept(llvm::ArrayRef<int64_t> axes) const;
  llvm::SmallVector<int64_t> shapeOfBlock(llvm::ArrayRef<int64_t> axes) const;

private:
  mlir::Value compute(mlir::Operation *op, llvm::ArrayRef<int64_t> axes);
  mlir::Value slice(mlir::Value array, llvm::ArrayRef<int64_t> axes);
  mlir::Value iota(hlo::IotaOp op, llvm::ArrayRef<int64_t> axes);
  mlir::Value broadcast(hlo::BroadcastOp op, llvm::ArrayRef<int64_t> axes);
  mlir::Value startOf(int64_t axis);
  mlir::Value constant(mlir::DenseElementsAttr splat, llvm::ArrayRef<int64_t> shape);
  /// `v`, whose dimensions are `from`, with the dimensions `to`: the same axes in another order.
  mlir::Value inOrder(mlir::Value v, llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);
  mlir::Value dot(hlo::DotOp like, std::array<mlir::Value, 2> sides, std::array<int64_t, 2> first,
                  int64_t count);
  mlir::Type typeLike(mlir::Value v, llvm::ArrayRef<int64_t> shape);

  KernelBuilder &outer;
  Attention &attention;
  AttentionBlock block;
  hlo::FusionOp fusion;
  mlir::OpBuilder inside;
  llvm::SmallVector<mlir::Value> pointers; ///< of the region's arguments
  llvm::DenseMap<int64_t, mlir::Value> startArguments;
  llvm::DenseMap<mlir::Value, mlir::Value> arrays, buffers;
  std::map<std::pair<void *, std::vector<int64_t>>, mlir::Value> known;
};

} // namespace hlo::codegen

#endif
