//===- Narrow.h - Formats of floats of fewer than 32 bits -----------------===//
#ifndef COMPILER_CODEGEN_ELEMENTWISE_NARROW_H
#define COMPILER_CODEGEN_ELEMENTWISE_NARROW_H

#include "compiler/codegen/elementwise/Num.h"

namespace hlo::codegen {

/// What the largest codes of a format stand for.
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
  uint32_t overflowCode = 0; ///< what lies above it becomes
  uint32_t nanCode = 0;
};
NarrowFormat narrowFormat(mlir::Type element);

/// The f16 that was only widened to x; null if x is none.
Num halfBefore(Num x);

/// Rounds f64 to f32 so that a later rounding to a narrow type is as if made at once.
Num roundToOdd(Num x, mlir::Type narrower);
/// `roundNarrow` of what an integer was converted to, which is no NaN and not subnormal.
mlir::Value roundInteger(Emission &e, mlir::Type element, Num x);

} // namespace hlo::codegen

#endif
