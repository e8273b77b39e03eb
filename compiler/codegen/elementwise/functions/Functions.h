//===- Functions.h - Elementary functions of reals ------------------------===//
//
// Arguments and results are f32 or f64, scalars or vectors. NaN, infinities, signed zeros and
// subnormals are handled. Algorithms and measured errors: README.md.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_ELEMENTWISE_FUNCTIONS_FUNCTIONS_H
#define COMPILER_CODEGEN_ELEMENTWISE_FUNCTIONS_FUNCTIONS_H

#include "compiler/codegen/elementwise/Num.h"

namespace hlo::codegen {

/// Constants and limits of x's type, f32 or f64.
struct FloatTraits {
  explicit FloatTraits(Num x);
  bool wide;           ///< f64
  int mantissaBits;    ///< 23 or 52, without the implicit bit
  int bias;            ///< 127 or 1023
  double minNormal;    ///< 2^-126 or 2^-1022
  double largest;      ///< largest finite
  double integerMagic; ///< 1.5 * 2^mantissaBits: adding it rounds to an integer
  double ln2Hi, ln2Lo; ///< ln 2; ln2Hi times any exponent is exact
  int64_t signMask;
};

/// An unevaluated sum: a value and its rounding error.
struct NumPair {
  Num hi, lo;
};

/// min(max(x, lo), hi); NaN stays NaN.
Num clampTo(Num x, double lo, double hi);
/// The nearest integer to x (|x| < 2^(mantissaBits - 2)), as a float and as an integer of x's
/// width.
struct Rounded {
  Num value, integer;
};
Rounded roundToInteger(Num x);
/// x * factor, rounded to an integer.
Rounded roundProduct(Num x, double factor);
/// The float that equals an integer n, |n| < 2^16, of the float's width.
Num exponentToFloat(Num n);
/// 2^n for an integer n within the normal exponents.
Num powerOfTwo(Num n, const FloatTraits &traits);
/// x * 2^n, rounded once; |n| up to twice the largest exponent.
Num scaleByPower(Num x, Num n, const FloatTraits &traits);
/// scaleByPower for an n that is known as a float too, which is one instruction on some machines.
Num scaleByPower(Num x, const Rounded &n, const FloatTraits &traits);
/// The sign bit of x alone, as an integer.
Num signBits(Num x);
/// x * 2^floor(n), rounded once; null if the machine has no instruction for it on vectors like x.
Num scaledInRegisters(Num x, Num n);
/// With |x| = 2^e m and m in [1, 2), subnormals included: e as a float (-infinity for 0; infinity
/// and NaN for themselves), and m. Null if the machine has no instructions for them on vectors like
/// x.
Num exponentInRegisters(Num x);
Num fractionInRegisters(Num x);
/// u32 -> f32, rounded to odd; null if the machine has no conversions with a given rounding mode on
/// vectors like x.
Num unsignedToOdd(Num x);
/// HLO's maximum or minimum (NaN if either operand is, -0 < +0); null if the machine has no
/// instruction that orders zeros.
Num extremumInRegisters(Num a, Num b, bool maximum);
/// The machine's estimate of 1 / x or 1 / sqrt(x), with a relative error of at most 2^-14; null if
/// there is none. A scalar is computed as a vector, so that an element's result does not depend on
/// its position in an array.
Num estimate(Num x, LaneFunction::Kind kind);
/// Applies `f`, an instruction of the machine for vectors like `operands`.
Num inRegisters(const LaneFunction &f, llvm::ArrayRef<Num> operands);
/// sqrt(a) of f64 with a relative error of at most 2^-38, for a that is 0, at least 2^-600, or NaN.
Num rootWithin(Num a);
/// The size of the f32 tables that one instruction of the machine looks up in, for vectors like x:
/// 32, 8, or 0 if there is none. There are coefficients for 32 and 8.
int64_t lookupEntries(Num x);
/// Whether a register holds a table of 16 f32, for vectors like x.
bool hasLookupOf16(Num x);
/// table[index % size] per lane (index: i32), for a table of lookupEntries entries, or of 16.
Num lookup(Num index, llvm::ArrayRef<double> table);
/// table[index & 15] per lane, f64 for an index of i64. An instruction for vectors; otherwise loads
/// from memory (the constant `name`).
Num lookup16(Num index, llvm::StringRef name, llvm::ArrayRef<double> table);
/// A function of a >= 0 (or NaN) as piecewise polynomials, one piece per entry of a lookup. The
/// piece is given by the bits of a + shift without the lowest `dropped`; row p of `rows` has the
/// coefficients of t^p for all pieces, with t = a - (start of the piece). The first piece of an odd
/// function starts at 0 and leaves out the term t itself.
Num piecewise(Num a, double shift, int64_t dropped, llvm::ArrayRef<llvm::ArrayRef<double>> rows,
              bool isOdd);
template <size_t powers, size_t pieces>
Num piecewise(Num a, double shift, int64_t dropped, const double (&rows)[powers][pieces],
              bool isOdd) {
  llvm::SmallVector<llvm::ArrayRef<double>> all(std::begin(rows), std::end(rows));
  return piecewise(a, shift, dropped, all, isOdd);
}
template <size_t powers, size_t pieces>
Num oddPiecewise(Num a, double shift, int64_t dropped, const double (&rows)[powers][pieces]) {
  return piecewise(a, shift, dropped, rows, /*isOdd=*/true);
}
/// a / b with a relative error of at most 2^-42 (f64), or two units in the last place (f32); b and
/// 1 / b must be normal numbers.
Num quotientWithin(Num a, Num b);
/// An f32 function computed in f64, for functions that few programs use.
Num viaDouble(Num x, Num (*function)(Num));
/// viaDouble for odd functions. The sign is copied in f32: for a copysign in f64 that is later
/// rounded to f16, LLVM rounds the operands by calls of a library.
Num oddViaDouble(Num x, Num (*function)(Num));

Num expOf(Num x);
/// expOf, if the result and the 2^n in it are known to be normal numbers.
Num expOfModerate(Num x);
/// e^(hi + lo), |lo| much smaller than |hi|.
Num expOf(NumPair x);
/// e^x * factor / 2^halvings, |factor| <= 1. Neither e^x alone overflows, nor does a small factor
/// lose bits.
Num expTimes(Num x, Num factor, int64_t halvings = 0);
Num expm1Of(Num x);
Num logisticOf(Num x);
/// logisticOf for f32 that is rounded to f16 next: within some units in the last place of f32.
Num logisticForHalf(Num x);
Num tanhOf(Num x);
Num sinhOf(Num x);
Num coshOf(Num x);

Num logOf(Num x);
Num log1pOf(Num x);
Num asinhOf(Num x);
Num acoshOf(Num x);
Num atanhOf(Num x);

Num sinOf(Num x);
Num cosOf(Num x);
NumPair sinCosOf(Num x); ///< hi: sine, lo: cosine
Num tanOf(Num x);

Num asinOf(Num x);
Num acosOf(Num x);
Num atan2Of(Num y, Num x);

Num erfOf(Num x);
/// 1 - erf(x) of f32, to within some units in the last place; what is no normal number is 0.
Num erfcOf(Num x);
Num cbrtOf(Num x);
Num rsqrtOf(Num x);
Num powOf(Num x, Num y);
Num remOf(Num x, Num y);
Num hypotOf(Num x, Num y);

} // namespace hlo::codegen

#endif
