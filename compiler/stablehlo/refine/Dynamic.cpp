//===- Dynamic.cpp - Ops whose sizes are operands -------------------------===//
//
// Each becomes the static op at the bounds, with its sizes set afterwards:
//
//   dynamic_broadcast_in_dim   broadcast to the bounds
//   dynamic_iota               iota of the bounds
//   dynamic_reshape            reshape, if every `?` dimension stays as it is
//
// DynamicSlices.cpp has the others, CustomCalls.cpp those that are custom calls of JAX.
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/refine/Refiner.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::refine;

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
