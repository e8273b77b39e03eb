//===- ScatterOperands.cpp - What a scatter's kernel computes -------------===//
//
// Decides whether an op whose users are all in a scatter's group joins it. Indices are computed
// where they are read; so are cheap updates, if they are whole rows. Each is read once. Costlier
// ops are left to a kernel of their own, since a scatter has few tasks.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/fusion/Groups.h"

using namespace mlir;

namespace hlo::fusion {

/// The largest cost of a single op that computes indices, or updates. An index is loaded and
/// checked by scalar code, which an add hides behind; an update row is arithmetic on vectors, up to
/// a gather.
static constexpr int64_t kIndexCost = 1, kUpdateCost = 4;
/// The largest total cost of the ops that join: two gathers, or eight additions. They all run on
/// the one thread, or the few, that a scatter has. Indices with a remainder gain a fifth
/// (NOTES.md, "at pairs of indices"); there are no timings near the bound.
static constexpr int64_t kMostBeforeScatter = 8;
/// Update rows of fewer elements than a vector of eight are scattered element by element, where the
/// ops would be scalar code.
static constexpr int64_t kShortestUpdateRow = 8;

/// Whether all uses of `op` in the group lead to operands `first` to `last` of its scatter.
static bool leadsToOperands(const Group &group, Operation *op, unsigned first, unsigned last) {
  return llvm::all_of(op->getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (user == group.root) {
      return use.getOperandNumber() >= first && use.getOperandNumber() <= last;
    }
    return !group.members.contains(user) || leadsToOperands(group, user, first, last);
  });
}

/// Whether the scatter combines single elements by a float maximum or minimum. These ops share
/// execution ports with the extraction of indices from vector registers, so that computing the
/// indices here makes the scatter slower.
static bool scattersExtremes(ScatterOp scatter) {
  if (scatter.getUpdateWindowDims().size() > 0) {
    return false;
  }
  auto computation =
      SymbolTable::lookupNearestSymbolFrom<ComputationOp>(scatter, scatter.getToApplyAttr());
  auto isFloat = [](Operation &op) { return !isa<IntegerType>(elementTypeOf(op.getResult(0))); };
  return computation && llvm::any_of(computation.getBody().front(), [&](Operation &op) {
           return isa<MaximumOp, MinimumOp>(op) && isFloat(op);
         });
}

/// Whether `op` and all its producers, up to arrays in memory, are cheap element-wise ops (or
/// gathers, if single ops may cost as much). A scatter takes all of such a computation or nothing:
/// a cut in the middle could make it read several arrays instead of one.
static bool isCheapFromMemory(Operation *op, int64_t mostCost) {
  constexpr size_t maxVisited = 48; // search limit
  llvm::SetVector<Operation *> cone;
  cone.insert(op);
  int64_t total = 0;
  for (size_t i = 0; i < cone.size(); ++i) {
    Operation *at = cone[i];
    Role role = roleOf(at);
    if ((role != Role::Free && role != Role::Compute) || isSplatConstant(at) ||
        resultElements(at) <= 1) {
      continue;
    }
    total += costOf(at);
    if (isa<CopyOp, MapOp, PadOp, DynamicSliceOp, ConcatenateOp, DynamicUpdateSliceOp>(at) ||
        costOf(at) > mostCost || total > kMostBeforeScatter || cone.size() > maxVisited) {
      return false;
    }
    for (Value v : at->getOperands()) {
      if (Operation *def = v.getDefiningOp()) {
        cone.insert(def);
      }
    }
  }
  return true;
}

bool scatterTakes(const Group &group, Operation *op) {
  auto scatter = cast<ScatterOp>(group.root);
  unsigned count = scatter->getNumResults();
  Role role = roleOf(op);
  if ((role != Role::Free && role != Role::Compute) || isa<CopyOp>(op) ||
      op->getNumResults() != 1 || (role == Role::Compute && resultElements(op) <= 1) ||
      llvm::any_of(scatter.getInputs().take_front(count),
                   [&](Value array) { return isComputedFrom(op, array); })) {
    return false;
  }
  if (leadsToOperands(group, op, count, count)) {
    // A concatenate along the index vector: the kernel reads each component from its own part.
    if (auto parts = dyn_cast<ConcatenateOp>(op)) {
      return parts.getDimension() == scatter.getIndexVectorDim() &&
             scatter.getInputs()[count] == op->getResult(0);
    }
    return role == Role::Free || (!scattersExtremes(scatter) && isCheapFromMemory(op, kIndexCost));
  }
  if (!leadsToOperands(group, op, count + 1, 2 * count)) {
    return false;
  }
  if (role == Role::Free) {
    return isa<BroadcastOp, ReshapeOp, BitcastOp, IotaOp>(op);
  }
  auto updates = shapeOf(scatter.getInputs()[count + 1]);
  return !updates.empty() && updates.back() >= kShortestUpdateRow &&
         llvm::is_contained(scatter.getUpdateWindowDims(), (int64_t)updates.size() - 1) &&
         isCheapFromMemory(op, kUpdateCost);
}

} // namespace hlo::fusion
