//===- Logarithm.cpp - log and what is built on it ------------------------===//
//
// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); log(1 + f) is a polynomial in f (f32), or
// in s = f / (2 + f) (f64), or f64 by Sixteenths.h. In and out as Functions.h says.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/functions/Coefficients.h"
#include "compiler/codegen/elementwise/functions/DoubleDouble.h"
#include "compiler/codegen/elementwise/functions/Functions.h"
#include "compiler/codegen/elementwise/functions/Sixteenths.h"
#include <limits>

using namespace mlir;

namespace hlo::codegen {

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double quietNaN = std::numeric_limits<double>::quiet_NaN();

/// k ln 2 + log(1 + f).
static Num logKernel(Num f, Num k, const FloatTraits &traits) {
  Num square = f * f;
  Num halfSquare = square * 0.5;
  Num rest;
  if (traits.wide) {
    Num s = f / (f + 2.0);
    Num z = s * s;
    rest = s * fma(z, polynomialInPairs(z, z * z, coefficients::log64), halfSquare);
  } else {
    rest = square * f * polynomialInPairs(f, square, coefficients::log32);
  }
  rest = fma(k, traits.ln2Lo, rest);
  return fma(k, traits.ln2Hi, f - (halfSquare - rest));
}

/// The exponent k of x, such that x 2^-k is in [sqrt(1/2), sqrt(2)).
static Num logExponent(Num bits, const FloatTraits &traits) {
  int64_t root = traits.wide ? INT64_C(0x3fe6a09e667f3bcd) : INT64_C(0x3f3504f3);
  return shrS(bits - root, traits.mantissaBits);
}

static Num logSpecials(Num x, Num pole, Num result) {
  Num special = select(equal(pole, 0.0), -infinity, x.of(quietNaN));
  result = select(greater(pole, 0.0), result, special);
  return select(equal(x, infinity), infinity, result);
}

/// The logarithm of the f64 number with these parts.
static Num logOfParts(const LogParts &parts) {
  auto [r, base, baseLow] = parts;
  NumPair sum = fastTwoSum(base, r);
  Num p = polynomialAsTree(r, coefficients::sixteenthLog64);
  return sum.hi + fma(r * r, fma(r, p, -0.5), sum.lo + baseLow);
}

static Num logByTable(Num x) {
  Num rare = logicalNot(greaterEqual(x, FloatTraits(x).minNormal) & less(x, infinity));
  Num usual = logOfParts(logPartsOf(offsetOf(x, rare)));
  return rarely(rare, {usual}, [&] { return SmallVector<Num>{logSpecials(x, x, usual)}; })[0];
}

static Num log1pByTable(Num x) {
  Num u = x + 1.0;
  Num offset = offsetOfNormal(u);
  Num place = placeOf(offset), k = exponentOf(offset);
  Num inverse = inverseAt(place);
  // x 2^-k is exact, and so is 2^-k - 1 as long as it matters. Beyond 2^100, 1 + x rounds to x.
  Num scale = powerOfTwo(-k, FloatTraits(x));
  Num r = fma(fma(x, scale, scale - 1.0), inverse, inverse - 1.0);
  Num usual = logOfParts(logPartsOf(offset, r));
  Num rare = logicalNot(greater(u, 0.0) & less(x, 0x1p100) & notEqual(x, 0.0));
  return rarely(rare, {usual}, [&] {
    Num large = logOfParts(logPartsOf(offset));
    Num result = logSpecials(x, u, select(less(x, 0x1p100), usual, large));
    return SmallVector<Num>{select(equal(x, 0.0), x, result)};
  })[0];
}

static Num logOfAny(Num x) {
  FloatTraits traits(x);
  Num subnormal = less(x, traits.minNormal);
  double scale = std::ldexp(1.0, traits.mantissaBits + 2);
  Num bits = bitsOf(select(subnormal, x * scale, x));
  Num k = logExponent(bits, traits);
  Num f = floatOf(bits - shl(k, traits.mantissaBits)) - 1.0;
  Num exponent = exponentToFloat(k);
  exponent = select(subnormal, exponent - (traits.mantissaBits + 2), exponent);
  return logSpecials(x, x, logKernel(f, exponent, traits));
}

Num logOf(Num x) {
  if (x.isF64() && hasSixteenths(x)) {
    return logByTable(x);
  }
  FloatTraits traits(x);
  Num isNormal = greaterEqual(x, traits.minNormal) & less(x, infinity);
  auto ofNormal = [&] {
    Num bits = bitsOf(x);
    Num k = logExponent(bits, traits);
    Num f = floatOf(bits - shl(k, traits.mantissaBits)) - 1.0;
    return logKernel(f, exponentToFloat(k), traits);
  };
  if (x.lanes() == 1) {
    return either(isNormal, x, ofNormal, [&] { return logOfAny(x); });
  }
  return rarely(logicalNot(isNormal), {ofNormal()},
                [&] { return SmallVector<Num>{logOfAny(x)}; })[0];
}

Num log1pOf(Num x) {
  if (x.isF64() && hasSixteenths(x)) {
    return log1pByTable(x);
  }
  FloatTraits traits(x);
  Num u = x + 1.0;
  Num bits = bitsOf(u);
  Num k = logExponent(bits, traits);
  // x 2^-k is exact, and so is 2^-k - 1 as long as it matters.
  Num scale = powerOfTwo(-k, traits);
  Num f = fma(x, scale, scale - 1.0);
  Num large = floatOf(bits - shl(k, traits.mantissaBits)) - 1.0;
  f = select(greater(k, 100), large, f);
  Num result = logKernel(f, exponentToFloat(k), traits);
  return select(equal(x, 0.0), x, logSpecials(x, u, result));
}

/// log1p(hi + lo).
static Num log1pOf(NumPair x) {
  // The derivative of log1p at hi is 1 / (1 + hi).
  Num value = log1pOf(x.hi);
  Num corrected = value + x.lo / (x.hi + 1.0);
  return select(less(abs(x.hi), infinity), corrected, value);
}

/// sqrt(square) as a pair: root = sqrt(square.hi), and its error (square - root^2) / (2 root).
static NumPair sqrtPair(NumPair square) {
  Num root = sqrt(square.hi);
  NumPair back = twoProduct(root, root);
  Num rest = ((square.hi - back.hi) - back.lo) + square.lo;
  Num low = rest / (root * 2.0);
  return {root, select(greater(root, 0.0), low, 0.0)};
}

/// asinh(a) of a >= 0 in f64, accurate to f32; acosh and atanh below likewise.
static Num asinhForFloat(Num a) {
  Num square = a * a;
  Num result = log1pOf(a + square / (sqrt(square + 1.0) + 1.0));
  return select(less(a, infinity), result, a);
}

Num asinhOf(Num x) {
  if (!x.isF64()) {
    return oddViaDouble(x, asinhForFloat);
  }
  Num a = abs(x);
  // log1p(a + a^2 / (1 + sqrt(1 + a^2))); beyond 2^28, log(2a).
  Num bounded = minNum(x.of(0x1p30), a);
  NumPair square = twoProduct(bounded, bounded);
  NumPair root = sqrtPair(square + x.of(1.0));
  NumPair sum = square / (root + x.of(1.0)) + bounded;
  Num moderate = log1pOf(sum);
  Num large = logOf(a) + 0x1.62e42fefa39efp-1;
  Num result = select(less(a, 0x1p28), moderate, large);
  result = select(less(a, 0x1p-30), a, result);
  return copySign(result, x);
}

static Num acoshForFloat(Num x) {
  Num t = x - 1.0;
  return select(less(x, 1.0), quietNaN, log1pOf(t + sqrt(t * (t + 2.0))));
}

Num acoshOf(Num x) {
  if (!x.isF64()) {
    return viaDouble(x, acoshForFloat);
  }
  // With t = x - 1: log1p(t + sqrt(2t + t^2)); beyond 2^28, log(2x).
  Num t = minNum(x.of(0x1p30), x - 1.0);
  NumPair root = sqrtPair(twoProduct(t, t) + t * 2.0);
  Num moderate = log1pOf(root + t);
  Num large = logOf(x) + 0x1.62e42fefa39efp-1;
  Num result = select(less(x, 0x1p28), moderate, large);
  return select(less(x, 1.0), quietNaN, result);
}

static Num atanhForFloat(Num a) { return log1pOf(a * 2.0 / (1.0 - a)) * 0.5; }

Num atanhOf(Num x) {
  if (!x.isF64()) {
    return oddViaDouble(x, atanhForFloat);
  }
  Num a = abs(x);
  // log1p(2a / (1 - a)) / 2, with the quotient as a pair; 1 - a is exact from 1/2 on.
  NumPair denominator = fastTwoSum(x.of(1.0), -a);
  NumPair quotient = NumPair{a * 2.0, x.of(0.0)} / denominator;
  Num result = log1pOf(quotient) * 0.5;
  result = select(equal(a, 1.0), infinity, result);
  result = select(less(a, 0x1p-30), a, result);
  return copySign(select(greater(a, 1.0), quietNaN, result), x);
}

} // namespace hlo::codegen
