//===- Power.cpp - x^y of reals -------------------------------------------===//
//
// |x|^y = 2^(y log2 |x|) in f64 for f32, e^(y log |x|) in pairs of f64 for f64; then the
// special cases of C's pow. In and out as Functions.h says.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/Coefficients.h"
#include "compiler/codegen/elementwise/DoubleDouble.h"
#include "compiler/codegen/elementwise/Functions.h"
#include <limits>

using namespace mlir;

namespace hlo::codegen {

static constexpr double infinity = std::numeric_limits<double>::infinity();

namespace {
/// x = 2^k m, m in [sqrt(1/2), sqrt(2)), for x > 0 in f64.
struct Split {
  Num k, m;
};
} // namespace

static Split splitExponent(Num x, bool maySubnormal) {
  FloatTraits traits(x);
  Num scaled = x, adjust;
  if (maySubnormal) {
    Num subnormal = less(x, traits.minNormal);
    scaled = select(subnormal, x * 0x1p54, x);
    adjust = select(subnormal, -54.0, x.of(0.0));
  }
  Num bits = bitsOf(scaled);
  Num k = shrS(bits - INT64_C(0x3fe6a09e667f3bcd), 52);
  Num m = floatOf(bits - shl(k, 52));
  Num exponent = exponentToFloat(k);
  return {adjust.v ? exponent + adjust : exponent, m};
}

/// a^y for a >= 0, in f64, good to f32.
static Num powerForFloat(Num a, Num y) {
  Split split = splitExponent(a, /*maySubnormal=*/false);
  Num s = quotientWithin(split.m - 1.0, split.m + 1.0);
  Num z = s * s;
  Num log2 = fma(s, polynomialInPairs(z, z * z, coefficients::log2in64), split.k);
  Num exponent = clampTo(y * log2, -300.0, 300.0);
  Rounded n = roundToInteger(exponent);
  Num fraction = exponent - n.value;
  Num p = polynomialInPairs(fraction, fraction * fraction, coefficients::exp2m32);
  return p * powerOfTwo(n.integer, FloatTraits(p));
}

/// log(a) for a > 0 in two parts.
static NumPair logPair(Num a) {
  Split split = splitExponent(a, /*maySubnormal=*/true);
  Num f = split.m - 1.0;
  NumPair s = NumPair{f, a.of(0.0)} / twoSum(f, a.of(2.0));
  NumPair z = s * s;
  // 2 s + s z (2/3 + z P(z)).
  NumPair tail = NumPair{a.of(0x1.5555555555555p-1), a.of(0x1.5555555555555p-55)} +
                 z.hi * polynomialInPairs(z.hi, z.hi * z.hi, coefficients::logTail64);
  NumPair fraction = s * z * tail;
  NumPair twice = {s.hi * 2.0, s.lo * 2.0};
  NumPair ln2 = {a.of(0x1.62e42fefa39efp-1), a.of(0x1.abc9e3b39803fp-56)};
  return ln2 * split.k + (twice + fraction);
}

static Num powerOfMagnitude(Num a, Num y) {
  Num bounded = clampTo(y, -0x1p65, 0x1p65);
  NumPair exponent = logPair(a) * bounded;
  Num hi = clampTo(exponent.hi, -800.0, 800.0);
  Num lo = select(equal(hi, exponent.hi), exponent.lo, 0.0);
  return expOf(NumPair{hi, lo});
}

/// |x|^y = magnitude where neither is special, and the sign: negative x takes an integer y only,
/// and keeps its sign if y is odd.
static Num withSpecials(Num x, Num y, Num magnitude) {
  Num a = abs(x);
  Num yNegative = less(y, 0.0);
  // 0, infinities.
  Num vanishes = select(yNegative, infinity, x.of(0.0));
  Num explodes = select(yNegative, 0.0, x.of(infinity));
  magnitude = select(equal(a, 0.0), vanishes, magnitude);
  magnitude = select(equal(a, infinity), explodes, magnitude);
  if (x.isF64()) {
    // In f32, y log2 |x| is infinite then, and bounded as large products are.
    Num large = select(greater(a, 1.0) ^ yNegative, infinity, x.of(0.0));
    magnitude = select(equal(abs(y), infinity), large, magnitude);
  }
  magnitude = select(equal(a, 1.0), 1.0, magnitude);
  Num ay = abs(y);
  FloatTraits traits(x);
  double allEven = std::ldexp(1.0, traits.mantissaBits + 1);
  Num bounded = minNum(x.of(allEven), ay);
  Num isInteger = equal(trunc(bounded), bounded);
  Num half = bounded * 0.5;
  Num isOdd = isInteger & notEqual(trunc(half), half);
  Num xNegative = less(bitsOf(x), 0);
  Num result = select(isOdd & xNegative, -magnitude, magnitude);
  Num undefined = less(x, 0.0) & greater(x, -infinity) & logicalNot(isInteger);
  result = select(undefined, std::numeric_limits<double>::quiet_NaN(), result);
  result = select(isNaN(x) | isNaN(y), x + y, result);
  return select(equal(x, 1.0) | equal(y, 0.0), 1.0, result);
}

Num powOf(Num x, Num y) {
  OpBuilder &b = x.e->b;
  Num a = abs(x);
  Num magnitude;
  if (x.isF64()) {
    magnitude = powerOfMagnitude(a, y);
  } else {
    Num wide = powerForFloat(floatTo(a, b.getF64Type()), floatTo(y, b.getF64Type()));
    magnitude = floatTo(wide, b.getF32Type());
  }
  if (x.lanes() > 1) {
    return withSpecials(x, y, magnitude);
  }
  Num usual = greater(x, 0.0) & less(x, infinity) & notEqual(x, 1.0) & less(abs(y), infinity) &
              notEqual(y, 0.0);
  return either(usual, x, [&] { return magnitude; }, [&] { return withSpecials(x, y, magnitude); });
}

} // namespace hlo::codegen
