//===- ConstantFolding.cpp - Ops of constants computed here ---------------===//
//
// One walk in block order, so that a chain of ops folds in one run. An op folds if its operands are
// constants, small iotas or broadcast scalars, and neither it nor they have more elements than the
// limit:
//
//   add(constant a, constant b)              ->  constant a + b
//   add(broadcast(constant a), broadcast(..)) ->  left to the algebraic simplifier
//   slice(iota)                              ->  constant
//
// A large splat constant becomes a broadcast scalar, which needs no memory. An iota or broadcast
// that no op folds stays.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/analysis/evaluator/Evaluator.h"
#include "compiler/transforms/simplifiers/Simplifiers.h"
#include "dialect/hlo/Builder.h"

using namespace mlir;
using namespace hlo;

namespace {

/// Most elements of a folded result: reading a larger constant from memory takes longer than most
/// ops that would compute it.
constexpr int64_t kMaxResult = 1024;
/// Most elements of an operand of a folded op.
constexpr int64_t kMaxOperand = 4096;

class ConstantFoldingPass : public SettlingPass<ConstantFoldingPass> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConstantFoldingPass)
  StringRef getArgument() const final { return "hlo-constant-folding"; }
  StringRef getDescription() const final { return "Evaluate ops of small constants"; }

  FailureOr<bool> change() {
    if (!getAnalysis<OpsPresent>().has<ConstantOp, IotaOp>()) {
      return false;
    }
    bool changed = false;
    for (auto computation : getOperation().getOps<ComputationOp>()) {
      for (Operation &op : llvm::make_early_inc_range(computation.getBody().front())) {
        changed |= fold(&op);
      }
    }
    return changed;
  }

private:
  /// The constant value of `value`, computing small iotas and broadcasts of constants; null if
  /// none.
  static DenseElementsAttr valueOf(Value value) {
    Operation *op = value.getDefiningOp();
    RankedTensorType type = arrayType(value);
    if (!op || !type || !type.hasStaticShape() || type.getNumElements() > kMaxOperand) {
      return {};
    }
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      return dyn_cast<DenseElementsAttr>(constant.getValue());
    }
    if (!isa<IotaOp, BroadcastOp>(op)) {
      return {};
    }
    SmallVector<DenseElementsAttr> operands;
    for (Value operand : op->getOperands()) {
      auto constant = operand.getDefiningOp<ConstantOp>();
      auto attr = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
      if (!attr) {
        return {};
      }
      operands.push_back(attr);
    }
    return evaluate(op, operands);
  }

  /// A constant, or a broadcast scalar if all elements are equal.
  static Value materialize(HloBuilder &b, DenseElementsAttr value) {
    auto type = cast<RankedTensorType>(value.getType());
    if (!value.isSplat() || type.getNumElements() < 2) {
      return b.constant(value);
    }
    RankedTensorType scalar = RankedTensorType::get({}, type.getElementType());
    return b.broadcastScalar(b.constant(value.resizeSplat(scalar)), type.getShape());
  }

  /// Whether it replaced the op.
  static bool fold(Operation *op) {
    if (op->getNumResults() != 1 || isa<IotaOp>(op) || !isPure(op)) {
      return false;
    }
    RankedTensorType type = arrayType(op->getResult(0));
    if (!type || !type.hasStaticShape()) {
      return false;
    }
    OpBuilder builder(op);
    HloBuilder b(builder, op->getLoc());
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      auto attr = dyn_cast<DenseElementsAttr>(constant.getValue());
      if (attr && attr.isSplat() && type.getNumElements() > 1 && !type.getEncoding()) {
        op->getResult(0).replaceAllUsesWith(materialize(b, attr));
        op->erase();
        return true;
      }
      return false;
    }
    if (type.getNumElements() > kMaxResult || op->getNumOperands() == 0) {
      return false;
    }
    if (isa<BroadcastOp>(op) && isScalar(op->getOperand(0)) && type.getNumElements() > 1) {
      return false;
    }
    // An op with a variable operand is skipped before its constant operands are computed.
    if (!llvm::all_of(op->getOperands(), [](Value operand) {
          return llvm::isa_and_present<ConstantOp, IotaOp, BroadcastOp>(operand.getDefiningOp());
        })) {
      return false;
    }
    SmallVector<DenseElementsAttr> operands;
    bool scalarsOnly = type.getNumElements() > 1;
    for (Value operand : op->getOperands()) {
      DenseElementsAttr attr = valueOf(operand);
      if (!attr) {
        return false;
      }
      operands.push_back(attr);
      auto broadcast = operand.getDefiningOp<BroadcastOp>();
      scalarsOnly &= broadcast && isScalar(broadcast.getOperand());
    }
    if (scalarsOnly) {
      return false;
    }
    if (DenseElementsAttr value = evaluate(op, operands)) {
      op->getResult(0).replaceAllUsesWith(materialize(b, value));
      op->erase();
      return true;
    }
    return false;
  }
};

} // namespace

std::unique_ptr<Pass> hlo::createConstantFoldingPass() {
  return std::make_unique<ConstantFoldingPass>();
}
