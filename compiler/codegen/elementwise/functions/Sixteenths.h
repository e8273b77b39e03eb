//===- Sixteenths.h - Logarithms with a table of sixteenths of an octave --===//
//
// A positive number is 2^k z with 45/64 <= z < 45/32. A table indexed by z's sixteenth of an
// octave has c near 1/z, of so few bits that r = c z - 1 is exact; |r| < 0.035. c is 1 for z near
// 1.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_ELEMENTWISE_FUNCTIONS_SIXTEENTHS_H
#define COMPILER_CODEGEN_ELEMENTWISE_FUNCTIONS_SIXTEENTHS_H

#include "compiler/codegen/elementwise/functions/Functions.h"

namespace hlo::codegen {

/// Whether f64 functions use these tables: if the target looks them up in registers. That takes one
/// instruction; a gather takes longer than the division that the table saves. Scalars then use them
/// too, to give the same bits.
inline bool hasSixteenths(Num x) { return x.e->machine.lookup(64) != nullptr; }

/// The integer difference between the bits of a > 0 and those of 45/64. Subnormals count as if they
/// were normal numbers with a smaller exponent; `rare` must be true for them.
Num offsetOf(Num a, Num rare);
/// offsetOf, for normal numbers only.
Num offsetOfNormal(Num a);
/// k as an integer, for f64; z, for either type; the index of z's sixteenth for lookup16, for f64.
Num exponentOf(Num offset);
Num mantissaOf(Num offset);
Num placeOf(Num offset);
/// c for f64.
Num inverseAt(Num place);

/// log(a) = base + baseLow + log(1 + r) for f64. base is exact, and is 0 or larger than r.
struct LogParts {
  Num r, base, baseLow;
};
/// `r`: c z - 1, computed if not given.
LogParts logPartsOf(Num offset, Num r = {});

} // namespace hlo::codegen

#endif
