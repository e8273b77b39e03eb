//===- QuantizeActivations.cpp - Which dots may quantize their rows -------===//
//
// In: a module with kQuantizeActivations, or without, which stays as it is. Out: the attribute
// stands at each dot of floats, where kernels see it. Which of these dots have narrow integers on
// one side, and few rows on the other, the dots' forms know (codegen/dot/Scaled.cpp).
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/QuantizedActivations.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/fusion/rewrites/Rewrites.h"
#include "dialect/hlo/Dialect.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace hlo;

namespace {
struct QuantizeActivations : PassWrapper<QuantizeActivations, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(QuantizeActivations)
  StringRef getArgument() const override { return "hlo-quantize-activations"; }
  StringRef getDescription() const override { return "Mark dots whose rows may become bytes"; }

  void runOnOperation() override {
    if (!getOperation()->hasAttr(kQuantizeActivations)) {
      return;
    }
    getOperation().walk([](DotOp dot) {
      if (isa<FloatType>(getElementTypeOrSelf(dot.getResult().getType()))) {
        dot->setAttr(kQuantizeActivations, UnitAttr::get(dot.getContext()));
      }
    });
  }
};
} // namespace

std::unique_ptr<Pass> hlo::createQuantizeActivationsPass() {
  return std::make_unique<QuantizeActivations>();
}
