//===- Power.cpp - x^y of reals -------------------------------------------===//
//
// f32: |x|^y = 2^(y log2 |x|) in pairs of f32, with tables of parts of an octave in registers; in
// f64 on targets without FMA. f64: e^(y log |x|) in pairs of f64, with tables of sixteenths. The
// special cases of C's pow are behind a branch. Arguments and results as in Functions.h.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/functions/Coefficients.h"
#include "compiler/codegen/elementwise/functions/DoubleDouble.h"
#include "compiler/codegen/elementwise/functions/Functions.h"
#include "compiler/codegen/elementwise/functions/Sixteenths.h"
#include "llvm/ADT/bit.h"
#include <limits>

using namespace mlir;

namespace hlo::codegen {

static constexpr double infinity = std::numeric_limits<double>::infinity();

namespace {
/// e^x = (1 + rest) 2^(n / 16); n is in the lower bits of `bits`.
struct SixteenthsOf {
  Num bits, rest;
};

/// The tables for powers of f32: one entry per part of an octave that starts at the number with the
/// bits `first`.
struct OctaveParts {
  int64_t first;
  ArrayRef<double> inverse, log, logLow, root, rootLow, series, exp;

  /// The position of the mantissa bits that select the part.
  int64_t shift() const { return 23 - llvm::Log2_64(inverse.size()); }
};
} // namespace

static OctaveParts octaveParts(int64_t entries) {
  using namespace coefficients;
  if (entries == 32) {
    return {0x3f320000,
            powThirtySecondsInverse,
            powThirtySecondsLog,
            powThirtySecondsLogLow,
            powThirtySecondsRoot,
            powThirtySecondsRootLow,
            powThirtySecondsSeries,
            powThirtySecondsExp};
  }
  return {0x3f280000,     powEighthsInverse, powEighthsLog,    powEighthsLogLow,
          powEighthsRoot, powEighthsRootLow, powEighthsSeries, powEighthsExp};
}

/// The bits of 2^(n / 16) for an i64 n, if the result is a normal number.
static Num sixteenthPower(Num n) {
  SmallVector<double, 16> roots;
  for (auto [i, root] : llvm::enumerate(coefficients::powRoot)) {
    roots.push_back(
        llvm::bit_cast<double>(llvm::bit_cast<int64_t>(root) - (static_cast<int64_t>(i) << 48)));
  }
  return floatOf(bitsOf(lookup16(n, "hlo_pow_roots", roots)) + shl(n, 48));
}

/// log2(1 + r) / r as a pair.
static NumPair logOverArgument(Num r, const OctaveParts &parts) {
  // 1 / ln 2 in f32, and its relative error.
  constexpr double scale = 0x1.715476p0, rest = 0x1.cab1b8p-27;
  Num square = r * r;
  Num series = polynomialInPairs(r, square, parts.series);
  // With 32 parts r is so small that its third power does not matter, and one term of the second
  // suffices.
  bool isSmall = parts.inverse.size() == 32;
  Num slope = isSmall ? r.of(-scale / 2) : fma(r, series, -scale / 2);
  Num hi = fma(r, slope, scale);
  Num lo = fma(r, slope, scale - hi);
  Num third = isSmall ? fma(square, series, hi * rest)
                      : fma(r, fma(r, series, -scale / 2 - slope), hi * rest);
  return {hi, lo + third};
}

/// log2(a) as a pair, for an f32 a > 0 whose bits are `offset` from `parts.first`.
static NumPair log2Pair(Num offset, const OctaveParts &parts) {
  Num z = floatOf((offset & 0x7fffff) + parts.first);
  Num place = shrS(offset, parts.shift());
  Num r = fma(z, lookup(place, parts.inverse), -1.0);
  // Exact.
  Num base = fma(signedToFloat(place, z.scalar()), 1.0 / static_cast<double>(parts.inverse.size()),
                 lookup(place, parts.log));
  NumPair quotient = logOverArgument(r, parts);
  Num product = r * quotient.hi;
  NumPair sum = fastTwoSum(base, product);
  Num low = (sum.lo + lookup(place, parts.logLow)) + fma(r, quotient.hi, -product);
  return {sum.hi, fma(r, quotient.lo, low)};
}

/// 2^exponent, |exponent.hi| < 125; or scaled in two steps, for |exponent.hi| < 250.
static Num exp2Pair(NumPair exponent, const OctaveParts &parts, bool inSteps) {
  // Adding this rounds to a part of an octave.
  const double rounds = std::ldexp(1.5, static_cast<int>(parts.shift()));
  Num sum = exponent.hi + rounds;
  Num fraction = (exponent.hi - (sum - rounds)) + exponent.lo;
  Num n = bitsOf(sum), power = shl(n, parts.shift());
  if (inSteps) {
    power = power & 0x7fffff;
  }
  Num root = floatOf(bitsOf(lookup(n, parts.root)) + power);
  Num series = polynomialInPairs(fraction, fraction * fraction, parts.exp);
  Num rest = fma(fraction, series, lookup(n, parts.rootLow));
  Num result = fma(root, rest, root);
  if (inSteps) {
    Num whole = shrS(n - llvm::bit_cast<int32_t>(static_cast<float>(rounds)), 23 - parts.shift());
    return scaleByPower(result, whole, FloatTraits(result));
  }
  return result;
}

/// y log2(a) in f64, for an f32 a > 0 given as by offsetOf.
static Num exponentForFloat(Num offset, Num y) {
  OpBuilder &b = y.e->b;
  Num z = floatTo(mantissaOf(offset), b.getF64Type());
  Num s = quotientWithin(z - 1.0, z + 1.0);
  Num square = s * s;
  Num k = signedToFloat(shrS(offset, 23), b.getF64Type());
  return floatTo(y, b.getF64Type()) *
         fma(s, polynomialInPairs(square, square * square, coefficients::log2in64), k);
}

/// 2^exponent of f64 as an f32, |exponent| < 1000.
static Num exp2ForFloat(Num exponent) {
  Rounded n = roundToInteger(exponent);
  Num fraction = exponent - n.value;
  Num p = polynomialInPairs(fraction, fraction * fraction, coefficients::exp2m32);
  return floatTo(p * powerOfTwo(n.integer, FloatTraits(p)), exponent.e->b.getF32Type());
}

/// log(a) as a pair, for an f64 a > 0 whose bits are `offset` from those of 45/64.
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

/// x^y, given |x|^y for operands that are not special: a negative x takes only an integer y, and
/// its sign if y is odd.
static Num withSpecials(Num x, Num y, Num magnitude) {
  Num a = abs(x);
  Num yNegative = less(y, 0.0);
  // 0, infinities.
  Num vanishes = select(yNegative, infinity, x.of(0.0));
  Num explodes = select(yNegative, 0.0, x.of(infinity));
  magnitude = select(equal(a, 0.0), vanishes, magnitude);
  magnitude = select(equal(a, infinity), explodes, magnitude);
  if (x.isF64()) {
    // For an infinite y, y log2 |x| in f32 was bounded like a large product.
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
static Num powByDouble(Num x, Num y, Num rare) {
  Num exponent = exponentForFloat(offsetOf(abs(x), rare), y);
  Num extreme = rare | logicalNot(less(abs(exponent), 1000.0));
  return rarely(extreme, {exp2ForFloat(exponent)}, [&] {
    Num bounded = clampTo(exponent, -300.0, 300.0);
    return SmallVector<Num>{withSpecials(x, y, exp2ForFloat(bounded))};
  })[0];
}

/// |x|^y of f32, in pairs.
static Num powInPairs(Num x, Num y, Num rare, const OctaveParts &parts) {
  Num offset = rarely(rare, {bitsOf(x) - parts.first}, [&] {
    Num a = abs(x), scaled = bitsOf(a * 0x1p24) - (INT64_C(24) << 23);
    return SmallVector<Num>{select(less(a, 0x1p-126), scaled, bitsOf(a)) - parts.first};
  })[0];
  NumPair log = log2Pair(offset, parts);
  NumPair exponent = twoProduct(y, log.hi);
  exponent.lo = fma(y, log.lo, exponent.lo);
  Num extreme = rare | logicalNot(less(abs(exponent.hi), 125.0));
  return rarely(extreme, {exp2Pair(exponent, parts, /*inSteps=*/false)}, [&] {
    Num hi = clampTo(exponent.hi, -200.0, 200.0);
    NumPair bounded = {hi, select(equal(hi, exponent.hi), exponent.lo, 0.0)};
    return SmallVector<Num>{withSpecials(x, y, exp2Pair(bounded, parts, /*inSteps=*/true))};
  })[0];
}

static Num powOfDouble(Num x, Num y, Num rare) {
  NumPair log = logPair(offsetOf(abs(x), rare));
  if (!x.e->machine.fma) {
    y = clampTo(y, -0x1p65, 0x1p65); // splitting a larger y would overflow
  }
  NumPair product = twoProduct(y, log.hi);
  NumPair exponent = {product.hi, fma(y, log.lo, product.lo)};
  SixteenthsOf parts = sixteenthsOf(exponent);
  Num scale = sixteenthPower(parts.bits);
  Num usual = fma(scale, parts.rest, scale);
  // Well within the normal numbers, so that twoProduct is exact without FMA too.
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

/// Computes in all lanes of a register and takes the first one: a scalar's bits then stay in vector
/// registers.
static Num inAllLanes(Num x, Num y, int64_t lanes) {
  Emission &e = *x.e;
  Type type = laneType(x.scalar(), lanes);
  auto everywhere = [&](Num a) {
    return Num(e, vector::BroadcastOp::create(e.b, e.loc, type, a.v));
  };
  Num all = powOf(everywhere(x), everywhere(y));
  return Num(e, vector::ExtractOp::create(e.b, e.loc, all.v, int64_t(0)));
}

Num powOf(Num x, Num y) {
  FloatTraits traits(x);
  if (int64_t entries = lookupEntries(x)) {
    if (x.lanes() == 1) {
      return inAllLanes(x, y, entries == 32 ? 16 : 8);
    }
    // x is not a positive normal number. Special values of y show in the exponent.
    Num rare = logicalNot(below(bitsOf(x) - INT64_C(0x00800000), INT64_C(0x7f000000)));
    return powInPairs(x, y, rare, octaveParts(entries));
  }
  Num usual = greaterEqual(x, traits.minNormal) & less(x, infinity) & less(abs(y), infinity);
  Num rare = logicalNot(usual);
  return traits.wide ? powOfDouble(x, y, rare) : powByDouble(x, y, rare);
}

} // namespace hlo::codegen
