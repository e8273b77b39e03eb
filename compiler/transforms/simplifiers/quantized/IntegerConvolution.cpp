//===- IntegerConvolution.cpp - Convolutions of scaled bytes as integers --===//
//
//   conv((x - zx) * sx, w * sw)  ->  (conv(x, w) - zx * (sum of w)) * sx * sw
//
// Padding is zeros of the operand, so x is padded by zx first.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/simplifiers/quantized/IntegerProducts.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace hlo;

IntegerConvolution::IntegerConvolution(ConvolutionOp conv)
    : conv(conv), dims(conv.getDimLabels()), window(conv.getWindow().value_or(WindowAttr())) {
  // A batch in groups has its groups at features of the result.
  bool sumsBatch = conv.getBatchGroupCount().value_or(1) > 1;
  int64_t kept[2] = {sumsBatch ? -1 : dims.getInputBatch(), dims.getKernelOutputFeature()};
  int64_t to[2] = {dims.getOutputBatch(), dims.getOutputFeature()};
  for (int i : {0, 1}) {
    Value operand = conv->getOperand(i);
    SmallVector<bool> sums(rankOf(operand), true);
    sides.places[i].assign(sums.size(), -1);
    if (kept[i] >= 0) {
      sums[kept[i]] = false;
      sides.places[i][kept[i]] = to[i];
    }
    sides.of[i] = Dequantized::of(operand, sums, /*whole=*/true);
  }
  for (auto [dim, size] : llvm::enumerate(shapeOf(conv.getRhs()))) {
    bool isSummed = static_cast<int64_t>(dim) != kept[1];
    sides.terms = isSummed ? llvm::SaturatingMultiply<uint64_t>(sides.terms, size) : sides.terms;
  }
  if (sumsBatch) {
    sides.terms = llvm::SaturatingMultiply<uint64_t>(sides.terms,
                                                     shapeOf(conv.getLhs())[dims.getInputBatch()]);
  }
}

bool IntegerConvolution::canEmit() {
  if (!sides.of[0] || !sides.of[1] || !window || sides.of[1]->hasZero()) {
    return false;
  }
  bool grouped =
      conv.getFeatureGroupCount().value_or(1) * conv.getBatchGroupCount().value_or(1) > 1;
  if (sides.of[0]->range().mayBeNan && grouped) {
    return false;
  }
  // The input's one zero is also what it is padded with: a byte of the same kind.
  if (sides.of[0]->hasZero()) {
    IntegerRange range = sides.of[0]->zeroRange(), bytes = sides.of[0]->range();
    int64_t least = bytes.low < 0 ? -128 : 0, most = bytes.high > 127 ? 255 : 127;
    return llvm::all_of(sides.of[0]->zeroDims(), [](int64_t dim) { return dim < 0; }) &&
           range.low >= least && range.high <= most;
  }
  return true;
}

bool IntegerConvolution::isPadded() const {
  auto isSet = [](ArrayRef<int64_t> list, int64_t none) {
    return llvm::any_of(list, [&](int64_t x) { return x != none; });
  };
  return isSet(window.getPadLow(), 0) || isSet(window.getPadHigh(), 0) ||
         isSet(window.getBaseDilations(), 1);
}

/// The input with its zero as padding.
Value IntegerConvolution::padded(HloBuilder &b, Value bytes) const {
  SmallVector<int64_t> low(rankOf(bytes), 0), high(low), interior(low);
  auto at = [](ArrayRef<int64_t> list, size_t i, int64_t none) {
    return list.empty() ? none : list[i];
  };
  for (auto [i, dim] : llvm::enumerate(dims.getInputSpatial())) {
    low[dim] = at(window.getPadLow(), i, 0);
    high[dim] = at(window.getPadHigh(), i, 0);
    interior[dim] = at(window.getBaseDilations(), i, 1) - 1;
  }
  Value filler = b.convert(b.reshape(sides.of[0]->zero(b), {}), elementTypeOf(bytes));
  return b.pad(bytes, filler, low, high, interior);
}

Value IntegerConvolution::convolve(HloBuilder &b, Value input, Value kernel, WindowAttr window,
                                   Type type, bool oneFeature) {
  SmallVector<int64_t> shape(shapeOf(conv.getResult()));
  if (oneFeature) {
    shape[dims.getOutputFeature()] = 1;
  }
  return ConvolutionOp::create(b.b, b.loc, HloBuilder::array(shape, type), input, kernel, window,
                               dims, conv.getFeatureGroupCountAttr(), conv.getBatchGroupCountAttr(),
                               ArrayAttr(), conv.getConvolutionKindAttr(),
                               conv.getSparsityConfigAttr(), StringAttr());
}

/// The sums of the kernel for each output feature, in s32: a product with ones.
Value IntegerConvolution::kernelSums(HloBuilder &b, Value kernel) const {
  SmallVector<int64_t> sizes, summed, all;
  int64_t feature = dims.getKernelOutputFeature();
  for (int64_t dim = 0; dim < rankOf(kernel); ++dim) {
    if (dim != feature) {
      all.push_back(sizes.size());
      sizes.push_back(shapeOf(kernel)[dim]);
      summed.push_back(dim);
    }
  }
  Value ones = b.splat(HloBuilder::array(sizes, elementTypeOf(kernel)), 1);
  auto list = [&](ArrayRef<int64_t> dims) { return b.b.getDenseI64ArrayAttr(dims); };
  return DotOp::create(
      b.b, b.loc, HloBuilder::array({shapeOf(kernel)[feature]}, b.b.getIntegerType(32, true)), ones,
      kernel, list({}), list({}), list(all), list(summed), ArrayAttr(), StringAttr());
}

/// Of the result's shape, f32: NaN where a float of side `i` that is NaN counts, else 0.
Value IntegerConvolution::notNumbers(HloBuilder &b, ScalarComputations &scalars, int i) {
  Type f32 = b.b.getF32Type();
  Value nothing = sides.of[i]->integersNan(b);
  int64_t feature = dims.getKernelOutputFeature();
  SmallVector<int64_t> summed, one(shapeOf(nothing));
  for (int64_t dim = 0; dim < rankOf(nothing); ++dim) {
    if (i == 0 ? dim == dims.getInputFeature() : dim != feature) {
      summed.push_back(dim);
      one[dim] = 1;
    }
  }
  Value sum = sumOver(b, scalars, nothing, f32, summed);
  ArrayRef<int64_t> shape = shapeOf(conv.getResult());
  if (i == 1) {
    return b.broadcast(sum, shape, {dims.getOutputFeature()});
  }
  // One feature, and a kernel of ones.
  SmallVector<int64_t> kernel(shapeOf(conv.getRhs()));
  kernel[dims.getKernelInputFeature()] = kernel[feature] = 1;
  Value windows = convolve(b, b.reshape(sum, one), b.splat(HloBuilder::array(kernel, f32), 1),
                           window, f32, /*oneFeature=*/true);
  SmallVector<int64_t> rest, places;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (static_cast<int64_t>(dim) != dims.getOutputFeature()) {
      rest.push_back(size);
      places.push_back(dim);
    }
  }
  return b.broadcast(b.reshape(windows, rest), shape, places);
}

Value IntegerConvolution::emit(HloBuilder &b, ScalarComputations &scalars) {
  Type s32 = b.b.getIntegerType(32, true);
  Value input = sides.of[0]->integers(b), kernel = sides.of[1]->integers(b);
  Value less = sides.of[0]->hasZero() ? kernelSums(b, kernel) : Value();
  WindowAttr inside = window;
  if (less && isPadded()) {
    input = padded(b, input);
    SmallVector<int64_t> none(window.getSize().size(), 0), ones(window.getSize().size(), 1);
    inside = WindowAttr::get(b.b.getContext(), window.getSize(), window.getStrides(), none, none,
                             ones, window.getWindowDilations(), window.getReversal());
  }
  if (elementTypeOf(input) != elementTypeOf(kernel)) {
    // Convolutions take bytes of one signedness, and read others through conversions.
    input = b.convert(input, s32);
    kernel = b.convert(kernel, s32);
  }
  Value result = convolve(b, input, kernel, inside, s32, /*oneFeature=*/false);
  ArrayRef<int64_t> shape = shapeOf(conv.getResult());
  if (less) {
    less = b.mul(less, b.broadcastScalar(b.reshape(sides.of[0]->zero(b), {}), shapeOf(less)));
    result = b.sub(result, b.broadcast(less, shape, {dims.getOutputFeature()}));
  }
  result = sides.scaled(b, result);
  for (int i : {0, 1}) {
    result = sides.of[i]->range().mayBeNan ? b.add(result, notNumbers(b, scalars, i)) : result;
  }
  return b.convert(result, elementTypeOf(conv.getResult()));
}
