//===- RowGroups.cpp - Loops that become kernels by rows -----------------===//
//
// In: a group, and an op that it could take. Out: whether the op is a trailing reduce over which
// the group becomes a row kernel (softmax, layer norm), or follows such a one, row by row.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Shapes.h"
#include "compiler/plans/Strategies.h"
#include "compiler/transforms/fusion/Grouper.h"

using namespace mlir;

namespace hlo::fusion {

/// How far above an op a row reduce is looked for.
static constexpr int kMaxRowChain = 16;

/// A trailing reduce whose result the group walks row by row.
bool Grouper::canBecomeRow(Group &group, ReduceOp op) {
  if (!isTrailingReduce(op) || !propertiesOf(group.strategy).canBecomeRow) {
    return false;
  }
  ArrayRef<int64_t> space = shapeOf(op.getInputs()[0]);
  int64_t rows = space.size() - op.getDimensions().size();
  if (propertiesOf(group.strategy).walk == Walk::Rows) {
    if (ArrayRef<int64_t>(group.rowSpace) != space || group.rows != rows) {
      return false;
    }
  } else {
    ArrayRef<int64_t> root = shapeOf(group.root->getResult(0));
    if (root != space && root != space.take_front(rows)) {
      return false;
    }
    // Every result that is not over the full space is stored once a row.
    for (Operation *member : group.members) {
      if (isa<ReduceOp>(member)) {
        return false;
      }
    }
    if (root == space.take_front(rows) && root == space) {
      return false;
    }
  }
  for (Value v : op->getResults()) {
    if (!v.use_empty() && !mapIn(group, v).isIdentity()) {
      return false;
    }
  }
  return true;
}

/// Whether `op`, which costs something, is computed once a row as soon as the group has become a
/// row kernel: it follows the rows of the group's root alone and comes from a reduce over the
/// columns of such rows.
bool Grouper::leadsToRowReduce(Group &group, Operation *op) {
  if (group.strategy != Strategy::Loop || group.root->getNumResults() != 1 || group.hero) {
    return false;
  }
  ArrayRef<int64_t> space = shapeOf(group.root->getResult(0));
  DimMap map = mapIn(group, op->getResult(0));
  int64_t lastFollowed = -1;
  for (int64_t d : map.dims) {
    if (d == DimMap::kOther) {
      return false;
    }
    lastFollowed = std::max(lastFollowed, d);
  }
  int64_t elements = resultElements(op);
  SmallVector<std::pair<Operation *, int>> work{{op, 0}};
  while (!work.empty()) {
    auto [at, depth] = work.pop_back_val();
    for (Value v : at->getOperands()) {
      Operation *def = v.getDefiningOp();
      if (!def || depth > kMaxRowChain) {
        continue;
      }
      if (auto reduce = dyn_cast<ReduceOp>(def)) {
        int64_t rows = space.size() - reduce.getDimensions().size();
        if (isTrailingReduce(reduce) && shapeOf(reduce.getInputs()[0]) == space &&
            lastFollowed < rows) {
          return true;
        }
        continue;
      }
      Role role = roleOf(def);
      if ((role == Role::Free || role == Role::Compute) && resultElements(def) == elements) {
        work.push_back({def, depth + 1});
      }
    }
  }
  return false;
}

} // namespace hlo::fusion
