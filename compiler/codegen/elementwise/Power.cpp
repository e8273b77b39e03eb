//===- Power.cpp - x^y of reals -------------------------------------------===//
//
// |x|^y = 2^(y log2 |x|) in f64 for f32, e^(y log |x|) in pairs of f64 for f64, with tables for
// sixteenths of an octave; the special cases of C's pow behind a branch. In and out as Functions.h
// says.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/Coefficients.h"
#include "compiler/codegen/elementwise/DoubleDouble.h"
#include "compiler/codegen/elementwise/Functions.h"
#include "compiler/codegen/elementwise/Sixteenths.h"
#include "llvm/ADT/bit.h"
#include <limits>

using namespace mlir;

namespace hlo::codegen {

static constexpr double infinity = std::numeric_limits<double>::infinity();

namespace {
/// e^x = (1 + rest) 2^(n / 16); n: the lower bits of `bits`.
struct SixteenthsOf {
  Num bits, rest;
};
} // namespace

/// Bits of 2^(n / 16) for an integer n of i64, the exponent normal.
static Num sixteenthPower(Num n) {
  SmallVector<double, 16> roots;
  for (auto [i, root] : llvm::enumerate(coefficients::powRoot)) {
    roots.push_back(
        llvm::bit_cast<double>(llvm::bit_cast<int64_t>(root) - (static_cast<int64_t>(i) << 48)));
  }
  return floatOf(bitsOf(lookup16(n, "hlo_pow_roots", roots)) + shl(n, 48));
}

/// y log2(a) for the number a > 0 of f32 whose bits are `offset` from those of 45/64; y and the
/// result in f64.
static Num exponentForFloat(Num offset, Num y) {
  OpBuilder &b = y.e->b;
  Num z = floatTo(mantissaOf(offset), b.getF64Type());
  if (!hasSixteenths(y)) {
    Num s = quotientWithin(z - 1.0, z + 1.0);
    Num square = s * s;
    Num k = signedToFloat(shrS(offset, 23), b.getF64Type());
    return y * fma(s, polynomialInPairs(square, square * square, coefficients::log2in64), k);
  }
  Num sixteenths = shrS(offset, 19);
  Num place = zextTo(sixteenths, b.getI64Type());
  Num r = fma(z, inverseAt(place), -1.0);
  Num log = fma(signedToFloat(sixteenths, b.getF64Type()), 1.0 / 16,
                lookup16(place, "hlo_pow_log2", coefficients::powLog2));
  return y * fma(r, polynomialAsTree(r, coefficients::powLog32), log);
}

/// 2^exponent in f64, good to f32, |exponent| < 1000.
static Num exp2ForFloat(Num exponent) {
  if (!hasSixteenths(exponent)) {
    Rounded n = roundToInteger(exponent);
    Num fraction = exponent - n.value;
    Num p = polynomialInPairs(fraction, fraction * fraction, coefficients::exp2m32);
    return p * powerOfTwo(n.integer, FloatTraits(p));
  }
  // Adding this rounds to sixteenths.
  Num sum = exponent + 0x1.8p48;
  Num fraction = exponent - (sum - 0x1.8p48);
  Num scale = sixteenthPower(bitsOf(sum));
  return fma(fraction * scale, polynomial(fraction, coefficients::powExp32), scale);
}

/// log(a) in two parts, for the number a > 0 of f64 whose bits are `offset` from those of 45/64.
static NumPair logPair(Num offset) {
  auto [r, base, baseLow] = logPartsOf(offset);
  NumPair first = fastTwoSum(base, r);
  NumPair square = twoProduct(r * -0.5, r);
  NumPair second = fastTwoSum(first.hi, square.hi);
  Num p = polynomialAsTree(r, coefficients::powLog64);
  Num low = ((baseLow + first.lo) + (square.lo + second.lo)) + (r * r * r) * p;
  return fastTwoSum(second.hi, low);
}

static SixteenthsOf sixteenthsOf(NumPair exponent) {
  Rounded n = roundProduct(exponent.hi, 0x1.71547652b82fep4);
  FloatTraits traits(exponent.hi);
  Num r = fma(n.value, -traits.ln2Hi / 16, exponent.hi);
  r = fma(n.value, -traits.ln2Lo / 16, r) + exponent.lo;
  Num rest = fma(r * r, polynomialAsTree(r, coefficients::powExp64), r);
  return {n.integer, rest + lookup16(n.integer, "hlo_pow_roots_low", coefficients::powRootLow)};
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

/// |x|^y of f32 by way of f64.
static Num powOfFloat(Num x, Num y, Num offset, Num rare) {
  OpBuilder &b = x.e->b;
  Num exponent = exponentForFloat(offset, floatTo(y, b.getF64Type()));
  Num extreme = rare | logicalNot(less(abs(exponent), 1000.0));
  Num usual = floatTo(exp2ForFloat(exponent), b.getF32Type());
  return rarely(extreme, {usual}, [&] {
    Num wide = exp2ForFloat(clampTo(exponent, -300.0, 300.0));
    return SmallVector<Num>{withSpecials(x, y, floatTo(wide, b.getF32Type()))};
  })[0];
}

static Num powOfDouble(Num x, Num y, Num offset, Num rare) {
  NumPair log = logPair(offset);
  if (!x.e->target.fma) {
    y = clampTo(y, -0x1p65, 0x1p65); // larger ones overflow when they are split
  }
  NumPair product = twoProduct(y, log.hi);
  NumPair exponent = {product.hi, fma(y, log.lo, product.lo)};
  SixteenthsOf parts = sixteenthsOf(exponent);
  Num scale = sixteenthPower(parts.bits);
  Num usual = fma(scale, parts.rest, scale);
  // Well within the normal numbers, so that the product in there is one without FMA too.
  Num extreme = rare | logicalNot(less(abs(exponent.hi), 600.0));
  return rarely(extreme, {usual}, [&] {
    Num hi = clampTo(exponent.hi, -800.0, 800.0);
    Num lo = select(equal(hi, exponent.hi), exponent.lo, 0.0);
    SixteenthsOf bounded = sixteenthsOf({hi, lo});
    Num n = shrS(bounded.bits, 4);
    Num root = sixteenthPower(bounded.bits - shl(n, 4));
    return SmallVector<Num>{
        withSpecials(x, y, scaleByPower(fma(root, bounded.rest, root), n, FloatTraits(x)))};
  })[0];
}

Num powOf(Num x, Num y) {
  FloatTraits traits(x);
  Num usual = greaterEqual(x, traits.minNormal) & less(x, infinity) & less(abs(y), infinity);
  Num rare = logicalNot(usual);
  Num offset = offsetOf(abs(x), rare);
  return traits.wide ? powOfDouble(x, y, offset, rare) : powOfFloat(x, y, offset, rare);
}

} // namespace hlo::codegen
