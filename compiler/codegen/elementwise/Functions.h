//===- Functions.h - Elementary functions of reals ------------------------===//
//
// Each takes and gives f32 or f64 (scalar or vector), and is right for NaN, infinities,
// signed zeros and subnormals. Algorithms and measured errors: README.md.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_ELEMENTWISE_FUNCTIONS_H
#define COMPILER_CODEGEN_ELEMENTWISE_FUNCTIONS_H

#include "compiler/codegen/elementwise/Num.h"

namespace hlo::codegen {

/// Constants and limits of f32 or f64, whichever `x` is.
struct FloatTraits {
  explicit FloatTraits(Num x);
  bool wide;           ///< f64
  int mantissaBits;    ///< 23 or 52, without the hidden one
  int bias;            ///< 127 or 1023
  double minNormal;    ///< 2^-126 or 2^-1022
  double largest;      ///< largest finite
  double integerMagic; ///< 1.5 * 2^mantissaBits: adding it rounds to an integer
  double ln2Hi, ln2Lo; ///< ln 2; ln2Hi times any exponent is exact
  int64_t signMask;
};

/// A value and what it lacks in precision: the sum of both, not rounded.
struct NumPair {
  Num hi, lo;
};

/// Bounds that NaN passes: lo <= x <= hi, or NaN.
Num clampTo(Num x, double lo, double hi);
/// Nearest integer to x (|x| < 2^(mantissaBits - 2)) as a float and as an integer of its width.
struct Rounded {
  Num value, integer;
};
Rounded roundToInteger(Num x);
/// x * factor, rounded to an integer.
Rounded roundProduct(Num x, double factor);
/// An integer n, |n| < 2^16, as wide as the float it becomes.
Num exponentToFloat(Num n);
/// 2^n for an integer n within the normal exponents.
Num powerOfTwo(Num n, const FloatTraits &traits);
/// x * 2^n, rounded once; |n| up to twice the largest exponent.
Num scaleByPower(Num x, Num n, const FloatTraits &traits);
/// The same of a rounded number that is known as a float too: one instruction on some machines.
Num scaleByPower(Num x, const Rounded &n, const FloatTraits &traits);
/// The sign bit of x alone, as an integer.
Num signBits(Num x);
/// x * 2^n for an integral n, rounded once, if that is an instruction for such vectors; else null.
Num scaledInRegisters(Num x, Num n);
/// Of |x| = 2^e m, m in [1, 2): e as a float (0: -infinity; infinity and NaN are themselves) and m,
/// of the same vectors; subnormals too.
Num exponentInRegisters(Num x);
Num fractionInRegisters(Num x);
/// u32 -> f32, rounded to odd, if instructions for such vectors round as asked; else null.
Num unsignedToOdd(Num x);
/// HLO's maximum or minimum (a NaN wins, -0 is less than 0) if an instruction knows zeros apart;
/// else null.
Num extremumInRegisters(Num a, Num b, bool maximum);
/// The machine's estimate of 1 / x or 1 / sqrt(x), good to 2^-14; null where there is none. A
/// number is computed as a vector is, so that an element's result does not depend on where in an
/// array it is.
Num estimate(Num x, LaneFunction::Kind kind);
/// What `f`, which the machine has for operands of so many lanes, computes of them.
Num inRegisters(const LaneFunction &f, llvm::ArrayRef<Num> operands);
/// sqrt(a) good to 2^-38 for f64 that is 0 or not below 2^-600, or NaN.
Num rootWithin(Num a);
/// How many f32 an instruction of the machine looks lanes up in, for functions of x: 32 or 8, for
/// which there are coefficients, or 0.
int64_t lookupEntries(Num x);
/// table[index % size] of each lane (i32), of a table of so many entries.
Num lookup(Num index, llvm::ArrayRef<double> table);
/// table[index & 15] of each lane, f64 for an index of i64: an instruction for vectors,
/// else from memory (the constant `name`).
Num lookup16(Num index, llvm::StringRef name, llvm::ArrayRef<double> table);
/// An odd function of 0 <= a, or NaN, by as many polynomials as lookups have entries: a row for
/// each power, of t = a - start where a + shift has the same bits but for those dropped; the first
/// piece, which starts at 0, less t.
Num oddPiecewise(Num a, double shift, int64_t dropped, llvm::ArrayRef<llvm::ArrayRef<double>> rows);
template <size_t powers, size_t pieces>
Num oddPiecewise(Num a, double shift, int64_t dropped, const double (&rows)[powers][pieces]) {
  return oddPiecewise(a, shift, dropped,
                      llvm::SmallVector<llvm::ArrayRef<double>>(std::begin(rows), std::end(rows)));
}
/// a / b good to 2^-42 (f64) or two units (f32), where b and 1 / b are normal numbers.
Num quotientWithin(Num a, Num b);
/// An f32 function by way of the f64 one, for functions that few programs use.
Num viaDouble(Num x, Num (*function)(Num));
/// The same for odd functions. The sign is given to the f32: of a copysign in f64 that is rounded
/// to f16 in the end LLVM rounds the operands, by a call of a library.
Num oddViaDouble(Num x, Num (*function)(Num));

Num expOf(Num x);
/// The same where the result and 2^n below it are known to be normal numbers.
Num expOfModerate(Num x);
/// e^(hi + lo), |lo| far below |hi|.
Num expOf(NumPair x);
/// e^x * factor / 2^halvings, |factor| <= 1, without early overflow or loss of a small factor's
/// bits.
Num expTimes(Num x, Num factor, int64_t halvings = 0);
Num expm1Of(Num x);
Num logisticOf(Num x);
/// The same of f32, good to f16: within some units.
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
Num cbrtOf(Num x);
Num rsqrtOf(Num x);
Num powOf(Num x, Num y);
Num remOf(Num x, Num y);
Num hypotOf(Num x, Num y);

} // namespace hlo::codegen

#endif
