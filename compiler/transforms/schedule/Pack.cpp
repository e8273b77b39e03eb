//===- Pack.cpp - Offsets for buffers with live ranges --------------------===//
//
// Several placements are made and the smallest is kept:
//   - by size: large buffers first, each into the tightest gap among the placed buffers that are
//     live at the same time; also long-lived buffers first, and by bytes times lifetime. The
//     best of them is mostly within a few per cent of the peak; once the peak is reached, no
//     other is tried.
//   - by time: a sweep over the program with a list of free blocks, tightest first.
//
// The first kind takes time proportional to the pairs of buffers that are live together. If those
// are too many (20,000 buffers that are all live together have 200 million), only the second is
// made.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/schedule/Pack.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <set>
#include <vector>

using namespace hlo;
using namespace hlo::schedule;

/// Most pairs of buffers live together for placements of the first kind, each of which handles
/// about 10 million pairs a second.
static constexpr uint64_t pairBudget = 5'000'000;

static int64_t aligned(int64_t bytes) { return llvm::alignTo(bytes, arenaAlignment); }

namespace {
/// Placed items by lifetime: a binary tree over the points, with each item at the O(log) nodes that
/// cover the hull of its range.
class TimeIndex {
public:
  TimeIndex(uint32_t points, size_t items) : seen(items, 0) {
    while (leaves < points) {
      leaves *= 2;
    }
    nodes.resize(2 * leaves);
    filled.resize(2 * leaves);
  }
  void insert(uint32_t item, uint32_t begin, uint32_t end) {
    for (uint32_t lo = begin + leaves, hi = end + leaves; lo < hi; lo /= 2, hi /= 2) {
      if (lo & 1) {
        put(lo++, item);
      }
      if (hi & 1) {
        put(--hi, item);
      }
    }
  }
  /// Visits every item whose hull meets [begin, end), once.
  template <typename Visit> void query(uint32_t begin, uint32_t end, Visit visit) {
    ++round;
    descend(1, 0, leaves, begin, end, visit);
  }

private:
  void put(uint32_t node, uint32_t item) {
    nodes[node].push_back(item);
    for (; node && !filled[node]; node /= 2) {
      filled[node] = true;
    }
  }
  template <typename Visit>
  void descend(uint32_t node, uint32_t lo, uint32_t hi, uint32_t begin, uint32_t end,
               Visit &visit) {
    if (!filled[node] || hi <= begin || end <= lo) {
      return;
    }
    for (uint32_t item : nodes[node]) {
      if (seen[item] != round) {
        seen[item] = round;
        visit(item);
      }
    }
    if (hi - lo > 1) {
      uint32_t middle = (lo + hi) / 2;
      descend(2 * node, lo, middle, begin, end, visit);
      descend(2 * node + 1, middle, hi, begin, end, visit);
    }
  }

  uint32_t leaves = 1;
  std::vector<llvm::SmallVector<uint32_t, 1>> nodes;
  std::vector<bool> filled; ///< the node or one below it has an item
  std::vector<uint32_t> seen;
  uint32_t round = 0;
};

/// The free blocks of an arena that grows at its end, by offset and by size.
class FreeList {
public:
  int64_t size() const { return total; }

  int64_t allocate(int64_t bytes) {
    auto fit = bySize.lower_bound({bytes, 0});
    if (fit != bySize.end()) {
      auto [size, offset] = *fit;
      remove(offset, size);
      if (size > bytes) {
        insert(offset + bytes, size - bytes);
      }
      return offset;
    }
    // Grow: the free space at the end becomes the start of the new buffer.
    int64_t offset = total;
    if (!byOffset.empty()) {
      auto [lastOffset, lastSize] = *byOffset.rbegin();
      if (lastOffset + lastSize == total) {
        remove(lastOffset, lastSize);
        offset = lastOffset;
      }
    }
    total = offset + bytes;
    return offset;
  }
  void release(int64_t offset, int64_t bytes) {
    auto next = byOffset.lower_bound(offset);
    if (next != byOffset.end() && next->first == offset + bytes) {
      bytes += next->second;
      remove(next->first, next->second);
    }
    auto previous = byOffset.lower_bound(offset);
    if (previous != byOffset.begin()) {
      --previous;
      if (previous->first + previous->second == offset) {
        auto [before, size] = *previous;
        remove(before, size);
        offset = before;
        bytes += size;
      }
    }
    insert(offset, bytes);
  }

private:
  void insert(int64_t offset, int64_t bytes) {
    byOffset[offset] = bytes;
    bySize.insert({bytes, offset});
  }
  void remove(int64_t offset, int64_t bytes) {
    byOffset.erase(offset);
    bySize.erase({bytes, offset});
  }
  std::map<int64_t, int64_t> byOffset;
  std::set<std::pair<int64_t, int64_t>> bySize;
  int64_t total = 0;
};

/// The hulls of all items as events in time order; ends sort before begins.
struct Event {
  uint32_t point;
  bool isBegin;
  uint32_t item;
  auto key() const { return std::tuple(point, isBegin, item); }
};
} // namespace

static std::vector<Event> sweepOrder(llvm::ArrayRef<PackItem> items) {
  std::vector<Event> events;
  for (auto [i, item] : llvm::enumerate(items)) {
    events.push_back({item.range->begin(), true, uint32_t(i)});
    events.push_back({item.range->end(), false, uint32_t(i)});
  }
  llvm::sort(events, [](const Event &a, const Event &b) { return a.key() < b.key(); });
  return events;
}

static int64_t packByTime(llvm::ArrayRef<PackItem> items, std::vector<int64_t> &offsets) {
  FreeList blocks;
  for (const Event &event : sweepOrder(items)) {
    int64_t bytes = aligned(items[event.item].bytes);
    if (event.isBegin) {
      offsets[event.item] = blocks.allocate(bytes);
    } else {
      blocks.release(offsets[event.item], bytes);
    }
  }
  return blocks.size();
}

/// Places items in order of decreasing weight.
static int64_t packByWeight(llvm::ArrayRef<PackItem> items,
                            llvm::function_ref<double(const PackItem &)> weight,
                            std::vector<int64_t> &offsets) {
  std::vector<std::pair<double, uint32_t>> order;
  uint32_t points = 0;
  for (auto [i, item] : llvm::enumerate(items)) {
    order.push_back({-weight(item), uint32_t(i)});
    points = std::max(points, item.range->end());
  }
  llvm::sort(order);

  TimeIndex placed(points, items.size());
  std::vector<std::pair<int64_t, int64_t>> taken; // offset, end
  int64_t total = 0;
  for (auto [minusWeight, id] : order) {
    const LiveRange &range = *items[id].range;
    taken.clear();
    placed.query(range.begin(), range.end(), [&](uint32_t other) {
      if (range.overlaps(*items[other].range)) {
        taken.push_back({offsets[other], offsets[other] + aligned(items[other].bytes)});
      }
    });
    llvm::sort(taken);
    int64_t bytes = aligned(items[id].bytes), end = 0, best = -1, bestGap = 0;
    for (auto [otherBegin, otherEnd] : taken) {
      int64_t gap = otherBegin - end;
      if (gap >= bytes && (best < 0 || gap < bestGap)) {
        best = end;
        bestGap = gap;
      }
      end = std::max(end, otherEnd);
    }
    offsets[id] = best < 0 ? end : best;
    total = std::max(total, offsets[id] + bytes);
    placed.insert(id, range.begin(), range.end());
  }
  return total;
}

std::optional<int64_t> schedule::pack(llvm::MutableArrayRef<PackItem> items) {
  int64_t sum = 0;
  for (const PackItem &item : items) {
    if (item.bytes > INT64_MAX - arenaAlignment ||
        __builtin_add_overflow(sum, aligned(item.bytes), &sum)) {
      return std::nullopt;
    }
  }
  uint64_t pairs = 0, live = 0;
  for (const Event &event : sweepOrder(items)) {
    pairs += event.isBegin ? live : 0;
    live += event.isBegin ? 1 : -1;
  }
  std::vector<int64_t> offsets(items.size());
  int64_t total = packByTime(items, offsets);
  auto life = [](const PackItem &item) { return double(item.range->end() - item.range->begin()); };
  const std::function<double(const PackItem &)> weights[] = {
      [](const PackItem &item) { return double(item.bytes); },
      [&](const PackItem &item) { return double(item.bytes) * life(item); },
      [&](const PackItem &item) { return life(item); },
  };
  const int64_t peak = peakBytes(items);
  for (const auto &weight : weights) {
    if (pairs > pairBudget || total == peak) {
      break;
    }
    std::vector<int64_t> candidate(items.size());
    int64_t candidateTotal = packByWeight(items, weight, candidate);
    if (candidateTotal < total) {
      total = candidateTotal;
      offsets = std::move(candidate);
    }
  }
  // The padding behind the last buffer is not counted.
  total = 0;
  for (auto [item, offset] : llvm::zip(items, offsets)) {
    item.offset = offset;
    total = std::max(total, offset + item.bytes);
  }
  return total;
}

int64_t schedule::peakBytes(llvm::ArrayRef<PackItem> items) {
  std::vector<std::pair<uint32_t, int64_t>> changes;
  for (const PackItem &item : items) {
    for (Segment segment : item.range->segments()) {
      changes.push_back({segment.begin, aligned(item.bytes)});
      changes.push_back({segment.end, -aligned(item.bytes)});
    }
  }
  llvm::sort(changes);
  int64_t live = 0, peak = 0;
  for (auto [point, change] : changes) {
    live += change;
    peak = std::max(peak, live);
  }
  return peak;
}
