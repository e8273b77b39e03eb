//===- LaneDimension.cpp - Which kernels have their lanes across rows -----===//
//
// A loop kernel has its lanes along the minor dimension of its results. If the minor dimension has
// few elements that are computed in different ways, or if two parts of an array are computed from
// the same values, every lane would compute all of them and keep one. The kernel then has its lanes
// along the other dimensions, and an iteration computes all positions of the minor dimension (or
// all parts) in turn. hlo.stack stands for this choice in the program.
//
// It saves the work on the positions that a lane does not keep. It costs code for each position,
// and the shuffles that interleave columns in registers.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/fusion/rewrites/LaneDimension.h"
#include "compiler/transforms/fusion/Cost.h"

using namespace mlir;

namespace hlo::fusion {

/// The least rows: fewer rows do not fill the vectors, whose code is written once per column.
/// Reduces of short rows need more, since row kernels handle a few hundred of them well.
static constexpr int64_t kLeastRows = 32, kLeastReduced = 256;
/// The least elements of a part: below, the two evaluations cost less than an additional kernel's
/// launch.
static constexpr int64_t kMinPart = 256;
/// Search limit: ops visited per part.
static constexpr size_t kMaxVisited = 1000;

std::optional<RowProduct> rowProduct(Operation *op) {
  auto dot = dyn_cast<DotOp>(op);
  if (!dot || !dot.getLhsBatchDims().value_or(ArrayRef<int64_t>()).empty()) {
    return std::nullopt;
  }
  ArrayRef<int64_t> left = dot.getLhsContractingDims().value_or(ArrayRef<int64_t>());
  ArrayRef<int64_t> right = dot.getRhsContractingDims().value_or(ArrayRef<int64_t>());
  if (left.size() != 1 || isa<ComplexType>(elementTypeOf(dot.getResult()))) {
    return std::nullopt;
  }
  if (rankOf(dot.getRhs()) <= 2 && left[0] > 0 && left[0] + 1 == rankOf(dot.getLhs())) {
    return RowProduct{dot.getLhs(), dot.getRhs(), right[0]};
  }
  if (rankOf(dot.getLhs()) == 1 && right[0] > 0 && right[0] + 1 == rankOf(dot.getRhs())) {
    return RowProduct{dot.getRhs(), dot.getLhs(), 0};
  }
  return std::nullopt;
}

std::optional<ArrayRef<int64_t>> rowsAround(Operation *op) {
  auto minorOf = [](ArrayRef<int64_t> shape) { return static_cast<int64_t>(shape.size()) - 1; };
  Value array;
  int64_t along = 0, least = kLeastReduced;
  if (auto concatenate = dyn_cast<ConcatenateOp>(op)) {
    array = concatenate.getResult();
    along = concatenate.getDimension();
    least = kLeastRows;
  } else if (isa<PadOp>(op)) {
    array = op->getResult(0);
    along = minorOf(shapeOf(array));
    least = kLeastRows;
  } else if (std::optional<RowProduct> dot = rowProduct(op)) {
    array = dot->array;
    along = minorOf(shapeOf(array));
    if (elementsOf(dot->weights) > kMostSplitColumns * shapeOf(array).back()) {
      return std::nullopt;
    }
  } else if (auto reduce = dyn_cast<ReduceOp>(op);
             reduce && reduce->getNumResults() == 1 && reduce.getDimensions().size() == 1) {
    array = reduce.getInputs()[0];
    along = reduce.getDimensions()[0];
  } else {
    return std::nullopt;
  }
  ArrayRef<int64_t> shape = shapeOf(array);
  if (shape.size() < 2 || along != minorOf(shape) || shape.back() < 2 ||
      shape.back() > kMostSplitColumns || elementsOf(array) < least * shape.back()) {
    return std::nullopt;
  }
  return shape.drop_back();
}

/// The ops of as many elements as v that one kernel could compute together with v.
static llvm::SetVector<Operation *> workOf(Value v) {
  llvm::SetVector<Operation *> work;
  auto add = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && resultElements(op) == elementsOf(v) &&
        (roleOf(op) == Role::Compute || isa<ReshapeOp, BitcastOp>(op))) {
      work.insert(op);
    }
  };
  add(v);
  for (size_t i = 0; i < work.size() && i < kMaxVisited; ++i) {
    llvm::for_each(work[i]->getOperands(), add);
  }
  return work;
}

bool isWorthPairing(ConcatenateOp op) {
  OperandRange parts = op.getInputs();
  ArrayRef<int64_t> shape = shapeOf(parts[0]);
  if (parts.size() != 2 || parts[0] == parts[1] || shapeOf(parts[1]) != shape ||
      elementsOf(parts[0]) < kMinPart) {
    return false;
  }
  for (int64_t d = 0, along = op.getDimension(); d < along; ++d) {
    if (shape[d] != 1) {
      return false;
    }
  }
  auto costOfAll = [](const llvm::SetVector<Operation *> &ops) {
    int64_t cost = 0;
    for (Operation *member : ops) {
      cost += costOf(member);
    }
    return cost;
  };
  llvm::SetVector<Operation *> first = workOf(parts[0]), second = workOf(parts[1]), both;
  for (Operation *member : first) {
    if (second.contains(member)) {
      both.insert(member);
    }
  }
  int64_t common = costOfAll(both);
  return common > 4 && 2 * common >= std::max(costOfAll(first), costOfAll(second));
}

std::optional<int64_t> columnsMovedBehind(TransposeOp op) {
  ArrayRef<int64_t> order = op.getDimensions();
  bool moves = order.size() > 1 && llvm::is_sorted(order.drop_back()) && !llvm::is_sorted(order) &&
               shapeOf(op.getOperand())[order.back()] <= kMostSplitColumns;
  return moves ? std::optional(order.back()) : std::nullopt;
}

bool hasOneShape(Operation *op) {
  return llvm::all_of(op->getOperands(), [&](Value v) {
    return isScalar(v) || shapeOf(v) == shapeOf(op->getResult(0));
  });
}

Value copyFor(HloBuilder &b, Operation *op, ValueRange operands, ArrayRef<int64_t> shape) {
  OperationState state(op->getLoc(), op->getName());
  state.attributes = op->getAttrs();
  state.addOperands(operands);
  state.addTypes(HloBuilder::array(shape, elementTypeOf(op->getResult(0))));
  return b.b.create(state)->getResult(0);
}

void eraseUnused(Block &block, function_ref<void(Operation *)> beforeErasing) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (op.use_empty() && op.getNumResults() > 0 && roleOf(&op) != Role::TopLevel) {
      beforeErasing(&op);
      op.erase();
    }
  }
}

} // namespace hlo::fusion
