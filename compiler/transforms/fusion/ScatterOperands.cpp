//===- ScatterOperands.cpp - What a scatter's kernel computes -------------===//
//
// In: the group of a scatter, and an op whose users are all in it. Out: whether the op joins. The
// indices are computed where they are read, and cheap updates of whole rows too: each is read once.
// What costs more is left to a kernel of several tasks.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/fusion/Groups.h"

using namespace mlir;

namespace hlo::fusion {

/// What an op on the way to the indices of a scatter may cost, and one on the way to its rows. More
/// is left to a kernel of several tasks.
static constexpr int64_t kIndexCost = 1, kUpdateCost = 4;
/// What all of them together may cost.
static constexpr int64_t kMostBeforeScatter = 8;
/// Rows of fewer elements are scattered one element, or a few, at a time.
static constexpr int64_t kShortestUpdateRow = 8;

/// Whether every way from `op` through the group to its scatter ends in one of the operands `first`
/// to `last`.
static bool leadsToOperands(const Group &group, Operation *op, unsigned first, unsigned last) {
  return llvm::all_of(op->getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (user == group.root) {
      return use.getOperandNumber() >= first && use.getOperandNumber() <= last;
    }
    return !group.members.contains(user) || leadsToOperands(group, user, first, last);
  });
}

/// Whether single elements are combined by the larger or smaller float, ops that take turns with
/// those that get indices out of vector registers (20000 of them: 0.0205 ms for 0.0179, where a sum
/// takes two thirds of its time).
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

/// Whether `op`, with all that it is computed from, up to what is in memory, is cheap elementwise
/// work (or a gather, where an op may cost as much): a scatter takes all of it or nothing, since a
/// cut may need several arrays.
static bool isCheapFromMemory(Operation *op, int64_t mostCost) {
  constexpr size_t maxVisited = 48;
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
    // The components of an index vector are put side by side: a block of them asks each for its
    // part.
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
