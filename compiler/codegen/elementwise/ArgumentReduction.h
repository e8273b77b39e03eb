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

} // namespace hlo::codegen

#endif
