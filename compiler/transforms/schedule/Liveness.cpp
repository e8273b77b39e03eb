//===- Liveness.cpp - From uses to live ranges ----------------------------===//
//
// A use in a sequence keeps the value alive from the sequence's begin, or from the value's scope in
// it. If the value has no scope in the sequence, it comes from outside, and the use extends its
// range outside as well:
//   - for a loop: to the loop's end, because the next iteration needs it too;
//   - for a branch: to the branching step. Other branches are not affected, so a value used in
//     one branch leaves its bytes to the others.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/schedule/Liveness.h"
#include "llvm/ADT/DenseMap.h"

using namespace hlo;
using namespace hlo::schedule;

void Liveness::fillRange(PlanValue &value, llvm::ArrayRef<Use> ofValue) {
  // The last use in each sequence that can see the value.
  llvm::SmallVector<std::pair<SequenceId, uint32_t>, 2> last;
  // Indices in `last`; kInside for a loop that was met, whose uses count for the sequence around
  // it.
  constexpr size_t kInside = SIZE_MAX;
  llvm::SmallDenseMap<SequenceId, size_t, 4> places;
  auto scopeIn = [&](SequenceId sequence) {
    return llvm::find_if(value.scopes,
                         [&](const Scope &scope) { return scope.sequence == sequence; });
  };
  // Returns true for the first use in a sequence.
  auto note = [&](SequenceId sequence, uint32_t end) {
    auto [it, isFirst] = places.try_emplace(sequence, last.size());
    if (isFirst) {
      last.push_back({sequence, end});
    } else {
      last[it->second].second = std::max(last[it->second].second, end);
    }
    return isFirst;
  };
  for (const Use &use : ofValue) {
    SequenceId sequence = use.sequence;
    uint32_t end = use.end;
    // Outside of a sequence all its uses extend the range equally, so only the first one goes on.
    bool isFirst = true;
    while (isFirst && scopeIn(sequence) == value.scopes.end()) {
      const Sequence &inner = plan.sequences[sequence];
      if (inner.kind == Sequence::Branch) {
        isFirst = note(sequence, end);
        end = inner.outerBegin + 2;
      } else {
        isFirst = places.try_emplace(sequence, kInside).second;
        end = inner.outerEnd;
      }
      sequence = inner.parent;
    }
    if (isFirst) {
      note(sequence, end);
    }
  }
  for (auto [sequence, end] : last) {
    auto *scope = scopeIn(sequence);
    value.range.add(
        {scope == value.scopes.end() ? plan.sequences[sequence].begin : scope->begin, end});
  }
}

void Liveness::fillRanges() {
  std::vector<uint32_t> first(plan.values.size() + 1, 0);
  for (const Use &use : uses) {
    ++first[use.value + 1];
  }
  for (size_t i = 1; i < first.size(); ++i) {
    first[i] += first[i - 1];
  }
  std::vector<Use> sorted(uses.size());
  std::vector<uint32_t> next(first.begin(), first.end() - 1);
  for (const Use &use : uses) {
    sorted[next[use.value]++] = use;
  }
  for (auto [id, value] : llvm::enumerate(plan.values)) {
    fillRange(value, llvm::ArrayRef(sorted).slice(first[id], first[id + 1] - first[id]));
  }
}
