//===- Complex.cpp - Ops on complex numbers -------------------------------===//
//
// c64 and c128 as pairs of reals. Sums, products and moduli are computed in the parts' own
// type; of c64, the functions of ComplexFunctions.h are computed in f64.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/Families.h"
#include "compiler/codegen/elementwise/functions/ComplexFunctions.h"
#include <limits>

using namespace mlir;

namespace hlo::codegen {

static constexpr double infinity = std::numeric_limits<double>::infinity();

Complex choose(Num condition, Complex a, Complex b) {
  return {select(condition, a.re, b.re), select(condition, a.im, b.im)};
}

/// +-1 if x is infinite, else +-0 (C's Annex G).
static Num boxed(Num x) { return copySign(select(equal(abs(x), infinity), 1.0, x.of(0.0)), x); }

/// The quotient, corrected where the formula gave NaN + i NaN for a zero divisor or infinities.
static Complex divideSpecials(Complex a, Complex b, Complex quotient) {
  Num undefined = isNaN(quotient.re) & isNaN(quotient.im);
  SmallVector<Num> parts = rarely(undefined, {quotient.re, quotient.im}, [&]() -> SmallVector<Num> {
    auto isFinite = [](Complex z) { return less(abs(z.re), infinity) & less(abs(z.im), infinity); };
    auto isInfinite = [](Complex z) {
      return equal(abs(z.re), infinity) | equal(abs(z.im), infinity);
    };
    Complex result = quotient;
    Num zero = equal(b.re, 0.0) & equal(b.im, 0.0) & logicalNot(isNaN(a.re) & isNaN(a.im));
    Num pole = copySign(a.re.of(infinity), b.re);
    result = choose(undefined & zero, {pole * a.re, pole * a.im}, result);
    Complex top = {boxed(a.re), boxed(a.im)}, bottom = {boxed(b.re), boxed(b.im)};
    Complex infinite = {(top.re * b.re + top.im * b.im) * infinity,
                        (top.im * b.re - top.re * b.im) * infinity};
    result = choose(undefined & isInfinite(a) & isFinite(b) & logicalNot(zero), infinite, result);
    Complex vanishing = {(a.re * bottom.re + a.im * bottom.im) * 0.0,
                         (a.im * bottom.re - a.re * bottom.im) * 0.0};
    result = choose(undefined & isInfinite(b) & isFinite(a), vanishing, result);
    return {result.re, result.im};
  });
  return {parts[0], parts[1]};
}

/// z scaled by a power of two so that the larger part is in [1, 2), and that part's exponent (0 for
/// zero, infinity and NaN).
static std::pair<Complex, Num> normalize(Complex z) {
  FloatTraits traits(z.re);
  Num large = maxNum(abs(z.re), abs(z.im));
  Num exponent = (shrU(bitsOf(large), traits.mantissaBits) & 0x7ff) - traits.bias;
  Num usable = greater(large, 0.0) & less(large, infinity);
  exponent = select(usable, exponent, 0);
  return {{scaleByPower(z.re, -exponent, traits), scaleByPower(z.im, -exponent, traits)}, exponent};
}

Complex divide(Complex a, Complex b) {
  OpBuilder &builder = a.re.e->b;
  auto formula = [](Complex n, Complex d) -> Complex {
    Num square = d.re * d.re + d.im * d.im;
    return {(n.re * d.re + n.im * d.im) / square, (n.im * d.re - n.re * d.im) / square};
  };
  if (!a.re.isF64()) {
    Type wide = builder.getF64Type(), narrow = builder.getF32Type();
    Complex q = formula({floatTo(a.re, wide), floatTo(a.im, wide)},
                        {floatTo(b.re, wide), floatTo(b.im, wide)});
    return divideSpecials(a, b, {floatTo(q.re, narrow), floatTo(q.im, narrow)});
  }
  FloatTraits traits(a.re);
  auto [top, topExponent] = normalize(a);
  auto [bottom, bottomExponent] = normalize(b);
  Complex q = formula(top, bottom);
  Num exponent = topExponent - bottomExponent;
  exponent = select(less(exponent, -2044), -2044, exponent);
  q = {scaleByPower(q.re, exponent, traits), scaleByPower(q.im, exponent, traits)};
  return divideSpecials(a, b, q);
}

/// z / |z|; zero stays.
static Complex signOf(Complex z) {
  // Scaled so that the modulus neither overflows nor is subnormal.
  bool wide = z.re.isF64();
  Num large = maxNum(abs(z.re), abs(z.im));
  Num scale = select(greater(large, 1.0), z.re.of(0.25), z.re.of(wide ? 0x1p60 : 0x1p30));
  Num re = z.re * scale, im = z.im * scale;
  Num modulus = hypotOf(re, im);
  Num zero = equal(z.re, 0.0) & equal(z.im, 0.0);
  return choose(zero, z, {re / modulus, im / modulus});
}

static std::optional<Complex> emitUnary(Opcode opcode, Complex z, bool ofFloats) {
  switch (opcode) {
  case Opcode::Exponential: return complexExp(z);
  case Opcode::ExponentialMinusOne: return complexExpm1(z);
  case Opcode::Log: return complexLog(z);
  case Opcode::LogPlusOne: return complexLog1p(z);
  case Opcode::Logistic: return complexLogistic(z, ofFloats);
  case Opcode::Sqrt: return complexSqrt(z, ofFloats);
  case Opcode::Rsqrt: return complexRsqrt(z);
  case Opcode::Sine: return complexSin(z);
  case Opcode::Cosine: return complexCos(z);
  case Opcode::Tan: return complexTan(z);
  case Opcode::Tanh: return complexTanh(z);
  case Opcode::Sinh: return complexSinh(z);
  case Opcode::Cosh: return complexCosh(z);
  case Opcode::Asin: return complexAsin(z);
  case Opcode::Acos: return complexAcos(z);
  case Opcode::Asinh: return complexAsinh(z);
  case Opcode::Acosh: return complexAcosh(z);
  case Opcode::Atanh: return complexAtanh(z);
  default: return std::nullopt;
  }
}

static std::optional<Complex> emitBinary(Opcode opcode, Complex a, Complex b) {
  switch (opcode) {
  case Opcode::Power: return complexPower(a, b);
  case Opcode::Atan2: return complexAtan2(a, b);
  default: return std::nullopt;
  }
}

static Elem emitFunction(const Request &r) {
  Type wide = r.e.b.getF64Type();
  auto operand = [&](unsigned i) -> Complex {
    return {floatTo(r.re(i), wide), floatTo(r.im(i), wide)};
  };
  std::optional<Complex> result = r.values.size() == 1
                                      ? emitUnary(r.opcode, operand(0), r.re(0).scalar().isF32())
                                      : emitBinary(r.opcode, operand(0), operand(1));
  if (!result) {
    return {};
  }
  Type part = r.re(0).scalar();
  Num re = floatTo(result->re, part);
  return Elem(re, floatTo(result->im, part));
}

static Elem emitCompare(const Request &r) {
  std::optional<Direction> direction = parseDirection(r.string("direction"));
  if (direction == Direction::EQ) {
    return Elem(equal(r.re(0), r.re(1)) & equal(r.im(0), r.im(1)));
  }
  if (direction == Direction::NE) {
    return Elem(notEqual(r.re(0), r.re(1)) | notEqual(r.im(0), r.im(1)));
  }
  return {};
}

/// The larger or smaller in lexicographic order (real part first); the first operand if it has a
/// NaN.
static Elem extremum(Emission &e, const Elem &a, const Elem &b, bool maximum) {
  Num aRe(e, a.re), aIm(e, a.im), bRe(e, b.re), bIm(e, b.im);
  auto before = [&](Num x, Num y) { return maximum ? greater(x, y) : less(x, y); };
  Num first = before(aRe, bRe) | (equal(aRe, bRe) & before(aIm, bIm));
  return selectElem(e, first | isNaN(aRe) | isNaN(aIm), a, b);
}

Elem emitComplexOp(const Request &r) {
  auto z = [&](unsigned i) -> Complex { return {r.re(i), r.im(i)}; };
  auto elem = [](Num re, Num im) { return Elem(re, im); };
  switch (r.opcode) {
  case Opcode::Add: return elem(r.re(0) + r.re(1), r.im(0) + r.im(1));
  case Opcode::Subtract: return elem(r.re(0) - r.re(1), r.im(0) - r.im(1));
  case Opcode::Multiply: {
    Complex a = z(0), b = z(1);
    // The products that XLA rounds are rounded here too; the others are contracted if the target
    // has FMA.
    return elem(fma(a.re, b.re, -(a.im * b.im)), fma(a.im, b.re, a.re * b.im));
  }
  case Opcode::Divide: {
    Complex quotient = divide(z(0), z(1));
    return elem(quotient.re, quotient.im);
  }
  case Opcode::Negate: return elem(-r.re(0), -r.im(0));
  case Opcode::Maximum:
  case Opcode::Minimum: return extremum(r.e, r.values[0], r.values[1], r.opcode == Opcode::Maximum);
  case Opcode::Clamp: {
    Elem raised = extremum(r.e, r.values[1], r.values[0], /*maximum=*/true);
    return extremum(r.e, raised, r.values[2], /*maximum=*/false);
  }
  case Opcode::Abs: return Elem(hypotOf(r.re(0), r.im(0)));
  case Opcode::Sign: {
    Complex sign = signOf(z(0));
    return elem(sign.re, sign.im);
  }
  case Opcode::Real: return Elem(r.values[0].re);
  case Opcode::Imag: return Elem(r.values[0].im);
  case Opcode::Compare: return emitCompare(r);
  default: return emitFunction(r);
  }
}

} // namespace hlo::codegen
