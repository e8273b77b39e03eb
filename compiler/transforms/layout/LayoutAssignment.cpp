//===- LayoutAssignment.cpp - hlo-layout-assignment: features last --------===//
//
// In: a canonical module. Out: convolutions, and the ops between them, work on images whose
// features are the last dimension wherever that costs fewer cycles, transposes included:
//
//   y = convolution(x, w), dim_labels=bf01_oi01->bf01         t = transpose(x), {0,2,3,1}
//   z = maximum(y, 0)                                     =>  y = convolution(t, w),
//                                                                 dim_labels=b01f_oi01->b01f
//                                                             z = transpose(maximum(y, 0)), {0,3,1,2}
//
// Array types stay row-major: the orders are those of dimensions, and dim_labels, dimension numbers
// and windows follow. What is chosen, and how: LayoutGraph.cpp. Transposes remain between arrays in
// different orders. The computations that run at top level are seen one by one: parameters and
// results keep their order. Kernels keep theirs, too, unless they are images (gradients).
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/layout/LayoutGraph.h"

using namespace mlir;
using namespace hlo;

namespace {
/// The arrays of a block in the orders in which they are, and in those in which they are read.
class Arrays {
public:
  void setOrder(Value value, ArrayRef<int64_t> order) { stored[value] = Order(order); }
  /// `value`, whose own order is known here, in `order`; empty: row-major.
  Value in(Value value, ArrayRef<int64_t> order);

private:
  /// The order of each array that is not row-major.
  DenseMap<Value, Order> stored;
  DenseMap<Value, SmallVector<std::pair<Order, Value>, 1>> copies;
};

class LayoutAssignmentPass : public PassWrapper<LayoutAssignmentPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LayoutAssignmentPass)
  explicit LayoutAssignmentPass(LayoutCosts costs) : costs(std::move(costs)) {}
  StringRef getArgument() const final { return "hlo-layout-assignment"; }
  StringRef getDescription() const final {
    return "Choose orders of dimensions around convolutions";
  }

  void runOnOperation() final {
    bool changed = false;
    if (getAnalysis<OpsPresent>().has<ConvolutionOp>()) {
      for (auto computation : getOperation().getOps<ComputationOp>()) {
        changed |= assign(computation.getBody().front());
      }
    }
    if (!changed) {
      markAllAnalysesPreserved();
    }
  }

private:
  bool assign(Block &block);

  LayoutCosts costs;
};
} // namespace

Value Arrays::in(Value value, ArrayRef<int64_t> order) {
  auto found = stored.find(value);
  if (found == stored.end() && order.empty()) {
    return value;
  }
  int64_t rank = rankOf(value);
  Order from = found != stored.end() ? found->second : rowMajor(rank);
  Order to = order.empty() ? rowMajor(rank) : Order(order);
  if (from == to) {
    return value;
  }
  SmallVector<std::pair<Order, Value>, 1> &made = copies[value];
  for (auto &[known, copy] : made) {
    if (known == to) {
      return copy;
    }
  }
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  HloBuilder b(builder, value.getLoc());
  Value copy = reordered(b, value, from, to);
  made.push_back({to, copy});
  return copy;
}

bool LayoutAssignmentPass::assign(Block &block) {
  LayoutGraph graph(block, costs);
  if (!graph.propose() || !graph.choose()) {
    return false;
  }
  Arrays arrays;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    for (OpOperand &operand : op.getOpOperands()) {
      if (arrayType(operand.get())) {
        operand.set(arrays.in(operand.get(), graph.chosenOperand(&op, operand.getOperandNumber())));
      }
    }
    graph.apply(&op);
    for (OpResult result : op.getResults()) {
      ArrayRef<int64_t> order = graph.chosenResult(&op, result.getResultNumber());
      if (!order.empty()) {
        arrays.setOrder(result, order);
      }
    }
  }
  return true;
}

std::unique_ptr<Pass> hlo::createLayoutAssignmentPass(LayoutCosts costs) {
  return std::make_unique<LayoutAssignmentPass>(std::move(costs));
}
