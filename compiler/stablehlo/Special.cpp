//===- Special.cpp - Special functions from elementary ones ---------------===//
//
// The expansions of CHLO's ops, step for step those of XLA's export, for f32 and f64.
// Coefficients.h names their sources.
//
//   lgamma, digamma    Lanczos' approximation; reflection below 1/2
//   erfc               a polynomial of x^2, or exp(-x^2) times a function of 1 / x^2
//   erf_inv            polynomials of -log(1 - x^2) or its root
//   bessel_i1e         Chebyshev series on [0, 8] and beyond
//   zeta               ten terms and the Euler-Maclaurin tail
//   polygamma          from zeta, gamma and, for order 0, digamma
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/Coefficients.h"
#include "compiler/stablehlo/Formula.h"
#include <limits>

using namespace hlo::stable;

namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = 3.14159265358979323846;
constexpr double kHalfLogTwoPi = 0.91893853320467267;
constexpr double kLogPi = 1.14472988584940017414;
constexpr double kLogLanczos = 2.01490302054226466260; // log(7.5)

template <size_t N> llvm::ArrayRef<double> list(const double (&values)[N]) { return values; }
} // namespace

/// log |gamma(x)|: sqrt(2 pi) t^(z + 1/2) exp(-t) A(z) with t = z + 7.5, z = x - 1.
Num hlo::stable::lgamma(const Num &x) {
  Num reflected = x < 0.5;
  Num z = select(reflected, -x, x - 1);
  Num sum = x.like(kLanczosBase);
  for (auto [i, numerator] : llvm::enumerate(kLanczos)) {
    sum = sum + x.like(numerator) / (z + static_cast<double>(i + 1));
  }
  Num logT = log1p(z / (kLanczosG + 0.5)) + kLogLanczos;
  Num direct = (z + 0.5 - (z + (kLanczosG + 0.5)) / logT) * logT + kHalfLogTwoPi + log(sum);
  // gamma(x) gamma(1 - x) = pi / sin(pi x); the sine of the distance to the nearest integer.
  Num magnitude = abs(x);
  Num fraction = magnitude - floor(magnitude);
  Num distance = select(x.like(0.5) < fraction, 1 - fraction, fraction);
  Num logSine = log(sin(distance * kPi));
  Num below = select(isFinite(logSine), kLogPi - logSine - direct, -logSine);
  return select(abs(x) == kInf, kInf, select(reflected, below, direct));
}

/// The derivative of lgamma.
Num hlo::stable::digamma(const Num &x) {
  Num reflected = x < 0.5;
  Num z = select(reflected, -x, x - 1);
  Num sum = x.like(kLanczosBase), derivative = x.like(0);
  for (auto [i, numerator] : llvm::enumerate(kLanczos)) {
    Num divisor = z + static_cast<double>(i + 1);
    derivative = derivative - x.like(numerator) / (divisor * divisor);
    sum = sum + x.like(numerator) / divisor;
  }
  Num logT = log1p(z / (kLanczosG + 0.5)) + kLogLanczos;
  Num direct = logT + derivative / sum - x.like(kLanczosG) / (z + (kLanczosG + 0.5));
  // The cotangent of x moved towards 0 by an integer: pi x itself loses digits.
  Num angle = (x + abs(floor(x + 0.5))) * kPi;
  Num below = direct - cos(angle) * kPi / sin(angle);
  Num isPole = (x <= 0) & (x == floor(x));
  return select(isPole, kNan, select(reflected, below, direct));
}

Num hlo::stable::erfc(const Num &x) {
  bool isDouble = x.isDouble();
  Num square = x * x;
  Num magnitude = abs(x);
  Num near = isDouble
                 ? x * polynomial(square, kErfcSmallDouble) / polynomial(square, kErfcSmallDivisor)
                 : x * polynomial(square, kErfcSmallSingle);
  Num exponent = -square;
  Num decay = exp(exponent);
  Num far = decay;
  if (isDouble) {
    Num middle = decay * polynomial(magnitude, kErfcMiddleDouble) /
                 polynomial(magnitude, kErfcMiddleDivisor);
    Num large =
        decay * polynomial(magnitude, kErfcLargeDouble) / polynomial(magnitude, kErfcLargeDivisor);
    far = select(magnitude < 8, middle, large);
  } else {
    Num inverse = 1 / square;
    far = decay * (1 / magnitude) *
          select(magnitude < 2, polynomial(inverse, kErfcMiddleSingle),
                 polynomial(inverse, kErfcLargeSingle));
  }
  // exp(-x^2) is no longer normal: the result is 0.
  far = select(exponent < (isDouble ? -709.782712893384 : -88.7228394), 0, far);
  return select(magnitude < 1, 1 - near, select(x < 0, 2 - far, far));
}

/// A polynomial in w of one width: two ranges with as many coefficients.
static Num erfInvSingle(const Num &x, const Num &w) {
  Num near = w < 5;
  Num t = select(near, w - 2.5, sqrt(w) - 3);
  Num sum = select(near, x.like(kErfInvNearSingle[0]), kErfInvFarSingle[0]);
  for (size_t i = 1; i < std::size(kErfInvNearSingle); ++i) {
    sum = select(near, x.like(kErfInvNearSingle[i]), kErfInvFarSingle[i]) + sum * t;
  }
  return sum;
}

/// Three ranges, the nearer with more coefficients.
static Num erfInvDouble(const Num &x, const Num &w) {
  Num near = w < 6.25, notFar = w < 16;
  Num t = select(near, w - 3.125, sqrt(w) - select(notFar, x.like(3.25), 5));
  auto upTo = [&](size_t i) {
    return select(near, x.like(kErfInvNearDouble[i]), kErfInvMiddleDouble[i]);
  };
  Num sum = select(notFar, upTo(0), kErfInvFarDouble[0]);
  for (size_t i = 1; i < std::size(kErfInvFarDouble); ++i) {
    sum = select(notFar, upTo(i), kErfInvFarDouble[i]) + sum * t;
  }
  for (size_t i = std::size(kErfInvFarDouble); i < std::size(kErfInvMiddleDouble); ++i) {
    sum = select(notFar, upTo(i) + sum * t, sum);
  }
  for (size_t i = std::size(kErfInvMiddleDouble); i < std::size(kErfInvNearDouble); ++i) {
    sum = select(near, x.like(kErfInvNearDouble[i]) + sum * t, sum);
  }
  return sum;
}

Num hlo::stable::erfInv(const Num &x) {
  Num w = -log1p(x * -x);
  Num scale = x.isDouble() ? erfInvDouble(x, w) : erfInvSingle(x, w);
  return select(abs(x) == 1, x * kInf, scale * x);
}

Num hlo::stable::besselI1e(const Num &x) {
  bool isDouble = x.isDouble();
  Num z = abs(x);
  auto series = [&](const Num &at, llvm::ArrayRef<double> coefficients) {
    // b[n] = at b[n-1] - b[n-2] + c[n]; the value is (b[last] - b[last-2]) / 2.
    Num older = at.like(0), old = at.like(0), now = at * 0 + coefficients[0];
    for (auto [i, coefficient] : llvm::enumerate(coefficients.drop_front())) {
      older = old;
      old = now;
      now = (i == 0 ? at * old : at * old - older) + coefficient;
    }
    return (now - older) * 0.5;
  };
  Num near = series(z * 0.5 - 2, isDouble ? list(kI1eNearDouble) : list(kI1eNearSingle));
  Num far = series(32 / z - 2, isDouble ? list(kI1eFarDouble) : list(kI1eFarSingle));
  return sign(x) * select(z <= 8, z * near, far / sqrt(z));
}

/// sum over n >= 0 of (q + n)^-x.
Num hlo::stable::zeta(const Num &x, const Num &q) {
  constexpr int kTerms = 10;
  Num power = -x;
  Num a = q;
  Num sum = pow(a, power);
  for (int i = 1; i < kTerms; ++i) {
    a = a + 1;
    sum = sum + pow(a, power);
  }
  a = a + 1;
  Num term = pow(a, power);
  Num inverse = 1 / (a * a);
  Num tail = x.like(kBernoulli[0]);
  for (size_t i = 1; i < std::size(kBernoulli); ++i) {
    double k = 2.0 * (std::size(kBernoulli) - i);
    tail = (x + k) * (x + (k - 1)) * (inverse * tail) + kBernoulli[i];
  }
  Num integral = term * a / (x - 1);
  Num whole = sum + integral + term * (x / a * tail + 0.5);
  Num smallest = x.like(x.isDouble() ? 4.94065645841247e-324 : 1.40129846e-45);
  Num value = select(abs(term) < abs(sum) * smallest, sum, whole);
  // Poles and places where a term is no real number.
  value = select(x < 1, kNan, value);
  Num notPositive = q <= 0;
  value = select(notPositive & (x != floor(x)), kNan, value);
  Num isEven = (x == floor(x)) & (remainder(x, x.like(2)) == 0);
  value = select(notPositive & (q == floor(q)), select(isEven, x.like(kInf), kNan), value);
  return select(x == 1, kInf, value);
}

/// (-1)^(n+1) n! zeta(n + 1, x).
Num hlo::stable::polygamma(const Num &n, const Num &x) {
  Num order = n + 1;
  Num signOf = remainder(n, n.like(2)) * 2 - 1;
  Num factorial = exp(lgamma(order));
  Num value = signOf * factorial * zeta(order, x);
  return select((n != floor(n)) | (n < 0), kNan, select(n == 0, digamma(x), value));
}

/// Steps through the bits as integers, which are ordered like the magnitudes.
Num hlo::stable::nextAfter(const Num &x, const Num &y) {
  HloBuilder &b = *x.b;
  unsigned bits = x.componentBits();
  auto integers = HloBuilder::array(x.value, b.b.getIntegerType(bits, /*isSigned=*/true));
  auto bitsOf = [&](const Num &value) {
    return value.with(b.bitcastConvert(value.value, integers));
  };
  auto pattern = [&](llvm::APInt value) {
    auto scalar = b.constant(mlir::DenseElementsAttr::get(
        mlir::RankedTensorType::get({}, integers.getElementType()), value));
    return x.with(b.broadcastScalar(scalar, integers.getShape()));
  };
  Num from = bitsOf(x), to = bitsOf(y);
  Num sign = pattern(llvm::APInt::getSignMask(bits));
  Num magnitudeMask = pattern(llvm::APInt::getSignedMaxValue(bits));
  Num one = pattern(llvm::APInt(bits, 1)), zero = pattern(llvm::APInt(bits, 0));
  Num minusOne = pattern(llvm::APInt::getAllOnes(bits));
  Num fromMagnitude = from & magnitudeMask, toMagnitude = to & magnitudeMask;
  Num toSign = to & sign;
  Num inwards = (fromMagnitude > toMagnitude) | ((from & sign) != toSign);
  Num step = from + select(inwards, minusOne, one);
  Num fromZero = select(toMagnitude == zero, to, toSign | one);
  Num moved = select(fromMagnitude == zero, fromZero, step);
  Num result = select((x != x) | (y != y), bitsOf(x.like(kNan)), select(x == y, to, moved));
  return x.with(b.bitcastConvert(result.value, x.type()));
}
