//===- IntegerValues.cpp - Arrays whose elements are small integers -------===//
#include "compiler/transforms/simplifiers/quantized/IntegerValues.h"
#include "compiler/analysis/Shapes.h"

#include <cmath>

using namespace mlir;
using namespace hlo;

/// Search limit: ops behind a value.
static constexpr int kMostSteps = 8;
/// All integers up to this one are exact in f32.
static constexpr int64_t kMost = INT64_C(1) << 24;
/// Bounds of rounded numbers of any size.
static constexpr int64_t kUnbounded = INT64_C(1) << 40;

/// The integer up to which `type` has all of them; 0 for types that quantized values do not have.
static int64_t mostExact(Type type) {
  return type.isF32() ? kMost : type.isBF16() ? 256 : type.isF16() ? 2048 : 0;
}

static bool holds(Type type, IntegerRange range) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    int64_t width = integer.getWidth();
    if (width == 1 || range.mayBeNan) {
      return false;
    }
    return width > 32 || (integer.isUnsigned() ? range.low >= 0 && range.high < INT64_C(1) << width
                                               : range.low >= -(INT64_C(1) << (width - 1)) &&
                                                     range.high < INT64_C(1) << (width - 1));
  }
  int64_t most = mostExact(type);
  return range.low >= -most && range.high <= most;
}

std::optional<int64_t> hlo::integerSplat(Value value) {
  SmallVector<Type> types;
  Operation *op = value.getDefiningOp();
  for (int steps = 0; isa_and_nonnull<BroadcastOp, ReshapeOp, ConvertOp>(op); ++steps) {
    if (steps == kMostSteps) {
      return std::nullopt;
    }
    types.push_back(elementTypeOf(op->getResult(0)));
    op = op->getOperand(0).getDefiningOp();
  }
  auto constant = dyn_cast_or_null<ConstantOp>(op);
  auto attr = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!attr || !attr.isSplat() || attr.getNumElements() == 0) {
    return std::nullopt;
  }
  int64_t number = 0;
  if (auto integer = dyn_cast<IntegerType>(attr.getElementType())) {
    APInt bits = attr.getSplatValue<APInt>();
    if (integer.getWidth() == 1 || bits.getSignificantBits() > 32) {
      return std::nullopt;
    }
    number = integer.isUnsigned() ? static_cast<int64_t>(bits.getZExtValue()) : bits.getSExtValue();
  } else if (mostExact(attr.getElementType()) > 0) {
    float real = 0;
    APFloat exact = attr.getSplatValue<APFloat>();
    bool loses = false;
    exact.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &loses);
    real = exact.convertToFloat();
    if (!(std::abs(real) <= static_cast<float>(kMost)) || std::trunc(real) != real) {
      return std::nullopt;
    }
    number = static_cast<int64_t>(real);
  } else {
    return std::nullopt;
  }
  IntegerRange range{number, number};
  bool fits = number >= -kMost && number <= kMost &&
              llvm::all_of(types, [&](Type type) { return holds(type, range); });
  return fits ? std::optional(number) : std::nullopt;
}

/// The range of `value`; bounds beyond kMost are not exact.
static std::optional<IntegerRange> rangeBehind(Value value, int depth) {
  Type type = elementTypeOf(value);
  auto integer = dyn_cast<IntegerType>(type);
  std::optional<IntegerRange> whole;
  if (integer && integer.getWidth() > 1 && integer.getWidth() <= 16) {
    int64_t values = INT64_C(1) << integer.getWidth();
    whole = integer.isUnsigned() ? IntegerRange{0, values - 1}
                                 : IntegerRange{-values / 2, values / 2 - 1};
  }
  if ((!integer && mostExact(type) == 0) || (integer && integer.getWidth() == 1)) {
    return std::nullopt;
  }
  if (std::optional<int64_t> number = integerSplat(value)) {
    return IntegerRange{*number, *number};
  }
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0) {
    return whole;
  }
  auto of = [&](unsigned operand) { return rangeBehind(op->getOperand(operand), depth - 1); };
  // What the op computes, if its type holds that; else what the type says.
  auto checked = [&](std::optional<IntegerRange> range) {
    return range && holds(type, *range) ? range : whole;
  };
  if (isa<RoundNearestEvenOp, RoundNearestAfzOp, FloorOp, CeilOp>(op)) {
    return IntegerRange{-kUnbounded, kUnbounded, true};
  }
  if (isa<BroadcastOp, ReshapeOp, TransposeOp, CopyOp, SliceOp>(op)) {
    return of(0);
  }
  if (isa<ConvertOp>(op)) {
    std::optional<IntegerRange> range = of(0);
    if (range && range->mayBeNan && integer) { // which becomes 0
      range = IntegerRange{std::min<int64_t>(range->low, 0), std::max<int64_t>(range->high, 0)};
    }
    return checked(range);
  }
  if (isa<AddOp, SubtractOp>(op)) {
    std::optional<IntegerRange> x = of(0), y = of(1);
    if (!x || !y) {
      return whole;
    }
    IntegerRange range = isa<AddOp>(op) ? IntegerRange{x->low + y->low, x->high + y->high}
                                        : IntegerRange{x->low - y->high, x->high - y->low};
    range.mayBeNan = x->mayBeNan || y->mayBeNan;
    // Sums of rounded numbers of any size are rounded again, to integers, and infinities give NaN.
    bool isUnbounded = std::max(-range.low, range.high) > kUnbounded / 2;
    return isUnbounded && !integer ? std::optional(IntegerRange{-kUnbounded, kUnbounded, true})
                                   : checked(range);
  }
  if (isa<ClampOp>(op)) {
    std::optional<int64_t> low = integerSplat(op->getOperand(0)),
                           high = integerSplat(op->getOperand(2));
    std::optional<IntegerRange> x = of(1);
    if (!x || !low || !high || *low > *high) {
      return whole;
    }
    return IntegerRange{std::clamp(x->low, *low, *high), std::clamp(x->high, *low, *high),
                        x->mayBeNan};
  }
  if (isa<MaximumOp, MinimumOp>(op)) {
    std::optional<IntegerRange> x = of(0), y = of(1);
    if (!x || !y) {
      return whole;
    }
    bool max = isa<MaximumOp>(op);
    return IntegerRange{max ? std::max(x->low, y->low) : std::min(x->low, y->low),
                        max ? std::max(x->high, y->high) : std::min(x->high, y->high),
                        x->mayBeNan || y->mayBeNan};
  }
  return whole;
}

std::optional<IntegerRange> hlo::integerRange(Value value) {
  std::optional<IntegerRange> range = rangeBehind(value, kMostSteps);
  return range && range->low >= -kMost && range->high <= kMost ? range : std::nullopt;
}
