//===- Sixteenths.h - Logarithms with a table of sixteenths of an octave --===//
//
// A positive number is 2^k z with 45/64 <= z < 45/32. By the sixteenth of an octave that z is in, a
// table has a c near 1/z with so few bits that r = c z - 1 is exact; |r| < 0.035. Around 1, c is 1.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_ELEMENTWISE_SIXTEENTHS_H
#define COMPILER_CODEGEN_ELEMENTWISE_SIXTEENTHS_H

#include "compiler/codegen/elementwise/Functions.h"

namespace hlo::codegen {

/// Whether functions of f64 take these tables on vectors (and so on single numbers) of a target: a
/// table in registers takes an instruction, a gather takes longer than the division that it saves.
inline bool hasSixteenths(Num x) { return x.e->machine.lookup(64) != nullptr; }

/// The bits of a > 0 less those of 45/64, of subnormal numbers as if they were normal; these have
/// `rare` on.
Num offsetOf(Num a, Num rare);
/// The same of normal numbers only.
Num offsetOfNormal(Num a);
/// k of f64, as an integer; z of either type; the index of z's sixteenth of an f64 as `lookup16`
/// takes it.
Num exponentOf(Num offset);
Num mantissaOf(Num offset);
Num placeOf(Num offset);
/// c of f64.
Num inverseAt(Num place);

/// log(a) = base + baseLow + log(1 + r) of f64; base has no rounding error, and is 0 or larger than
/// r.
struct LogParts {
  Num r, base, baseLow;
};
/// r is c z - 1, or given.
LogParts logPartsOf(Num offset, Num r = {});

} // namespace hlo::codegen

#endif
