//===- Special.cpp - erf, erfc, cbrt, rsqrt, hypot, remainder -------------===//
//
// In and out as Functions.h says.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/SlowPath.h"
#include "compiler/codegen/elementwise/functions/Coefficients.h"
#include "compiler/codegen/elementwise/functions/DoubleDouble.h"
#include "compiler/codegen/elementwise/functions/Functions.h"
#include <limits>

using namespace mlir;

namespace hlo::codegen {

static constexpr double infinity = std::numeric_limits<double>::infinity();

Num erfOf(Num x) {
  bool wide = x.isF64();
  Num a = abs(x);
  if (int64_t entries = lookupEntries(x)) {
    Num bounded = minNum(x.of(3.99), a);
    return copySign(entries == 32 ? oddPiecewise(bounded, 4.0, 18, coefficients::erfPieces)
                                  : oddPiecewise(bounded, 4.0, 20, coefficients::erfEightPieces),
                    x);
  }
  Num z = x * x;
  auto small = [&] {
    // The first two terms nearly cancel; the tree would round their sum where it is large.
    llvm::ArrayRef<double> c = coefficients::erfSmall64;
    if (!wide) {
      c = coefficients::erfSmall32;
    }
    Num p = fma(z, fma(z, polynomialAsTree(z, c.drop_front(2)), c[1]), c[0]);
    return fma(x, p, x);
  };
  // 1 - e^q with q = log(erfc(a)); beyond the bound the result rounds to 1.
  auto large = [&] {
    Num bounded = minNum(x.of(wide ? 6.0 : 4.0), a);
    Num q = wide ? polynomialAsTree(bounded - 2.0, coefficients::erfLarge64)
                 : bounded * polynomialAsTree(bounded, coefficients::erfLarge32);
    return copySign(1.0 - expOfModerate(q), x);
  };
  return either(lessEqual(a, 1.25), x, small, large);
}

/// a / b of f32 within two units in the last place, for a b that is near 1.
static Num quotientOnce(Num a, Num b) {
  Num start = estimate(b, LaneFunction::Reciprocal);
  if (!start.v) {
    return a / b;
  }
  Num product = a * start;
  return fma(product, fma(-b, start, 1.0), product);
}

/// e^(t^2) (1 - erf(t)) of f32, for t >= 0: by pieces, or as a polynomial in t / (t + 2).
static Num scaledErfc(Num t) {
  if (lookupEntries(t) == 32) {
    return piecewise(t, 1.0, 20, coefficients::erfcPieces, /*isOdd=*/false);
  }
  Num z = quotientOnce(t, t + 2.0);
  return polynomialInPairs(z, z * z, coefficients::erfc32);
}

Num erfcOf(Num x) {
  constexpr double vanishes = 9.2;
  Num magnitude = abs(x), t = minNum(x.of(vanishes), magnitude);
  Num scaled = scaledErfc(t);
  scaled = select(less(magnitude, vanishes), scaled, 0.0);
  Num result = expOfModerate(-(t * t)) * scaled;
  return select(less(x, 0.0), 2.0 - result, result);
}

/// e / 3 rounded to the nearest integer, by multiplication; exact for |e| <= 3072.
static Num thirdOf(Num e) { return shrS((e + 3073) * 21846, 16) - 1024; }

/// 2^(r / 3) for r in {-1, 0, 1}.
static Num thirdPowerOfTwo(Num r) {
  return fma(fma(r, 0x1.b744985853540p-6, 0x1.dd68e9bbaedb2p-3), r, 1.0);
}

/// The cube root of m = 2^r fraction, r in {-1, 0, 1}, fraction in [1, 2).
static Num cbrtOfParts(Num fraction, Num r, Num m) {
  if (m.isF64()) {
    // Halley's step, then Newton's with the exact residual.
    Num y = thirdPowerOfTwo(r) * polynomialAsTree(fraction, coefficients::cbrtStart64);
    Num cube = y * y * y;
    y = y * (cube + m * 2.0) / (cube * 2.0 + m);
    NumPair square = twoProduct(y, y), third = twoProduct(square.hi, y);
    Num residual = (third.hi - m) + (third.lo + square.lo * y);
    return y - residual / (square.hi * 3.0);
  }
  // z = 1 / cbrt(m), cut to 12 bits so that its square is exact, and y = m z^2. With h = 1 - y z
  // the root is y (1 - h)^(-2/3). This needs no division and keeps a third of y's rounding error.
  Num z = thirdPowerOfTwo(-r) * polynomialAsTree(fraction, coefficients::cbrtStart32);
  z = floatOf(bitsOf(z) & -4096);
  Num y = m * (z * z);
  NumPair product = twoProduct(y, z);
  Num h = m.e->machine.fma ? fma(-y, z, 1.0) : (1.0 - product.hi) - product.lo;
  return fma(y * h, fma(h, 5.0 / 9, 2.0 / 3), y);
}

/// cbrt by the machine's exponent and fraction instructions; null if it has none. 0, infinity and
/// NaN become NaN here and are restored after.
static Num cbrtInRegisters(Num x) {
  Num e = x.isF64() ? Num() : exponentInRegisters(x);
  if (!e.v) {
    return {};
  }
  constexpr double toInteger = 0x1.8p23;
  Num k = fma(e, 1.0 / 3, toInteger) - toInteger;
  Num r = fma(k, -3.0, e);
  Num fraction = fractionInRegisters(x);
  Num y = scaledInRegisters(cbrtOfParts(fraction, r, scaledInRegisters(fraction, r)), k);
  return select(isNaN(y), x, copySign(y, x));
}

Num cbrtOf(Num x) {
  if (Num y = cbrtInRegisters(x); y.v) {
    return y;
  }
  FloatTraits traits(x);
  Num a = abs(x);
  Num subnormal = less(a, traits.minNormal);
  Num bits = bitsOf(select(subnormal, a * (traits.wide ? 0x1p54 : 0x1p24), a));
  Num e = shrS(bits, traits.mantissaBits) - traits.bias;
  Num k = thirdOf(e);
  Num r = e - k * 3;
  Num exponentOfOne = shl(bits.of(traits.bias), traits.mantissaBits);
  int64_t mantissa = (INT64_C(1) << traits.mantissaBits) - 1;
  Num fraction = floatOf((bits & mantissa) | exponentOfOne);
  Num m = floatOf(bitsOf(fraction) + shl(r, traits.mantissaBits));
  Num y = cbrtOfParts(fraction, exponentToFloat(r), m);
  Num result = y * powerOfTwo(select(subnormal, k - (traits.wide ? 18 : 8), k), traits);
  Num finite = less(a, infinity) & greater(a, 0.0);
  return select(finite, copySign(result, x), x);
}

Num rsqrtOf(Num x) {
  // An estimate of 11 bits has 33 after a step of order 2; one of 14 bits has 56 after a step of
  // order 3.
  const LaneFunction *f =
      x.e->machine.function(LaneFunction::ReciprocalRoot, static_cast<int>(x.width()), x.lanes(),
                            x.isF64() ? 0x1p-14 : 0x1p-11);
  if (!f) {
    return 1.0 / sqrt(x);
  }
  Num y = inRegisters(*f, x);
  Num error = fma(-(x * y), y, 1.0);
  // (1 - error)^(-1/2) - 1.
  Num series = x.isF64() ? fma(fma(error, 0.3125, 0.375), error, 0.5) : fma(error, 0.375, 0.5);
  Num refined = fma(y * error, series, y);
  // For 0, infinity, NaN and negative numbers the estimate is the result.
  Num result = select(isNaN(error), y, refined);
  if (f->subnormals) {
    return result;
  }
  Num subnormal = less(abs(x), FloatTraits(x).minNormal) & notEqual(x, 0.0);
  return rarely(subnormal, {result},
                [&] { return SmallVector<Num>{select(subnormal, 1.0 / sqrt(x), result)}; })[0];
}

/// sqrt(large^2 + small^2) for large >= small >= 0 whose squares, and the squares' rounding errors,
/// are normal numbers: the root of the sum, and a Newton step with all rounding errors.
static Num hypotWithin(Num large, Num small) {
  NumPair square = twoProduct(large, large), other = twoProduct(small, small);
  Num sum = square.hi + other.hi;
  Num low = ((square.hi - sum) + other.hi) + (square.lo + other.lo);
  // 14 bits of the root give 28 after the step.
  Num start = sum.isF64() ? Num() : estimate(sum, LaneFunction::ReciprocalRoot);
  Num root = start.v ? sum * start : sqrt(sum);
  NumPair back = twoProduct(root, root);
  Num error = ((sum - back.hi) - back.lo) + low;
  if (sum.e->machine.fma) {
    error = fma(-root, root, sum) + low;
  }
  if (start.v) {
    return fma(error, start * 0.5, root);
  }
  Num twice = root * 2.0, reciprocal = estimate(twice, LaneFunction::Reciprocal);
  return reciprocal.v ? fma(error, reciprocal, root) : root + error / twice;
}

Num hypotOf(Num x, Num y) {
  Num ax = abs(x), ay = abs(y);
  Num swapped = greater(ay, ax);
  Num large = select(swapped, ay, ax), small = select(swapped, ax, ay);
  bool wide = x.isF64();
  Num isSmall = less(large, wide ? 0x1p-450 : 0x1p-50);
  Num isLarge = greater(large, wide ? 0x1p510 : 0x1p62);
  Num near = hypotWithin(large, small);
  return rarely(isSmall | isLarge | isNaN(large), {near}, [&]() -> SmallVector<Num> {
    // Scaled by powers of two.
    Num one = x.of(1.0);
    Num scale = select(isLarge, wide ? 0x1p-600 : 0x1p-70, one);
    scale = select(isSmall, wide ? 0x1p600 : 0x1p100, scale);
    Num back = select(isLarge, wide ? 0x1p600 : 0x1p70, one);
    back = select(isSmall, wide ? 0x1p-600 : 0x1p-100, back);
    Num root = hypotWithin(large * scale, small * scale) * back;
    root = select(equal(large, 0.0), large + small, root);
    return {select(equal(ax, infinity) | equal(ay, infinity), infinity, root)};
  })[0];
}

/// fmod of finite x >= 0 and y > 0 (f64), on their integer mantissas: with x = m 2^i and y = n 2^j,
/// x mod y = (m 2^(i-j) mod n) 2^j, computed eleven bits of 2^(i-j) at a time.
static Num longRemainder(Num x, Num y) {
  Emission &e = *x.e;
  struct Parts {
    Num mantissa, exponent;
  };
  auto split = [](Num a) -> Parts {
    Num bits = bitsOf(a);
    Num exponent = shrU(bits, 52);
    Num fraction = bits & INT64_C(0x000fffffffffffff);
    Num subnormal = equal(exponent, 0);
    return {select(subnormal, fraction, fraction | INT64_C(0x0010000000000000)),
            select(subnormal, 1, exponent)};
  };
  auto modulo = [&](Num a, Num b) { return Num(e, arith::RemUIOp::create(e.b, e.loc, a.v, b.v)); };
  Parts top = split(x), bottom = split(y);
  Num distance = top.exponent - bottom.exponent;
  Num first = modulo(top.mantissa, bottom.mantissa);
  SmallVector<Type> types(2, first.type());
  auto loop = scf::WhileOp::create(
      e.b, e.loc, types, ValueRange{first, distance},
      [&](OpBuilder &b, Location loc, ValueRange args) {
        Emission inner{{b, loc}, e.machine};
        scf::ConditionOp::create(b, loc, greaterEqual(Num(inner, args[1]), 11), args);
      },
      [&](OpBuilder &b, Location loc, ValueRange args) {
        Emission inner{{b, loc}, e.machine};
        Num shifted = shl(Num(inner, args[0]), 11);
        Value rest = arith::RemUIOp::create(b, loc, shifted.v, bottom.mantissa.v);
        scf::YieldOp::create(b, loc, ValueRange{rest, Num(inner, args[1]) - 11});
      });
  Num left(e, loop.getResult(1));
  Num last = shl(Num(e, loop.getResult(0)), select(less(left, 0), 0, left));
  Num rest = signedToFloat(modulo(last, bottom.mantissa), e.b.getF64Type());
  Num result = scaleByPower(rest, bottom.exponent - 1075, FloatTraits(rest));
  return select(less(x, y), x, result);
}

static Num remByDivision(Num x, Num y) {
  OpBuilder &b = x.e->b;
  bool wide = x.isF64();
  // If the quotient is below 2^28 (f32, in f64) or 2^51 (f64), the remainder of the truncated
  // quotient is exact. The rounded quotient truncates to the true one, or to the next integer if
  // the true one is just below it.
  Num wx = floatTo(x, b.getF64Type()), wy = floatTo(y, b.getF64Type());
  Num ax = abs(wx), ay = abs(wy);
  Num quotient = trunc(ax / ay);
  Num rest;
  if (!wide || x.e->machine.fma) {
    rest = fma(-quotient, ay, ax);
  } else {
    NumPair product = twoProduct(quotient, ay);
    rest = (ax - product.hi) - product.lo;
  }
  rest = select(less(rest, 0.0), rest + ay, rest);
  rest = select(less(ax, ay), ax, rest);
  Num easy = copySign(floatTo(rest, x.scalar()), x);
  double limit = wide ? 0x1p51 : 0x1p28;
  Num rare = greaterEqual(quotient, limit);
  if (wide) {
    // The products of tiny or huge operands are not exact.
    rare = rare | (less(ay, 0x1p-900) & greaterEqual(ax, ay)) | greater(ax, 0x1p990);
  }
  rare = rare & less(ax, infinity) & greater(ay, 0.0);
  Num nan = isNaN(x) | isNaN(y) | equal(ax, infinity) | equal(ay, 0.0);
  easy = select(nan, std::numeric_limits<double>::quiet_NaN(), easy);
  return rarely(rare, {easy}, [&] {
    Type f64 = b.getF64Type();
    auto function = internalFunction(*x.e, "hlo_remainder", {f64, f64}, {f64}, [](ArrayRef<Num> a) {
      return SmallVector<Num>{longRemainder(a[0], a[1])};
    });
    Num exact = callPerLane(function, {select(rare, ax, 0.0), select(rare, ay, 1.0)})[0];
    exact = copySign(floatTo(exact, x.scalar()), x);
    return SmallVector<Num>{select(rare, exact, easy)};
  })[0];
}

Num remOf(Num x, Num y) {
  if (x.lanes() > 1) {
    return remByDivision(x, y);
  }
  // Quotients below 2 need no division, as for an angle that is wrapped once. The difference is
  // exact.
  Num ax = abs(x), ay = abs(y);
  auto small = [&] { return select(less(ax, ay), x, copySign(ax - ay, x)); };
  return either(less(ax, ay * 2.0), x, small, [&] { return remByDivision(x, y); });
}

} // namespace hlo::codegen
