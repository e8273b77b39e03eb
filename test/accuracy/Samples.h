//===- Samples.h - Arguments to try ---------------------------------------===//
#ifndef TEST_ACCURACY_SAMPLES_H
#define TEST_ACCURACY_SAMPLES_H

#include "Format.h"
#include <vector>

namespace accuracy {

/// How many arguments are tried.
struct Effort {
  uint64_t stride = 4099;          ///< f32, one operand: every so many bit patterns
  uint64_t perExponent = 16;       ///< f64: random mantissas for each exponent and sign
  uint64_t dense = 1 << 15;        ///< uniform in the function's range
  uint64_t pairs = 1 << 16;        ///< two operands: of each kind of pair
  uint64_t complexPairs = 1 << 13; ///< complex: of each kind
};

/// Bit patterns; y as many as x, or none.
struct Samples {
  std::vector<uint64_t> x, y;
};

/// Arguments that implementations often get wrong; they are also the last elements of arrays.
std::vector<uint64_t> hardArguments(const Format &format, const RealFunction &function);
/// All samples of a real function, except the strided patterns of f32.
Samples realSamples(const Format &format, const RealFunction &function, const Effort &effort);

/// Pairs (re, im) one after the other.
Samples complexSamples(const Format &format, const ComplexFunction &function, const Effort &effort);

} // namespace accuracy

#endif
