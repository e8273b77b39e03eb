//===- AssignOffsets.cpp - The arena of a plan, and a check of it ---------===//
//
// In: a plan with buffers. Out: the offsets of the arena's buffers, and which buffers are guests. A
// guest is a large buffer placed in an output's buffer for the time before the result is written,
// so that the arena of a training step need not duplicate the space of its results. `checkPlan`
// then checks the result independently, by a sweep over all points, so that a fault in an earlier
// step becomes an internal error and not a wrong program.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/schedule/Pack.h"
#include "compiler/transforms/schedule/Plan.h"
#include <map>

using namespace mlir;
using namespace hlo;
using namespace hlo::schedule;

/// True if the value represents a non-empty buffer of the arena.
static bool isArenaBuffer(const Plan &plan, ValueId id) {
  const PlanValue &value = plan.values[id];
  return plan.buffers[id] == id && value.home == Home::Arena && value.bytes > 0 &&
         !value.range.empty();
}

/// Least size of a guest. Smaller ones save little, and buffers of small loops are better off in
/// the arena, which nothing else aliases (compiler/target/entry/LoopMemory).
static constexpr int64_t leastGuest = 4096;
/// Most pairs of buffer and output in the search for guests.
static constexpr uint64_t guestBudget = 5'000'000;

namespace {
/// An output with its guests so far.
struct Host {
  uint32_t number;
  int64_t bytes, align;
  const LiveRange *range;
  std::vector<ValueId> guests;
};

struct Guest {
  ValueId value;
  uint32_t output;
  int64_t offset;
};
} // namespace

/// The lowest offset in the host's buffer that is free throughout the value's range; nothing if
/// there is none. Callers align outputs only to their elements, so a guest must not need more; a
/// buffer of bytes may be a kernel's scratch memory, which holds any type.
static std::optional<int64_t> roomFor(const PlanValue &value, const Host &host,
                                      const llvm::DenseMap<ValueId, Guest> &placed,
                                      const Plan &plan) {
  int64_t align = value.align == 1 ? maxElementAlign : value.align;
  if (align > host.align || value.bytes > host.bytes || value.range.overlaps(*host.range)) {
    return std::nullopt;
  }
  std::vector<std::pair<int64_t, int64_t>> taken;
  for (ValueId other : host.guests) {
    if (value.range.overlaps(plan.values[other].range)) {
      int64_t offset = placed.lookup(other).offset;
      taken.push_back({offset, llvm::alignTo(offset + plan.values[other].bytes, arenaAlignment)});
    }
  }
  llvm::sort(taken);
  int64_t end = 0;
  for (auto [begin, otherEnd] : taken) {
    if (begin - end >= value.bytes) {
      break;
    }
    end = std::max(end, otherEnd);
  }
  return host.bytes - end >= value.bytes ? std::optional(end) : std::nullopt;
}

/// Places large buffers of the arena in outputs: largest first, each in the smallest output with
/// room. Outputs that may share an input's buffer are no hosts: they hold that input.
static llvm::DenseMap<ValueId, Guest> findGuests(const Plan &plan) {
  llvm::DenseMap<ValueId, Guest> placed;
  std::vector<Host> hosts;
  std::vector<ValueId> values;
  for (auto [id, value] : llvm::enumerate(plan.values)) {
    if (isArenaBuffer(plan, id) && value.bytes >= leastGuest) {
      values.push_back(id);
    } else if (plan.buffers[id] == id && value.home == Home::Output && value.bytes >= leastGuest &&
               !plan.donationOf(value.number)) {
      hosts.push_back({value.number, value.bytes, value.align, &value.range, {}});
    }
  }
  if (uint64_t(hosts.size()) * values.size() > guestBudget) {
    return placed;
  }
  llvm::sort(values, [&](ValueId a, ValueId b) {
    return std::pair(-plan.values[a].bytes, a) < std::pair(-plan.values[b].bytes, b);
  });
  llvm::sort(hosts, [](const Host &a, const Host &b) {
    return std::pair(a.bytes, a.number) < std::pair(b.bytes, b.number);
  });
  for (ValueId id : values) {
    for (Host &host : hosts) {
      if (std::optional<int64_t> offset = roomFor(plan.values[id], host, placed, plan)) {
        placed[id] = {id, host.number, *offset};
        host.guests.push_back(id);
        break;
      }
    }
  }
  return placed;
}

/// Packs the arena's buffers except guests; the offsets are in the order of `ids`.
static std::optional<int64_t> packArena(const Plan &plan,
                                        const llvm::DenseMap<ValueId, Guest> &guests,
                                        std::vector<PackItem> &items, std::vector<ValueId> &ids) {
  for (auto [id, value] : llvm::enumerate(plan.values)) {
    if (isArenaBuffer(plan, id) && !guests.contains(id)) {
      items.push_back({value.bytes, &value.range});
      ids.push_back(id);
    }
  }
  return pack(items);
}

LogicalResult schedule::assignOffsets(Plan &plan, bool guests) {
  std::vector<PackItem> items;
  std::vector<ValueId> ids;
  llvm::DenseMap<ValueId, Guest> placed;
  std::optional<int64_t> total = packArena(plan, placed, items, ids);
  if (!total) {
    return failure();
  }
  plan.arenaBytes = *total;
  if (guests) {
    placed = findGuests(plan);
  }
  if (!placed.empty()) {
    std::vector<PackItem> fewerItems;
    std::vector<ValueId> fewerIds;
    std::optional<int64_t> less = packArena(plan, placed, fewerItems, fewerIds);
    // The arena is more likely to be in a cache than outputs, so a small saving is not worth a
    // move.
    if (less && *less <= *total - *total / 16) {
      plan.arenaBytes = *less;
      items = std::move(fewerItems);
      ids = std::move(fewerIds);
      for (const auto &[id, guest] : placed) {
        PlanValue &value = plan.values[id];
        value.home = Home::Output;
        value.number = guest.output;
        value.offset = guest.offset;
        value.isGuest = true;
      }
    }
  }
  for (auto [id, item] : llvm::zip(ids, items)) {
    plan.values[id].offset = item.offset;
  }
  return success();
}

/// The memory that holds a buffer: `none` for the arena, else the output's number.
static std::optional<uint32_t> memoryOf(const Plan &plan, ValueId id) {
  const PlanValue &value = plan.values[id];
  if (plan.buffers[id] != id || value.bytes == 0 || value.range.empty()) {
    return std::nullopt;
  }
  return value.home == Home::Arena    ? std::optional(none)
         : value.home == Home::Output ? std::optional(value.number)
                                      : std::nullopt;
}

/// True if no two live buffers overlap: a sweep that keeps the live ones ordered by memory and
/// offset.
static bool buffersAreDisjoint(const Plan &plan) {
  std::vector<std::tuple<uint32_t, bool, ValueId>> events; // ends sort before begins
  for (auto [id, value] : llvm::enumerate(plan.values)) {
    std::optional<uint32_t> memory = memoryOf(plan, id);
    if (!memory) {
      continue;
    }
    int64_t bytes = *memory == none ? plan.arenaBytes : plan.values[plan.outputs[*memory]].bytes;
    if (value.offset < 0 || value.offset % arenaAlignment || value.offset + value.bytes > bytes) {
      return false;
    }
    for (Segment segment : value.range.segments()) {
      events.push_back({segment.begin, true, id});
      events.push_back({segment.end, false, id});
    }
  }
  llvm::sort(events);
  std::map<std::pair<uint32_t, int64_t>, int64_t> live; // memory, offset -> end
  for (auto [point, isBegin, id] : events) {
    uint32_t memory = *memoryOf(plan, id);
    int64_t offset = plan.values[id].offset, end = offset + plan.values[id].bytes;
    if (!isBegin) {
      live.erase({memory, offset});
      continue;
    }
    auto next = live.lower_bound({memory, offset});
    if (next != live.end() && next->first < std::pair(memory, end)) {
      return false;
    }
    if (next != live.begin()) {
      auto previous = std::prev(next);
      if (previous->first.first == memory && previous->second > offset) {
        return false;
      }
    }
    live[{memory, offset}] = end;
  }
  return true;
}

LogicalResult schedule::checkPlan(const Plan &plan) {
  auto isWritable = [&](ValueId id) {
    Home home = plan.values[plan.bufferOf(id)].home;
    return home == Home::Arena || home == Home::Output;
  };
  for (const Sequence &sequence : plan.sequences) {
    for (const Step &step : sequence.steps) {
      if (!llvm::all_of(step.results, isWritable) ||
          !llvm::all_of(step.moves, [&](const Move &move) { return isWritable(move.target); })) {
        return failure();
      }
      // No two results share a buffer, unless both are empty.
      llvm::SmallDenseMap<ValueId, bool> isEmpty;
      for (ValueId result : step.results) {
        bool empty = plan.values[result].bytes == 0;
        auto [it, isFirst] = isEmpty.try_emplace(plan.bufferOf(result), empty);
        if (!isFirst && !(empty && it->second)) {
          return failure();
        }
      }
    }
  }
  return success(buffersAreDisjoint(plan));
}
