//===- AlgebraicQuantize.cpp - Rules of rounding to narrow integers -------===//
//
// Quantized programs round f32 to 8-bit integers in many ways: clip before or after an offset is
// added, bounds as maxima and minima or as a clamp, an activation that is a bound itself. All
// become
//
//   convert(clamp(low, round-nearest-even(x) [+ zero], high))    low, zero, high: integers
//
// which the code generator emits as one conversion that rounds (codegen/elementwise/Quantize.cpp).
// Exact: every step is monotone, and integers of at most 2^20 are exact in f32.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/simplifiers/algebraic/AlgebraicRules.h"
#include <cfloat>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace hlo;

/// The f32 that all elements of `value` are; nothing if they differ or it is not finite.
static std::optional<float> finiteConstant(Value value) {
  DenseElementsAttr attr = splatConstant(value);
  if (!attr || !attr.getElementType().isF32()) {
    return std::nullopt;
  }
  float number = attr.getSplatValue<APFloat>().convertToFloat();
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

namespace {
/// A monotone step of a chain that reads one array: max, min or clamp by constants, or an addition
/// or a multiplication by a positive constant.
struct Step {
  enum Kind { Bound, Add, Multiply } kind;
  Value input;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  float constant = 0;

  float apply(float x) const {
    switch (kind) {
    case Bound: return std::min(std::max(x, low), high);
    case Add: return x + constant;
    case Multiply: return x * constant;
    }
    llvm_unreachable("all kinds are above");
  }
};

/// clamp(low, f(x), high), with f a rounding and an added integer. `low` <= `high`.
struct Bounds {
  float low, high;
  /// What is under f is bounded too, to numbers that f makes of these bounds.
  void narrow(float lower, float upper) {
    low = std::min(std::max(low, lower), high);
    high = std::max(std::min(high, upper), low);
  }
};
} // namespace

static std::optional<Step> stepOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !elementTypeOf(value).isF32()) {
    return std::nullopt;
  }
  if (auto clamp = dyn_cast<ClampOp>(op)) {
    std::optional<float> low = finiteConstant(clamp->getOperand(0)),
                         high = finiteConstant(clamp->getOperand(2));
    if (!low || !high || *low > *high) {
      return std::nullopt;
    }
    return Step{Step::Bound, clamp->getOperand(1), *low, *high};
  }
  if (!isa<MaximumOp, MinimumOp, AddOp, MultiplyOp, SubtractOp>(op)) {
    return std::nullopt;
  }
  bool second = !isa<SubtractOp>(op) && finiteConstant(op->getOperand(0)).has_value();
  std::optional<float> constant = finiteConstant(op->getOperand(second ? 0 : 1));
  if (!constant) {
    return std::nullopt;
  }
  Step step{Step::Bound, op->getOperand(second ? 1 : 0)};
  if (isa<MaximumOp>(op)) {
    step.low = *constant;
  } else if (isa<MinimumOp>(op)) {
    step.high = *constant;
  } else if (isa<MultiplyOp>(op)) {
    step.kind = Step::Multiply;
    step.constant = *constant;
  } else {
    step.kind = Step::Add;
    step.constant = isa<SubtractOp>(op) ? -*constant : *constant;
  }
  return step;
}

/// The steps from `value` inwards, outermost first, as long as nothing else reads their inputs.
/// Chains are as long as programs write them.
static SmallVector<Step> stepsFrom(Value value) {
  constexpr size_t longest = 16;
  SmallVector<Step> steps;
  while (steps.size() < longest) {
    std::optional<Step> step = stepOf(value);
    if (!step || (step->kind == Step::Multiply && step->constant < FLT_MIN)) {
      break;
    }
    steps.push_back(*step);
    value = step->input;
  }
  return steps;
}

/// Takes the bounds among the steps from `x` to a rounding into `bounds`, which `finish` makes of
/// what they let through. Returns the array without them, or x if there are none. Arrays that other
/// ops read as well stay.
static Value withoutBounds(Value x, Bounds &bounds, function_ref<float(float)> finish,
                           HloBuilder &b) {
  SmallVector<Step> steps;
  size_t used = 0;
  Value value = x;
  for (const Step &step : stepsFrom(x)) {
    if (!value.hasOneUse()) {
      break;
    }
    steps.push_back(step);
    value = step.input;
    used = step.kind == Step::Bound ? steps.size() : used;
  }
  steps.truncate(used);
  if (steps.empty()) {
    return x;
  }
  auto outwards = [&](size_t inner, float bound) {
    for (const Step &step : llvm::reverse(ArrayRef<Step>(steps).take_front(inner))) {
      bound = step.apply(bound);
    }
    return finish(bound);
  };
  // From the outside inwards: outer bounds decide where two contradict each other.
  for (auto [i, step] : llvm::enumerate(steps)) {
    if (step.kind == Step::Bound) {
      bounds.narrow(outwards(i, step.low), outwards(i, step.high));
    }
  }
  Value result = steps.back().input;
  for (const Step &step : llvm::reverse(steps)) {
    if (step.kind != Step::Bound) {
      Value constant = b.splat(HloBuilder::type(x), step.constant);
      result = step.kind == Step::Add ? b.add(result, constant) : b.mul(result, constant);
    }
  }
  return result;
}

// convert(bounds of round(bounds of x)) to an integer of at most 16 bits -> the form above
static Value quantize(ConvertOp op, HloBuilder &b) {
  constexpr float largest = 1 << 20;
  auto type = dyn_cast<IntegerType>(elementTypeOf(op.getResult()));
  if (!type || type.getWidth() == 1 || type.getWidth() > 16 ||
      !elementTypeOf(op.getOperand()).isF32()) {
    return {};
  }
  auto isExact = [&](float x) {
    return std::isinf(x) || (std::trunc(x) == x && std::abs(x) <= largest);
  };
  SmallVector<Step> after = stepsFrom(op.getOperand());
  float zero = 0;
  for (const Step &step : after) {
    zero += step.kind == Step::Add ? step.constant : 0;
    if (step.kind == Step::Multiply || !isExact(step.low) || !isExact(step.high) ||
        !isExact(step.constant) || std::abs(zero) > largest) {
      return {};
    }
  }
  Value rounded = after.empty() ? op.getOperand() : after.back().input;
  auto round = rounded.getDefiningOp<RoundNearestEvenOp>();
  if (!round) {
    return {};
  }
  int64_t width = type.getWidth();
  Bounds bounds = type.isUnsigned() ? Bounds{0, static_cast<float>((1 << width) - 1)}
                                    : Bounds{-static_cast<float>(1 << (width - 1)),
                                             static_cast<float>((1 << (width - 1)) - 1)};
  // From the outside inwards: a bound meets what is added outside of it.
  float added = 0;
  for (const Step &step : after) {
    added += step.kind == Step::Add ? step.constant : 0;
    if (step.kind == Step::Bound) {
      bounds.narrow(step.low + added, step.high + added);
    }
  }
  auto finish = [&](float y) { return std::nearbyint(y) + zero; };
  Value x = round.getOperand();
  if (round->hasOneUse()) {
    x = withoutBounds(x, bounds, finish, b);
  }
  bool isForm = after.size() == (zero == 0 ? 1 : 2) && after[0].kind == Step::Bound &&
                op.getOperand().getDefiningOp<ClampOp>() && after[0].low == bounds.low &&
                after[0].high == bounds.high;
  if (isForm && x == round.getOperand()) {
    return {};
  }
  auto array = HloBuilder::type(round.getResult());
  Value result = x == round.getOperand() ? round.getResult() : b.unary<RoundNearestEvenOp>(x);
  if (zero != 0) {
    result = b.add(result, b.splat(array, zero));
  }
  result = b.clamp(b.splat(array, bounds.low), result, b.splat(array, bounds.high));
  return b.convert(result, type);
}

void hlo::populateQuantizeRules(RewritePatternSet &patterns) {
  addRules<ConvertOp>(patterns, {quantize});
}
