//===- ExpectClose.h - An array against a function of its index -----------===//
#ifndef TEST_UNIT_KERNEL_RUNNER_EXPECTCLOSE_H
#define TEST_UNIT_KERNEL_RUNNER_EXPECTCLOSE_H

#include "test/unit/kernel-runner/Array.h"

#include <cmath>
#include <gtest/gtest.h>

namespace hlo::testing {

/// Each element is within four units of its type of expected(index); the first three that are not
/// are shown.
template <typename Expected> void expectClose(const Array &actual, Expected expected) {
  int64_t failures = 0;
  forEachIndex(actual.shape(), [&](const std::vector<int64_t> &index) {
    Array::Value want = expected(index), got = actual.at(index);
    double tolerance = 4 * epsilonOf(actual.type()) * (std::abs(want) + 1);
    if (!(std::abs(got - want) <= tolerance) && ++failures <= 3) {
      ADD_FAILURE() << "at " << actual.linear(index) << ": " << got.real() << "+" << got.imag()
                    << "i, expected " << want.real() << "+" << want.imag() << "i";
    }
  });
  EXPECT_EQ(failures, 0);
}

} // namespace hlo::testing

#endif
