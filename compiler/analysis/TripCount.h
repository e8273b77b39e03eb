//===- TripCount.h - Trip counts of loops ---------------------------------===//
//
// Handles counted loops: one carry starts at a constant, grows by a constant and is compared with a
// constant.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_ANALYSIS_TRIPCOUNT_H
#define COMPILER_ANALYSIS_TRIPCOUNT_H

#include "dialect/hlo/Dialect.h"

namespace hlo {

/// A counted loop: in iteration i < `count`, carry `carry` has the value `init` + i * `step`.
struct TripCount {
  unsigned carry = 0;
  int64_t init = 0;
  int64_t step = 0;
  int64_t count = 0;
};

/// The trip count of a loop with flat carries and these computations, if it is
/// a counted loop that ends without wrapping around.
std::optional<TripCount> computeTripCount(WhileOp loop, ComputationOp condition,
                                          ComputationOp body);

} // namespace hlo

#endif
