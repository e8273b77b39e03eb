//===- RandomComputation.h - Valid computations from a seed ----*- C++ -*-===//
//
// Programs of the C++ builder over most of its operations: element-wise with every kind of
// broadcasting, data movement, products, convolutions, reductions, windows, gather and scatter,
// sorts, calls, branches and loops, tuples; integers, floats, pred and complex numbers; names,
// metadata and layouts. The same seed gives the same program.
//
//===----------------------------------------------------------------------===//
#ifndef TEST_FUZZ_BUILDER_RANDOMCOMPUTATION_H
#define TEST_FUZZ_BUILDER_RANDOMCOMPUTATION_H

#include "hlo/builder.h"
#include <vector>

namespace fuzz {

struct Program {
  absl::StatusOr<hlo::XlaComputation> computation = absl::UnknownError("not built");
  std::vector<hlo::Literal> arguments; ///< values for its parameters
};

Program randomComputation(std::uint64_t seed);

} // namespace fuzz

#endif
