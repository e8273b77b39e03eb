//===- AssignOffsets.cpp - The arena of a plan, and a check of it ---------===//
//
// In: a plan with buffers. Out: the offsets of those in the arena. `checkPlan` then looks
// at the result alone, by a sweep over all points, so that a fault in one of the steps
// before becomes an internal error and not a wrong program.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/schedule/Pack.h"
#include "compiler/transforms/schedule/Plan.h"
#include <map>

using namespace mlir;
using namespace hlo;
using namespace hlo::schedule;

/// Whether the value is the representative of a buffer in the arena that has bytes.
static bool isArenaBuffer(const Plan &plan, ValueId id) {
  const PlanValue &value = plan.values[id];
  return plan.buffers[id] == id && value.home == Home::Arena && value.bytes > 0 &&
         !value.range.empty();
}

LogicalResult schedule::assignOffsets(Plan &plan) {
  std::vector<PackItem> items;
  std::vector<ValueId> ids;
  for (auto [id, value] : llvm::enumerate(plan.values)) {
    if (isArenaBuffer(plan, id)) {
      items.push_back({value.bytes, &value.range});
      ids.push_back(id);
    }
  }
  std::optional<int64_t> total = pack(items);
  if (!total) {
    return failure();
  }
  plan.arenaBytes = *total;
  for (auto [id, item] : llvm::zip(ids, items)) {
    plan.values[id].offset = item.offset;
  }
  return success();
}

/// Live buffers never overlap: a sweep that holds the live ones by offset.
static bool buffersAreDisjoint(const Plan &plan) {
  std::vector<std::tuple<uint32_t, bool, ValueId>> events; // ends before begins
  for (auto [id, value] : llvm::enumerate(plan.values)) {
    if (!isArenaBuffer(plan, id)) {
      continue;
    }
    if (value.offset < 0 || value.offset % arenaAlignment ||
        value.offset + value.bytes > plan.arenaBytes) {
      return false;
    }
    for (Segment segment : value.range.segments()) {
      events.push_back({segment.begin, true, id});
      events.push_back({segment.end, false, id});
    }
  }
  llvm::sort(events);
  std::map<int64_t, int64_t> live; // offset -> end
  for (auto [point, isBegin, id] : events) {
    int64_t offset = plan.values[id].offset, end = offset + plan.values[id].bytes;
    if (!isBegin) {
      live.erase(offset);
      continue;
    }
    auto next = live.lower_bound(offset);
    if (next != live.end() && next->first < end) {
      return false;
    }
    if (next != live.begin() && std::prev(next)->second > offset) {
      return false;
    }
    live[offset] = end;
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
      for (auto [r, result] : llvm::enumerate(step.results)) {
        for (auto [other, otherResult] : llvm::enumerate(step.results)) {
          if (r != other && plan.values[result].bytes &&
              plan.bufferOf(result) == plan.bufferOf(otherResult)) {
            return failure();
          }
        }
      }
    }
  }
  return success(buffersAreDisjoint(plan));
}
