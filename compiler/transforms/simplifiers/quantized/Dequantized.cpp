//===- Dequantized.cpp - Operands that are scaled bytes -------------------===//
//
// From the operand inwards: products and quotients with shared scales, conversions of floats,
// transposes and reshapes, then a difference with a shared zero, then the integers.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/simplifiers/quantized/Dequantized.h"
#include "compiler/analysis/Constants.h"
#include "compiler/analysis/Shapes.h"

using namespace mlir;
using namespace hlo;

/// Search limit: ops between the operand and its integers, or between a scale and its broadcast.
static constexpr int kMostSteps = 16;
/// Zeros are at most this large.
static constexpr int64_t kMostZero = INT64_C(1) << 15;

static bool isWide(Type type) { return type.isF32() || type.isBF16(); }

/// `value` as a value that varies along dimensions without a sum only; nothing if it does not.
std::optional<SharedValue> Dequantized::shared(Value value) const {
  SharedValue found{value, places};
  for (int steps = 0; steps < kMostSteps; ++steps) {
    Operation *op = found.value.getDefiningOp();
    if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op)) {
      SmallVector<int64_t> inner;
      for (int64_t dim : broadcast.getDimensions()) {
        inner.push_back(found.dims[dim]);
      }
      found.dims = inner;
    } else if (!isa_and_nonnull<ConvertOp>(op)) {
      break;
    }
    // A conversion is done by the user, to the type that it computes in.
    found.value = op->getOperand(0);
  }
  if (!arrayType(found.value) || isa<ComplexType>(elementTypeOf(found.value))) {
    return std::nullopt;
  }
  for (auto [dim, size] : llvm::zip(found.dims, shapeOf(found.value))) {
    if (size == 1) {
      dim = -1;
    } else if (dim < 0 || summed[dim]) {
      return std::nullopt;
    }
  }
  return found;
}

/// Takes a sum or difference as integers and a zero.
bool Dequantized::findZero(Operation *op) {
  for (unsigned operand : {0u, 1u}) {
    if (operand == 1 && isa<SubtractOp>(op)) {
      break;
    }
    std::optional<IntegerRange> integers = integerRange(op->getOperand(operand)),
                                other = integerRange(op->getOperand(1 - operand));
    if (!integers || !integers->fitsByte() || !other || other->low < -kMostZero ||
        other->high > kMostZero) {
      continue;
    }
    std::optional<SharedValue> zero = shared(op->getOperand(1 - operand));
    if (!zero) {
      continue;
    }
    zero->inverted = isa<AddOp>(op);
    zeros = zero->inverted ? IntegerRange{-other->high, -other->low, other->mayBeNan} : *other;
    offset = zero;
    core = op->getOperand(operand);
    bytes = *integers;
    largest = std::max(zeros.high - bytes.low, bytes.high - zeros.low);
    return true;
  }
  return false;
}

std::optional<Dequantized> Dequantized::of(Value value, ArrayRef<bool> sums, bool whole) {
  Dequantized found;
  found.summed.assign(sums.begin(), sums.end());
  for (int64_t dim = 0; dim < static_cast<int64_t>(sums.size()); ++dim) {
    found.places.push_back(dim);
  }
  for (int steps = 0; steps < kMostSteps; ++steps) {
    Operation *op = value.getDefiningOp();
    std::optional<IntegerRange> range = integerRange(value);
    bool isByte = range && range->fitsByte();
    if (isa_and_nonnull<AddOp, SubtractOp>(op) && !(whole && isByte) && found.findZero(op)) {
      return found;
    }
    if (isByte) {
      found.core = value;
      found.bytes = *range;
      found.largest = std::max(-range->low, range->high);
      return found;
    }
    if (!op) {
      return std::nullopt;
    }
    Type type = elementTypeOf(value);
    if (isa<MultiplyOp, DivideOp>(op) && isWide(type)) {
      unsigned path = 0;
      std::optional<SharedValue> scale = found.shared(op->getOperand(1));
      if (!scale && isa<MultiplyOp>(op)) {
        path = 1;
        scale = found.shared(op->getOperand(0));
      }
      if (!scale || !isWide(elementTypeOf(scale->value))) {
        return std::nullopt;
      }
      scale->inverted = isa<DivideOp>(op);
      found.factors.push_back(*scale);
      value = op->getOperand(path);
    } else if (isa<ConvertOp>(op) && isWide(type)) {
      value = op->getOperand(0);
      Type from = elementTypeOf(value);
      // Integers that f32 rounds are none that a byte minus a zero gives.
      if (!isWide(from) && !isa<IntegerType>(from)) {
        return std::nullopt;
      }
    } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
      SmallVector<int64_t> inner(found.places.size());
      for (auto [i, dim] : llvm::enumerate(transpose.getDimensions())) {
        inner[dim] = found.places[i];
      }
      found.places = inner;
      found.relabels.push_back(op);
      value = op->getOperand(0);
    } else if (isa<ReshapeOp>(op)) {
      found.places.assign(rankOf(op->getOperand(0)), -1);
      found.relabels.push_back(op);
      value = op->getOperand(0);
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

Value Dequantized::relabelled(HloBuilder &b, Value value) const {
  for (Operation *op : llvm::reverse(relabels)) {
    value = isa<TransposeOp>(op) ? b.transpose(value, cast<TransposeOp>(op).getDimensions())
                                 : b.reshape(value, shapeOf(op->getResult(0)));
  }
  return value;
}

Value Dequantized::integers(HloBuilder &b) const {
  Value value = core;
  // The narrowest array that has them.
  while (auto convert = value.getDefiningOp<ConvertOp>()) {
    std::optional<IntegerRange> inner = integerRange(convert.getOperand());
    if (!inner || inner->low != bytes.low || inner->high != bytes.high) {
      break;
    }
    value = convert.getOperand();
  }
  auto integer = dyn_cast<IntegerType>(elementTypeOf(value));
  bool isUnsigned =
      shifted || (integer && integer.getWidth() <= 8 ? integer.isUnsigned() : bytes.high > 127);
  value = b.convert(value, b.b.getIntegerType(8, !isUnsigned));
  if (shifted) {
    value = b.binary<XorOp>(value, b.splat(HloBuilder::type(value), 128));
    value = b.bitcastConvert(value, HloBuilder::array(value, b.b.getIntegerType(8, true)));
  }
  return relabelled(b, value);
}

void Dequantized::makeSigned() {
  shifted = true;
  zeros = {zeros.low - 128, zeros.high - 128, zeros.mayBeNan};
}

/// Zeros in f32, NaN where a value that is never infinite is NaN.
static Value timesZero(HloBuilder &b, Value value) {
  value = b.convert(value, b.b.getF32Type());
  return b.mul(value, b.splat(HloBuilder::type(value), 0));
}

Value Dequantized::zeroNan(HloBuilder &b) const { return timesZero(b, offset->value); }

Value Dequantized::integersNan(HloBuilder &b) const { return timesZero(b, relabelled(b, core)); }

Value Dequantized::zero(HloBuilder &b) const {
  Value value = b.convert(offset->value, b.b.getIntegerType(32, /*isSigned=*/true));
  value = offset->inverted ? b.unary<NegateOp>(value) : value;
  return shifted ? b.sub(value, b.splat(HloBuilder::type(value), 128)) : value;
}
