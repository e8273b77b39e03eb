//===- ArgumentReduction.h - x modulo pi/2 --------------------------------===//
#ifndef COMPILER_CODEGEN_ELEMENTWISE_ARGUMENTREDUCTION_H
#define COMPILER_CODEGEN_ELEMENTWISE_ARGUMENTREDUCTION_H

#include "compiler/codegen/elementwise/Functions.h"

namespace hlo::codegen {

/// x = quadrant * pi/2 + rest, |rest| <= pi/4 and a little. NaN for NaN and infinities.
struct Reduced {
  NumPair rest;
  Num quadrant; ///< integer as wide as x; its two lowest bits count
};
Reduced reduceByHalfPi(Num x);
/// The same of an f32 of one lane, for a target with FMA, with fewer operations one after another
/// and without rest.lo.
Reduced reduceOneLane(Num x);
/// The same of an f64 of one lane for arguments of moderate size, with fewer operations on the way
/// to rest.hi, unless `wrong`: then reduceByHalfPi has something else.
Reduced guessOneLane(Num x, Num &wrong);

} // namespace hlo::codegen

#endif
