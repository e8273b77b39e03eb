//===- HostTransferExpander.cpp - send and recv as one op each ------------===//
//
// A transfer between program and host is complete when it starts, so the -done forms have nothing
// to do and the context between them is a dummy:
//
//   data..., context = send(data...)             data... are the operands, context 0
//   send-done(data..., context)                  gone
//   data..., context = recv()                    data... = recv(), context 0
//   data... = recv-done(data..., context)        the operands
//
// Transfers between devices stay. Assumes flat tuples; runs before hlo-layout-normalization, which
// handles the remaining ops.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/transforms/expanders/Expanders.h"
#include "dialect/hlo/Builder.h"

using namespace mlir;
using namespace hlo;

namespace {

class HostTransferExpanderPass
    : public PassWrapper<HostTransferExpanderPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HostTransferExpanderPass)
  StringRef getArgument() const final { return "hlo-host-transfer-expander"; }
  StringRef getDescription() const final { return "Replace pairs of transfers with the host"; }

  void runOnOperation() final {
    if (!getAnalysis<OpsPresent>().has<SendOp, RecvOp, SendDoneOp, RecvDoneOp>()) {
      return markAllAnalysesPreserved();
    }
    SmallVector<Operation *> starts, dones;
    getOperation().walk([&](Operation *op) {
      auto host = op->getAttrOfType<BoolAttr>("is_host_transfer");
      if (host && host.getValue()) {
        if (isa<SendOp, RecvOp>(op)) {
          starts.push_back(op);
        } else if (isa<SendDoneOp, RecvDoneOp>(op)) {
          dones.push_back(op);
        }
      }
    });
    for (Operation *op : dones) {
      // Operands: the data and the context. Results, if any: the data.
      for (auto [result, operand] : llvm::zip(op->getResults(), op->getOperands())) {
        result.replaceAllUsesWith(operand);
      }
      op->erase();
    }
    for (Operation *op : starts) {
      replaceStart(op);
    }
  }

private:
  static void replaceStart(Operation *op) {
    OpBuilder builder(op);
    HloBuilder b(builder, op->getLoc());
    SmallVector<Value> values;
    unsigned data = op->getNumResults() ? op->getNumResults() - 1 : 0;
    if (isa<RecvOp>(op)) {
      SmallVector<Type> types(op->getResultTypes());
      types.resize(data);
      auto recv = RecvOp::create(builder, op->getLoc(), types, op->getOperands(), op->getAttrs());
      values.assign(recv->result_begin(), recv->result_end());
    } else {
      SendOp::create(builder, op->getLoc(), TypeRange(), op->getOperands(), op->getAttrs());
      values.assign(op->operand_begin(), op->operand_end());
      values.resize(data);
    }
    if (op->getNumResults()) {
      auto context = cast<RankedTensorType>(op->getResult(data).getType());
      values.push_back(b.scalar(context.getElementType(), 0));
    }
    for (auto [result, value] : llvm::zip(op->getResults(), values)) {
      result.replaceAllUsesWith(value);
    }
    op->erase();
  }
};

} // namespace

std::unique_ptr<Pass> hlo::createHostTransferExpanderPass() {
  return std::make_unique<HostTransferExpanderPass>();
}
