//===- ErrorFunction.cpp - 1 - erf(x) as programs write it ----------------===//
//
// HLO has no opcode for 1 - erf(x), the factor of an exact GELU. Exports write it out for f32,
// after Cephes, with a result for each range of x that all elements compute:
//
//   select(|x| < 1, 1 - x P(x^2), select(x < 0, 2 - far, far))
//   far = select(-x^2 < bound, 0, exp(-x^2) (1 / |x|) select(|x| < 2, Q(1 / x^2), R(1 / x^2)))
//
// In: the outer select. Out: x, if the ops have this form and P, Q and R are polynomials with which
// it is 1 - erf(x) to six digits. That is decided by their values at more points than they have
// coefficients, so that no particular coefficients are asked for. emitComplementOfErf takes half as
// many instructions, and no divisions.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/ErrorFunction.h"
#include "compiler/codegen/elementwise/functions/Functions.h"
#include "dialect/hlo/Dialect.h"
#include <cmath>

using namespace mlir;

namespace hlo::codegen {

/// The number in all elements of a constant of f32.
static std::optional<double> numberOf(Value value) {
  if (auto broadcast = value.getDefiningOp<BroadcastOp>()) {
    value = broadcast.getOperand();
  }
  auto constant = value.getDefiningOp<ConstantOp>();
  auto attr = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!attr || !attr.isSplat() || !attr.getElementType().isF32()) {
    return std::nullopt;
  }
  return attr.getSplatValue<APFloat>().convertToFloat();
}

static bool isNumber(Value value, double number) { return numberOf(value) == number; }

/// The operands of a commutative op, the one first for which `isFirst` holds; nothing if `v` is
/// not such an op.
template <typename Op>
static std::optional<std::pair<Value, Value>> operandsOf(Value v,
                                                         function_ref<bool(Value)> isFirst) {
  auto op = v.getDefiningOp<Op>();
  if (!op) {
    return std::nullopt;
  }
  for (auto [first, second] : {std::pair(op.getLhs(), op.getRhs()), {op.getRhs(), op.getLhs()}}) {
    if (isFirst(first)) {
      return std::pair<Value, Value>(first, second);
    }
  }
  return std::nullopt;
}

/// The left side of `lhs < number`, or null.
static Value lessThan(Value v, double number) {
  auto compare = v.getDefiningOp<CompareOp>();
  bool matches = compare && compare.getDirection() == "LT" && isNumber(compare.getRhs(), number);
  return matches ? compare.getLhs() : Value();
}

namespace {
/// What ops are of x.
class Matcher {
public:
  explicit Matcher(Value x) : x(x) {}

  bool isMagnitude(Value v) const {
    auto abs = v.getDefiningOp<AbsOp>();
    return abs && abs.getOperand() == x;
  }
  bool isSquare(Value v) const {
    auto product = v.getDefiningOp<MultiplyOp>();
    return product && product.getLhs() == x && product.getRhs() == x;
  }
  bool isMinusSquare(Value v) const {
    auto negate = v.getDefiningOp<NegateOp>();
    return negate && isSquare(negate.getOperand());
  }
  bool isInverse(Value v, bool (Matcher::*of)(Value) const) const {
    auto quotient = v.getDefiningOp<DivideOp>();
    return quotient && isNumber(quotient.getLhs(), 1) && (this->*of)(quotient.getRhs());
  }
  bool isInverseSquare(Value v) const { return isInverse(v, &Matcher::isSquare); }
  bool isInverseMagnitude(Value v) const { return isInverse(v, &Matcher::isMagnitude); }
  bool isDecay(Value v) const {
    auto exp = v.getDefiningOp<ExponentialOp>();
    return exp && isMinusSquare(exp.getOperand());
  }

private:
  Value x;
};
} // namespace

using Polynomial = SmallVector<double>; ///< highest power first
/// Terms of a polynomial that are looked at.
static constexpr size_t kMostTerms = 16;

/// ((c z + c) z + c) ...; empty if `v` is something else.
static Polynomial polynomialIn(function_ref<bool(Value)> isVariable, Value v) {
  Polynomial lowestFirst;
  auto isConstant = [](Value operand) { return numberOf(operand).has_value(); };
  while (lowestFirst.size() < kMostTerms) {
    if (auto sum = operandsOf<AddOp>(v, isConstant)) {
      lowestFirst.push_back(*numberOf(sum->first));
      v = sum->second;
    } else if (auto difference = v.getDefiningOp<SubtractOp>();
               difference && isConstant(difference.getRhs())) {
      lowestFirst.push_back(-*numberOf(difference.getRhs()));
      v = difference.getLhs();
    } else {
      return {};
    }
    auto product = operandsOf<MultiplyOp>(v, isVariable);
    if (!product) {
      return {};
    }
    v = product->second;
    if (auto highest = numberOf(v)) {
      lowestFirst.push_back(*highest);
      return Polynomial(llvm::reverse(lowestFirst));
    }
  }
  return {};
}

static double valueAt(const Polynomial &terms, double z) {
  double sum = 0;
  for (double term : terms) {
    sum = sum * z + term;
  }
  return sum;
}

/// Whether `f` is 1 - erf on an interval, at twice as many points as a polynomial has terms.
static bool isComplementOfErf(double from, double to, function_ref<double(double)> f) {
  constexpr double kClose = 2e-6;
  constexpr int kPoints = 2 * kMostTerms;
  for (int i = 0; i <= kPoints; ++i) {
    double t = from + (to - from) * (1 - std::cos(i * std::acos(-1.0) / kPoints)) / 2;
    if (!(std::abs(f(t) - std::erfc(t)) <= kClose * std::erfc(t))) {
      return false;
    }
  }
  return true;
}

static bool isNear(const Matcher &at, Value x, Value near) {
  auto difference = near.getDefiningOp<SubtractOp>();
  if (!difference || !isNumber(difference.getLhs(), 1)) {
    return false;
  }
  auto product =
      operandsOf<MultiplyOp>(difference.getRhs(), [&](Value operand) { return operand == x; });
  if (!product) {
    return false;
  }
  Polynomial p = polynomialIn([&](Value z) { return at.isSquare(z); }, product->second);
  return !p.empty() && isComplementOfErf(0, 1, [&](double t) { return 1 - t * valueAt(p, t * t); });
}

static bool isFar(const Matcher &at, Value far) {
  // Where e^(-x^2) is no normal number, or nearly so.
  constexpr double kLeastBound = -90, kMostBound = -85;
  auto bounded = far.getDefiningOp<SelectOp>();
  auto below = bounded ? bounded.getPred().getDefiningOp<CompareOp>() : CompareOp();
  std::optional<double> bound = below ? numberOf(below.getRhs()) : std::nullopt;
  if (!bound || below.getDirection() != "LT" || !at.isMinusSquare(below.getLhs()) ||
      *bound < kLeastBound || *bound > kMostBound || !isNumber(bounded.getOnTrue(), 0)) {
    return false;
  }
  auto product = operandsOf<MultiplyOp>(bounded.getOnFalse(), [](Value operand) {
    return operand.getDefiningOp<SelectOp>() != nullptr;
  });
  if (!product) {
    return false;
  }
  auto ranges = product->first.getDefiningOp<SelectOp>();
  Value below2 = lessThan(ranges.getPred(), 2);
  auto scale =
      operandsOf<MultiplyOp>(product->second, [&](Value operand) { return at.isDecay(operand); });
  if (!below2 || !at.isMagnitude(below2) || !scale || !at.isInverseMagnitude(scale->second)) {
    return false;
  }
  auto isVariable = [&](Value z) { return at.isInverseSquare(z); };
  Polynomial q = polynomialIn(isVariable, ranges.getOnTrue());
  Polynomial r = polynomialIn(isVariable, ranges.getOnFalse());
  auto valueBy = [](const Polynomial &terms) {
    return [&](double t) { return std::exp(-t * t) / t * valueAt(terms, 1 / (t * t)); };
  };
  return !q.empty() && !r.empty() && isComplementOfErf(1, 2, valueBy(q)) &&
         isComplementOfErf(2, std::sqrt(-*bound), valueBy(r));
}

Value complementOfErfAt(Operation *op) {
  auto outer = dyn_cast<SelectOp>(op);
  if (!outer || !elementType(outer.getResult().getType()).isF32()) {
    return {};
  }
  Value magnitude = lessThan(outer.getPred(), 1);
  auto abs = magnitude ? magnitude.getDefiningOp<AbsOp>() : AbsOp();
  auto inner = outer.getOnFalse().getDefiningOp<SelectOp>();
  if (!abs || !inner) {
    return {};
  }
  Value x = abs.getOperand(), far = inner.getOnFalse();
  Matcher at(x);
  auto reflected = inner.getOnTrue().getDefiningOp<SubtractOp>();
  bool matches = lessThan(inner.getPred(), 0) == x && reflected &&
                 isNumber(reflected.getLhs(), 2) && reflected.getRhs() == far &&
                 isNear(at, x, outer.getOnTrue()) && isFar(at, far);
  return matches ? x : Value();
}

Elem emitComplementOfErf(Emission &e, const Elem &x) { return Elem(erfcOf(Num(e, x.re))); }

} // namespace hlo::codegen
