//===- ComplexFunctions.cpp - References of complex functions -------------===//
//
// One line per opcode: its value in __float128, the radius in which most samples are, and the
// greatest errors of c64 and c128. Special values are those of C's Annex G, but where a comment
// says so.
//
//===----------------------------------------------------------------------===//
#include "Reference.h"
#include <cmath>

namespace accuracy {

namespace {
using Complex = __complex128;

Complex make(Quad re, Quad im) {
  Complex z;
  __real__ z = re;
  __imag__ z = im;
  return z;
}
Complex make(Value z) { return make(z.re, z.im); }
Value parts(Complex z) { return {crealq(z), cimagq(z)}; }
bool isFinite(Value z) { return finiteq(z.re) && finiteq(z.im); }
bool isZero(Value z) { return z.re == 0 && z.im == 0; }
const Quad nan = __builtin_nanq("");

template <Complex (*Function)(Complex)> Value unary(Value z, Value) {
  return parts(Function(make(z)));
}

/// exp(+infinity + i y) is NaN in both parts if y is infinite or NaN, as in XLA; for -infinity the
/// zeros of C.
Value exp(Value z, Value) {
  Value result = parts(cexpq(make(z)));
  if (!finiteq(z.im)) {
    if (isinfq(z.re) && z.re > 0) {
      return {nan, nan};
    }
    result.anySign = true;
  }
  return result;
}

/// Functions that grow with the imaginary part: NaN in both parts if that is infinite and the real
/// part infinite or NaN.
template <Complex (*Function)(Complex)> Value periodic(Value z, Value) {
  if (isinfq(z.im) && !finiteq(z.re)) {
    return {nan, nan};
  }
  Value result = parts(Function(make(z)));
  result.anySign = !isFinite(z);
  return result;
}
/// Functions that grow with the real part: the same with the parts exchanged.
template <Complex (*Function)(Complex)> Value hyperbolic(Value z, Value) {
  if (isinfq(z.re) && !finiteq(z.im)) {
    return {nan, nan};
  }
  Value result = parts(Function(make(z)));
  result.anySign = !isFinite(z);
  return result;
}

/// Of infinities +-1 or +-i, and a zero whose sign may be unspecified.
Value tan(Value z, Value) {
  Value result = parts(ctanq(make(z)));
  result.anySign = !finiteq(z.re);
  return result;
}
Value tanh(Value z, Value) {
  Value result = parts(ctanhq(make(z)));
  result.anySign = !finiteq(z.im);
  return result;
}

/// C's inverse functions; zeros and infinities whose sign C leaves open may have either.
template <Complex (*Function)(Complex)> Value inverse(Value z, Value) {
  Value result = parts(Function(make(z)));
  result.anySign = isnanq(z.re) || isnanq(z.im);
  return result;
}

/// expm1(x) cos y - 2 sin^2(y/2) + i e^x sin y.
Value expm1(Value z, Value none) {
  if (!isFinite(z)) {
    Value e = exp(z, none);
    return {e.re - 1, e.im, e.anySign};
  }
  Quad half = sinq(z.im / 2);
  // The sign of a zero is the one of the exact sum.
  return {z.im == 0 ? expm1q(z.re) : expm1q(z.re) * cosq(z.im) - 2 * half * half,
          z.im == 0 ? z.im : expq(z.re) * sinq(z.im)};
}

Value log1p(Value z, Value) {
  if (isFinite(z) && fabsq(z.re) < 0.5Q && fabsq(z.im) < 1) {
    return {log1pq(z.re * (2 + z.re) + z.im * z.im) / 2, atan2q(z.im, 1 + z.re)};
  }
  return parts(clogq(make(1 + z.re, z.im)));
}

Value logistic(Value z, Value) {
  if (z.re < 0) {
    Complex e = cexpq(make(z));
    Value result = z.re < -5000 ? parts(e) : parts(e / make(1 + crealq(e), cimagq(e)));
    result.anySign = !finiteq(z.im);
    result.im = z.im == 0 ? z.im : result.im;
    return result;
  }
  Complex e = cexpq(make(-z.re, -z.im));
  Value result = parts(make(1, 0) / make(1 + crealq(e), cimagq(e)));
  result.im = z.im == 0 ? z.im : result.im;
  return result;
}

/// rsqrt(0) is (infinity, NaN), as in XLA.
Value rsqrt(Value z, Value) {
  if (isZero(z)) {
    return {HUGE_VALQ, nan};
  }
  if (isinfq(z.re) || isinfq(z.im)) {
    return {0, copysignq(0, -z.im)};
  }
  Complex root = csqrtq(make(z));
  Quad square = hypotq(z.re, z.im);
  return {crealq(root) / square, -cimagq(root) / square};
}

/// The parts of an infinite operand are computed as infinity / infinity, as in XLA.
Value sign(Value z, Value) {
  if (isZero(z)) {
    return z;
  }
  Quad modulus = hypotq(z.re, z.im);
  return {z.re / modulus, z.im / modulus};
}

Value modulus(Value z, Value) { return {hypotq(z.re, z.im), 0}; }

/// As in XLA: 0^0 = 1; 0^w = 0 for real w > 0, else NaN.
Value power(Value z, Value w) {
  if (isZero(w)) {
    return {1, 0};
  }
  if (isZero(z)) {
    bool vanishes = w.re > 0 && w.im == 0;
    return vanishes ? Value{0, 0} : Value{nan, nan};
  }
  if (z.re == 1 && z.im == 0) {
    return {1, 0};
  }
  Complex log = clogq(make(z));
  Quad re = crealq(log), im = cimagq(log);
  return parts(cexpq(make(w.re * re - w.im * im, w.re * im + w.im * re)));
}

/// -i log((x + i y) / sqrt(x^2 + y^2)).
Value atan2(Value y, Value x) {
  Complex square = make(x) * make(x) + make(y) * make(y);
  Complex sum = make(x.re - y.im, x.im + y.re);
  Complex log = clogq(sum / csqrtq(square));
  return {cimagq(log), -crealq(log)};
}

Value multiply(Value a, Value b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
Value divide(Value a, Value b) {
  Value result = parts(make(a) / make(b));
  result.anySign = true;
  return result;
}

/// A relative error of 2^-53 in w log z changes the phase and the modulus of the result.
double powerSlack(Value z, Value w, double maxExponent) {
  if (!isFinite(z) || !isFinite(w)) {
    return HUGE_VAL;
  }
  if (isZero(z) || isZero(w)) {
    return 1;
  }
  Value log = parts(clogq(make(z)));
  double size = static_cast<double>(hypotq(w.re, w.im) * hypotq(log.re, log.im));
  // In a result beyond the largest number, the signs of the parts depend on rounding errors only.
  bool overflows = w.re * log.re - w.im * log.im > maxExponent * M_LN2q;
  return overflows || size > maxExponent ? HUGE_VAL : 1 + size;
}

/// The cancellation in x^2 + y^2, and in the logarithm of a number near 1.
double atan2Slack(Value y, Value x, double) {
  auto ordinary = [](Quad part) { return fabsq(part) > 1e-10Q && fabsq(part) < 1e10Q; };
  if (!ordinary(y.re) || !ordinary(y.im) || !ordinary(x.re) || !ordinary(x.im)) {
    return HUGE_VAL;
  }
  Quad sizes = hypotq(y.re, y.im) * hypotq(y.re, y.im) + hypotq(x.re, x.im) * hypotq(x.re, x.im);
  Value square = parts(make(x) * make(x) + make(y) * make(y));
  Quad sum = hypotq(square.re, square.im);
  // Near the branch cut of the square root, the value of either side is accepted.
  if (square.re < 0 && fabsq(square.im) < 1e-6Q * sum) {
    return HUGE_VAL;
  }
  Value result = atan2(y, x);
  return static_cast<double>(sizes / sum * (1 + 1 / hypotq(result.re, result.im)));
}

/// The formula may overflow before the result does.
double productSlack(Value a, Value b, double maxExponent) {
  Quad limit = ldexpq(1, static_cast<int>(maxExponent) - 1);
  bool safe = cabsq(make(a)) * cabsq(make(b)) < limit;
  return safe ? 1 : HUGE_VAL;
}
double quotientSlack(Value a, Value b, double) {
  bool special = !isFinite(a) || !isFinite(b) || isZero(b);
  return special ? HUGE_VAL : 1;
}
} // namespace

const ComplexFunction complexFunctions[] = {
    {"abs", 1, true, modulus, 10, 1, 1},
    {"sign", 1, false, sign, 10, 2, 2},
    {"exponential", 1, false, exp, 20, 1, 4},
    {"exponential-minus-one", 1, false, expm1, 5, 1, 4},
    {"log", 1, false, unary<clogq>, 10, 1, 4},
    {"log-plus-one", 1, false, log1p, 3, 1, 4},
    {"logistic", 1, false, logistic, 10, 1, 8},
    {"sqrt", 1, false, inverse<csqrtq>, 10, 1, 4},
    {"rsqrt", 1, false, rsqrt, 10, 1, 4},
    {"sine", 1, false, periodic<csinq>, 10, 1, 4},
    {"cosine", 1, false, periodic<ccosq>, 10, 1, 4},
    {"tan", 1, false, tan, 10, 1, 8},
    {"tanh", 1, false, tanh, 10, 1, 8},
    {"sinh", 1, false, hyperbolic<csinhq>, 10, 1, 4},
    {"cosh", 1, false, hyperbolic<ccoshq>, 10, 1, 4},
    {"asin", 1, false, inverse<casinq>, 3, 1, 8},
    {"acos", 1, false, inverse<cacosq>, 3, 1, 8},
    {"asinh", 1, false, inverse<casinhq>, 3, 1, 8},
    {"acosh", 1, false, inverse<cacoshq>, 3, 1, 8},
    {"atanh", 1, false, inverse<catanhq>, 3, 1, 8},
    {"power", 2, false, power, 4, 1, 8, powerSlack},
    {"atan2", 2, false, atan2, 4, 2, 8, atan2Slack},
    {"multiply", 2, false, multiply, 10, 2, 2, productSlack},
    {"divide", 2, false, divide, 10, 1, 8, quotientSlack},
};
const int complexFunctionCount = sizeof(complexFunctions) / sizeof(complexFunctions[0]);

} // namespace accuracy
