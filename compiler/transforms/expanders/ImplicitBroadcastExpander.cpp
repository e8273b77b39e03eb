//===- ImplicitBroadcastExpander.cpp - Scalar operands spread explicitly ---===//
//
//   clamp(scalar, x, scalar)  ->  clamp(broadcast(scalar), x, broadcast(scalar))
//   select(scalar, x, y)      ->  select(broadcast(scalar), x, y)
//
// Afterwards all operands of an element-wise op have the shape of its result.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/expanders/OpExpander.h"

using namespace mlir;
using namespace hlo;

namespace {

class ImplicitBroadcastExpanderPass
    : public PassWrapper<ImplicitBroadcastExpanderPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ImplicitBroadcastExpanderPass)
  StringRef getArgument() const final { return "hlo-implicit-broadcast-expander"; }
  StringRef getDescription() const final {
    return "Broadcast the scalar operands of clamp and select";
  }

  void runOnOperation() final {
    if (!getAnalysis<OpsPresent>().has<ClampOp, SelectOp>()) {
      return markAllAnalysesPreserved();
    }
    getOperation().walk([](Operation *op) {
      if (!isa<ClampOp, SelectOp>(op) || isScalar(op->getResult(0))) {
        return;
      }
      OpBuilder builder(op);
      HloBuilder b(builder, op->getLoc());
      for (OpOperand &operand : op->getOpOperands()) {
        if (isScalar(operand.get())) {
          operand.set(b.broadcastScalar(operand.get(), shapeOf(op->getResult(0))));
        }
      }
    });
  }
};

} // namespace

std::unique_ptr<Pass> hlo::createImplicitBroadcastExpanderPass() {
  return std::make_unique<ImplicitBroadcastExpanderPass>();
}
