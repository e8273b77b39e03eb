//===- Trigonometric.cpp - sin, cos, tan ----------------------------------===//
//
// After reduction modulo pi/2, polynomials of both sine and cosine on |r| <= pi/4,
// chosen by quadrant. In and out as Functions.h says.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/ArgumentReduction.h"
#include "compiler/codegen/elementwise/Coefficients.h"

namespace hlo::codegen {

/// sin(r), cos(r) of a reduced argument.
static NumPair kernels(const NumPair &rest) {
  Num r = rest.hi;
  Num z = r * r;
  if (!r.isF64()) {
    Num sine = fma(r * z, polynomial(z, coefficients::sin32), r);
    Num cosine = fma(z * z, polynomial(z, coefficients::cos32), fma(z, -0.5, 1.0));
    return {sine, cosine};
  }
  // sin(r + lo) = sin(r) + lo cos(r); cos(r + lo) = cos(r) - lo sin(r).
  Num half = z * 0.5;
  Num low = rest.lo - rest.lo * half;
  Num sine = r + fma(r * z, polynomial(z, coefficients::sin64), low);
  Num high = 1.0 - half;
  Num tail = z * z * polynomial(z, coefficients::cos64) - r * rest.lo;
  Num cosine = high + (((1.0 - high) - half) + tail);
  return {sine, cosine};
}

/// value, negated where bit 1 of the quadrant is set.
static Num negateIn(Num quadrant, Num value) {
  Num sign = shl(quadrant & 2, value.width() - 2);
  return floatOf(bitsOf(value) ^ sign);
}

NumPair sinCosOf(Num x) {
  Reduced reduced = reduceByHalfPi(x);
  NumPair both = kernels(reduced.rest);
  Num odd = notEqual(reduced.quadrant & 1, 0);
  Num sine = negateIn(reduced.quadrant, select(odd, both.lo, both.hi));
  Num cosine = negateIn(reduced.quadrant + 1, select(odd, both.hi, both.lo));
  return {select(equal(x, 0.0), x, sine), cosine};
}

Num sinOf(Num x) { return sinCosOf(x).hi; }
Num cosOf(Num x) { return sinCosOf(x).lo; }

Num tanOf(Num x) {
  Reduced reduced = reduceByHalfPi(x);
  Num r = reduced.rest.hi;
  Num z = r * r;
  Num odd = notEqual(reduced.quadrant & 1, 0);
  Num p = x.isF64() ? polynomial(z, coefficients::tan64) : polynomial(z, coefficients::tan32);
  Num tail = r * z * p;
  // tan(r + lo) = tan(r) + lo (1 + tan(r)^2).
  Num whole = r + tail;
  Num tangent = r + (tail + fma(reduced.rest.lo, whole * whole, reduced.rest.lo));
  Num result = select(odd, -1.0 / tangent, tangent);
  return select(equal(x, 0.0), x, result);
}

} // namespace hlo::codegen
