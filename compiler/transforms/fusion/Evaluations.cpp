//===- Evaluations.cpp - How often a group's kernel evaluates an op -------===//
//
// Counts how many element evaluations an op would cause if it joined a group that holds all its
// users. Users that read the op at the same index share one evaluation. Indices are therefore
// numbered: two reads have the same number if they are at corresponding elements of the iteration
// space, or if the same op reads both at an index of its own.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/plans/Strategies.h"
#include "compiler/transforms/fusion/Grouper.h"

using namespace mlir;

namespace hlo::fusion {

/// How many evaluations of the operand one evaluation of `user` causes.
static double fanOf(Operation *user, unsigned operandNumber) {
  if (isa<ReduceOp, ReduceWindowOp>(user)) {
    unsigned inputs = user->getNumOperands() / 2;
    return operandNumber < inputs ? static_cast<double>(costOf(user)) : 0.0;
  }
  if (auto dot = dyn_cast<DotOp>(user)) {
    auto shape = shapeOf(dot.getLhs());
    double k = 1;
    for (int64_t d : dot.getLhsContractingDims().value_or(ArrayRef<int64_t>())) {
      k *= shape[d];
    }
    return k;
  }
  return 1.0;
}

/// Calls `body` for each use of v in the group, the last one first.
static void forEachUseIn(const Group &group, Value v, function_ref<void(OpOperand &)> body) {
  // A value that very many groups share has more uses than a group has members (at most some
  // hundreds: kEnoughMembers in Groups.cpp). Then the members, which are in reverse order too, are
  // fewer to walk.
  constexpr unsigned kManyUses = 256;
  if (v.hasNUsesOrMore(kManyUses)) {
    for (Operation *member : group.members) {
      for (OpOperand &operand : llvm::reverse(member->getOpOperands())) {
        if (operand.get() == v) {
          body(operand);
        }
      }
    }
    return;
  }
  for (OpOperand &use : v.getUses()) {
    if (group.members.contains(use.getOwner())) {
      body(use);
    }
  }
}

/// The map of v, as seen by its users in the group.
DimMap Grouper::mapIn(Group &group, Value v) {
  std::optional<DimMap> map;
  forEachUseIn(group, v, [&](OpOperand &use) {
    Operation *user = use.getOwner();
    DimMap seen = group.maps.lookup(user->getResult(0)).ofOperand(user, use.getOperandNumber());
    map = map ? map->meet(seen) : seen;
  });
  return map ? *map : DimMap::unknown(shapeOf(v).size());
}

/// The number of the index at which a member reads an operand.
int64_t Grouper::indexOf(Group &group, OpOperand &use) {
  Operation *user = use.getOwner();
  Value result = user->getResult(0);
  int64_t asked = group.indices.lookup(result);
  if (isElementwiseOp(user) && shapeOf(use.get()) == shapeOf(result)) {
    return asked;
  }
  // A reduce reads all its arrays at one index.
  unsigned operand = use.getOperandNumber();
  auto reduce = dyn_cast<ReduceOp>(user);
  if (reduce && operand < user->getNumOperands() / 2) {
    operand = 0;
  }
  int64_t next = static_cast<int64_t>(indexNumbers.size()) + 1;
  return indexNumbers.try_emplace({asked, user, operand}, next).first->second;
}

/// The number of the index at which all users in the group read the value. If they differ, the
/// value gets a new number.
int64_t Grouper::indexIn(Group &group, Value v) {
  std::optional<int64_t> index;
  bool differ = false;
  forEachUseIn(group, v, [&](OpOperand &use) {
    if (differ) {
      return;
    }
    int64_t seen = indexOf(group, use);
    differ = index && *index != seen;
    index = seen;
  });
  if (differ) {
    int64_t next = static_cast<int64_t>(indexNumbers.size()) + 1;
    return indexNumbers.try_emplace({-1, v.getDefiningOp(), 0}, next).first->second;
  }
  return index.value_or(0);
}

double Grouper::evaluationsIn(Group &group, Operation *op) {
  double most = 0, sum = 0;
  // A dot or convolution reads its operands tile by tile, each side at an index of its own.
  bool inStep = true, isBefore = propertiesOf(group.strategy).isProduct;
  std::optional<DimMap> map;
  std::optional<int64_t> index;
  SmallPtrSet<Operation *, 4> seenUsers;
  for (Value v : op->getResults()) {
    forEachUseIn(group, v, [&](OpOperand &use) {
      Operation *user = use.getOwner();
      // x * x reads x once; a gather of x at x reads two elements.
      if (!seenUsers.insert(user).second && isElementwiseOp(user)) {
        return;
      }
      double count = group.evaluations.lookup(user) * fanOf(user, use.getOperandNumber());
      DimMap seen = group.maps.lookup(user->getResult(0)).ofOperand(user, use.getOperandNumber());
      int64_t at = indexOf(group, use);
      inStep &= !map || (*index == at && !isBefore) ||
                (*map == seen && ((map->inOrder && seen.inOrder) ||
                                  !llvm::is_contained(seen.dims, DimMap::kOther)));
      map = seen;
      index = at;
      most = std::max(most, count);
      sum += count;
    });
  }
  // A row kernel computes a value that depends on the row only once per row.
  if (group.strategy == Strategy::Row && map && group.rows > 0) {
    bool rowOnly = llvm::all_of(
        map->dims, [&](int64_t d) { return d == DimMap::kOne || (d >= 0 && d < group.rows); });
    if (rowOnly) {
      double rows = 1;
      for (int64_t d = 0; d < group.rows; ++d) {
        rows *= group.rowSpace[d];
      }
      return std::min(most, rows);
    }
    return most; // a row kernel stores costly values between its stages; see RowKernel.cpp
  }
  return inStep ? most : sum;
}

} // namespace hlo::fusion
