//===- IndexExpander.cpp - Index vectors and dimension sizes as scalars ---===//
//
//   dynamic-slice(x, i : s32[n])          ->  dynamic-slice(x, i[0], ..., i[n-1])
//   dynamic-update-slice(x, u, i : s32[n]) -> the same
//   get-dimension-size(x) of a static one ->  its size
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/expanders/OpExpander.h"

using namespace mlir;
using namespace hlo;

namespace {

class IndexExpanderPass : public PassWrapper<IndexExpanderPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(IndexExpanderPass)
  StringRef getArgument() const final { return "hlo-index-expander"; }
  StringRef getDescription() const final {
    return "Split index vectors into scalars; fold sizes of static dimensions";
  }

  void runOnOperation() final {
    if (!getAnalysis<OpsPresent>()
             .has<DynamicSliceOp, DynamicUpdateSliceOp, GetDimensionSizeOp>()) {
      return markAllAnalysesPreserved();
    }
    getOperation().walk([&](Operation *op) {
      if (isa<DynamicSliceOp>(op)) {
        splitIndices(op, 1);
      } else if (isa<DynamicUpdateSliceOp>(op)) {
        splitIndices(op, 2);
      } else if (auto size = dyn_cast<GetDimensionSizeOp>(op)) {
        RankedTensorType type = arrayType(size.getOperand());
        if (!type.isDynamicDim(size.getDimension())) {
          OpBuilder builder(op);
          HloBuilder b(builder, op->getLoc());
          size.getResult().replaceAllUsesWith(
              b.scalar(elementTypeOf(size.getResult()), type.getDimSize(size.getDimension())));
          op->erase();
        }
      }
    });
  }

private:
  static void splitIndices(Operation *op, unsigned first) {
    if (op->getNumOperands() != first + 1 || rankOf(op->getOperand(first)) != 1) {
      return;
    }
    OpBuilder builder(op);
    HloBuilder b(builder, op->getLoc());
    Value vector = op->getOperand(first);
    SmallVector<Value> operands(op->getOperands().take_front(first));
    for (int64_t i = 0, rank = shapeOf(vector)[0]; i < rank; ++i) {
      operands.push_back(b.reshape(b.sliceDim(vector, 0, i, i + 1), {}));
    }
    op->setOperands(operands);
  }
};

} // namespace

std::unique_ptr<Pass> hlo::createIndexExpanderPass() {
  return std::make_unique<IndexExpanderPass>();
}
