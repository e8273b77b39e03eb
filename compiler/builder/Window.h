//===- Window.h - Windows of convolutions and reductions -------*- C++ -*-===//
#ifndef COMPILER_BUILDER_WINDOW_H
#define COMPILER_BUILDER_WINDOW_H

#include "compiler/builder/Instruction.h"

namespace hlo::detail {

/// A window over some dimensions. Lists other than `size` may be empty: 1, or no padding.
struct Window {
  std::vector<std::int64_t> size, strides;
  std::vector<std::pair<std::int64_t, std::int64_t>> padding;
  std::vector<std::int64_t> baseDilations, windowDilations;
  std::vector<bool> reversal;

  /// What is wrong with the lists, or "".
  std::string check() const;
  /// The attribute `window`; "" if there are no dimensions.
  std::string text() const;
  /// Sets the padding that gives ceil(size / stride) outputs, or none.
  void pad(Numbers inputSizes, Padding kind);
  /// The number of positions in a dimension of this size.
  std::int64_t outputSize(int dimension, std::int64_t inputSize) const;
};

} // namespace hlo::detail

#endif
