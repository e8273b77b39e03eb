//===- ElementMoves.cpp - Elements of arrays that are moved ---------------===//
//
// Elements of broadcast, slice, transpose, pad, concatenate, gather and the dynamic slices:
// elements of their operands in another order, or selects by where a slice starts. Input and output
// as in ElementRewriter.h.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/expanders/scalarizer/ElementRewriter.h"

using namespace mlir;
using namespace hlo;

std::optional<ElementRewriter::Elements> ElementRewriter::sliceAt(Elements all,
                                                                  ArrayRef<int64_t> shape,
                                                                  ArrayRef<Value> starts,
                                                                  ArrayRef<int64_t> sizes) {
  Position current(shape);
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    int64_t last = shape[dim] - sizes[dim];
    Position next(current);
    next[dim] = sizes[dim];
    SmallVector<Value> reaches; // whether the slice starts at 1, 2, ... or later
    if (starts[dim]) {
      HloBuilder b{builder, starts[dim].getLoc()};
      for (int64_t at = 1; at <= last; ++at) {
        reaches.push_back(b.compare(starts[dim], scalarIndex(starts[dim], at), "GE"));
      }
    }
    SmallVector<Position> positions = positionsOf(next);
    if (static_cast<int64_t>(positions.size() * (reaches.size() + 1)) > maxElements) {
      return std::nullopt;
    }
    Elements taken;
    for (Position &position : positions) {
      Value value = all[numberOf(current, position)];
      for (Value reached : reaches) {
        ++position[dim];
        HloBuilder b{builder, reached.getLoc()};
        value = b.select(reached, all[numberOf(current, position)], value);
      }
      taken.push_back(value);
    }
    all = std::move(taken);
    current = next;
  }
  return all;
}

bool ElementRewriter::emitDynamicSlice(DynamicSliceOp op) {
  SmallVector<Value> starts;
  for (Value index : op.getStartIndices()) {
    starts.push_back(of(index).front());
  }
  if (starts.size() != shapeOf(op.getOperand()).size()) {
    return false;
  }
  std::optional<Elements> taken =
      sliceAt(of(op.getOperand()), shapeOf(op.getOperand()), starts, op.getDynamicSliceSizes());
  if (taken) {
    elements[op.getResult()] = std::move(*taken);
  }
  return taken.has_value();
}

bool ElementRewriter::emitUpdate(DynamicUpdateSliceOp op) {
  if (op.getStartIndices().size() != shapeOf(op.getOperand()).size()) {
    return false;
  }
  HloBuilder b{builder, op.getLoc()};
  ArrayRef<int64_t> shape = shapeOf(op.getOperand()), window = shapeOf(op.getUpdate());
  Position choices;
  int64_t work = elementsOf(op.getUpdate());
  for (auto [size, part] : llvm::zip(shape, window)) {
    choices.push_back(size - part + 1);
    work *= choices.back();
  }
  if (work > maxElements) {
    return false;
  }
  Elements result = of(op.getOperand());
  for (const Position &start : positionsOf(choices)) {
    Value here = b.scalar(builder.getI1Type(), 1);
    for (auto [dim, index] : llvm::enumerate(op.getStartIndices())) {
      Value low = scalarIndex(index, 0), high = scalarIndex(index, choices[dim] - 1);
      Value clamped = b.clamp(low, of(index).front(), high);
      here = b.binary<AndOp>(here, b.compare(clamped, scalarIndex(index, start[dim]), "EQ"));
    }
    for (auto [i, position] : llvm::enumerate(positionsOf(window))) {
      Position at;
      for (auto [from, offset] : llvm::zip(start, position)) {
        at.push_back(from + offset);
      }
      Value &element = result[numberOf(shape, at)];
      element = b.select(here, of(op.getUpdate())[i], element);
    }
  }
  elements[op.getResult()] = std::move(result);
  return true;
}

bool ElementRewriter::emitGather(GatherOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getOperand()), sizes = op.getSliceSizes();
  ArrayRef<int64_t> indexShape = shapeOf(op.getStartIndices()), map = op.getStartIndexMap();
  auto listOf = [](std::optional<ArrayRef<int64_t>> list) {
    return list.value_or(ArrayRef<int64_t>());
  };
  ArrayRef<int64_t> batching = listOf(op.getOperandBatchingDims());
  ArrayRef<int64_t> indexBatching = listOf(op.getStartIndicesBatchingDims());
  int64_t vectorDim = op.getIndexVectorDim(), rank = rankOf(op.getResult());
  Elements result;
  for (const Position &position : positionsOf(shapeOf(op.getResult()))) {
    Position batch, offset;
    for (int64_t dim = 0; dim < rank; ++dim) {
      (llvm::is_contained(op.getOffsetDims(), dim) ? offset : batch).push_back(position[dim]);
    }
    auto indexAt = [&](int64_t component) {
      Position at(batch);
      if (vectorDim < static_cast<int64_t>(indexShape.size())) {
        at.insert(at.begin() + vectorDim, component);
      }
      return of(op.getStartIndices())[numberOf(indexShape, at)];
    };
    SmallVector<Value> starts(shape.size());
    for (auto [component, dim] : llvm::enumerate(map)) {
      starts[dim] = indexAt(component);
    }
    Elements source = of(op.getOperand());
    Position from(shape), within;
    size_t next = 0;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      const int64_t *batched = llvm::find(batching, static_cast<int64_t>(dim));
      bool dropped = batched != batching.end() ||
                     llvm::is_contained(op.getCollapsedSliceDims(), static_cast<int64_t>(dim));
      within.push_back(dropped ? 0 : offset[next++]);
      if (batched == batching.end()) {
        continue;
      }
      // The part of the operand that belongs to this batch index.
      int64_t indexDim = indexBatching[batched - batching.begin()];
      int64_t row = batch[indexDim - (indexDim > vectorDim)];
      Position one(from);
      one[dim] = 1;
      Elements part;
      for (Position at : positionsOf(one)) {
        at[dim] = row;
        part.push_back(source[numberOf(from, at)]);
      }
      source = std::move(part);
      from = one;
    }
    std::optional<Elements> slice = sliceAt(source, from, starts, sizes);
    if (!slice) {
      return false;
    }
    result.push_back((*slice)[numberOf(sizes, within)]);
  }
  elements[op.getResult()] = std::move(result);
  return true;
}

/// Handles ops whose elements are elements of their operands; false for others.
bool ElementRewriter::emitMove(Operation *op) {
  if (isa<ReshapeOp, CopyOp, BitcastOp>(op) &&
      elementTypeOf(op->getOperand(0)) == elementTypeOf(op->getResult(0))) {
    elements[op->getResult(0)] = Elements(of(op->getOperand(0)));
    return true;
  }
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
  SmallVector<Position> positions = positionsOf(shape);
  Elements result;
  if (auto concatenate = dyn_cast<ConcatenateOp>(op)) {
    int64_t dim = concatenate.getDimension();
    for (Position &position : positions) {
      unsigned operand = 0;
      while (position[dim] >= shapeOf(op->getOperand(operand))[dim]) {
        position[dim] -= shapeOf(op->getOperand(operand++))[dim];
      }
      Value source = op->getOperand(operand);
      result.push_back(of(source)[numberOf(shapeOf(source), position)]);
    }
    elements[op->getResult(0)] = std::move(result);
    return true;
  }
  if (!isa<BroadcastOp, TransposeOp, SliceOp, ReverseOp, PadOp>(op)) {
    return false;
  }
  Value source = op->getOperand(0);
  ArrayRef<int64_t> from = shapeOf(source);
  for (const Position &position : positions) {
    Position at(from.size());
    bool inside = true;
    if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      for (auto [i, dim] : llvm::enumerate(broadcast.getDimensions())) {
        at[i] = position[dim];
      }
    } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
      for (auto [i, dim] : llvm::enumerate(transpose.getDimensions())) {
        at[dim] = position[i];
      }
    } else if (auto slice = dyn_cast<SliceOp>(op)) {
      for (size_t i = 0; i < at.size(); ++i) {
        at[i] = slice.getStartIndices()[i] + position[i] * slice.getStrides()[i];
      }
    } else if (auto reverse = dyn_cast<ReverseOp>(op)) {
      at = position;
      for (int64_t dim : reverse.getDimensions()) {
        at[dim] = from[dim] - 1 - at[dim];
      }
    } else {
      auto pad = cast<PadOp>(op);
      for (size_t i = 0; i < at.size(); ++i) {
        int64_t step = pad.getPaddingInterior()[i] + 1,
                along = position[i] - pad.getPaddingLow()[i];
        inside &= along >= 0 && along % step == 0 && along / step < from[i];
        at[i] = along / step;
      }
    }
    result.push_back(inside ? of(source)[numberOf(from, at)] : of(op->getOperand(1)).front());
  }
  elements[op->getResult(0)] = std::move(result);
  return true;
}
