//===- InverseTrigonometric.cpp - asin, acos, atan2 -----------------------===//
//
// Arctangent: the quotient t of the smaller by the larger of |x|, |y|; beyond tan(pi/8) the angle
// is computed from pi/4. Arcsine: beyond 1/2 by the half-angle formula. Arguments and results as
// in Functions.h.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/functions/Coefficients.h"
#include "compiler/codegen/elementwise/functions/DoubleDouble.h"
#include "compiler/codegen/elementwise/functions/Functions.h"
#include <limits>

namespace hlo::codegen {

static constexpr double infinity = std::numeric_limits<double>::infinity();

Num atan2Of(Num y, Num x) {
  bool wide = x.isF64();
  // Scaled so that the sum below does not overflow and the quotient does not underflow.
  Num ax = abs(x), ay = abs(y);
  Num large = maxNum(ax, ay);
  Num scale =
      select(greater(large, wide ? 0x1p900 : 0x1p120), x.of(wide ? 0x1p-100 : 0.25), x.of(1.0));
  scale = select(less(large, wide ? 0x1p-900 : 0x1p-80), wide ? 0x1p100 : 0x1p40, scale);
  // An infinite coordinate counts as 1, and a finite one beside it as 0.
  Num infinite = equal(large, infinity);
  Num sx = select(infinite, select(equal(ax, infinity), 1.0, x.of(0.0)), ax * scale);
  Num sy = select(infinite, select(equal(ay, infinity), 1.0, x.of(0.0)), ay * scale);
  Num swap = greater(sy, sx);
  Num high = select(swap, sy, sx), low = select(swap, sx, sy);
  Num beyond = greater(low, high * 0.414213562373095);
  Num numerator = select(beyond, low - high, low);
  Num denominator = select(beyond, low + high, high);
  denominator = select(equal(denominator, 0.0), 1.0, denominator);
  Num t = numerator / denominator;
  Num z = t * t;
  Num p =
      wide ? polynomialAsTree(z, coefficients::atan64) : polynomialAsTree(z, coefficients::atan32);
  Num tail = t * z * p;
  if (wide) {
    // The rounding error of the quotient.
    NumPair back = twoProduct(t, denominator);
    NumPair exact = twoSum(low, select(beyond, high, 0.0));
    Num exactLow = select(beyond, exact.lo, 0.0);
    Num differenceLow = twoSum(low, -high).lo;
    Num rest =
        ((numerator - back.hi) - back.lo) + (select(beyond, differenceLow, 0.0) - t * exactLow);
    // The error is unknown for subnormals.
    Num correction = select(greater(low, 0x1p-900), rest * (1.0 / denominator), 0.0);
    tail = tail + (correction - correction * z);
  }
  // The angle is k pi/4 +- (t + tail).
  Num left = less(bitsOf(x), 0);
  Num k = select(beyond, 1.0, x.of(0.0));
  k = select(swap, 2.0 - k, k);
  k = select(left, 4.0 - k, k);
  Num flip = swap ^ left;
  t = select(flip, -t, t);
  tail = select(flip, -tail, tail);
  double piHi = wide ? 0x1.921fb54442d18p-1 : 0x1.921fbp-1;
  double piLo = wide ? 0x1.1a62633145c07p-55 : 0x1.5110b4611a626p-23;
  NumPair sum = fastTwoSum(k * piHi, t);
  Num atZero = t + tail;
  Num angle = sum.hi + (sum.lo + fma(k, piLo, tail));
  angle = select(equal(k, 0.0), atZero, angle);
  Num nan = isNaN(x) | isNaN(y);
  return select(nan, x + y, copySign(angle, y));
}

/// (asin(a) - a) / a on [0, 1/2].
static Num asinTail(Num z) { return z * polynomial(z, coefficients::asin64); }

Num asinOf(Num x) {
  if (!x.isF64()) {
    return oddViaDouble(x, asinOf);
  }
  Num a = abs(x);
  Num beyond = greater(a, 0.5);
  // asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)).
  Num half = (1.0 - a) * 0.5;
  Num z = select(beyond, half, a * a);
  Num s = select(beyond, sqrt(half), a);
  Num tail = s * asinTail(z);
  NumPair back = twoProduct(s, s);
  Num low = ((half - back.hi) - back.lo) / (s * 2.0);
  low = select(equal(half, 0.0), 0.0, low);
  NumPair sum = fastTwoSum(a.of(0x1.921fb54442d18p+0), s * -2.0);
  Num large = sum.hi + (sum.lo + (0x1.1a62633145c07p-54 - (tail + low) * 2.0));
  return copySign(select(beyond, large, s + tail), x);
}

Num acosOf(Num x) {
  if (!x.isF64()) {
    return viaDouble(x, acosOf);
  }
  Num a = abs(x);
  Num beyond = greater(a, 0.5);
  Num negative = less(x, 0.0);
  Num half = (1.0 - a) * 0.5;
  Num z = select(beyond, half, a * a);
  Num s = select(beyond, sqrt(half), a);
  Num tail = s * asinTail(z);
  NumPair back = twoProduct(s, s);
  Num low = ((half - back.hi) - back.lo) / (s * 2.0);
  low = select(equal(half, 0.0), 0.0, low);
  // Beyond 1/2: 2 asin(s), from pi if x < 0; else pi/2 - asin(x).
  Num right = (s + (tail + low)) * 2.0;
  NumPair sum = fastTwoSum(a.of(0x1.921fb54442d18p+1), s * -2.0);
  Num left = sum.hi + (sum.lo + (0x1.1a62633145c07p-53 - (tail + low) * 2.0));
  NumPair middle = fastTwoSum(a.of(0x1.921fb54442d18p+0), -x);
  Num centre = middle.hi + (middle.lo + (0x1.1a62633145c07p-54 - copySign(tail, x)));
  return select(beyond, select(negative, left, right), centre);
}

} // namespace hlo::codegen
