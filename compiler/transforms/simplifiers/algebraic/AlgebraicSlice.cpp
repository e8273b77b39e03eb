//===- AlgebraicSlice.cpp - Rules of slice, pad, concatenate --------------===//
//
// Rules of slice, pad, concatenate and the dynamic slices. Constant starts are clamped as at run
// time.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/evaluator/Evaluator.h"
#include "compiler/transforms/simplifiers/algebraic/AlgebraicRules.h"

using namespace mlir;
using namespace hlo;

static bool isAll(ArrayRef<int64_t> values, int64_t value) {
  return llvm::all_of(values, [=](int64_t v) { return v == value; });
}

// slice of everything -> x
static Value fullSlice(SliceOp op, HloBuilder &b) {
  return op.getOperand().getType() == op.getResult().getType() ? op.getOperand() : Value();
}

// slice(slice(x)) -> slice(x)
static Value mergeSlices(SliceOp op, HloBuilder &b) {
  auto inner = op.getOperand().getDefiningOp<SliceOp>();
  if (!inner) {
    return {};
  }
  SmallVector<int64_t> starts, limits, strides;
  for (size_t i = 0; i < op.getStartIndices().size(); ++i) {
    int64_t step = inner.getStrides()[i];
    int64_t size = shapeOf(op.getResult())[i];
    starts.push_back(inner.getStartIndices()[i] + op.getStartIndices()[i] * step);
    strides.push_back(op.getStrides()[i] * step);
    limits.push_back(size == 0 ? starts.back() : starts.back() + (size - 1) * strides.back() + 1);
  }
  return b.slice(inner.getOperand(), starts, limits, strides);
}

// slice(broadcast(x)) -> broadcast(x) if x's dimensions are not cut, else broadcast(slice(x))
static Value sliceOfBroadcast(SliceOp op, HloBuilder &b) {
  auto broadcast = op.getOperand().getDefiningOp<BroadcastOp>();
  if (!broadcast) {
    return {};
  }
  SmallVector<int64_t> starts, limits, strides;
  for (int64_t dim : broadcast.getDimensions()) {
    starts.push_back(op.getStartIndices()[dim]);
    limits.push_back(op.getLimitIndices()[dim]);
    strides.push_back(op.getStrides()[dim]);
  }
  Value inner = broadcast.getOperand();
  if (!starts.empty()) {
    inner = b.slice(inner, starts, limits, strides);
  }
  return b.broadcast(inner, shapeOf(op.getResult()), broadcast.getDimensions());
}

// slice(concatenate(.., x, ..)) inside x -> slice(x)
static Value sliceOfConcatenate(SliceOp op, HloBuilder &b) {
  auto concatenate = op.getOperand().getDefiningOp<ConcatenateOp>();
  if (!concatenate) {
    return {};
  }
  int64_t dim = concatenate.getDimension(), offset = 0;
  int64_t start = op.getStartIndices()[dim], limit = op.getLimitIndices()[dim];
  for (Value operand : concatenate.getInputs()) {
    int64_t size = shapeOf(operand)[dim];
    if (start >= offset && limit <= offset + size && start < limit) {
      SmallVector<int64_t> starts(op.getStartIndices()), limits(op.getLimitIndices());
      starts[dim] -= offset;
      limits[dim] -= offset;
      return b.slice(operand, starts, limits, op.getStrides());
    }
    offset += size;
  }
  return {};
}

// slice(transpose(x)) -> transpose(slice(x))
static Value sliceOfTranspose(SliceOp op, HloBuilder &b) {
  auto transpose = op.getOperand().getDefiningOp<TransposeOp>();
  if (!transpose || !transpose->hasOneUse()) {
    return {};
  }
  size_t rank = op.getStartIndices().size();
  SmallVector<int64_t> starts(rank), limits(rank), strides(rank);
  for (auto [i, dim] : llvm::enumerate(transpose.getDimensions())) {
    starts[dim] = op.getStartIndices()[i];
    limits[dim] = op.getLimitIndices()[i];
    strides[dim] = op.getStrides()[i];
  }
  return b.transpose(b.slice(transpose.getOperand(), starts, limits, strides),
                     transpose.getDimensions());
}

// slice(pad(x)) inside x, without interior padding -> slice(x)
static Value sliceOfPad(SliceOp op, HloBuilder &b) {
  auto pad = op.getOperand().getDefiningOp<PadOp>();
  if (!pad || !isAll(pad.getPaddingInterior(), 0)) {
    return {};
  }
  SmallVector<int64_t> starts, limits;
  for (auto [i, size] : llvm::enumerate(shapeOf(pad.getOperand()))) {
    starts.push_back(op.getStartIndices()[i] - pad.getPaddingLow()[i]);
    limits.push_back(op.getLimitIndices()[i] - pad.getPaddingLow()[i]);
    if (starts.back() < 0 || limits.back() > size || starts.back() >= limits.back()) {
      return {};
    }
  }
  return b.slice(pad.getOperand(), starts, limits, op.getStrides());
}

// pad by nothing -> x; pad with negative padding only -> slice; pad(broadcast(v), v) ->
// broadcast(v)
static Value simplifyPad(PadOp op, HloBuilder &b) {
  if (op.getOperand().getType() == op.getResult().getType() && isAll(op.getPaddingLow(), 0) &&
      isAll(op.getPaddingHigh(), 0)) {
    return op.getOperand();
  }
  auto broadcast = op.getOperand().getDefiningOp<BroadcastOp>();
  if (broadcast && broadcast.getOperand() == op.getPaddingValue()) {
    return b.broadcastScalar(op.getPaddingValue(), shapeOf(op.getResult()));
  }
  if (elementsOf(op.getOperand()) == 0) {
    return b.broadcastScalar(op.getPaddingValue(), shapeOf(op.getResult()));
  }
  SmallVector<int64_t> starts, limits;
  for (auto [i, size] : llvm::enumerate(shapeOf(op.getOperand()))) {
    int64_t low = op.getPaddingLow()[i], high = op.getPaddingHigh()[i];
    if (low > 0 || high > 0 || (op.getPaddingInterior()[i] != 0 && size > 1) ||
        size + high < -low) {
      return {};
    }
    starts.push_back(-low);
    limits.push_back(size + high);
  }
  return b.slice(op.getOperand(), starts, limits);
}

// pad(pad(x, v), v) without interior and negative padding -> pad(x, v)
static Value mergePads(PadOp op, HloBuilder &b) {
  auto inner = op.getOperand().getDefiningOp<PadOp>();
  auto plain = [](PadOp pad) {
    auto negative = [](int64_t v) { return v < 0; };
    return isAll(pad.getPaddingInterior(), 0) && llvm::none_of(pad.getPaddingLow(), negative) &&
           llvm::none_of(pad.getPaddingHigh(), negative);
  };
  if (!inner || !inner->hasOneUse() || inner.getPaddingValue() != op.getPaddingValue() ||
      !plain(inner) || !plain(op)) {
    return {};
  }
  SmallVector<int64_t> low(op.getPaddingLow()), high(op.getPaddingHigh());
  for (size_t i = 0; i < low.size(); ++i) {
    low[i] += inner.getPaddingLow()[i];
    high[i] += inner.getPaddingHigh()[i];
  }
  return b.pad(inner.getOperand(), op.getPaddingValue(), low, high, op.getPaddingInterior());
}

// concatenate(x) -> x; drops empty operands; equal broadcast scalars -> broadcast
static Value simplifyConcatenate(ConcatenateOp op, HloBuilder &b) {
  SmallVector<Value> operands;
  int64_t dim = op.getDimension();
  for (Value operand : op.getInputs()) {
    if (shapeOf(operand)[dim] != 0) {
      operands.push_back(operand);
    }
  }
  if (operands.size() == 1) {
    return operands.front();
  }
  auto scalarOf = [](Value value) {
    auto broadcast = value.getDefiningOp<BroadcastOp>();
    return broadcast && isScalar(broadcast.getOperand()) ? broadcast.getOperand() : Value();
  };
  Value scalar = operands.empty() ? Value() : scalarOf(operands.front());
  if (scalar && llvm::all_of(operands, [&](Value v) { return scalarOf(v) == scalar; })) {
    return b.broadcastScalar(scalar, shapeOf(op.getResult()));
  }
  if (operands.empty() || operands.size() == op.getInputs().size()) {
    return {};
  }
  return b.concatenate(operands, dim);
}

// concatenate(.., concatenate(x, y), ..) -> concatenate(.., x, y, ..)
static Value flattenConcatenate(ConcatenateOp op, HloBuilder &b) {
  auto isPartOf = [](ConcatenateOp inner, ConcatenateOp outer) {
    return inner && outer && inner->hasOneUse() && inner.getDimension() == outer.getDimension();
  };
  // The outermost one takes the parts of all, so that no list is copied at each level.
  if (op->hasOneUse() && isPartOf(op, dyn_cast<ConcatenateOp>(*op->user_begin()))) {
    return {};
  }
  SmallVector<Value> operands, open(llvm::reverse(op.getInputs()));
  while (!open.empty()) {
    Value operand = open.pop_back_val();
    auto inner = operand.getDefiningOp<ConcatenateOp>();
    if (isPartOf(inner, op)) {
      llvm::append_range(open, llvm::reverse(inner.getInputs()));
    } else {
      operands.push_back(operand);
    }
  }
  return operands.size() == op.getInputs().size() ? Value()
                                                  : b.concatenate(operands, op.getDimension());
}

// concatenate(.., x[a:b], x[b:c], ..) -> concatenate(.., x[a:c], ..)
static Value mergeAdjacentSlices(ConcatenateOp op, HloBuilder &b) {
  int64_t dim = op.getDimension();
  auto continues = [&](SliceOp first, SliceOp second) {
    if (!first || !second || first.getOperand() != second.getOperand() ||
        !isAll(first.getStrides(), 1) || !isAll(second.getStrides(), 1)) {
      return false;
    }
    for (size_t i = 0; i < first.getStartIndices().size(); ++i) {
      bool along = static_cast<int64_t>(i) == dim;
      if (along ? second.getStartIndices()[i] != first.getLimitIndices()[i]
                : second.getStartIndices()[i] != first.getStartIndices()[i] ||
                      second.getLimitIndices()[i] != first.getLimitIndices()[i]) {
        return false;
      }
    }
    return true;
  };
  SmallVector<Value> operands;
  bool changed = false;
  for (size_t i = 0, e = op.getInputs().size(); i < e;) {
    auto first = op.getInputs()[i].getDefiningOp<SliceOp>();
    auto last = first;
    size_t next = i + 1;
    while (next < e && continues(last, op.getInputs()[next].getDefiningOp<SliceOp>())) {
      last = op.getInputs()[next++].getDefiningOp<SliceOp>();
    }
    if (next == i + 1) {
      operands.push_back(op.getInputs()[i]);
    } else {
      SmallVector<int64_t> limits(first.getLimitIndices());
      limits[dim] = last.getLimitIndices()[dim];
      operands.push_back(b.slice(first.getOperand(), first.getStartIndices(), limits));
      changed = true;
    }
    i = next;
  }
  if (!changed) {
    return {};
  }
  return operands.size() == 1 ? operands.front() : b.concatenate(operands, dim);
}

/// The constant starts of a window of `sizes` in `shape`, clamped; nothing if a start is not
/// constant.
static std::optional<SmallVector<int64_t>>
clampedStarts(ValueRange indices, ArrayRef<int64_t> shape, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> starts;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    int64_t last = shape[i] - size;
    // If the window fits in one place only, every start is clamped to it.
    std::optional<int64_t> start = last == 0 ? 0 : constantInteger(indices[i]);
    if (!start) {
      return std::nullopt;
    }
    bool beyond = *start < 0 && elementTypeOf(indices[i]).isUnsignedInteger();
    starts.push_back(beyond ? last : std::clamp<int64_t>(*start, 0, last));
  }
  return starts;
}

// dynamic-slice at constant starts -> slice
static Value constantDynamicSlice(DynamicSliceOp op, HloBuilder &b) {
  ArrayRef<int64_t> sizes = op.getDynamicSliceSizes();
  if (op.getStartIndices().size() != sizes.size()) {
    return {};
  }
  auto starts = clampedStarts(op.getStartIndices(), shapeOf(op.getOperand()), sizes);
  if (!starts) {
    return {};
  }
  SmallVector<int64_t> limits;
  for (auto [start, size] : llvm::zip(*starts, sizes)) {
    limits.push_back(start + size);
  }
  return b.slice(op.getOperand(), *starts, limits);
}

// dynamic-update-slice of everything -> update; by an empty update -> x
static Value fullUpdate(DynamicUpdateSliceOp op, HloBuilder &b) {
  if (op.getUpdate().getType() == op.getResult().getType()) {
    return op.getUpdate();
  }
  return elementsOf(op.getUpdate()) == 0 ? op.getOperand() : Value();
}

// select(p, dynamic-update-slice(x, u), x) with scalar p -> dynamic-update-slice(x, select(p, u,
// slice of x)): selects the window in place instead of all of x
static Value selectedUpdate(SelectOp op, HloBuilder &b) {
  Value pred = op.getPred();
  if (auto broadcast = pred.getDefiningOp<BroadcastOp>()) {
    pred = broadcast.getOperand();
  }
  if (!isScalar(pred)) {
    return {};
  }
  for (bool onTrue : {true, false}) {
    Value changed = onTrue ? op.getOnTrue() : op.getOnFalse();
    Value array = onTrue ? op.getOnFalse() : op.getOnTrue();
    auto update = changed.getDefiningOp<DynamicUpdateSliceOp>();
    if (!update || !update->hasOneUse() || update.getOperand() != array ||
        elementsOf(update.getUpdate()) * 4 > elementsOf(array)) {
      continue;
    }
    Value part = update.getUpdate();
    Value old =
        DynamicSliceOp::create(b.b, b.loc, HloBuilder::type(part), array, update.getStartIndices(),
                               b.b.getDenseI64ArrayAttr(shapeOf(part)));
    Value all = b.broadcastScalar(pred, shapeOf(part));
    part = onTrue ? b.select(all, part, old) : b.select(all, old, part);
    return DynamicUpdateSliceOp::create(b.b, b.loc, array.getType(), array, part,
                                        update.getStartIndices());
  }
  return {};
}

void hlo::populateSliceRules(RewritePatternSet &patterns) {
  addRules<SliceOp>(patterns, {fullSlice, mergeSlices, sliceOfBroadcast, sliceOfConcatenate,
                               sliceOfTranspose, sliceOfPad});
  addRules<PadOp>(patterns, {simplifyPad, mergePads});
  addRules<ConcatenateOp>(patterns, {simplifyConcatenate, flattenConcatenate, mergeAdjacentSlices});
  addRules<DynamicSliceOp>(patterns, {constantDynamicSlice});
  addRules<DynamicUpdateSliceOp>(patterns, {fullUpdate});
  addRules<SelectOp>(patterns, {selectedUpdate});
}
