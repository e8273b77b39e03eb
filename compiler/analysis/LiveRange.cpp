//===- LiveRange.cpp - When a value is needed, as a set of intervals ------===//
//
// Coalescing merges ranges again and again, mostly a short range into a long one or next to its
// end. So every operation finds its place in the longer list by binary search and takes time
// proportional to the shorter list.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/LiveRange.h"
#include "llvm/ADT/STLExtras.h"

using namespace hlo;

void LiveRange::add(Segment segment) {
  if (segment.begin >= segment.end) {
    return;
  }
  // [first, last) are the segments that touch the new one; all of them merge into one.
  auto *first =
      llvm::partition_point(list, [&](const Segment &other) { return other.end < segment.begin; });
  auto *last = std::partition_point(
      first, list.end(), [&](const Segment &other) { return other.begin <= segment.end; });
  if (first == last) {
    list.insert(first, segment);
    return;
  }
  first->begin = std::min(first->begin, segment.begin);
  first->end = std::max((last - 1)->end, segment.end);
  list.erase(first + 1, last);
}

void LiveRange::add(const LiveRange &other) {
  if (other.list.size() > list.size()) {
    llvm::SmallVector<Segment, 1> mine = std::move(list);
    list = other.list;
    for (Segment segment : mine) {
      add(segment);
    }
    return;
  }
  for (Segment segment : other.list) {
    add(segment);
  }
}

bool LiveRange::contains(uint32_t point) const {
  auto *it =
      llvm::partition_point(list, [&](const Segment &segment) { return segment.end <= point; });
  return it != list.end() && it->begin <= point;
}

bool LiveRange::overlaps(const LiveRange &other) const {
  return !forEachOverlap(other, [](Segment) { return false; });
}

bool LiveRange::forEachOverlap(const LiveRange &other,
                               llvm::function_ref<bool(Segment)> visit) const {
  const LiveRange &few = list.size() <= other.list.size() ? *this : other;
  const LiveRange &many = &few == this ? other : *this;
  for (const Segment &segment : few.list) {
    auto *it = llvm::partition_point(
        many.list, [&](const Segment &candidate) { return candidate.end <= segment.begin; });
    for (; it != many.list.end() && it->begin < segment.end; ++it) {
      Segment common{std::max(it->begin, segment.begin), std::min(it->end, segment.end)};
      if (!visit(common)) {
        return false;
      }
    }
  }
  return true;
}
