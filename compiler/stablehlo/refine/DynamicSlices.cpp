//===- DynamicSlices.cpp - Pads, slices and windows whose sizes are operands =//
//
// Each becomes the static op at the bounds, with its sizes set afterwards:
//
//   dynamic_pad           pad, of an array with the padding beyond its sizes; a low padding that
//                         varies: more padding than needed, and a dynamic_slice
//   real_dynamic_slice    slice, or dynamic_slice of an array that is longer by the bound, so that
//                         its start is not clamped
//   dynamic_gather        gather of whole dimensions; of parts as real_dynamic_slice
//   dynamic_conv          convolution; where padding varies, of a padded array
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/refine/Refiner.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::refine;

static bool areConstant(ArrayRef<SizeExpr> all) {
  return llvm::all_of(all, [](const SizeExpr &each) { return each.constant().has_value(); });
}

static SmallVector<int64_t> constants(ArrayRef<SizeExpr> all) {
  return llvm::map_to_vector(all, [](const SizeExpr &each) { return *each.constant(); });
}

Value Refiner::padded(Value x, Value fill, ArrayRef<SizeExpr> low, ArrayRef<int64_t> interior,
                      const Sizes &result, ArrayRef<Value> lowValues) {
  Value all = masked(forgotten(x), sizesOf(x), fill);
  SmallVector<int64_t> shape(typeOf(all).getShape()), target = boundsOf(result);
  SmallVector<int64_t> before, after, wide;
  SmallVector<Value> starts;
  bool moves = false;
  for (size_t dim = 0; dim < result.size(); ++dim) {
    int64_t length = shape[dim] ? (shape[dim] - 1) * (interior[dim] + 1) + 1 : 0;
    std::optional<int64_t> fixed = low[dim].constant();
    before.push_back(fixed ? *fixed : std::max<int64_t>(rangeOf(low[dim]).high, 0));
    // A start that varies is at most `before` behind the first element.
    after.push_back(fixed ? target[dim] - *fixed - length : target[dim]);
    wide.push_back(before.back() + length + after.back());
    starts.push_back(fixed ? s32(0)
                           : binary("stablehlo.subtract", s32(before.back()), lowValues[dim]));
    moves |= !fixed;
  }
  Value padded = pad(all, fill, withShape(all, wide), before, after, interior);
  if (moves) {
    SmallVector<Value> operands{padded};
    operands.append(starts);
    padded = make("stablehlo.dynamic_slice", operands, withShape(all, target),
                  builder.getNamedAttr("slice_sizes", builder.getDenseI64ArrayAttr(target)));
  }
  return sized(padded, result);
}

LogicalResult Refiner::dynamicPad(Operation *op) {
  for (Value vector : op->getOperands().drop_front(2)) {
    if (!canTrack(vector)) {
      return refuse(op, "its padding is no vector of integers");
    }
  }
  ArrayRef<SizeExpr> low = elementsOf(op->getOperand(2)), high = elementsOf(op->getOperand(3));
  ArrayRef<SizeExpr> interior = elementsOf(op->getOperand(4));
  Value x = op->getOperand(0), result = op->getResult(0);
  if (!areConstant(interior)) {
    return refuse(op, "interior padding that varies is not supported");
  }
  builder.setInsertionPoint(op);
  if (areConstant(low) && areConstant(high)) {
    Value plain = pad(x, op->getOperand(1), result.getType(), constants(low), constants(high),
                      constants(interior));
    replace(op, plain);
    return refineOp(plain.getDefiningOp());
  }
  Sizes own, from = sizesOf(x);
  SmallVector<Value> lows;
  for (int64_t dim = 0, rank = from.size(); dim < rank; ++dim) {
    own.push_back(typeOf(result).isDynamicDim(dim)
                      ? paddedSize(from[dim], low[dim], high[dim], *interior[dim].constant())
                      : SizeExpr(typeOf(result).getDimSize(dim)));
    if (isData(own.back()) || isData(low[dim])) {
      return refuse(op, "padding of dimension " + Twine(dim) + " depends on elements of arrays");
    }
    lows.push_back(low[dim].constant() ? Value() : sizeValue(low[dim]));
  }
  replace(op, padded(x, op->getOperand(1), low, constants(interior), own, lows));
  return success();
}

Value Refiner::sliced(Value x, const Sizes &result, ArrayRef<SizeExpr> starts,
                      ArrayRef<Value> startValues, ArrayRef<int64_t> strides) {
  Sizes from = sizesOf(x);
  Value all = forgotten(x);
  int64_t rank = result.size();
  SmallVector<int64_t> target = boundsOf(result), zero(rank, 0), more, wide, spans, first, last;
  bool moves = false, pads = false;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t size = typeOf(all).getDimSize(dim);
    int64_t span = target[dim] ? (target[dim] - 1) * strides[dim] + 1 : 0;
    std::optional<int64_t> fixed = starts[dim].constant();
    int64_t need = (fixed ? *fixed : 0) + span - size;
    // A part of constant size ends inside of the array, wherever it starts.
    if (!fixed && !result[dim].constant()) {
      need = std::min(rangeOf(starts[dim]).high, size) + span - size;
    }
    more.push_back(std::max<int64_t>(need, 0));
    wide.push_back(size + more.back());
    spans.push_back(span);
    first.push_back(fixed ? *fixed : 0);
    last.push_back(first.back() + span);
    pads |= more.back() != 0;
    moves |= !fixed;
  }
  if (pads) {
    all = pad(all, zeroLike(all), withShape(all, wide), zero, more, zero);
  }
  if (moves) {
    SmallVector<Value> operands{all};
    for (int64_t dim = 0; dim < rank; ++dim) {
      operands.push_back(starts[dim].constant() ? s32(*starts[dim].constant()) : startValues[dim]);
    }
    all = make("stablehlo.dynamic_slice", operands, withShape(all, spans),
               builder.getNamedAttr("slice_sizes", builder.getDenseI64ArrayAttr(spans)));
    first.assign(rank, 0);
    last = spans;
  }
  if (typeOf(all).getShape() != ArrayRef<int64_t>(target)) {
    all = make("stablehlo.slice", all, withShape(all, target),
               {builder.getNamedAttr("start_indices", builder.getDenseI64ArrayAttr(first)),
                builder.getNamedAttr("limit_indices", builder.getDenseI64ArrayAttr(last)),
                builder.getNamedAttr("strides", builder.getDenseI64ArrayAttr(strides))});
  }
  return sized(all, result);
}

LogicalResult Refiner::realDynamicSlice(Operation *op) {
  for (Value vector : op->getOperands().drop_front(1)) {
    if (!canTrack(vector)) {
      return refuse(op, "its indices are no vectors of integers");
    }
  }
  Value x = op->getOperand(0), result = op->getResult(0);
  ArrayRef<SizeExpr> start = elementsOf(op->getOperand(1)), limit = elementsOf(op->getOperand(2));
  ArrayRef<SizeExpr> stride = elementsOf(op->getOperand(3));
  if (!areConstant(stride)) {
    return refuse(op, "strides that vary are not supported");
  }
  Sizes own;
  SmallVector<Value> starts;
  builder.setInsertionPoint(op);
  for (int64_t dim = 0, rank = typeOf(x).getRank(); dim < rank; ++dim) {
    int64_t step = *stride[dim].constant();
    if (step <= 0) {
      return refuse(op, "the stride of dimension " + Twine(dim) + " is not positive");
    }
    own.push_back(typeOf(result).isDynamicDim(dim)
                      ? SizeExpr::floorDiv(limit[dim] - start[dim] + (step - 1), step)
                      : SizeExpr(typeOf(result).getDimSize(dim)));
    if (isData(own.back())) {
      return refuse(op, "the size of dimension " + Twine(dim) + " depends on elements of arrays");
    }
    starts.push_back(start[dim].constant() ? Value()
                     : isData(start[dim])  ? element(op->getOperand(1), dim)
                                           : sizeValue(start[dim]));
  }
  replace(op, sliced(x, own, start, starts, constants(stride)));
  return success();
}

LogicalResult Refiner::dynamicGather(Operation *op) {
  Value x = op->getOperand(0), indices = op->getOperand(1), result = op->getResult(0);
  if (!canTrack(op->getOperand(2))) {
    return refuse(op, "its slice sizes are no vector of integers");
  }
  ArrayRef<SizeExpr> slices = elementsOf(op->getOperand(2));
  auto numbers = op->getAttrOfType<stablehlo::GatherDimensionNumbersAttr>("dimension_numbers");
  Sizes from = sizesOf(x);
  int64_t rank = from.size();
  bool isWhole = true;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (isData(slices[dim])) {
      return refuse(op, "slice size " + Twine(dim) + " depends on elements of arrays");
    }
    isWhole &= slices[dim].constant() || slices[dim] == from[dim];
  }
  builder.setInsertionPoint(op);
  Sizes own = gatherSizes(numbers, typeOf(result).getRank(), slices, sizesOf(indices));
  bool isSlice = numbers.getOffsetDims().size() == own.size() && typeOf(indices).getRank() == 1 &&
                 numbers.getOperandBatchingDims().empty() && canTrack(indices);
  if (!isWhole && isSlice) {
    SmallVector<SizeExpr> starts(rank, 0);
    SmallVector<Value> values(rank);
    for (auto [i, dim] : llvm::enumerate(numbers.getStartIndexMap())) {
      starts[dim] = elementsOf(indices)[i];
      SizeExpr most = from[dim] - slices[dim];
      if (rangeOf(starts[dim]).low >= 0 && rangeOf(most - starts[dim]).low >= 0) {
        values[dim] = starts[dim].constant() ? Value()
                      : isData(starts[dim])  ? element(indices, i)
                                             : sizeValue(starts[dim]);
        continue;
      }
      values[dim] = binary("stablehlo.maximum", s32(0),
                           binary("stablehlo.minimum", element(indices, i), sizeValue(most)));
      starts[dim] = fresh();
    }
    Sizes whole(slices.begin(), slices.end());
    Value part = sliced(x, whole, starts, values, SmallVector<int64_t>(rank, 1));
    if (own.size() != whole.size()) {
      FailureOr<RankedTensorType> type = boundedType(op->getLoc(), typeOf(x).getElementType(), own);
      if (failed(type)) {
        return failure();
      }
      part = make("stablehlo.reshape", part, *type);
      sizes[part] = own;
    }
    replace(op, part);
    return success();
  }
  if (!isWhole) {
    return refuse(op, "many slices of a size that varies are not supported");
  }
  NamedAttrList attributes(op->getAttrs());
  SmallVector<int64_t> bounds = boundsOf(Sizes(slices.begin(), slices.end()));
  attributes.set("slice_sizes", builder.getDenseI64ArrayAttr(bounds));
  Value gathered = make("stablehlo.gather", {x, indices}, result.getType(), attributes);
  clampGather(gathered.getDefiningOp());
  if (failed(setSizes(gathered, own))) {
    return failure();
  }
  replace(op, gathered);
  return success();
}

LogicalResult Refiner::dynamicConv(Operation *op) {
  Value x = op->getOperand(0), kernel = op->getOperand(1), result = op->getResult(0);
  if (!canTrack(op->getOperand(2))) {
    return refuse(op, "its padding is no array of integers");
  }
  ArrayRef<SizeExpr> padding = elementsOf(op->getOperand(2));
  auto numbers = op->getAttrOfType<stablehlo::ConvDimensionNumbersAttr>("dimension_numbers");
  int64_t spatial = numbers.getInputSpatialDimensions().size(), rank = typeOf(x).getRank();
  builder.setInsertionPoint(op);
  NamedAttrList attributes(op->getAttrs());
  SmallVector<int64_t> fixed(2 * spatial, 0);
  if (areConstant(padding)) {
    fixed = constants(padding);
  } else {
    SmallVector<int64_t> dilation = listAttr(op, "lhs_dilation");
    dilation.resize(spatial, 1);
    SmallVector<SizeExpr> low(rank, 0);
    SmallVector<int64_t> interior(rank, 0);
    SmallVector<Value> lows(rank);
    Sizes own = sizesOf(x);
    for (int64_t i = 0; i < spatial; ++i) {
      int64_t dim = numbers.getInputSpatialDimensions()[i];
      low[dim] = padding[2 * i];
      interior[dim] = dilation[i] - 1;
      own[dim] = paddedSize(own[dim], low[dim], padding[2 * i + 1], interior[dim]);
      if (isData(own[dim]) || isData(low[dim])) {
        return refuse(op, "padding depends on elements of arrays");
      }
      lows[dim] = low[dim].constant() ? Value() : sizeValue(low[dim]);
    }
    x = padded(x, zeroLike(x), low, interior, own, lows);
    attributes.set("lhs_dilation", builder.getDenseI64ArrayAttr(SmallVector<int64_t>(spatial, 1)));
  }
  attributes.set("padding", DenseIntElementsAttr::get(
                                RankedTensorType::get({spatial, 2}, builder.getI64Type()), fixed));
  Value plain = make("stablehlo.convolution", {x, kernel}, result.getType(), attributes);
  replace(op, plain);
  return refineOp(plain.getDefiningOp());
}
