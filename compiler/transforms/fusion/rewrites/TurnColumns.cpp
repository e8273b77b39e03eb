//===- TurnColumns.cpp - Transposed stacks of columns ---------------------===//
//
// A function of one point that stacks its results, [C], becomes under vmap a concatenate along
// the outermost dimension. It is transposed where it is combined with the points again:
//
//   s = concatenate(f(x, y), g(x, y)), dimensions={0}       [C, rows]
//   v' = v + transpose(s * h)                               [rows, C]
//
// This pass concatenates along the minor dimension instead, and moves the element-wise ops
// between there. The transpose is gone, and SplitColumns.cpp finds the columns:
//
//   v' = v + concatenate(f(x, y), g(x, y)), dimensions={1} * h
//
// Values that others need as [C, rows] stay beside the new ones.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/transforms/fusion/Cost.h"
#include "compiler/transforms/fusion/TopLevelPass.h"
#include "compiler/transforms/fusion/rewrites/LaneDimension.h"
#include "compiler/transforms/fusion/rewrites/Rewrites.h"

using namespace mlir;

namespace hlo::fusion {
namespace {

/// Search limit: ops visited per transpose.
constexpr size_t kMostTurned = 64;

/// Rebuilds arrays with columns along dimension `along` so that the columns are along the minor
/// dimension.
class Turner {
public:
  bool canTurn(Value v);
  Value turned(Value v);
  void startAnother(int64_t dimension) {
    along = dimension;
    seen.clear();
  }

private:
  SmallVector<int64_t> turnedShape(Value v) const {
    SmallVector<int64_t> shape(shapeOf(v));
    std::rotate(shape.begin() + along, shape.begin() + along + 1, shape.end());
    return shape;
  }
  SmallVector<int64_t> turnedDims(BroadcastOp op) const {
    int64_t minor = rankOf(op.getResult()) - 1;
    return llvm::to_vector(llvm::map_range(op.getDimensions(), [&](int64_t dim) {
      return dim == along ? minor : dim - (dim > along);
    }));
  }

  int64_t along = 0;
  DenseSet<Value> seen;
  DenseMap<std::pair<Value, int64_t>, Value> known;
};

bool Turner::canTurn(Value v) {
  if (known.contains({v, along}) || !seen.insert(v).second) {
    return true;
  }
  Operation *op = v.getDefiningOp();
  if (!op || op->getNumResults() != 1 || seen.size() > kMostTurned) {
    return false;
  }
  if (isElementwiseOp(op)) {
    return (op->hasOneUse() || !isExpensiveElementwise(op)) && hasOneShape(op) &&
           llvm::all_of(op->getOperands(),
                        [&](Value operand) { return isScalar(operand) || canTurn(operand); });
  }
  if (auto concatenate = dyn_cast<ConcatenateOp>(op)) {
    return static_cast<int64_t>(concatenate.getDimension()) == along &&
           llvm::all_of(concatenate.getInputs(),
                        [&](Value part) { return shapeOf(part)[along] == 1; });
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    return llvm::is_sorted(turnedDims(broadcast));
  }
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    // A transpose the other way: its operand has the columns in the minor dimension.
    ArrayRef<int64_t> order = transpose.getDimensions();
    SmallVector<int64_t> others(order);
    others.erase(others.begin() + along);
    return order[along] + 1 == static_cast<int64_t>(order.size()) && llvm::is_sorted(others);
  }
  return isSplatConstant(op);
}

Value Turner::turned(Value v) {
  if (Value made = known.lookup({v, along})) {
    return made;
  }
  Operation *op = v.getDefiningOp();
  SmallVector<int64_t> shape = turnedShape(v);
  Type element = elementTypeOf(v);
  OpBuilder builder(op);
  HloBuilder b(builder, op->getLoc());
  Value result;
  if (isElementwiseOp(op)) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(isScalar(operand) ? operand : turned(operand));
    }
    result = copyFor(b, op, operands, shape);
  } else if (auto concatenate = dyn_cast<ConcatenateOp>(op)) {
    SmallVector<Value> parts;
    for (Value part : concatenate.getInputs()) {
      parts.push_back(b.reshape(part, turnedShape(part)));
    }
    result = b.concatenate(parts, shape.size() - 1);
  } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    result = b.broadcast(broadcast.getOperand(), shape, turnedDims(broadcast));
  } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
    result = transpose.getOperand();
  } else {
    auto literal = cast<DenseElementsAttr>(cast<ConstantOp>(op).getValue());
    result = b.constant(literal.resizeSplat(HloBuilder::array(shape, element)));
  }
  known[{v, along}] = result;
  return result;
}

} // namespace

static void turnColumns(Block &block) {
  Turner turner;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto transpose = dyn_cast<TransposeOp>(op);
    auto along = transpose ? columnsMovedBehind(transpose) : std::nullopt;
    if (!along) {
      continue;
    }
    turner.startAnother(*along);
    if (turner.canTurn(transpose.getOperand())) {
      transpose.getResult().replaceAllUsesWith(turner.turned(transpose.getOperand()));
      transpose.erase();
    }
  }
  eraseUnused(block);
}

namespace {
class TurnColumnsPass : public TopLevelPass<TurnColumnsPass> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TurnColumnsPass)

  StringRef getArgument() const override { return "hlo-turn-columns"; }
  StringRef getDescription() const override {
    return "Put columns that are stacked and then transposed together as columns";
  }
  void runOnBlock(Block &block, SymbolTable &symbols) { turnColumns(block); }
};
} // namespace

} // namespace hlo::fusion

std::unique_ptr<mlir::Pass> hlo::createTurnColumnsPass() {
  return std::make_unique<fusion::TurnColumnsPass>();
}
