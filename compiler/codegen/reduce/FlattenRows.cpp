//===- FlattenRows.cpp - Rows of several dimensions as rows of one --------===//
//
// In: the region of a row kernel with short rows and several row dimensions that CollapseDims could
// not merge, because an op refers to them separately: it gathers, slices or repeats whole matrices.
// Out: the same with one row dimension, as ShortRows needs it, and a reshape behind the op that
// refers to the old ones:
//
//   reduce(gather : [10000,4,10])  becomes  reduce(reshape(gather) : [40000,10])
//
// Nothing changes if a reshape would have to be undone, or if its elements would be found lane by
// lane.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/loops/Regions.h"
#include "compiler/codegen/reduce/RowEmission.h"

using namespace mlir;

namespace hlo::codegen {
namespace {

class Flattener {
public:
  Flattener(Block &body, ArrayRef<int64_t> rowShape, int64_t columns)
      : body(body), rows(rowShape), columns(columns) {
    full.assign(rows.begin(), rows.end());
    full.push_back(columns);
  }
  bool run();

private:
  bool isFull(Value v) const { return shapeOf(v) == ArrayRef<int64_t>(full); }
  bool isRow(Value v) const { return shapeOf(v) == ArrayRef<int64_t>(rows); }
  /// True if the op has the same meaning on the new shapes.
  bool keepsForm(Operation *op) const;
  bool visit(Value v);
  void rewrite(Operation *op);

  Block &body;
  SmallVector<int64_t> rows, full;
  int64_t columns;
  SetVector<Value> retyped,
      behind; ///< retyped: get the new shapes; behind: keep the old ones and get a reshape
};
} // namespace

bool Flattener::keepsForm(Operation *op) const {
  if (isElementwise(op) || isa<CopyOp, ReduceOp>(op)) {
    return true;
  }
  int64_t last = static_cast<int64_t>(rows.size());
  if (auto iota = dyn_cast<IotaOp>(op)) {
    return isFull(op->getResult(0)) && static_cast<int64_t>(iota.getIotaDimension()) == last;
  }
  auto broadcast = dyn_cast<BroadcastOp>(op);
  if (!broadcast || shapeOf(broadcast.getOperand()).empty()) {
    return broadcast != nullptr;
  }
  return isFull(op->getResult(0)) &&
         (isRow(broadcast.getOperand()) ? llvm::is_sorted(broadcast.getDimensions())
                                        : broadcast.getDimensions() == ArrayRef<int64_t>{last});
}

bool Flattener::visit(Value v) {
  if (!isFull(v) && !isRow(v)) {
    return true;
  }
  if (retyped.contains(v) || behind.contains(v)) {
    return true;
  }
  Operation *op = v.getDefiningOp();
  if (op && !keepsForm(op)) {
    behind.insert(v);
    return isFull(v);
  }
  bool fits = true;
  for (Value result : op ? ValueRange(op->getResults()) : ValueRange(v)) {
    retyped.insert(result);
    fits &= llvm::all_of(result.getUsers(),
                         [&](Operation *user) { return isa<ReturnOp>(user) || keepsForm(user); });
  }
  return fits &&
         (!op || llvm::all_of(op->getOperands(), [&](Value operand) { return visit(operand); }));
}

bool Flattener::run() {
  Operation *end = body.getTerminator();
  if (!llvm::all_of(end->getOperands(),
                    [&](Value root) { return (isFull(root) || isRow(root)) && visit(root); })) {
    return false;
  }
  // Ops on the old shapes are computed before the reduces.
  for (size_t n = 0; n < behind.size(); ++n) {
    SmallVector<Value> work{behind[n]};
    DenseSet<Value> seen;
    while (!work.empty()) {
      Operation *op = work.pop_back_val().getDefiningOp();
      if (op && isa<ReduceOp>(op)) {
        return false;
      }
      for (Value operand : op ? op->getOperands() : OperandRange(nullptr, 0)) {
        if (retyped.contains(operand)) {
          return false;
        }
        if (seen.insert(operand).second) {
          work.push_back(operand);
        }
      }
    }
  }
  int64_t last = static_cast<int64_t>(rows.size()), count = llvm::product_of(rows);
  for (Value v : retyped) {
    Operation *op = v.getDefiningOp();
    if (auto reduce = dyn_cast_or_null<ReduceOp>(op)) {
      reduce.setDimensions(ArrayRef<int64_t>{1});
    } else if (auto iota = dyn_cast_or_null<IotaOp>(op)) {
      iota.setIotaDimension(1);
    } else if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op);
               broadcast && !broadcast.getDimensions().empty()) {
      broadcast.setDimensions(ArrayRef<int64_t>{broadcast.getDimensions()[0] == last ? 1 : 0});
    }
  }
  auto flat = [&](Value v) {
    SmallVector<int64_t> shape{count};
    if (isFull(v)) {
      shape.push_back(columns);
    }
    return RankedTensorType::get(shape, arrayType(v).getElementType());
  };
  for (Value v : behind) {
    OpBuilder b(v.getContext());
    b.setInsertionPointAfterValue(v);
    auto reshape = ReshapeOp::create(b, v.getLoc(), flat(v), v);
    reshape->setAttr(kFlattenedRows, b.getUnitAttr());
    v.replaceUsesWithIf(reshape, [&](OpOperand &use) {
      Operation *user = use.getOwner();
      return user != reshape && (user == end || llvm::any_of(user->getResults(), [&](Value r) {
                                   return retyped.contains(r);
                                 }));
    });
  }
  SmallVector<std::pair<Value, Type>> types;
  for (Value v : retyped) {
    types.push_back({v, flat(v)});
  }
  for (auto [v, type] : types) {
    v.setType(type);
  }
  return true;
}

void flattenShortRows(Block &body, int64_t lanes) {
  auto reduces = body.getOps<ReduceOp>();
  if (reduces.empty() || lanes < 4) {
    return;
  }
  ReduceOp first = *reduces.begin();
  ArrayRef<int64_t> shape = shapeOf(first.getInputs()[0]);
  int64_t last = static_cast<int64_t>(shape.size()) - 1;
  bool alike = llvm::all_of(reduces, [&](ReduceOp op) {
    return shapeOf(op.getInputs()[0]) == shape && op.getDimensions() == ArrayRef<int64_t>{last};
  });
  if (!alike || last < 2 || shape.back() < 2 || shape.back() > kShortRow ||
      llvm::product_of(shape.drop_back()) < lanes) {
    return;
  }
  // Plain sums are faster row by row, straight from their source; argmax and results over columns
  // gain.
  bool isMore = llvm::any_of(reduces, [](ReduceOp op) { return op->getNumResults() > 1; }) ||
                llvm::any_of(body.getTerminator()->getOperands(),
                             [&](Value root) { return shapeOf(root) == shape; });
  if (!isMore) {
    return;
  }
  SmallVector<int64_t> rows(shape.drop_back());
  Flattener(body, rows, shape.back()).run();
}

} // namespace hlo::codegen
