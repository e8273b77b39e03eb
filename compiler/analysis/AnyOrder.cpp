//===- AnyOrder.cpp - Computations that may be applied in any order -------===//
//
// Decides whether a reduction's computation is associative and commutative up to rounding.
//
// HLO lets the compiler choose the order and the grouping in which a reduction combines elements,
// and how often its init value takes part. XLA:CPU uses that freedom for long reductions only. We
// keep the order of the text wherever another order could change the result by more than rounding,
// so that short reductions give XLA's result.
//
// Too many forms are associative for a list of patterns: hypot, logaddexp, complex products as
// pairs, merged moments, saturating counts. So the computation is tested numerically, in double
// precision, on a fixed sequence of elements: f(f(a, b), c) against f(a, f(b, c)), and f(a, b)
// against f(b, a). Two different formulas differ at almost every element, because the elements are
// not round numbers. Some pairs of elements are equal in one component: that exposes computations
// that prefer one of two, such as a payload chosen by `<`. Some elements are zero, infinite or NaN:
// an order that turns such an element into NaN, where the order of the text drops it (log-sum-exp
// of masked elements, the mean of nothing), does not count as equivalent.
//
// isAssociative asks only for the first equation, of finite elements.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Reduction.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/analysis/evaluator/EvaluatorScalar.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace hlo;

namespace {

constexpr int kTriples = 160;
constexpr int64_t kMostOps = 64;

/// One element: real floats as a double, complex numbers as two, all others as their bits.
struct Sample {
  double re = 0, im = 0;
  llvm::APInt bits = llvm::APInt(1, 0);
};
using Samples = SmallVector<Sample, 4>;

bool isFloat(Type type) { return isa<FloatType>(type); }

/// Pseudo-random numbers, the same on every machine.
class Numbers {
public:
  explicit Numbers(bool finite) : finite(finite) {}
  uint64_t next() {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    uint64_t mixed = state ^ (state >> 29);
    return (mixed * 0xBF58476D1CE4E5B9ULL) ^ (mixed >> 32);
  }
  unsigned below(unsigned count) { return static_cast<unsigned>((next() >> 20) % count); }
  /// Magnitude between 1/4 and 4, either sign; sometimes zero and, unless all are finite, infinite
  /// or NaN.
  double real() {
    if (below(6) == 0) {
      constexpr double special[] = {0.0, 0.0, INFINITY, -INFINITY, NAN};
      return special[below(finite ? 2 : 5)];
    }
    double size = 0.25 + 3.75 * static_cast<double>(next() >> 11) * 0x1p-53;
    return below(2) ? size : -size;
  }
  Sample sample(Type type) {
    Sample sample;
    if (auto integer = dyn_cast<IntegerType>(type)) {
      uint64_t bits = below(3) == 0 ? below(4) : next();
      sample.bits = llvm::APInt(64, bits).trunc(integer.getWidth());
      return sample;
    }
    sample.re = real();
    sample.im = isa<ComplexType>(type) ? real() : 0.0;
    return sample;
  }

private:
  bool finite;
  uint64_t state = 0x9E3779B97F4A7C15ULL;
};

/// Runs a computation of scalars.
class Trial {
public:
  explicit Trial(ComputationOp computation) : computation(computation) {
    for (Operation &op : computation.getBody().front().without_terminator()) {
      bool constant = isa<ConstantOp>(op);
      ops.push_back({&op, constant ? std::nullopt : std::optional<ScalarOp>(ScalarOp(&op))});
    }
  }
  std::optional<Samples> run(ArrayRef<Sample> first, ArrayRef<Sample> second) {
    values.clear();
    for (auto [n, argument] : llvm::enumerate(computation.getBody().getArguments())) {
      values[argument] = n < first.size() ? first[n] : second[n - first.size()];
    }
    for (auto &[op, scalar] : ops) {
      std::optional<Sample> result = scalar ? apply(op, *scalar) : constant(cast<ConstantOp>(op));
      if (!result) {
        return std::nullopt;
      }
      values[op->getResult(0)] = std::move(*result);
    }
    Samples results;
    for (Value v : computation.getReturn()->getOperands()) {
      results.push_back(values.lookup(v));
    }
    return results;
  }

private:
  static std::optional<Sample> constant(ConstantOp op);
  std::optional<Sample> apply(Operation *op, const ScalarOp &scalar);
  static std::optional<double> applyReal(Operation *op, double x, double y);
  static std::optional<Sample> applyComplex(Operation *op, const Sample &x, const Sample &y);
  static std::optional<bool> compare(CompareOp op, double x, double y);

  ComputationOp computation;
  SmallVector<std::pair<Operation *, std::optional<ScalarOp>>> ops;
  DenseMap<Value, Sample> values;
};

std::optional<Sample> sampleOf(DenseElementsAttr value) {
  Sample sample;
  Type element = value.getElementType();
  auto number = [](const llvm::APFloat &from) {
    llvm::APFloat wide = from;
    bool inexact;
    wide.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &inexact);
    return wide.convertToDouble();
  };
  if (isa<IntegerType>(element)) {
    sample.bits = value.getSplatValue<llvm::APInt>();
  } else if (isFloat(element)) {
    sample.re = number(value.getSplatValue<llvm::APFloat>());
  } else if (auto complex = dyn_cast<ComplexType>(element);
             complex && isFloat(complex.getElementType())) {
    auto pair = value.getSplatValue<std::complex<llvm::APFloat>>();
    sample.re = number(pair.real());
    sample.im = number(pair.imag());
  } else {
    return std::nullopt;
  }
  return sample;
}

std::optional<Sample> Trial::constant(ConstantOp op) {
  auto value = dyn_cast<DenseElementsAttr>(op.getValue());
  return value && value.isSplat() ? sampleOf(value) : std::nullopt;
}

std::optional<bool> Trial::compare(CompareOp op, double x, double y) {
  if (op.getType() == "TOTALORDER") {
    return std::nullopt;
  }
  return llvm::StringSwitch<std::optional<bool>>(op.getDirection())
      .Case("EQ", x == y)
      .Case("NE", x != y)
      .Case("LT", x < y)
      .Case("LE", x <= y)
      .Case("GT", x > y)
      .Case("GE", x >= y)
      .Default(std::nullopt);
}

std::optional<double> Trial::applyReal(Operation *op, double x, double y) {
  using R = std::optional<double>;
  bool unordered = std::isnan(x) || std::isnan(y);
  return TypeSwitch<Operation *, R>(op)
      .Case([&](AddOp) { return x + y; })
      .Case([&](SubtractOp) { return x - y; })
      .Case([&](MultiplyOp) { return x * y; })
      .Case([&](DivideOp) { return x / y; })
      .Case([&](MaximumOp) { return unordered ? NAN : std::fmax(x, y); })
      .Case([&](MinimumOp) { return unordered ? NAN : std::fmin(x, y); })
      .Case([&](NegateOp) { return -x; })
      .Case([&](AbsOp) { return std::fabs(x); })
      .Case([&](SignOp) { return std::isnan(x) || x == 0 ? x : std::copysign(1.0, x); })
      .Case([&](SqrtOp) { return std::sqrt(x); })
      .Case([&](RsqrtOp) { return 1 / std::sqrt(x); })
      .Case([&](CbrtOp) { return std::cbrt(x); })
      .Case([&](ExponentialOp) { return std::exp(x); })
      .Case([&](ExponentialMinusOneOp) { return std::expm1(x); })
      .Case([&](LogOp) { return std::log(x); })
      .Case([&](LogPlusOneOp) { return std::log1p(x); })
      .Case([&](LogisticOp) { return 1 / (1 + std::exp(-x)); })
      .Case([&](TanhOp) { return std::tanh(x); })
      .Case([&](SineOp) { return std::sin(x); })
      .Case([&](CosineOp) { return std::cos(x); })
      .Case([&](PowerOp) { return std::pow(x, y); })
      .Case([&](Atan2Op) { return std::atan2(x, y); })
      .Case([&](FloorOp) { return std::floor(x); })
      .Case([&](CeilOp) { return std::ceil(x); })
      .Default([](Operation *) -> R { return std::nullopt; });
}

std::optional<Sample> Trial::applyComplex(Operation *op, const Sample &x, const Sample &y) {
  using R = std::optional<Sample>;
  auto pair = [](double re, double im) {
    Sample sample;
    sample.re = re;
    sample.im = im;
    return sample;
  };
  return TypeSwitch<Operation *, R>(op)
      .Case([&](AddOp) { return pair(x.re + y.re, x.im + y.im); })
      .Case([&](SubtractOp) { return pair(x.re - y.re, x.im - y.im); })
      .Case([&](MultiplyOp) { return pair(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re); })
      .Case([&](NegateOp) { return pair(-x.re, -x.im); })
      .Case([&](RealOp) { return pair(x.re, 0); })
      .Case([&](ImagOp) { return pair(x.im, 0); })
      .Case([&](AbsOp) { return pair(std::hypot(x.re, x.im), 0); })
      .Default([](Operation *) -> R { return std::nullopt; });
}

std::optional<Sample> Trial::apply(Operation *op, const ScalarOp &scalar) {
  SmallVector<Sample, 3> from;
  for (Value v : op->getOperands()) {
    from.push_back(values.lookup(v));
  }
  if (isa<SelectOp>(op)) {
    return from[0].bits.isZero() ? from[2] : from[1];
  }
  Type type = elementTypeOf(op->getOperand(0)), to = elementTypeOf(op->getResult(0));
  const Sample &x = from[0], &y = from.back();
  Sample result;
  if (isa<ComplexOp>(op)) {
    result.re = x.re;
    result.im = y.re;
    return result;
  }
  if (isa<ConvertOp>(op) && isFloat(to)) {
    if (auto integer = dyn_cast<IntegerType>(type)) {
      result.re = x.bits.roundToDouble(/*isSigned=*/integer.isSigned());
      return result;
    }
    return isFloat(type) ? std::optional(x) : std::nullopt;
  }
  if (isa<IntegerType>(type)) {
    SmallVector<llvm::APInt, 3> operands;
    for (const Sample &sample : from) {
      operands.push_back(sample.bits);
    }
    std::optional<llvm::APInt> bits = scalar.apply(operands);
    if (!bits) {
      return std::nullopt;
    }
    result.bits = *bits;
    return result;
  }
  if (isa<ComplexType>(type)) {
    return applyComplex(op, x, y);
  }
  if (!isFloat(type)) {
    return std::nullopt;
  }
  if (auto comparison = dyn_cast<CompareOp>(op)) {
    std::optional<bool> holds = compare(comparison, x.re, y.re);
    result.bits = llvm::APInt(1, holds.value_or(false));
    return holds ? std::optional(result) : std::nullopt;
  }
  if (isa<IsFiniteOp>(op)) {
    result.bits = llvm::APInt(1, std::isfinite(x.re));
    return result;
  }
  if (isa<ClampOp>(op)) {
    bool unordered = std::isnan(x.re) || std::isnan(from[1].re) || std::isnan(y.re);
    result.re = unordered ? NAN : std::fmin(std::fmax(from[1].re, x.re), y.re);
    return result;
  }
  std::optional<double> number = applyReal(op, x.re, y.re);
  if (!number) {
    return std::nullopt;
  }
  result.re = *number;
  return result;
}

bool isFinite(ArrayRef<Sample> values) {
  return llvm::all_of(values,
                      [](const Sample &s) { return std::isfinite(s.re) && std::isfinite(s.im); });
}

/// Non-finite results count as equal: whether a complex product is infinite or NaN depends on the
/// order even for multiplications of complex numbers.
bool areClose(double x, double y) {
  if (!std::isfinite(x) || !std::isfinite(y)) {
    return !std::isfinite(x) && !std::isfinite(y);
  }
  return std::fabs(x - y) <= 1e-7 * std::max({1.0, std::fabs(x), std::fabs(y)});
}

bool areEqual(ArrayRef<Sample> a, ArrayRef<Sample> b) {
  return llvm::all_of(llvm::zip(a, b), [](auto pair) {
    const auto &[x, y] = pair;
    return areClose(x.re, y.re) && areClose(x.im, y.im) && x.bits == y.bits;
  });
}

/// f(f(a, b), c) == f(a, f(b, c)) and, if `commutes`, f(a, b) == f(b, a).
bool holds(ComputationOp computation, bool commutes) {
  unsigned count = computation.getNumArguments() / 2;
  Operation *end = computation.getReturn();
  auto body = computation.getBody().front().without_terminator();
  if (count == 0 || computation.getNumArguments() != 2 * count || end->getNumOperands() != count ||
      std::distance(body.begin(), body.end()) > kMostOps ||
      !llvm::all_of(body, [](Operation &op) { return op.getNumResults() == 1; })) {
    return false;
  }
  for (unsigned n = 0; n < count; ++n) {
    Type type = elementTypeOf(end->getOperand(n));
    if (elementTypeOf(computation.getArgument(n)) != type ||
        elementTypeOf(computation.getArgument(count + n)) != type) {
      return false;
    }
  }
  Trial f(computation);
  Numbers numbers(/*finite=*/!commutes);
  bool anyFinite = false;
  for (int triple = 0; triple < kTriples; ++triple) {
    std::array<Samples, 3> x;
    for (Samples &element : x) {
      for (unsigned n = 0; n < count; ++n) {
        bool same = &element != &x[0] && numbers.below(4) == 0;
        element.push_back(same ? x[0][n] : numbers.sample(elementTypeOf(end->getOperand(n))));
      }
    }
    auto ab = f.run(x[0], x[1]), ba = f.run(x[1], x[0]), bc = f.run(x[1], x[2]);
    auto left = ab ? f.run(*ab, x[2]) : std::nullopt, right = bc ? f.run(x[0], *bc) : std::nullopt;
    if (!ba || !left || !right || (commutes && !areEqual(*ab, *ba)) || !areEqual(*left, *right)) {
      return false;
    }
    anyFinite |= isFinite(*left);
  }
  return anyFinite;
}

} // namespace

bool hlo::isAnyOrder(ComputationOp computation) { return holds(computation, /*commutes=*/true); }

bool hlo::isAssociative(ComputationOp computation) {
  return holds(computation, /*commutes=*/false);
}

bool hlo::absorbsItself(ComputationOp computation, ValueRange inits) {
  Samples init;
  for (Value v : inits) {
    auto constant = v.getDefiningOp<ConstantOp>();
    auto value = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
    std::optional<Sample> sample = value && value.isSplat() ? sampleOf(value) : std::nullopt;
    if (!sample) {
      return false;
    }
    init.push_back(*sample);
  }
  std::optional<Samples> twice = Trial(computation).run(init, init);
  if (!twice) {
    return false;
  }
  return llvm::all_of(llvm::zip(*twice, init), [](auto pair) {
    const auto &[x, y] = pair;
    return x.re == y.re && x.im == y.im && x.bits == y.bits;
  });
}
