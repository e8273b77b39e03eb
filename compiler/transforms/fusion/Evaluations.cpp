//===- Evaluations.cpp - How often a group's kernel evaluates an op ------===//
//
// In: a group, and an op all of whose users in it are known. Out: how many evaluations of its
// elements joining causes. What several users ask for at one index is computed once: indices have
// numbers, which are the same where they are in step, or where an op asks for all of these at an
// index of its own.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/plans/Strategies.h"
#include "compiler/transforms/fusion/Grouper.h"

using namespace mlir;

namespace hlo::fusion {

/// How many evaluations of an operand one evaluation of `user` causes.
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

/// The map of v as its users in the group see it.
DimMap Grouper::mapIn(Group &group, Value v) {
  std::optional<DimMap> map;
  for (OpOperand &use : v.getUses()) {
    Operation *user = use.getOwner();
    if (!group.members.contains(user)) {
      continue;
    }
    DimMap seen = group.maps.lookup(user->getResult(0)).ofOperand(user, use.getOperandNumber());
    map = map ? map->meet(seen) : seen;
  }
  return map ? *map : DimMap::unknown(shapeOf(v).size());
}

/// The number of the index at which a member asks for an operand.
int64_t Grouper::indexOf(Group &group, OpOperand &use) {
  Operation *user = use.getOwner();
  Value result = user->getResult(0);
  int64_t asked = group.indices.lookup(result);
  if (isElementwiseOp(user) && shapeOf(use.get()) == shapeOf(result)) {
    return asked;
  }
  // All arrays of a reduce are read together.
  unsigned operand = use.getOperandNumber();
  auto reduce = dyn_cast<ReduceOp>(user);
  if (reduce && operand < user->getNumOperands() / 2) {
    operand = 0;
  }
  int64_t next = static_cast<int64_t>(indexNumbers.size()) + 1;
  return indexNumbers.try_emplace({asked, user, operand}, next).first->second;
}

/// The number of the index at which all users in the group ask for the value; one of its own if
/// they differ.
int64_t Grouper::indexIn(Group &group, Value v) {
  std::optional<int64_t> index;
  for (OpOperand &use : v.getUses()) {
    if (!group.members.contains(use.getOwner())) {
      continue;
    }
    int64_t seen = indexOf(group, use);
    if (index && *index != seen) {
      int64_t next = static_cast<int64_t>(indexNumbers.size()) + 1;
      return indexNumbers.try_emplace({-1, v.getDefiningOp(), 0}, next).first->second;
    }
    index = seen;
  }
  return index.value_or(0);
}

double Grouper::evaluationsIn(Group &group, Operation *op) {
  double most = 0, sum = 0;
  // Before a dot or convolution elements are asked for tile by tile.
  bool inStep = true, isBefore = propertiesOf(group.strategy).isProduct;
  std::optional<DimMap> map;
  std::optional<int64_t> index;
  SmallPtrSet<Operation *, 4> seenUsers;
  for (Value v : op->getResults()) {
    for (OpOperand &use : v.getUses()) {
      Operation *user = use.getOwner();
      if (!group.members.contains(user)) {
        continue;
      }
      // A square reads its operand once.
      if (!seenUsers.insert(user).second && roleOf(user) == Role::Compute) {
        continue;
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
    }
  }
  // In a row kernel what follows the rows alone is computed once a row.
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
    return most; // stages keep what is costly; see RowKernel.cpp
  }
  return inStep ? most : sum;
}

} // namespace hlo::fusion
