//===- Exponential.cpp - exp and what is built on it ----------------------===//
//
// e^x = 2^n e^r with n the integer nearest to x / ln 2 and |r| <= ln(2)/2; e^r - 1 is a
// polynomial. Where a register holds the powers of two of all sixteenths, n is the nearest
// sixteenth, and |r| <= ln(2)/32. Arguments and results as in Functions.h.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/functions/Coefficients.h"
#include "compiler/codegen/elementwise/functions/DoubleDouble.h"

using namespace mlir;

namespace hlo::codegen {

FloatTraits::FloatTraits(Num x) : wide(x.isF64()) {
  mantissaBits = wide ? 52 : 23;
  bias = wide ? 1023 : 127;
  minNormal = wide ? 0x1p-1022 : 0x1p-126;
  largest = wide ? 0x1.fffffffffffffp1023 : 0x1.fffffep127;
  integerMagic = wide ? 0x1.8p52 : 0x1.8p23;
  ln2Hi = wide ? 0x1.62e42feep-1 : 0x1.62e4p-1;
  ln2Lo = wide ? 0x1.a39ef35793c76p-33 : 0x1.7f7d1cp-20;
  signMask = wide ? INT64_MIN : INT64_C(0x80000000);
}

Num clampTo(Num x, double lo, double hi) { return minNum(x.of(hi), maxNum(x.of(lo), x)); }

Rounded roundToInteger(Num x) { return roundProduct(x, 1.0); }

Rounded roundProduct(Num x, double factor) {
  FloatTraits traits(x);
  Num magic = x.of(traits.integerMagic);
  Num sum = factor == 1.0 ? x + magic : fma(x, factor, magic);
  return {sum - magic, bitsOf(sum) - bitsOf(magic)};
}

Num exponentToFloat(Num n) {
  OpBuilder &b = n.e->b;
  if (n.width() == 32) {
    return signedToFloat(n, b.getF32Type());
  }
  // By way of the bits of 1.5 * 2^52 + n, since not every target converts vectors of i64.
  return floatOf(n + INT64_C(0x4338000000000000)) - 0x1.8p52;
}

Num powerOfTwo(Num n, const FloatTraits &traits) {
  return floatOf(shl(n + traits.bias, traits.mantissaBits));
}

Num scaleByPower(Num x, Num n, const FloatTraits &traits) {
  Num half = shrS(n, 1);
  return x * powerOfTwo(half, traits) * powerOfTwo(n - half, traits);
}

Num scaleByPower(Num x, const Rounded &n, const FloatTraits &traits) {
  Num scaled = scaledInRegisters(x, n.value);
  return scaled.v ? scaled : scaleByPower(x, n.integer, traits);
}

Num signBits(Num x) { return bitsOf(x) & FloatTraits(x).signMask; }

namespace {
/// e^x = 2^n (1 + m), or 2^floor(n) root (1 + m) for an n in sixteenths, whose floor is n.integer.
struct ExpParts {
  Rounded n;
  Num m;
  Num root;
};
} // namespace

/// What is left of x + low beyond n ln 2.
static Num reduced(Num x, Num n, Num low) {
  FloatTraits traits(x);
  Num r = fma(n, -traits.ln2Hi, x);
  r = fma(n, -traits.ln2Lo, r);
  return low.v ? r + low : r;
}

static constexpr double kLog2E = 0x1.71547652b82fep0;

static ExpParts expParts(Num x, Num low = {}) {
  Rounded n = roundProduct(x, kLog2E);
  Num r = reduced(x, n.value, low);
  Num square = r * r;
  Num q = x.isF64() ? polynomialInPairs(r, square, coefficients::exp64)
                    : polynomialInPairs(r, square, coefficients::exp32);
  return {n, fma(square, q, r), {}};
}

/// expParts with a root, of f32.
static ExpParts expPartsBySixteenths(Num x, Num low) {
  Num magic = x.of(FloatTraits(x).integerMagic / 16);
  Num sum = fma(x, kLog2E, magic);
  // The low four bits of the sum are the sixteenth.
  Num root = lookup(bitsOf(sum), coefficients::sixteenthRoots);
  Rounded n = {sum - magic, shrS(bitsOf(sum) - bitsOf(magic), 4)};
  Num r = reduced(x, n.value, low);
  Num q = polynomial(r, coefficients::expSixteenth32);
  return {n, fma(r * r, q, r), root};
}

/// The parts for a result that is rounded once, when they are put together.
static ExpParts expPartsOnce(Num x, Num low) {
  bool bySixteenths = x.e->machine.fma && hasLookupOf16(x);
  return bySixteenths ? expPartsBySixteenths(x, low) : expParts(x, low);
}

/// e^x / 2^n, or the power without its whole octaves.
static Num mantissaOf(const ExpParts &parts) {
  return parts.root.v ? fma(parts.root, parts.m, parts.root) : parts.m + 1.0;
}

/// Whether vectors like x are scaled by any power of two in one instruction (scaledInRegisters).
static bool hasScale(Num x) {
  return x.e->machine.function(LaneFunction::ScaleByPower, x.width(), x.lanes()) != nullptr;
}

/// e^(x + low), if 2^n and the result are normal numbers: 2^n m + 2^n, rounded once.
static Num expOfNormal(Num x, Num low = {}) {
  ExpParts parts = expPartsOnce(x, low);
  if (parts.root.v && hasScale(x)) {
    return scaledInRegisters(mantissaOf(parts), parts.n.value);
  }
  Num scale = powerOfTwo(parts.n.integer, FloatTraits(x));
  if (parts.root.v) {
    scale = scale * parts.root;
  }
  return fma(scale, parts.m, scale);
}

/// e^(x + low); 0 for x below `lowest`, which is not computed: a product that underflows may take
/// 150 cycles (a microcode assist), and masked softmaxes are full of exponentials of -1e30.
static Num expWithin(Num x, Num low, double lowest, double highest) {
  double normal = x.isF64() ? 708.0 : 87.0;
  auto any = [&] {
    Num remains = logicalNot(less(x, lowest));
    ExpParts parts = expPartsOnce(select(remains, minNum(x.of(highest), x), 0.0), low);
    return select(remains, scaleByPower(mantissaOf(parts), parts.n, FloatTraits(x)), 0.0);
  };
  if (!x.e->machine.fma || (x.lanes() > 1 && hasScale(x))) {
    return any();
  }
  if (x.lanes() == 1) {
    return either(less(abs(x), normal), x, [&] { return expOfNormal(x, low); }, any);
  }
  Num vanishes = less(x, lowest);
  Num bounded = select(vanishes, 0.0, x);
  Num usual = select(vanishes, 0.0, expOfNormal(bounded, low));
  Num rare = logicalNot(less(abs(bounded), normal));
  return rarely(rare, {usual}, [&] { return SmallVector<Num>{any()}; })[0];
}

Num expOf(Num x) {
  return x.isF64() ? expWithin(x, {}, -746.0, 710.0) : expWithin(x, {}, -104.0, 89.0);
}

Num expOfModerate(Num x) { return expOfNormal(x); }

Num expOf(NumPair x) {
  return x.hi.isF64() ? expWithin(x.hi, x.lo, -746.0, 710.0) : expWithin(x.hi, x.lo, -104.0, 89.0);
}

Num expTimes(Num x, Num factor, int64_t halvings) {
  FloatTraits traits(x);
  // Within these bounds the smallest factor overflows, and the largest vanishes.
  double bound = traits.wide ? 1460.0 : 195.0;
  ExpParts parts = expParts(clampTo(x, -bound, bound));
  // The factor is scaled first, since a small one would lose bits in the product: by 2^(n/4) twice
  // before it, and twice after.
  Num quarter = shrS(parts.n.integer, 2);
  Num step = powerOfTwo(quarter, traits);
  Num last = powerOfTwo(parts.n.integer - shl(quarter, 1) - quarter - halvings, traits);
  return factor * step * step * (parts.m + 1.0) * step * last;
}

Num expm1Of(Num x) {
  FloatTraits traits(x);
  Num bounded = traits.wide ? clampTo(x, -40.0, 710.0) : clampTo(x, -20.0, 89.0);
  ExpParts parts = expParts(bounded);
  // 2^n m + (2^n - 1), halved so that n = bias + 1 does not overflow early.
  Num half = powerOfTwo(parts.n.integer - 1, traits);
  Num sum = fma(half, parts.m, half - 0.5) * 2.0;
  return copySign(select(equal(parts.n.integer, 0), parts.m, sum), x);
}

/// 1 / a, with an error of at most 2^-26 (f64) or two units in the last place (f32), for a of
/// moderate size.
static Num inverseNear(Num a) {
  Num inverse = a.e->machine.fma ? estimate(a, LaneFunction::Reciprocal) : Num();
  return inverse.v ? fma(inverse, fma(-a, inverse, 1.0), inverse) : 1.0 / a;
}

Num logisticForHalf(Num x) { return inverseNear(expOfModerate(-clampTo(x, -25.0, 25.0)) + 1.0); }

/// The logistic function from the parts of e^-|x|; `scale` multiplies such a part by its power of
/// two.
static Num logisticOfParts(Num x, const ExpParts &parts, function_ref<Num(Num)> scale) {
  NumPair mantissa = fastTwoSum(x.of(1.0), parts.m);
  NumPair power = {scale(mantissa.hi), scale(mantissa.lo)};
  NumPair denominator = fastTwoSum(x.of(1.0), power.hi);
  Num negative = less(x, 0.0);
  Num top = select(negative, power.hi, 1.0);
  Num rest = select(negative, power.lo, 0.0);
  Num inverse = inverseNear(denominator.hi);
  Num quotient = x.e->machine.fma ? top * inverse : top / denominator.hi;
  rest = fma(-quotient, denominator.lo + power.lo, rest);
  if (x.e->machine.fma) {
    rest = rest + fma(-quotient, denominator.hi, top);
  }
  return fma(rest, inverse, quotient);
}

Num logisticOf(Num x) {
  FloatTraits traits(x);
  // e / (1 + e) or 1 / (1 + e) with e = e^-|x| <= 1: nothing overflows, and small results keep
  // their precision. The rounding errors of the sums and the quotient are fed back.
  auto any = [&] {
    ExpParts parts = expParts(maxNum(x.of(traits.wide ? -746.0 : -104.0), -abs(x)));
    return logisticOfParts(x, parts, [&](Num a) { return scaleByPower(a, parts.n, traits); });
  };
  if (x.lanes() == 1 || hasScale(x)) {
    return any();
  }
  ExpParts parts = expParts(-abs(x));
  Num power = powerOfTwo(parts.n.integer, traits);
  Num usual = logisticOfParts(x, parts, [&](Num a) { return a * power; });
  Num rare = logicalNot(less(abs(x), traits.wide ? 708.0 : 87.0));
  return rarely(rare, {usual}, [&] { return SmallVector<Num>{any()}; })[0];
}

/// tanh(a) for f64 with FMA, a >= 0 or NaN. With a = n ln(2)/2 + r, t = tanh(r), s = 2^n it is
///
///   (s - 1 + t (s + 1)) / (s + 1 + t (s - 1))
static Num tanhOfMagnitude(Num a) {
  FloatTraits traits(a);
  Num bounded = minNum(a.of(20.0), a);
  Rounded n = roundProduct(bounded, 0x1.71547652b82fep1);
  Num r = fma(n.value, -traits.ln2Hi / 2, bounded);
  r = fma(n.value, -traits.ln2Lo / 2, r);
  Num z = r * r;
  Num t = fma(r * z, polynomialAsTree(z, coefficients::tanh64), r);
  Num scale = powerOfTwo(n.integer, traits);
  Num below = scale - 1.0, above = scale + 1.0;
  Num top = fma(t, above, below), bottom = fma(t, below, above);
  Num inverse = inverseNear(bottom);
  // The quotient's remainder, from the sums before they were rounded.
  Num quotient = top * inverse;
  Num rest = fma(t, fma(-quotient, below, above), fma(-quotient, above, below));
  return fma(rest, inverse, quotient);
}

Num tanhOf(Num x) {
  Num magnitude = abs(x);
  bool wide = x.isF64();
  if (wide && x.e->machine.fma) {
    return copySign(tanhOfMagnitude(magnitude), x);
  }
  if (int64_t entries = lookupEntries(x)) {
    Num bounded = minNum(x.of(14.0), magnitude);
    return copySign(entries == 32 ? oddPiecewise(bounded, 1.0, 20, coefficients::tanhPieces)
                                  : oddPiecewise(bounded, 1.0, 22, coefficients::tanhEightPieces),
                    x);
  }
  Num z = x * x;
  Num p = wide ? polynomial(z, coefficients::tanhSmall64) : polynomial(z, coefficients::tanh32);
  Num small = fma(magnitude * z, p, magnitude);
  Num power = expOfModerate(minNum(x.of(wide ? 20.0 : 10.0), magnitude) * 2.0);
  Num large = 1.0 - 2.0 / (power + 1.0);
  return copySign(select(less(magnitude, 0.625), small, large), x);
}

Num viaDouble(Num x, Num (*function)(Num)) {
  OpBuilder &b = x.e->b;
  return floatTo(function(floatTo(x, b.getF64Type())), b.getF32Type());
}

Num oddViaDouble(Num x, Num (*function)(Num)) { return copySign(viaDouble(abs(x), function), x); }

Num sinhOf(Num x) {
  if (!x.isF64()) {
    return oddViaDouble(x, sinhOf);
  }
  Num magnitude = abs(x);
  Num z = x * x;
  Num small = fma(x * z, polynomial(z, coefficients::sinh64), x);
  // e^|x| / 2, which overflows later than e^|x|.
  FloatTraits traits(x);
  ExpParts parts = expParts(clampTo(magnitude, 0.0, 711.0));
  Num half = scaleByPower(parts.m + 1.0, parts.n.integer - 1, traits);
  Num large = half - 0.25 / half;
  return select(less(magnitude, 1.0), small, copySign(large, x));
}

Num coshOf(Num x) {
  if (!x.isF64()) {
    return viaDouble(x, coshOf);
  }
  ExpParts parts = expParts(clampTo(abs(x), 0.0, 711.0));
  Num half = scaleByPower(parts.m + 1.0, parts.n.integer - 1, FloatTraits(x));
  return half + 0.25 / half;
}

} // namespace hlo::codegen
