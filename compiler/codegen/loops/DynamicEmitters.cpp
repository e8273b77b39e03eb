//===- DynamicEmitters.cpp - Moves to places known at run time ------------===//
//
// In: the index of an element of a dynamic-slice, dynamic-update-slice or gather. Out: the element.
// Start indices are clamped so that every slice is inside its array; the operand of an update is
// read only outside of the update.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/Num.h"
#include "compiler/codegen/loops/EmitterImpl.h"

using namespace mlir;

namespace hlo::codegen {

/// Start indices of that element type as i64, clamped to [0, last].
static Value clamped(Emission &e, Type element, Value start, int64_t last) {
  int64_t width = lanesOf(start);
  Type i64 = laneType(e.b.getI64Type(), width);
  bool isUnsigned = isUnsignedElement(element);
  if (width > 1 && !isUnsigned && element.isInteger(32) &&
      last <= std::numeric_limits<int32_t>::max()) {
    // Clamped in their own type, whose vectors are half as long.
    Num lanes(e, start);
    Value inside = maxI(e, minI(e, start, lanes.of(last)), lanes.of(int64_t(0)));
    return arith::ExtUIOp::create(e.b, e.loc, i64, inside);
  }
  if (start.getType() != i64) {
    start = isUnsigned ? e.b.createOrFold<arith::ExtUIOp>(e.loc, i64, start)
                       : e.b.createOrFold<arith::ExtSIOp>(e.loc, i64, start);
    isUnsigned = false;
  }
  Value limit = constLanes(e, last, width);
  if (isUnsigned) {
    return e.b.createOrFold<arith::MinUIOp>(e.loc, start, limit);
  }
  return maxI(e, minI(e, start, limit), constLanes(e, 0, width));
}

Value ElementEmitter::Impl::clampedStart(Value start, int64_t last, Value mask) {
  Elem raw = uniform().emit(start, {}, mask ? anyLane(e(), mask) : Value());
  if (last <= 0) {
    return constI64(e(), 0);
  }
  return clamped(e(), elementType(start.getType()), raw.re, last);
}

Elem ElementEmitter::Impl::dynamicSlice(DynamicSliceOp op, ArrayRef<Index> index, Value mask) {
  ArrayRef<int64_t> shape = shapeOf(op.getOperand());
  SmallVector<Index> source;
  for (auto [d, i] : llvm::enumerate(index)) {
    int64_t last = shape[d] - op.getDynamicSliceSizes()[d];
    Value start = last == 0 ? constI64(e(), 0) : clampedStart(op.getStartIndices()[d], last, mask);
    source.push_back(addIndex(e(), i, Index(start), lanes));
  }
  return self->emit(op.getOperand(), source, mask);
}

Elem ElementEmitter::Impl::dynamicUpdateSlice(DynamicUpdateSliceOp op, ArrayRef<Index> index,
                                              Value mask) {
  ArrayRef<int64_t> shape = shapeOf(op.getOperand()), window = shapeOf(op.getUpdate());
  Elem old = self->emit(op.getOperand(), index, mask);
  SmallVector<Index> source;
  Value scalarCondition, laneCondition;
  for (auto [d, i] : llvm::enumerate(index)) {
    int64_t last = shape[d] - window[d];
    Value start = last == 0 ? constI64(e(), 0) : clampedStart(op.getStartIndices()[d], last, mask);
    Index shifted = addIndex(e(), i, Index(subI(e(), constI64(e(), 0), start)), lanes);
    source.push_back(shifted);
    if (last == 0) {
      continue;
    }
    Value inside = indexInRange(e(), shifted, 0, window[d], lanes);
    Value &slot = isa<VectorType>(inside.getType()) ? laneCondition : scalarCondition;
    slot = andMask(e(), slot, inside);
  }
  if (llvm::is_contained(window, 0)) {
    return old;
  }
  Type element = elementType(op.getType());
  return guarded(
      scalarCondition, mask, element,
      [&](Value outer) {
        return guarded(
            laneCondition, outer, element,
            [&](Value inner) { return self->emit(op.getUpdate(), source, inner); }, old);
      },
      old);
}

Elem ElementEmitter::Impl::gather(GatherOp op, ArrayRef<Index> index, Value mask) {
  ArrayRef<int64_t> shape = shapeOf(op.getOperand());
  ArrayRef<int64_t> indicesShape = shapeOf(op.getStartIndices());
  auto batching = op.getOperandBatchingDims().value_or(ArrayRef<int64_t>());
  auto indicesBatching = op.getStartIndicesBatchingDims().value_or(ArrayRef<int64_t>());
  int64_t vectorDim = op.getIndexVectorDim();

  // Splits the result's index into the position among the indices and the offset in the window.
  SmallVector<Index> position, window;
  for (auto [d, i] : llvm::enumerate(index)) {
    bool isOffset = llvm::is_contained(op.getOffsetDims(), static_cast<int64_t>(d));
    (isOffset ? window : position).push_back(i);
  }
  SmallVector<Index> source(shape.size(), Index(constI64(e(), 0)));
  size_t next = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!llvm::is_contained(op.getCollapsedSliceDims(), static_cast<int64_t>(d)) &&
        !llvm::is_contained(batching, static_cast<int64_t>(d))) {
      source[d] = window[next++];
    }
  }
  Type indexElement = elementType(op.getStartIndices().getType());
  for (auto [k, d] : llvm::enumerate(op.getStartIndexMap())) {
    int64_t last = shape[d] - op.getSliceSizes()[d];
    if (last <= 0) {
      continue;
    }
    SmallVector<Index> at(position);
    if (vectorDim < static_cast<int64_t>(indicesShape.size())) {
      at.insert(at.begin() + vectorDim, Index(constI64(e(), k)));
    }
    bool same = llvm::all_of(at, [](const Index &i) { return i.isUniform(); }) &&
                !shared->vectorOnly.contains(op.getStartIndices());
    Elem raw = same ? uniform().emit(op.getStartIndices(), at, mask ? anyLane(e(), mask) : Value())
                    : self->emit(op.getStartIndices(), at, mask);
    Index start;
    (lanesOf(raw.re) == 1 ? start.base : start.lanes) = clamped(e(), indexElement, raw.re, last);
    source[d] = addIndex(e(), source[d], start, lanes);
  }
  for (auto [operandDim, indicesDim] : llvm::zip(batching, indicesBatching)) {
    // The position has no entry for index_vector_dim.
    int64_t at = indicesDim > vectorDim ? indicesDim - 1 : indicesDim;
    source[operandDim] = position[at];
  }
  return self->emit(op.getOperand(), source, mask);
}

} // namespace hlo::codegen
