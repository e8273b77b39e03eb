//===- Quantize.cpp - Rounding floats to narrow integers ------------------===//
//
// convert(clamp(low, round-nearest-even(x) + zero, high)) of f32 to an integer of at most 16 bits,
// as transforms/simplifiers/algebraic/AlgebraicQuantize.cpp leaves it. x is bounded first, so that
// one conversion rounds it and no integer overflows:
//
//   narrowed(rounded(min(max(x, low - zero), high - zero)) + zero), or 0 if x is NaN
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/Quantize.h"
#include "compiler/analysis/Constants.h"
#include "compiler/codegen/elementwise/Num.h"
#include "dialect/hlo/Dialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;

namespace hlo::codegen {

/// The number in all elements of a constant of f32, if it is an integer that f32 counts by ones.
static std::optional<int32_t> integerConstant(Value value) {
  constexpr float largest = 1 << 20;
  DenseElementsAttr attr = splatConstant(value);
  if (!attr || !attr.getElementType().isF32()) {
    return std::nullopt;
  }
  float number = attr.getSplatValue<APFloat>().convertToFloat();
  if (!(std::abs(number) <= largest) || std::trunc(number) != number) {
    return std::nullopt;
  }
  return static_cast<int32_t>(number);
}

std::optional<Quantization> quantizationOf(Operation *op) {
  auto convert = dyn_cast<ConvertOp>(op);
  auto type =
      convert ? dyn_cast<IntegerType>(elementType(convert.getResult().getType())) : IntegerType();
  if (!type || type.getWidth() == 1 || type.getWidth() > 16) {
    return std::nullopt;
  }
  auto clamp = convert.getOperand().getDefiningOp<ClampOp>();
  if (!clamp) {
    return std::nullopt;
  }
  std::optional<int32_t> low = integerConstant(clamp->getOperand(0)), zero = 0,
                         high = integerConstant(clamp->getOperand(2));
  Value inner = clamp->getOperand(1);
  if (auto add = inner.getDefiningOp<AddOp>()) {
    inner = add.getLhs();
    zero = integerConstant(add.getRhs());
  }
  auto round = inner.getDefiningOp<RoundNearestEvenOp>();
  int64_t width = type.getWidth();
  int64_t least = type.isUnsigned() ? 0 : -(int64_t(1) << (width - 1));
  if (!round || !low || !zero || !high || *low > *high || *low < least ||
      *high >= least + (int64_t(1) << width)) {
    return std::nullopt;
  }
  return Quantization{round.getOperand(), *low, *high, *zero, type};
}

/// The nearest (even) integer of 32 bits, which holds it.
static Num roundedToWord(Num x) {
  Emission &e = *x.e;
  Type word = laneType(e.b.getI32Type(), x.lanes());
  return Num(e, LLVM::LrintOp::create(e.b, e.loc, word, x.v));
}

Elem exactInteger(Emission &e, Type type, const Elem &value) {
  Num integer = roundedToWord(Num(e, value.re));
  Type result = computeType(type);
  return Elem(isUnsignedElement(type) ? zextTo(integer, result) : sextTo(integer, result));
}

Elem emitQuantize(Emission &e, const Quantization &quantization, const Elem &value) {
  const auto &[input, low, high, zero, type] = quantization;
  Num x(e, value.re);
  // A NaN becomes the lower bound, which is 0 where that is the result of a NaN.
  Num bounded = maxNum(x, x.of(static_cast<double>(low - zero)));
  bounded = minNum(bounded, x.of(static_cast<double>(high - zero)));
  Num rounded = roundedToWord(bounded);
  if (zero != 0) {
    rounded = rounded + zero;
  }
  if (low != 0) {
    rounded = select(isNaN(x), 0, rounded);
  }
  return Elem(zextTo(rounded, computeType(type)));
}

} // namespace hlo::codegen
