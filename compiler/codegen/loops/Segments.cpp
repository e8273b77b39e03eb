//===- Segments.cpp - Rows made of parts ----------------------------------===//
//
// In: a region whose results have one shape, with concatenates and pads along a dimension (the
// minor one, or the rows of short rows) that are read only at the results' index. Out: the bounds
// of their parts, so that a loop over the dimension can be one loop per part, without tests for the
// part:
//
//   z = concatenate(x[700], y[77]) * 2       0 .. 700 reads x, 700 .. 777 reads y
//
// One loop over the whole row would test each vector for each part, which is many times slower with
// many parts.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/codegen/loops/EmitterImpl.h"
#include "compiler/codegen/loops/Regions.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace hlo::codegen {

/// Limit on the ops in all loops over parts: ops after the parts are repeated in each.
static constexpr int64_t kMostOps = 4096;

/// The starts of the op's parts along a dimension of its result, and the end; nothing if it has
/// none.
static SmallVector<int64_t> boundsOfParts(Operation &op, int64_t dimension) {
  SmallVector<int64_t> bounds;
  if (auto parts = dyn_cast<ConcatenateOp>(op)) {
    if (static_cast<int64_t>(parts.getDimension()) != dimension) {
      return {};
    }
    bounds.push_back(0);
    for (Value part : parts.getInputs()) {
      bounds.push_back(bounds.back() + shapeOf(part)[dimension]);
    }
  } else if (auto pad = dyn_cast<PadOp>(op)) {
    int64_t low = pad.getPaddingLow()[dimension], high = pad.getPaddingHigh()[dimension];
    if (low <= 0 && high <= 0) {
      return {};
    }
    int64_t size = shapeOf(pad.getResult())[dimension];
    bounds = {0, std::clamp<int64_t>(low, 0, size), std::clamp<int64_t>(size - high, 0, size),
              size};
    if (bounds[1] > bounds[2]) {
      return {};
    }
  }
  return bounds;
}

SegmentPlan planSegments(KernelBuilder &kernel, ArrayRef<int64_t> shape, size_t dimension,
                         bool ofRows) {
  SegmentPlan plan;
  plan.dimension = dimension;
  // Values that are read only at the results' index.
  DenseSet<Value> atIndex;
  int64_t after = 0; // ops that are repeated in each segment
  std::vector<int64_t> cuts{0, shape[dimension]};
  Operation *end = kernel.body().getTerminator();
  for (Operation &op : llvm::reverse(kernel.body().without_terminator())) {
    if (op.getNumResults() != 1 || shapeOf(op.getResult(0)) != shape ||
        !llvm::all_of(op.getUsers(), [&](Operation *user) {
          return user == end || (ofRows && isa<ReduceOp>(user)) ||
                 ((isElementwise(user) || isa<CopyOp>(user)) &&
                  atIndex.contains(user->getResult(0)));
        })) {
      continue;
    }
    atIndex.insert(op.getResult(0));
    ++after;
    SmallVector<int64_t> bounds = boundsOfParts(op, static_cast<int64_t>(dimension));
    if (!bounds.empty()) {
      llvm::append_range(cuts, bounds);
      plan.ops.push_back({&op, bounds});
    }
  }
  llvm::sort(cuts);
  cuts.erase(llvm::unique(cuts), cuts.end());
  plan.cuts.assign(cuts.begin(), cuts.end());
  if (plan.ops.empty() || static_cast<int64_t>(cuts.size()) * (after + 1) > kMostOps) {
    return {};
  }
  return plan;
}

SmallVector<SegmentPlan> groupSegments(const SegmentPlan &plan) {
  // 32 loops are still cheap for LLVM; Outline.cpp makes functions of about as many.
  constexpr size_t mostTogether = 32;
  SmallVector<SegmentPlan> groups;
  for (size_t first = 0; first + 1 < plan.cuts.size(); first += mostTogether) {
    SegmentPlan &group = groups.emplace_back(plan);
    ArrayRef<int64_t> cuts = plan.cuts;
    group.cuts.assign(cuts.slice(first, std::min(mostTogether + 1, cuts.size() - first)));
  }
  return groups.empty() ? SmallVector<SegmentPlan>{plan} : groups;
}

void enterSegment(const SegmentPlan &plan, size_t n, ArrayRef<ElementEmitter *> emitters) {
  for (ElementEmitter *emitter : emitters) {
    EmitterShared &shared = *emitter->impl().shared;
    shared.partDimension = plan.dimension;
    for (const SegmentPlan::Parts &parts : plan.ops) {
      // Empty parts begin where the next one does: take the last one that begins here.
      auto next = llvm::upper_bound(parts.bounds, plan.cuts[n]);
      shared.part[parts.op] = next - parts.bounds.begin() - 1;
    }
  }
}

void leaveSegments(ArrayRef<ElementEmitter *> emitters) {
  for (ElementEmitter *emitter : emitters) {
    emitter->impl().shared->part.clear();
  }
}

void emitSegments(const SegmentPlan &plan, ArrayRef<ElementEmitter *> emitters,
                  function_ref<void(int64_t from, int64_t to)> body) {
  for (size_t n = 0; n + 1 < plan.cuts.size(); ++n) {
    enterSegment(plan, n, emitters);
    body(plan.cuts[n], plan.cuts[n + 1]);
  }
  leaveSegments(emitters);
}

} // namespace hlo::codegen
