//===- RowGroups.cpp - Loops that become row kernels ----------------------===//
//
// Decides whether a group can become a row kernel: over a trailing reduce whose rows the group
// walks (softmax, layer norm), or over ops that lead to such a reduce.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Shapes.h"
#include "compiler/plans/Strategies.h"
#include "compiler/transforms/fusion/Grouper.h"
#include "dialect/hlo/ops/KernelOps.h"

using namespace mlir;

namespace hlo::fusion {

/// Search limit: the length of a chain of producers between an op and a row reduce.
static constexpr int kMaxRowChain = 16;

/// Whether `op` is a trailing reduce whose rows are those that the group walks, or would walk.
bool Grouper::canBecomeRow(Group &group, ReduceOp op) {
  if (!isTrailingReduce(op) || !propertiesOf(group.strategy).canBecomeRow ||
      isa<StackOp>(group.root)) {
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
    // A row kernel stores each result of the rows' shape once per row; the group must not reduce
    // already.
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

/// Whether `op` will be computed once per row as soon as the group becomes a row kernel. True if it
/// depends only on the row dimensions of the group's root, and is computed from a reduce over the
/// rest of these rows.
bool Grouper::leadsToRowReduce(Group &group, Operation *op) {
  if (group.strategy != Strategy::Loop || group.root->getNumResults() != 1 || group.hero ||
      isa<StackOp>(group.root)) {
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
