//===- Narrow.h - Formats of floats of fewer than 32 bits -----------------===//
#ifndef COMPILER_CODEGEN_ELEMENTWISE_NARROW_H
#define COMPILER_CODEGEN_ELEMENTWISE_NARROW_H

#include "compiler/codegen/elementwise/Num.h"

namespace hlo::codegen {

/// How a format uses its largest codes.
enum class NarrowKind {
  Ieee,           ///< infinities and NaNs: f16, bf16, f8e5m2, f8e4m3, f8e3m4
  NoInfinity,     ///< one NaN per sign, overflow gives it: f8e4m3fn
  NoNegativeZero, ///< the code of -0 is the only NaN: f8*fnuz
  FiniteOnly,     ///< neither, overflow saturates: f4*, f6*
  Exponent,       ///< f8e8m0fnu: no sign, no zero, no mantissa
};

/// A narrow float format; codes are of the magnitude, without the sign bit.
struct NarrowFormat {
  NarrowKind kind;
  int bits = 0, exponent = 0, mantissa = 0, bias = 0;
  uint32_t maxCode = 0;      ///< largest finite
  uint32_t overflowCode = 0; ///< the result of an overflow
  uint32_t nanCode = 0;
};
NarrowFormat narrowFormat(mlir::Type element);

/// What is known of an op's result, f32, from its operands (ZeroInNaN at best): whether it is made
/// of them, and of numbers, by arithmetic alone.
LowerHalf lowerHalfOf(Num result, llvm::ArrayRef<Elem> operands);

/// The f16 value that x was widened from; null if x is not a widened f16.
Num halfBefore(Num x);

/// Rounds f64 to f32 by round-to-odd, so that rounding the result to `narrower` equals rounding x
/// once.
Num roundToOdd(Num x, mlir::Type narrower);
/// A quotient of f32 that is only rounded to narrower floats, by a divisor that all lanes share:
/// the product with its reciprocal, within 1.5 units in the last place of f32, without a division
/// for each vector. Null for everything else.
Elem quotientForNarrow(Emission &e, mlir::Operation *op, llvm::ArrayRef<Elem> operands);
/// roundNarrow of a converted integer, which is neither NaN nor subnormal.
mlir::Value roundInteger(Emission &e, mlir::Type element, Num x);

} // namespace hlo::codegen

#endif
