//===- SelectAndScatterEmission.h - State of a kernel ---------------------===//
#ifndef COMPILER_CODEGEN_SCATTER_SELECTANDSCATTEREMISSION_H
#define COMPILER_CODEGEN_SCATTER_SELECTANDSCATTEREMISSION_H

#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/loops/EmitterImpl.h"
#include "compiler/codegen/loops/Lanes.h"

namespace hlo::codegen {

/// A kernel of strategy "select-and-scatter" being emitted: the window of each dimension, and the
/// ways to iterate over it.
struct SelectAndScatter {
  KernelBuilder &kernel;
  Emission &e;
  hlo::SelectAndScatterOp op;
  llvm::ArrayRef<int64_t> shape, sourceShape;
  mlir::Type element;
  ElementEmitter scalars;
  llvm::SmallVector<int64_t> strides, size, stride, padLow;
  llvm::SmallVector<bool> trivial;

  SelectAndScatter(KernelBuilder &kernel, hlo::SelectAndScatterOp op)
      : kernel(kernel), e(kernel.e), op(op), shape(arrayType(op.getOperand()).getShape()),
        sourceShape(arrayType(op.getSource()).getShape()),
        element(arrayType(op.getOperand()).getElementType()), scalars(kernel, 1),
        strides(rowMajorStrides(shape)), size(shape.size(), 1), stride(shape.size(), 1),
        padLow(shape.size(), 0) {
    llvm::SmallVector<int64_t> padHigh(shape.size(), 0);
    if (auto window = op.getWindow()) {
      size.assign(window->getSize().begin(), window->getSize().end());
      stride.assign(window->getStrides().begin(), window->getStrides().end());
      padLow.assign(window->getPadLow().begin(), window->getPadLow().end());
      padHigh.assign(window->getPadHigh().begin(), window->getPadHigh().end());
    }
    for (size_t d = 0; d < shape.size(); ++d) {
      trivial.push_back(size[d] == 1 && stride[d] == 1 && padLow[d] == 0 && padHigh[d] == 0);
    }
  }

  /// Linear position of the element that the window at `at` keeps; -1 if the window is all padding.
  mlir::Value search(llvm::ArrayRef<mlir::Value> at);
  void scatterOne(llvm::ArrayRef<mlir::Value> at);

  /// Arguments: the position in the operand, its ordinal in the window (i32), and the carried
  /// values.
  using WindowStep = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      llvm::ArrayRef<mlir::Value> position, mlir::Value ordinal, mlir::ValueRange carried)>;
  /// Iterates over the window at `at`, without the minor dimension, skipping padding.
  llvm::SmallVector<mlir::Value> overWindow(llvm::ArrayRef<mlir::Value> at, mlir::ValueRange init,
                                            WindowStep step);
  /// Initial state of a window's search, in `lanes` lanes: a value, and -1 as its ordinal.
  llvm::SmallVector<mlir::Value> nothingKept(int64_t lanes);
  /// The state after `candidate` at position `ordinal` (i32, equal in all lanes).
  llvm::SmallVector<mlir::Value> keepOne(mlir::ValueRange before, const Elem &candidate,
                                         mlir::Value ordinal);
  /// Handles lanes `c` of the minor dimension at `at`.
  void scatterLanes(llvm::ArrayRef<mlir::Value> at, Index c, ElementEmitter &emitter,
                    mlir::Value mask);

  /// Number of leading dimensions before `end` without windows: they split result and source into
  /// slabs.
  size_t leadingTrivial(size_t end) const {
    return llvm::find(llvm::ArrayRef(trivial).take_front(end), false) - trivial.begin();
  }
  /// Fills each slab, by tasks, with the init value; then runs body(at) for the indices of the
  /// source in the dimensions before `end`.
  void overSlabs(size_t end, ElementEmitter &vectors, const Elem &init,
                 llvm::function_ref<void(llvm::SmallVector<mlir::Value> &)> body);

  /// True if MinorWindows.cpp can vectorize windows that overlap along the minor dimension.
  bool fitsMinorWindows(int64_t lanes);
  /// Computes the result of such a kernel, by tasks.
  void emitMinorWindows(ElementEmitter &vectors, const Elem &init);
};

} // namespace hlo::codegen

#endif
