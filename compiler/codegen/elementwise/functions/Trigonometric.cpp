//===- Trigonometric.cpp - sin, cos, tan ----------------------------------===//
//
// After reduction modulo pi/2, a polynomial of sine or cosine on |r| <= pi/4. f32 selects the
// coefficients by quadrant; f64 computes both polynomials and selects one. Arguments and results
// as in Functions.h.
//
// A scalar takes another path to the same bits, with fewer dependent operations, since it is
// usually a step of a loop that waits for it. f64 starts with a rest that may be wrong in its
// last bit, and repeats the computation in the one case in ten thousand where it is.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/SlowPath.h"
#include "compiler/codegen/elementwise/functions/ArgumentReduction.h"
#include "compiler/codegen/elementwise/functions/Coefficients.h"

namespace hlo::codegen {

/// sin(r), cos(r) of a reduced argument, f64.
static NumPair kernels(const NumPair &rest) {
  Num r = rest.hi;
  Num z = r * r, square = z * z;
  // sin(r + lo) = sin(r) + lo cos(r); cos(r + lo) = cos(r) - lo sin(r).
  Num half = z * 0.5;
  Num low = rest.lo - rest.lo * half;
  Num sine = r + fma(r * z, polynomialAsTree(z, coefficients::sin64), low);
  Num high = 1.0 - half;
  Num tail = square * polynomialAsTree(z, coefficients::cos64) - r * rest.lo;
  Num cosine = high + (((1.0 - high) - half) + tail);
  return {sine, cosine};
}

/// value, negated where bit 1 of the quadrant is set.
static Num negateIn(Num quadrant, Num value) {
  if (value.lanes() == 1) {
    return select(notEqual(quadrant & 2, 0), -value, value);
  }
  Num sign = shl(quadrant & 2, value.width() - 2);
  return floatOf(bitsOf(value) ^ sign);
}

/// The sine of quadrant * pi/2 + r in f32: r + r z p(z), or 1 + z p(z) with other coefficients.
/// Selecting the coefficients takes less time than computing both polynomials.
static Num sineInQuadrant(Num r, Num quadrant) {
  Num odd = notEqual(quadrant & 1, 0);
  Num z = r * r, square = z * z;
  llvm::SmallVector<Num, 4> chosen;
  for (auto [i, sine] : llvm::enumerate(coefficients::sin32)) {
    double cosine = i == 0 ? -0.5 : coefficients::cos32[i - 1];
    chosen.push_back(select(odd, r.of(cosine), r.of(sine)));
  }
  Num base = negateIn(quadrant, select(odd, r.of(1.0), r));
  Num low = fma(z, chosen[1], chosen[0]), high = fma(z, chosen[3], chosen[2]);
  return fma(base * z, fma(high, square, low), base);
}

/// Sine and cosine of a reduced argument.
static NumPair inQuadrant(const Reduced &reduced) {
  Num r = reduced.rest.hi;
  if (!r.isF64()) {
    return {sineInQuadrant(r, reduced.quadrant), sineInQuadrant(r, reduced.quadrant + 1)};
  }
  NumPair both = kernels(reduced.rest);
  Num odd = notEqual(reduced.quadrant & 1, 0);
  Num sine = negateIn(reduced.quadrant, select(odd, both.lo, both.hi));
  Num cosine = negateIn(reduced.quadrant + 1, select(odd, both.hi, both.lo));
  return {sine, cosine};
}

static NumPair sinCosOfOneLane(Num x) {
  if (!x.isF64()) {
    return inQuadrant(reduceOneLane(x));
  }
  Num wrong;
  NumPair guess = inQuadrant(guessOneLane(x, wrong));
  auto values = rarely(wrong, {guess.hi, guess.lo}, [&] {
    auto function = internalFunction(*x.e, "hlo_sin_cos", {x.type()}, {x.type(), x.type()},
                                     [](llvm::ArrayRef<Num> arguments) {
                                       NumPair both = inQuadrant(reduceByHalfPi(arguments[0]));
                                       return llvm::SmallVector<Num>{both.hi, both.lo};
                                     });
    return callPerLane(function, {x});
  });
  return {values[0], values[1]};
}

NumPair sinCosOf(Num x) {
  NumPair both =
      x.lanes() == 1 && x.e->machine.fma ? sinCosOfOneLane(x) : inQuadrant(reduceByHalfPi(x));
  return {select(equal(x, 0.0), x, both.hi), both.lo};
}

Num sinOf(Num x) { return sinCosOf(x).hi; }
Num cosOf(Num x) { return sinCosOf(x).lo; }

/// The tangent of a reduced argument.
static Num tangentOf(const Reduced &reduced) {
  Num r = reduced.rest.hi, lo = reduced.rest.lo;
  Num z = r * r;
  // tan(r + lo) = tan(r) + lo (1 + tan(r)^2). lo is small, so z (1 + 1.02 z), which is within 6 %,
  // is enough for the square.
  Num slope = fma(z, fma(z, 1.02, 1.0), 1.0);
  Num p = r.isF64() ? polynomialAsTree(z, coefficients::tan64)
                    : polynomialAsTree(z, coefficients::tan32);
  Num tangent = r + fma(r * z, p, lo * slope);
  Num odd = notEqual(reduced.quadrant & 1, 0);
  return either(odd, tangent, [&] { return -1.0 / tangent; }, [&] { return tangent; });
}

Num tanOf(Num x) {
  if (x.lanes() > 1 || !x.isF64() || !x.e->machine.fma) {
    return select(equal(x, 0.0), x, tangentOf(reduceByHalfPi(x)));
  }
  Num wrong;
  Num guess = tangentOf(guessOneLane(x, wrong));
  Num result = rarely(wrong, {guess}, [&] {
    auto function = internalFunction(
        *x.e, "hlo_tan", {x.type()}, {x.type()}, [](llvm::ArrayRef<Num> arguments) {
          return llvm::SmallVector<Num>{tangentOf(reduceByHalfPi(arguments[0]))};
        });
    return callPerLane(function, {x});
  })[0];
  return select(equal(x, 0.0), x, result);
}

} // namespace hlo::codegen
