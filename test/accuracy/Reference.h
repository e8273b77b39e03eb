//===- Reference.h - What the functions are, in more precision ------------===//
//
// Real functions in double (for many arguments of f32) and in __float128, complex ones in
// __float128, by the names of libquadmath and the C library. All follow C's conventions for special
// values but where XLA's differ; README.md lists those.
//
//===----------------------------------------------------------------------===//
#ifndef TEST_ACCURACY_REFERENCE_H
#define TEST_ACCURACY_REFERENCE_H

#include <quadmath.h>

namespace accuracy {

using Quad = __float128;

/// Two parts. Real values have im = 0.
struct Value {
  Quad re = 0, im = 0;
  bool anySign = false; ///< zeros and infinities may have either sign
};

/// Where most samples of an operand are.
struct Range {
  double low, high;
};

/// A function of one or two reals.
struct RealFunction {
  const char *opcode;
  int operands;
  double (*quick)(double, double); ///< good to a thousandth of an ulp of f32
  Quad (*exact)(Quad, Quad);
  Range x, y;
  double bound;       ///< greatest error in ulp for f32
  double boundDouble; ///< and for f64
};

/// A function of one or two complex numbers.
struct ComplexFunction {
  const char *opcode;
  int operands;
  bool realResult;
  Value (*exact)(Value, Value);
  double radius;     ///< most samples are below it
  double boundFloat; ///< greatest error of c64 in ulp of the modulus
  double bound;      ///< and of c128
  /// A factor for the bounds at these arguments; infinity: any result is accepted. Null: always 1.
  double (*slack)(Value, Value, double maxExponent) = nullptr;
};

extern const RealFunction realFunctions[];
extern const int realFunctionCount;
extern const ComplexFunction complexFunctions[];
extern const int complexFunctionCount;

} // namespace accuracy

#endif
