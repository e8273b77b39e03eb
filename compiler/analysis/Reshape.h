//===- Reshape.h - Dimensions that hold the same elements -----------------===//
#ifndef COMPILER_ANALYSIS_RESHAPE_H
#define COMPILER_ANALYSIS_RESHAPE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace hlo {

/// Dimensions [from, fromEnd) of one shape and [to, toEnd) of another that have equally many
/// elements.
struct ReshapedRange {
  size_t from, fromEnd, to, toEnd;
};

/// The shortest such ranges, in order, with every dimension of `to`; a dimension of size 1 of `to`
/// may have none of `from`. None if elements are left over.
inline std::optional<llvm::SmallVector<ReshapedRange>> reshapedRanges(llvm::ArrayRef<int64_t> from,
                                                                      llvm::ArrayRef<int64_t> to) {
  llvm::SmallVector<ReshapedRange> ranges;
  size_t i = 0, j = 0;
  while (j < to.size()) {
    ReshapedRange range{i, i, j, j};
    int64_t left = 1, right = to[j++];
    while (left != right) {
      if (left < right ? i == from.size() : j == to.size()) {
        return std::nullopt;
      }
      (left < right ? left : right) *= left < right ? from[i++] : to[j++];
    }
    range.fromEnd = i;
    range.toEnd = j;
    ranges.push_back(range);
  }
  return ranges;
}

} // namespace hlo

#endif
