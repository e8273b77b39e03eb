//===- Sides.cpp - What products of scaled bytes share --------------------===//
#include "compiler/transforms/simplifiers/quantized/IntegerProducts.h"

using namespace mlir;
using namespace hlo;

Value hlo::spread(HloBuilder &b, Value x, ArrayRef<int64_t> dims, ArrayRef<int64_t> shape) {
  SmallVector<std::pair<int64_t, int64_t>> kept; // dimension of the result, of x
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (dim >= 0) {
      kept.push_back({dim, i});
    }
  }
  llvm::sort(kept);
  SmallVector<int64_t> order, sizes, places;
  for (auto [dim, i] : kept) {
    order.push_back(i);
    sizes.push_back(shapeOf(x)[i]);
    places.push_back(dim);
  }
  for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i) {
    if (dims[i] < 0) {
      order.push_back(i);
    }
  }
  x = b.reshape(b.transpose(x, order), sizes);
  return sizes == shape ? x : b.broadcast(x, shape, places);
}

Value hlo::sumOver(HloBuilder &b, ScalarComputations &scalars, Value x, Type type,
                   ArrayRef<int64_t> dims) {
  SmallVector<int64_t> sizes, summed(dims);
  for (auto [dim, size] : llvm::enumerate(shapeOf(x))) {
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim))) {
      sizes.push_back(size);
    }
  }
  llvm::sort(summed);
  return ReduceOp::create(b.b, b.loc, TypeRange(HloBuilder::array(sizes, type)),
                          ValueRange{b.convert(x, type), b.scalar(type, 0)},
                          b.b.getDenseI64ArrayAttr(summed), scalars.binary<AddOp>(type))
      .getResult(0);
}

Value Sides::spreadOf(HloBuilder &b, int i, Value value, ArrayRef<int64_t> dims,
                      ArrayRef<int64_t> shape) const {
  SmallVector<int64_t> to;
  for (int64_t dim : dims) {
    to.push_back(dim < 0 ? -1 : places[i][dim]);
  }
  return spread(b, value, to, shape);
}

Value Sides::scaled(HloBuilder &b, Value sums) const {
  Type f32 = b.b.getF32Type();
  Value result = b.convert(sums, f32);
  for (int i : {0, 1}) {
    for (const SharedValue &scale : of[i]->scales()) {
      Value factor = spreadOf(b, i, b.convert(scale.value, f32), scale.dims, shapeOf(result));
      result = scale.inverted ? b.div(result, factor) : b.mul(result, factor);
    }
    if (of[i]->hasZero() && of[i]->zeroRange().mayBeNan) {
      result = b.add(result, spreadOf(b, i, of[i]->zeroNan(b), of[i]->zeroDims(), shapeOf(result)));
    }
  }
  return result;
}
