//===- IntegerValues.h - Arrays whose elements are small integers ---------===//
#ifndef COMPILER_TRANSFORMS_SIMPLIFIERS_QUANTIZED_INTEGERVALUES_H
#define COMPILER_TRANSFORMS_SIMPLIFIERS_QUANTIZED_INTEGERVALUES_H

#include "dialect/hlo/Dialect.h"
#include <optional>

namespace hlo {

struct IntegerRange {
  int64_t low, high;
  /// Elements may be NaN as well: a float that was rounded and bounded.
  bool mayBeNan = false;

  bool fitsByte() const { return low >= (high > 127 ? 0 : -128) && high <= 255; }
  bool operator==(const IntegerRange &other) const = default;
};

/// The bounds of the elements of `value`, of any integer or float type, if all are known to be
/// integers of at most 2^24, or NaN. Looks at a few ops behind it.
std::optional<IntegerRange> integerRange(mlir::Value value);

/// The integer of at most 2^24 that all elements of `value` are, seen through broadcasts, reshapes
/// and conversions.
std::optional<int64_t> integerSplat(mlir::Value value);

} // namespace hlo

#endif
