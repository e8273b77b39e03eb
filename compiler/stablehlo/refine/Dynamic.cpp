//===- Dynamic.cpp - Ops whose sizes are operands -------------------------===//
//
// Each becomes the static op at the bounds, with its sizes set afterwards:
//
//   dynamic_broadcast_in_dim   broadcast to the bounds
//   dynamic_iota               iota of the bounds
//   dynamic_reshape            reshape, if every `?` dimension stays as it is
//   dynamic_pad                pad, of an array with the padding beyond its sizes; a low padding
//                              that varies: more padding than needed, and a dynamic_slice
//   real_dynamic_slice         slice, or dynamic_slice of an array that is longer by the bound, so
//                              that its start is not clamped
//   dynamic_gather             gather of whole dimensions; of parts as real_dynamic_slice
//   dynamic_conv               convolution; where padding varies, of a padded array
//   dynamic_reduce_window,     reduce_window likewise, top_k (custom calls of JAX)
//     dynamic_top_k
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/refine/Refiner.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::refine;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static bool areConstant(ArrayRef<SizeExpr> all) {
  return llvm::all_of(all, [](const SizeExpr &each) { return each.constant().has_value(); });
}

static SmallVector<int64_t> constants(ArrayRef<SizeExpr> all) {
  return llvm::map_to_vector(all, [](const SizeExpr &each) { return *each.constant(); });
}

void Refiner::replace(Operation *op, ArrayRef<Value> values) {
  op->replaceAllUsesWith(ValueRange(values));
  erase(op);
}

void Refiner::erase(Operation *op) {
  // An op that is made later may have the address of this one.
  for (Value result : op->getResults()) {
    elements.erase(result);
    sizes.erase(result);
  }
  if (op == sizesEnd) {
    sizesEnd = op->getNextNode();
  }
  op->erase();
}

FailureOr<Sizes> Refiner::sizesFrom(Operation *op, Value vector, Value result) {
  RankedTensorType type = typeOf(result);
  if (!canTrack(vector) || typeOf(vector).getNumElements() != type.getRank()) {
    refuse(op, "its sizes are no vector of an integer for each dimension of the result");
    return failure();
  }
  ArrayRef<SizeExpr> given = elementsOf(vector);
  Sizes own;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    own.push_back(type.isDynamicDim(dim) ? given[dim] : SizeExpr(type.getDimSize(dim)));
    if (isData(own.back())) {
      refuse(op, "the size of dimension " + Twine(dim) +
                     " depends on elements of arrays, not on sizes of parameters alone");
      return failure();
    }
  }
  return own;
}

LogicalResult Refiner::dynamicBroadcast(Operation *op) {
  FailureOr<Sizes> own = sizesFrom(op, op->getOperand(1), op->getResult(0));
  if (failed(own)) {
    return failure();
  }
  Value x = op->getOperand(0);
  Sizes from = sizesOf(x), first;
  for (const SizeExpr &size : *own) {
    first.push_back(boundOf(size));
  }
  for (auto [dim, target] : llvm::enumerate(listAttr(op, "broadcast_dimensions"))) {
    if (from[dim] != SizeExpr(1)) {
      first[target] = (*own)[target] = from[dim];
    }
  }
  FailureOr<RankedTensorType> type = boundedType(op->getLoc(), typeOf(x).getElementType(), first);
  if (failed(type)) {
    return failure();
  }
  builder.setInsertionPoint(op);
  Value spread = make(
      "stablehlo.broadcast_in_dim", x, *type,
      builder.getNamedAttr("broadcast_dimensions",
                           builder.getDenseI64ArrayAttr(listAttr(op, "broadcast_dimensions"))));
  sizes[spread] = first;
  Value value = sized(spread, *own);
  replace(op, value);
  return success();
}

LogicalResult Refiner::dynamicIota(Operation *op) {
  FailureOr<Sizes> own = sizesFrom(op, op->getOperand(0), op->getResult(0));
  if (failed(own)) {
    return failure();
  }
  builder.setInsertionPoint(op);
  Value all = make("stablehlo.iota", {}, withShape(op->getResult(0), boundsOf(*own)),
                   builder.getNamedAttr("iota_dimension", op->getAttr("iota_dimension")));
  replace(op, sized(all, *own));
  return success();
}

/// True if the same dimensions vary in both, and as many elements lie between them.
static bool keepsDynamicDims(const Sizes &from, const Sizes &to) {
  auto split = [](const Sizes &all) {
    SmallVector<std::pair<int64_t, SizeExpr>> parts;
    int64_t elements = 1;
    for (const SizeExpr &size : all) {
      if (size.constant()) {
        elements *= *size.constant();
      } else {
        parts.push_back({elements, size});
        elements = 1;
      }
    }
    parts.push_back({elements, 0});
    return parts;
  };
  auto left = split(from), right = split(to);
  return left.size() == right.size() && llvm::all_of(llvm::zip(left, right), [](auto pair) {
           auto &[x, y] = pair;
           return x.first == y.first && x.second == y.second;
         });
}

/// A dynamic_reshape has as many elements at the bounds before as after: where the bounds do not, a
/// row of all elements is made longer or shorter first.
void Refiner::resizeOperand(Operation *op, const Sizes &to) {
  Value x = op->getOperand(0);
  auto count = [&](const Sizes &sizes) {
    int64_t product = 1;
    for (int64_t size : boundsOf(sizes)) {
      product *= size;
    }
    return product;
  };
  Sizes from = sizesOf(x);
  int64_t before = count(from), after = count(to);
  if (before == after) {
    return;
  }
  SizeExpr all = 1;
  for (const SizeExpr &size : to) {
    all = all * size;
  }
  Type element = typeOf(x).getElementType();
  auto row = [&](int64_t bound) {
    return RankedTensorType::get({ShapedType::kDynamic}, element,
                                 stablehlo::TypeExtensionsAttr::get(op->getContext(), {bound}));
  };
  Value length =
      make("stablehlo.reshape", sizeValue(all), RankedTensorType::get({1}, builder.getI32Type()));
  Value flat = make("stablehlo.dynamic_reshape", {x, length}, row(before));
  flat = make("stablehlo.set_dimension_size", {flat, s32(before)}, withShape(x, {before}),
              builder.getNamedAttr("dimension", builder.getI64IntegerAttr(0)));
  // A negative padding cuts.
  flat = pad(flat, zeroLike(x), withShape(x, {after}), {0}, {after - before}, {0});
  flat = make("stablehlo.set_dimension_size", {flat, sizeValue(all)}, row(after),
              builder.getNamedAttr("dimension", builder.getI64IntegerAttr(0)));
  op->setOperand(0, flat);
}

LogicalResult Refiner::dynamicReshape(Operation *op) {
  FailureOr<Sizes> own = sizesFrom(op, op->getOperand(1), op->getResult(0));
  if (failed(own)) {
    return failure();
  }
  Value result = op->getResult(0), x = op->getOperand(0);
  if (failed(setSizes(result, *own))) {
    return failure();
  }
  builder.setInsertionPoint(op);
  if (!keepsDynamicDims(sizesOf(x), *own)) {
    resizeOperand(op, *own);
    return success(); // to hlo's dynamic-reshape
  }
  Value plain = make("stablehlo.reshape", x, result.getType());
  sizes[plain] = *own;
  replace(op, plain);
  return success();
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

LogicalResult Refiner::refineDynamic(Operation *op) {
  StringRef name = op->getName().getStringRef();
  for (auto [dynamic, rule] :
       {std::pair<StringRef, LogicalResult (Refiner::*)(Operation *)>(
            "stablehlo.dynamic_broadcast_in_dim", &Refiner::dynamicBroadcast),
        {"stablehlo.dynamic_iota", &Refiner::dynamicIota},
        {"stablehlo.dynamic_reshape", &Refiner::dynamicReshape},
        {"stablehlo.dynamic_pad", &Refiner::dynamicPad},
        {"stablehlo.real_dynamic_slice", &Refiner::realDynamicSlice},
        {"stablehlo.dynamic_gather", &Refiner::dynamicGather},
        {"stablehlo.dynamic_conv", &Refiner::dynamicConv},
        {"stablehlo.custom_call", &Refiner::customCall}}) {
    if (name == dynamic) {
      return (this->*rule)(op);
    }
  }
  return refuse(op, "there is no rule for its sizes");
}
