//===- LiveRange.h - When a value is needed, as a set of intervals --------===//
//
// Points are positions in a linear program (see transforms/schedule/Plan.h). A value in a loop or a
// branch may be dead for a while and live again, so its range is a set of intervals.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_ANALYSIS_LIVERANGE_H
#define COMPILER_ANALYSIS_LIVERANGE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace hlo {

/// The points p with begin <= p < end.
struct Segment {
  uint32_t begin = 0;
  uint32_t end = 0;
  bool operator==(const Segment &) const = default;
};

/// A set of points: sorted segments with a gap between any two.
class LiveRange {
public:
  LiveRange() = default;

  bool empty() const { return list.empty(); }
  llvm::ArrayRef<Segment> segments() const { return list; }
  /// First point, and the point after the last. The range must not be empty.
  uint32_t begin() const { return list.front().begin; }
  uint32_t end() const { return list.back().end; }

  /// Adds the points of one segment; an empty segment adds nothing.
  void add(Segment segment);
  /// Adds all points of `other`.
  void add(const LiveRange &other);
  bool contains(uint32_t point) const;
  bool overlaps(const LiveRange &other) const;
  /// Visits the common points of both, as segments in order, until `visit` returns
  /// false; returns false in that case.
  bool forEachOverlap(const LiveRange &other, llvm::function_ref<bool(Segment)> visit) const;

private:
  llvm::SmallVector<Segment, 1> list;
};

} // namespace hlo

#endif
