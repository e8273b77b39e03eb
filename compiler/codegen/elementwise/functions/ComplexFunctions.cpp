//===- ComplexFunctions.cpp - Elementary functions of complex numbers -----===//
//
// Arguments and results are parts in f64. The inverse functions are Kahan's ("Branch cuts for
// complex elementary functions", 1987).
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/functions/ComplexFunctions.h"
#include "compiler/codegen/elementwise/functions/DoubleDouble.h"
#include <limits>

namespace hlo::codegen {

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double quietNaN = std::numeric_limits<double>::quiet_NaN();

static Num isInfinite(Num x) { return equal(abs(x), infinity); }
static Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
static Complex operator*(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
static Complex timesI(Complex z) { return {-z.im, z.re}; }
static Complex timesMinusI(Complex z) { return {z.im, -z.re}; }

/// 1 + cosine, or 1 - cosine if negated, without cancellation.
static Num oneAndCosine(NumPair turn, bool negated) {
  Num cosine = negated ? -turn.lo : turn.lo;
  return select(less(cosine, 0.0), turn.hi * turn.hi / (1.0 - cosine), cosine + 1.0);
}

/// e^z, given the sine and cosine of the imaginary part.
static Complex expWithTurn(Complex z, NumPair turn) {
  Num re = expTimes(z.re, turn.lo), im = expTimes(z.re, turn.hi);
  Num real = equal(z.im, 0.0);
  re = select(real, expOf(z.re), re);
  im = select(real, z.im, im);
  // Results that vanish keep the signs of their factors.
  Num vanishes = equal(z.re, -infinity), zero = z.re.of(0.0);
  return {select(vanishes, copySign(zero, re), re), select(vanishes, copySign(zero, im), im)};
}

Complex complexExp(Complex z) { return expWithTurn(z, sinCosOf(z.im)); }

Complex complexExpm1(Complex z) {
  // expm1(x) cos y - (1 - cos y) + i e^x sin y.
  NumPair turn = sinCosOf(z.im);
  Num grown = expm1Of(z.re);
  Num re = fma(grown, turn.lo, -oneAndCosine(turn, /*negated=*/true));
  // Away from 1, the direct product has the smaller error.
  Num direct = expTimes(z.re, turn.lo) - 1.0;
  re = select(less(direct, -0.5), direct, re);
  Num im = expTimes(z.re, turn.hi);
  Num real = equal(z.im, 0.0);
  re = select(real, grown, re);
  im = select(real, z.im, im);
  Num vanishes = equal(z.re, -infinity);
  return {select(vanishes, -1.0, re), select(vanishes, copySign(im.of(0.0), im), im)};
}

/// log1p(u) / 2 of u = a (a + 2) + b^2, computed in pairs: log |1 + a + i b|.
static Num logModulusNearOne(Num a, Num b) {
  NumPair sum = twoSum(a, a.of(2.0));
  NumPair u = NumPair{a, a.of(0.0)} * sum + twoProduct(b, b);
  Num value = log1pOf(u.hi);
  return (value + u.lo / (u.hi + 1.0)) * 0.5;
}

/// log |x + i y|.
static Num logModulus(Num x, Num y) {
  Num ax = abs(x), ay = abs(y);
  Num large = maxNum(ax, ay), small = minNum(ay, ax);
  Num near = logModulusNearOne(large - 1.0, small);
  Num huge = greater(large, 0x1p1000), tiny = less(large, 0x1p-900);
  Num scale = select(huge, 0x1p-100, select(tiny, 0x1p200, x.of(1.0)));
  Num shift = select(huge, 100 * 0x1.62e42fefa39efp-1,
                     select(tiny, -200 * 0x1.62e42fefa39efp-1, x.of(0.0)));
  Num far = logOf(hypotOf(x * scale, y * scale)) + shift;
  Num useNear = greater(large, 0.5) & less(large, 1.5);
  return select(useNear, near, far);
}

Complex complexLog(Complex z) { return {logModulus(z.re, z.im), atan2Of(z.im, z.re)}; }

Complex complexLog1p(Complex z) {
  Num moved = z.re + 1.0;
  Num small = less(abs(z.re), 0.5) & less(abs(z.im), 0.75);
  Num re = select(small, logModulusNearOne(z.re, z.im), logModulus(moved, z.im));
  return {re, atan2Of(z.im, moved)};
}

// The logistic function is e / (1 + e) or 1 / (1 + e), with e = e^+-z, |e| <= 1. 1 + e is computed
// as expm1(x) cos y + (1 + cos y), which is accurate near its zeros too.

/// The logistic function of parts that were f32, in f64. e is computed by expm1 where f32 loses
/// nothing by it, and the quotient needs no scaling.
static Complex logisticOfFloats(Complex z) {
  Num left = less(z.re, 0.0);
  Complex w = choose(left, z, {-z.re, -z.im});
  NumPair turn = sinCosOf(w.im);
  Num grown = expm1Of(w.re), one = z.re.of(1.0), zero = z.re.of(0.0);
  Num e = grown + 1.0, small = less(w.re, -15.0);
  auto power = rarely(small, {e * turn.lo, e * turn.hi}, [&]() -> llvm::SmallVector<Num> {
    Complex exact = expWithTurn(w, turn);
    return {select(small, exact.re, e * turn.lo), select(small, exact.im, e * turn.hi)};
  });
  Num re = power[0], im = power[1];
  Num sum = fma(grown, turn.lo, oneAndCosine(turn, /*negated=*/false));
  sum = select(less(w.re, -40.0), one, sum);
  Num inverse = 1.0 / (sum * sum + im * im);
  Num real = select(left, re * sum + im * im, sum) * inverse;
  Num imaginary = select(left, im * sum - re * im, zero - im) * inverse;
  Num far = less(z.re, -40.0);
  imaginary = select(far, im, imaginary);
  return {select(far, re, real), select(equal(z.im, 0.0), z.im, imaginary)};
}

Complex complexLogistic(Complex z, bool ofFloats) {
  if (ofFloats) {
    return logisticOfFloats(z);
  }
  Num left = less(z.re, 0.0);
  Complex w = choose(left, z, {-z.re, -z.im});
  NumPair turn = sinCosOf(w.im);
  Complex power = expWithTurn(w, turn);
  Num one = z.re.of(1.0), zero = z.re.of(0.0);
  Num sum = fma(expm1Of(w.re), turn.lo, oneAndCosine(turn, /*negated=*/false));
  sum = select(less(w.re, -40.0), one, sum);
  Complex quotient = divide(choose(left, power, {one, zero}), {sum, power.im});
  Complex result = choose(less(z.re, -40.0), power, quotient);
  return {result.re, select(equal(z.im, 0.0), z.im, result.im)};
}

/// x * y, but 0 if x is 0: x is an exponent and y a logarithm that may be infinite.
static Num productOrZero(Num x, Num y) { return select(equal(x, 0.0), 0.0, x * y); }

Complex complexPower(Complex z, Complex w) {
  Complex log = complexLog(z);
  Complex exponent = {productOrZero(w.re, log.re) - productOrZero(w.im, log.im),
                      productOrZero(w.re, log.im) + productOrZero(w.im, log.re)};
  Complex result = complexExp(exponent);
  Num zero = equal(z.re, 0.0) & equal(z.im, 0.0);
  Num one = z.re.of(1.0), nothing = z.re.of(0.0), undefined = z.re.of(quietNaN);
  Num vanishes = greater(w.re, 0.0) & equal(w.im, 0.0);
  result = choose(zero & logicalNot(vanishes), {undefined, undefined}, result);
  result = choose(zero & vanishes, {nothing, nothing}, result);
  Num exponentZero = equal(w.re, 0.0) & equal(w.im, 0.0);
  Num baseOne = equal(z.re, 1.0) & equal(z.im, 0.0);
  return choose(exponentZero | baseOne, {one, nothing}, result);
}

/// The square root from r = sqrt((|x| + |z|) / 2) and y / (2 r). Parts that were f32 need no
/// scaling, and 38 bits of r suffice.
static Complex sqrtOfFloats(Num x, Num y) {
  Num modulus = rootWithin(x * x + y * y);
  Num root = rootWithin((abs(x) + modulus) * 0.5);
  return {root, copySign(quotientWithin(abs(y), root * 2.0), y)};
}

Complex complexSqrt(Complex z, bool ofFloats) {
  Num large = maxNum(abs(z.re), abs(z.im));
  Num huge = greater(large, 0x1p1000), tiny = less(large, 0x1p-900);
  Num scale = select(huge, 0x1p-100, select(tiny, 0x1p200, z.re.of(1.0)));
  Num back = select(huge, 0x1p50, select(tiny, 0x1p-100, z.re.of(1.0)));
  Num x = z.re * scale, y = z.im * scale;
  Num root, other;
  if (ofFloats) {
    Complex parts = sqrtOfFloats(z.re, z.im);
    root = parts.re, other = parts.im;
    back = z.re.of(1.0);
  } else {
    root = sqrt((abs(x) + hypotOf(x, y)) * 0.5);
    other = y / (root * 2.0);
  }
  Num left = less(bitsOf(z.re), 0);
  Complex result = {select(left, abs(other), root) * back,
                    select(left, copySign(root, y), other) * back};
  Num none = z.re.of(0.0);
  result = choose(equal(z.re, 0.0) & equal(z.im, 0.0), {none, z.im}, result);
  Complex ofRealInfinity = {select(left, none, z.re.of(infinity)),
                            copySign(select(left, infinity, none), z.im)};
  Complex undefined = choose(left, {z.im, z.re}, {z.re, z.im});
  ofRealInfinity = choose(isNaN(z.im), undefined, ofRealInfinity);
  result = choose(isInfinite(z.re), ofRealInfinity, result);
  return choose(isInfinite(z.im), {z.re.of(infinity), z.im}, result);
}

Complex complexRsqrt(Complex z) {
  Num large = maxNum(abs(z.re), abs(z.im));
  Num huge = greater(large, 0x1p1000), tiny = less(large, 0x1p-900);
  Num one = z.re.of(1.0);
  Num scale = select(huge, 0x1p-200, select(tiny, 0x1p200, one));
  Num back = select(huge, 0x1p-100, select(tiny, 0x1p100, one));
  Complex root = complexSqrt({z.re * scale, z.im * scale});
  Num square = root.re * root.re + root.im * root.im;
  Complex result = {root.re / square * back, -root.im / square * back};
  Num none = z.re.of(0.0);
  result = choose(isInfinite(z.re) | isInfinite(z.im), {none, copySign(none, -z.im)}, result);
  Num zero = equal(z.re, 0.0) & equal(z.im, 0.0);
  return choose(zero, {z.re.of(infinity), z.re.of(quietNaN)}, result);
}

namespace {
/// s cosh(y) and c sinh(y) for factors s, c in [-1, 1]; neither cosh nor sinh alone overflows.
struct Hyperbolic {
  Num cosh, sinh;
};
} // namespace

static Hyperbolic timesHyperbolic(Num y, Num s, Num c) {
  Num large = greater(abs(y), 700.0);
  Num cosh = s * coshOf(y), sinh = c * sinhOf(y);
  auto parts = rarely(large, {cosh, sinh}, [&]() -> llvm::SmallVector<Num> {
    Num sign = copySign(y.of(1.0), y);
    return {select(large, expTimes(abs(y), s, 1), cosh),
            select(large, sign * expTimes(abs(y), c, 1), sinh)};
  });
  return {parts[0], parts[1]};
}

Complex complexSin(Complex z) {
  NumPair turn = sinCosOf(z.re);
  Hyperbolic h = timesHyperbolic(z.im, turn.hi, turn.lo);
  // The sign of a zero product, also if its other factor is infinite or NaN.
  Num signedZero = floatOf(signBits(turn.lo) ^ signBits(z.im));
  Num im = select(equal(z.im, 0.0), signedZero, h.sinh);
  return {select(equal(z.re, 0.0), z.re, h.cosh), im};
}

Complex complexCos(Complex z) {
  NumPair turn = sinCosOf(z.re);
  Hyperbolic h = timesHyperbolic(z.im, turn.lo, turn.hi);
  Num zero = equal(z.re, 0.0) | equal(z.im, 0.0);
  Num signedZero = floatOf(signBits(turn.hi) ^ signBits(z.im));
  return {h.cosh, -select(zero, signedZero, h.sinh)};
}

Complex complexTan(Complex z) {
  // With t = tan x, b = 1 + t^2, s = sinh y: (t + i b s sqrt(1 + s^2)) / (1 + b s^2); far from the
  // real axis, 4 sin x cos x e^(-2|y|) +- i.
  Num y = clampTo(z.im, -22.0, 22.0);
  Num t = tanOf(z.re);
  Num b = fma(t, t, 1.0);
  Num s = sinhOf(y);
  Num square = s * s;
  Num denominator = fma(b, square, 1.0);
  Num re = t / denominator;
  Num im = b * s * sqrt(square + 1.0) / denominator;
  Num far = greater(abs(z.im), 20.0);
  auto parts = rarely(far, {re, im}, [&]() -> llvm::SmallVector<Num> {
    NumPair turn = sinCosOf(z.re);
    Num decay = expOf(abs(z.im) * -2.0) * 4.0;
    Num product = turn.hi * turn.lo, infinite = isInfinite(z.im);
    Num farRe = select(infinite, copySign(t.of(0.0), product), decay * product);
    Num farIm = copySign(z.im.of(1.0), z.im);
    farIm = select(isNaN(product) & logicalNot(infinite), product, farIm);
    return {select(far, farRe, re), select(far, farIm, im)};
  });
  re = select(equal(z.re, 0.0), z.re, parts[0]);
  im = parts[1];
  return {re, select(equal(z.im, 0.0), z.im, im)};
}

Complex complexTanh(Complex z) {
  Complex turned = complexTan({z.im, z.re});
  return {turned.im, turned.re};
}

Complex complexSinh(Complex z) {
  Complex turned = complexSin({z.im, z.re});
  return {turned.im, turned.re};
}

Complex complexCosh(Complex z) { return complexCos({-z.im, z.re}); }

/// +-1 if x is infinite, else +-0; NaN stays.
static Num boxed(Num x) {
  Num box = copySign(select(isInfinite(x), 1.0, x.of(0.0)), x);
  return select(isNaN(x), x, box);
}

/// `ordinary` if z is finite, else special().
static Complex unlessSpecial(Complex z, Complex ordinary, llvm::function_ref<Complex()> special) {
  Num finite = less(abs(z.re), infinity) & less(abs(z.im), infinity);
  llvm::SmallVector<Num> parts =
      rarely(logicalNot(finite), {ordinary.re, ordinary.im}, [&]() -> llvm::SmallVector<Num> {
        Complex result = choose(finite, ordinary, special());
        return {result.re, result.im};
      });
  return {parts[0], parts[1]};
}

/// asinh(a b + c d), where the sum may overflow.
static Num asinhOfSum(Num a, Num b, Num c, Num d) {
  Num quarter = a * 0.5 * (b * 0.5) + c * 0.5 * (d * 0.5);
  Num huge = greater(abs(quarter), 0x1p300);
  Num shift = copySign(select(huge, 202 * 0x1.62e42fefa39efp-1, quarter.of(0.0)), quarter);
  return asinhOf(select(huge, quarter * 0x1p-200, a * b + c * d)) + shift;
}

namespace {
/// sqrt(1 - z) and sqrt(1 + z).
struct Roots {
  Complex minus, plus;
};
} // namespace

static Roots rootsAroundOne(Complex z) {
  return {complexSqrt({1.0 - z.re, -z.im}), complexSqrt({z.re + 1.0, z.im})};
}

Complex complexAsin(Complex z) {
  Roots r = rootsAroundOne(z);
  Num cosine = r.minus.re * r.plus.re - r.minus.im * r.plus.im;
  Complex ordinary = {atan2Of(z.re, cosine),
                      asinhOfSum(r.minus.re, r.plus.im, -r.minus.im, r.plus.re)};
  return unlessSpecial(z, ordinary, [&]() -> Complex {
    Num angle = atan2Of(boxed(z.re), boxed(abs(z.im)));
    angle = select(equal(z.re, 0.0), z.re, angle);
    Num anyInfinite = isInfinite(z.re) | isInfinite(z.im);
    return {angle, select(anyInfinite, copySign(z.im.of(infinity), z.im), quietNaN)};
  });
}

/// The angle of acos and acosh of a z that is not finite, in [0, pi].
static Num acosAngle(Complex z) {
  Num angle = atan2Of(boxed(abs(z.im)), boxed(z.re));
  return select(equal(z.re, 0.0), 0x1.921fb54442d18p+0, angle);
}

Complex complexAcos(Complex z) {
  Roots r = rootsAroundOne(z);
  Complex ordinary = {atan2Of(r.minus.re, r.plus.re) * 2.0,
                      asinhOfSum(r.plus.re, r.minus.im, -r.plus.im, r.minus.re)};
  return unlessSpecial(z, ordinary, [&]() -> Complex {
    Num anyInfinite = isInfinite(z.re) | isInfinite(z.im);
    Num im = select(anyInfinite, copySign(z.im.of(infinity), -z.im), quietNaN);
    return {acosAngle(z), im};
  });
}

Complex complexAcosh(Complex z) {
  Complex minus = complexSqrt({z.re - 1.0, z.im}), plus = complexSqrt({z.re + 1.0, z.im});
  Complex ordinary = {asinhOfSum(minus.re, plus.re, minus.im, plus.im),
                      atan2Of(minus.im, plus.re) * 2.0};
  return unlessSpecial(z, ordinary, [&]() -> Complex {
    Num anyInfinite = isInfinite(z.re) | isInfinite(z.im);
    Num angle = acosAngle(z);
    angle = select(isNaN(z.im), angle, copySign(angle, z.im));
    return {select(anyInfinite, infinity, z.re.of(quietNaN)), angle};
  });
}

Complex complexAsinh(Complex z) { return timesMinusI(complexAsin(timesI(z))); }

Complex complexAtanh(Complex z) {
  // log1p(4x / ((1 - x)^2 + y^2)) / 4, and half the angle of (1 - x^2 - y^2) + 2y i.
  Num x = abs(z.re);
  Num apart = 1.0 - x;
  Num square = z.im * z.im;
  Num re = log1pOf(x * 4.0 / (apart * apart + square)) * 0.25;
  // Next to 1 the square vanishes: log(4 / y^2) / 4.
  Num pole = equal(apart, 0.0) & less(abs(z.im), 0x1p-400);
  re = rarely(pole, {re}, [&] {
    Num beside = (0x1.62e42fefa39efp-1 - logOf(abs(z.im))) * 0.5;
    return llvm::SmallVector<Num>{select(pole, beside, re)};
  })[0];
  Num im = atan2Of(z.im * 2.0, apart * (x + 1.0) - square) * 0.5;
  // For large |z|, atanh(z) is computed from 1/z.
  Num modulus = hypotOf(z.re, z.im);
  Num far = greater(modulus, 0x1p500);
  re = select(far, select(less(modulus, infinity), x / modulus / modulus, 0.0), re);
  im = select(far & equal(z.im, z.im), copySign(im.of(0x1.921fb54442d18p+0), z.im), im);
  re = select(equal(x, 0.0), x, re);
  return {copySign(re, z.re), im};
}

Complex complexAtan2(Complex y, Complex x) {
  // -i log((x + i y) / sqrt(x^2 + y^2)).
  Complex squares = x * x + y * y;
  Complex ratio = divide(x + timesI(y), complexSqrt(squares));
  return timesMinusI(complexLog(ratio));
}

} // namespace hlo::codegen
