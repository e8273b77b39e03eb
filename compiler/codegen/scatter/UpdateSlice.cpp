//===- UpdateSlice.cpp - Strategy "update-slice": a window in place -------===//
//
// In: a region whose root is a dynamic-update-slice of a kernel operand; the result's buffer
// already holds that operand (`in_place`). Out: a loop nest over the window that stores the update,
// and touches nothing else:
//
//   result[start + i] = update[i]     start clamped so that the window fits
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/loops/EmitterImpl.h"
#include "compiler/codegen/loops/Lanes.h"

using namespace mlir;

namespace hlo::codegen {

LogicalResult emitUpdateSliceKernel(KernelBuilder &kernel) {
  Emission &e = kernel.e;
  auto op = dyn_cast_or_null<DynamicUpdateSliceOp>(kernel.root());
  if (!op) {
    return kernel.fusion.emitOpError(
        "of strategy 'update-slice' must return a dynamic-update-slice");
  }
  auto arrayType = cast<RankedTensorType>(op.getType());
  ArrayRef<int64_t> shape = arrayType.getShape();
  SmallVector<int64_t> window(shapeOf(op.getUpdate()));
  Type element = arrayType.getElementType();
  if (llvm::is_contained(window, 0)) {
    kernel.tasks = 0;
    return success();
  }
  int64_t lanes = kernelLanes(kernel);
  ElementEmitter vectors(kernel, lanes), scalars(kernel, 1);

  // Linear index of the window's first element.
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  Value origin = constI64(e, 0);
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t last = shape[d] - window[d];
    if (last > 0) {
      Value start = scalars.impl().clampedStart(op.getStartIndices()[d], last, {});
      origin = addI(e, origin, mulI(e, start, strides[d]));
    }
  }
  // A dimension that is updated entirely merges with the one before it. This is done if the update
  // is read in memory order, with rows of at most a task's length.
  if (auto update = dyn_cast<BlockArgument>(op.getUpdate()); update && update.hasOneUse()) {
    SmallVector<int64_t> whole(shape);
    for (size_t d = window.size(); d-- > 1;) {
      bool isRow = d + 1 == window.size();
      if (window[d] == whole[d] && (!isRow || window[d] * window[d - 1] <= kElementsPerTask)) {
        window[d - 1] *= window[d];
        whole[d - 1] *= whole[d];
        window.erase(window.begin() + d);
        whole.erase(whole.begin() + d);
        strides.erase(strides.begin() + (d - 1));
      }
    }
    update.setType(RankedTensorType::get(window, element));
  }
  auto store = [&](ElementEmitter &emitter, ArrayRef<Index> index, Value base, Value mask) {
    Elem value = emitter.emit(op.getUpdate(), index, mask);
    storeElements(e, element, value, kernel.resultPtrs[0], base, mask);
  };
  if (shape.empty()) {
    store(scalars, {}, origin, {});
    return success();
  }
  // Rows shorter than a vector get an inner loop over the last outer dimension, so that the number
  // of each row needs no division.
  int64_t columns = window.back(), line = 1;
  ArrayRef<int64_t> outer = ArrayRef(window).drop_back();
  if (outer.size() > 1 && columns < lanes && outer.back() * columns <= kElementsPerTask) {
    line = outer.back();
    outer = outer.drop_back();
  }
  int64_t pieces = llvm::product_of(outer);
  int64_t perTask = std::max<int64_t>(1, kElementsPerTask / (columns * line));
  auto [lo, hi] = splitTasks(kernel, pieces, perTask);
  emitFor(e, lo, hi, 1, [&](Value piece) {
    SmallVector<Index> index;
    Value base = origin;
    for (auto [d, i] : llvm::enumerate(delinearize(e, piece, outer))) {
      index.push_back(Index(i));
      base = addI(e, base, mulI(e, i, strides[d]));
    }
    auto emitColumns = [&](Value first) {
      emitVectorLoop(e, constI64(e, 0), constI64(e, columns), vectors, scalars,
                     [&](Index i, ElementEmitter &emitter, Value mask) {
                       index.push_back(i);
                       store(emitter, index, addI(e, first, i.base), mask);
                       index.pop_back();
                     });
    };
    if (outer.size() + 1 == window.size()) {
      emitColumns(base);
      return;
    }
    emitFor(e, constI64(e, 0), constI64(e, line), 1, [&](Value i) {
      index.push_back(Index(i));
      emitColumns(addI(e, base, mulI(e, i, strides[outer.size()])));
      index.pop_back();
    });
  });
  return success();
}

} // namespace hlo::codegen
