//===- Checked.h - Overflow-checked sizes and times ------------------*- C++ -*-===//
//
// Overflow-checked arithmetic on sizes that a module or a user chose: products of whole shapes, and
// times. Complements MulOverflow and AddOverflow of llvm/Support/MathExtras.h.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_SUPPORT_CHECKED_H
#define COMPILER_SUPPORT_CHECKED_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/MathExtras.h"
#include <optional>

namespace hlo {

/// first * sizes[0] * sizes[1] ...; 0 if any of them is 0, however large the others are. None if
/// one is negative or the product does not fit.
inline std::optional<int64_t> checkedProduct(llvm::ArrayRef<int64_t> sizes, int64_t first = 1) {
  bool fits = first >= 0, empty = first == 0;
  for (int64_t size : sizes) {
    if (size < 0) {
      return std::nullopt;
    }
    empty |= size == 0;
    fits = fits && !llvm::MulOverflow(first, size, first);
  }
  return empty ? std::optional<int64_t>(0) : fits ? std::optional<int64_t>(first) : std::nullopt;
}

/// a + b, clamped to the range of int64_t.
inline int64_t saturatingAdd(int64_t a, int64_t b) {
  int64_t sum;
  return !llvm::AddOverflow(a, b, sum) ? sum : b < 0 ? INT64_MIN : INT64_MAX;
}

/// Seconds (not negative) as nanoseconds, clamped to INT64_MAX.
inline int64_t saturatingNanoseconds(double seconds) {
  double nanoseconds = seconds * 1e9;
  return nanoseconds < 0x1p63 ? static_cast<int64_t>(nanoseconds) : INT64_MAX;
}

/// Replicas times partitions if both are positive and the product fits into int32_t; else nothing.
inline std::optional<int32_t> checkedRanks(int64_t replicas, int64_t partitions) {
  std::optional<int64_t> ranks = checkedProduct({replicas, partitions});
  bool fits = ranks && *ranks > 0 && *ranks <= INT32_MAX;
  return fits ? std::optional<int32_t>(*ranks) : std::nullopt;
}

} // namespace hlo

#endif
