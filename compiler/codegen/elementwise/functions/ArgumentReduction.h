//===- ArgumentReduction.h - x modulo pi/2 --------------------------------===//
#ifndef COMPILER_CODEGEN_ELEMENTWISE_FUNCTIONS_ARGUMENTREDUCTION_H
#define COMPILER_CODEGEN_ELEMENTWISE_FUNCTIONS_ARGUMENTREDUCTION_H

#include "compiler/codegen/elementwise/functions/Functions.h"

namespace hlo::codegen {

/// x = quadrant * pi/2 + rest, |rest| <= pi/4 up to rounding. NaN for NaN and infinities.
struct Reduced {
  NumPair rest;
  Num quadrant; ///< integer as wide as x; its two lowest bits count
};
Reduced reduceByHalfPi(Num x);
/// reduceByHalfPi of one f32, for targets with FMA: fewer dependent operations, and no rest.lo.
Reduced reduceOneLane(Num x);
/// reduceByHalfPi of one f64 of moderate size, with fewer dependent operations to rest.hi. Sets
/// `wrong` if reduceByHalfPi's result differs.
Reduced guessOneLane(Num x, Num &wrong);

} // namespace hlo::codegen

#endif
