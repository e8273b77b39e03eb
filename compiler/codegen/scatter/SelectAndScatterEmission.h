//===- SelectAndScatterEmission.h - Such a kernel being emitted -----------===//
#ifndef COMPILER_CODEGEN_SCATTER_SELECTANDSCATTEREMISSION_H
#define COMPILER_CODEGEN_SCATTER_SELECTANDSCATTEREMISSION_H

#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/loops/EmitterImpl.h"
#include "compiler/codegen/loops/Lanes.h"

namespace hlo::codegen {

/// A kernel of strategy "select-and-scatter" being emitted: the window of each dimension, and the
/// ways to walk it.
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

  /// Linear position of the kept element of the window at `at`; -1 if the window is all padding.
  mlir::Value search(llvm::ArrayRef<mlir::Value> at);
  void scatterOne(llvm::ArrayRef<mlir::Value> at);

  /// The position in the operand and its ordinal in the window (i32), and what is carried.
  using WindowStep = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      llvm::ArrayRef<mlir::Value> position, mlir::Value ordinal, mlir::ValueRange carried)>;
  /// Walks the window at `at`, without the minor dimension, and skips what is padding.
  llvm::SmallVector<mlir::Value> overWindow(llvm::ArrayRef<mlir::Value> at, mlir::ValueRange init,
                                            WindowStep step);
  /// What a window has kept before its first position, in so many lanes: a value, and as its
  /// ordinal -1.
  llvm::SmallVector<mlir::Value> nothingKept(int64_t lanes);
  /// The same after `candidate` at the position `ordinal` (i32, of all lanes).
  llvm::SmallVector<mlir::Value> keepOne(mlir::ValueRange before, const Elem &candidate,
                                         mlir::Value ordinal);
  /// Lanes `c` of the minor dimension at `at`.
  void scatterLanes(llvm::ArrayRef<mlir::Value> at, Index c, ElementEmitter &emitter,
                    mlir::Value mask);

  /// How many of the dimensions before `end` come first and have no windows: they split result and
  /// source into slabs.
  size_t leadingTrivial(size_t end) const {
    return llvm::find(llvm::ArrayRef(trivial).take_front(end), false) - trivial.begin();
  }
  /// Each slab, in tasks, begins as the init value; then body(at) for the indices of the source in
  /// the dimensions before `end`.
  void overSlabs(size_t end, ElementEmitter &vectors, const Elem &init,
                 llvm::function_ref<void(llvm::SmallVector<mlir::Value> &)> body);

  /// Along the minor dimension windows may meet, and are vectors all the same (MinorWindows.cpp):
  /// whether that is so.
  bool fitsMinorWindows(int64_t lanes);
  /// The result of such a kernel, by tasks.
  void emitMinorWindows(ElementEmitter &vectors, const Elem &init);
};

} // namespace hlo::codegen

#endif
