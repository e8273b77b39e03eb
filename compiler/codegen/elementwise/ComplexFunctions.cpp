//===- ComplexFunctions.cpp - Elementary functions of complex numbers -----===//
//
// In and out: parts in f64. The inverse functions are Kahan's ("Branch cuts for complex
// elementary functions", 1987).
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/ComplexFunctions.h"
#include "compiler/codegen/elementwise/DoubleDouble.h"
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

Complex complexExp(Complex z) {
  NumPair turn = sinCosOf(z.im);
  Num re = expTimes(z.re, turn.lo), im = expTimes(z.re, turn.hi);
  Num real = equal(z.im, 0.0);
  re = select(real, expOf(z.re), re);
  im = select(real, z.im, im);
  Num vanishes = equal(z.re, -infinity);
  return {select(vanishes, 0.0, re), select(vanishes, 0.0, im)};
}

Complex complexExpm1(Complex z) {
  // expm1(x) cos y - 2 sin^2(y/2) + i e^x sin y.
  Num half = sinOf(z.im * 0.5);
  NumPair turn = sinCosOf(z.im);
  Num grown = expm1Of(z.re);
  Num re = fma(grown, turn.lo, half * half * -2.0);
  Num im = expTimes(z.re, turn.hi);
  Num real = equal(z.im, 0.0);
  re = select(real, grown, re);
  im = select(real, z.im, im);
  Num vanishes = equal(z.re, -infinity);
  return {select(vanishes, -1.0, re), select(vanishes, 0.0, im)};
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

Complex complexLogistic(Complex z) {
  Num left = less(z.re, 0.0);
  Complex power = complexExp(choose(left, z, {-z.re, -z.im}));
  Num one = z.re.of(1.0), zero = z.re.of(0.0);
  return divide(choose(left, power, {one, zero}), {power.re + 1.0, power.im});
}

/// x y, but 0 if x is: of an exponent and a logarithm that may be infinite.
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

Complex complexCbrt(Complex z) {
  Complex log = complexLog(z);
  Complex root = complexExp({log.re * (1.0 / 3.0), log.im * (1.0 / 3.0)});
  return choose(equal(z.re, 0.0) & equal(z.im, 0.0), z, root);
}

Complex complexSqrt(Complex z) {
  Num large = maxNum(abs(z.re), abs(z.im));
  Num huge = greater(large, 0x1p1000), tiny = less(large, 0x1p-900);
  Num scale = select(huge, 0x1p-100, select(tiny, 0x1p200, z.re.of(1.0)));
  Num back = select(huge, 0x1p50, select(tiny, 0x1p-100, z.re.of(1.0)));
  Num x = z.re * scale, y = z.im * scale;
  Num root = sqrt((abs(x) + hypotOf(x, y)) * 0.5);
  Num other = y / (root * 2.0);
  Num left = less(bitsOf(z.re), 0);
  Complex result = {select(left, abs(other), root) * back,
                    select(left, copySign(root, y), other) * back};
  Num none = z.re.of(0.0);
  result = choose(equal(large, 0.0), {none, z.im}, result);
  Complex ofRealInfinity = {select(left, none, z.re.of(infinity)),
                            copySign(select(left, infinity, none), z.im)};
  ofRealInfinity = choose(isNaN(z.im), {z.re, z.im}, ofRealInfinity);
  result = choose(isInfinite(z.re), ofRealInfinity, result);
  return choose(isInfinite(z.im), {z.re.of(infinity), z.im}, result);
}

Complex complexRsqrt(Complex z) {
  Complex root = complexSqrt(z);
  Num square = root.re * root.re + root.im * root.im;
  Complex result = {root.re / square, -root.im / square};
  Num none = z.re.of(0.0);
  result = choose(isInfinite(z.re) | isInfinite(z.im), {none, copySign(none, -z.im)}, result);
  Num zero = equal(z.re, 0.0) & equal(z.im, 0.0);
  return choose(zero, {z.re.of(infinity), z.re.of(quietNaN)}, result);
}

namespace {
/// s cosh(y) and c sinh(y) for factors s, c in [-1, 1], without early overflow.
struct Hyperbolic {
  Num cosh, sinh;
};
} // namespace

static Hyperbolic timesHyperbolic(Num y, Num s, Num c) {
  Num large = greater(abs(y), 700.0);
  Num cosh = select(large, expTimes(abs(y), s * 0.5), s * coshOf(y));
  Num sinh = select(large, copySign(y.of(1.0), y) * expTimes(abs(y), c * 0.5), c * sinhOf(y));
  return {cosh, sinh};
}

Complex complexSin(Complex z) {
  NumPair turn = sinCosOf(z.re);
  Hyperbolic h = timesHyperbolic(z.im, turn.hi, turn.lo);
  Num im = select(equal(z.im, 0.0), z.im, h.sinh);
  return {select(equal(z.re, 0.0), z.re, h.cosh), im};
}

Complex complexCos(Complex z) {
  NumPair turn = sinCosOf(z.re);
  Hyperbolic h = timesHyperbolic(z.im, turn.lo, turn.hi);
  Num zero = equal(z.re, 0.0) | equal(z.im, 0.0);
  Num signedZero = floatOf(signBits(z.re) ^ signBits(z.im));
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
  NumPair turn = sinCosOf(z.re);
  Num far = greater(abs(z.im), 20.0);
  Num decay = expOf(abs(z.im) * -2.0) * 4.0;
  Num farRe = select(isInfinite(z.im), copySign(t.of(0.0), z.re), decay * turn.hi * turn.lo);
  re = select(far, farRe, re);
  im = select(far, copySign(z.im.of(1.0), z.im), im);
  return {re, select(equal(z.im, 0.0) & equal(z.re, z.re), z.im, im)};
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
  Num cross = r.minus.re * r.plus.im - r.minus.im * r.plus.re;
  return {atan2Of(z.re, cosine), asinhOf(cross)};
}

Complex complexAcos(Complex z) {
  Roots r = rootsAroundOne(z);
  Num cross = r.plus.re * r.minus.im - r.plus.im * r.minus.re;
  return {atan2Of(r.minus.re, r.plus.re) * 2.0, asinhOf(cross)};
}

Complex complexAcosh(Complex z) {
  Complex minus = complexSqrt({z.re - 1.0, z.im}), plus = complexSqrt({z.re + 1.0, z.im});
  Num along = minus.re * plus.re + minus.im * plus.im;
  return {asinhOf(along), atan2Of(minus.im, plus.re) * 2.0};
}

Complex complexAsinh(Complex z) { return timesMinusI(complexAsin(timesI(z))); }

Complex complexAtanh(Complex z) {
  // log1p(4x / ((1 - x)^2 + y^2)) / 4, and half the angle of (1 - x^2 - y^2) + 2y i.
  Num x = abs(z.re);
  Num apart = 1.0 - x;
  Num square = z.im * z.im;
  Num re = log1pOf(x * 4.0 / (apart * apart + square)) * 0.25;
  Num im = atan2Of(z.im * 2.0, apart * (x + 1.0) - square) * 0.5;
  // Far away, both are those of 1/z.
  Num modulus = hypotOf(z.re, z.im);
  Num far = greater(modulus, 0x1p500);
  re = select(far, select(less(modulus, infinity), x / modulus / modulus, 0.0), re);
  im = select(far, copySign(im.of(0x1.921fb54442d18p+0), z.im), im);
  return {copySign(re, z.re), im};
}

Complex complexAtan2(Complex y, Complex x) {
  // -i log((x + i y) / sqrt(x^2 + y^2)).
  Complex squares = x * x + y * y;
  Complex ratio = divide(x + timesI(y), complexSqrt(squares));
  return timesMinusI(complexLog(ratio));
}

} // namespace hlo::codegen
