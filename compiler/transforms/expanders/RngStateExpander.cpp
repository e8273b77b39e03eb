//===- RngStateExpander.cpp - The runtime's random state ------------------===//
//
//   rng-get-and-update-state  ->  the state that XLA's first run starts from
//
// A program keeps nothing from run to run, so each run is a first one. Inside a
// loop or branch, where the state would have to advance, the op is refused.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/expanders/OpExpander.h"

using namespace mlir;
using namespace hlo;

namespace {

/// What XLA initializes each state with.
constexpr uint64_t kInitialState = 0x7012395;

class RngStateExpanderPass
    : public OpExpanderPass<RngStateExpanderPass, RngGetAndUpdateStateOp> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RngStateExpanderPass)
  StringRef getArgument() const final { return "hlo-rng-state-expander"; }
  StringRef getDescription() const final { return "Replace the runtime's random state"; }

  FailureOr<Values> expand(RngGetAndUpdateStateOp op, HloBuilder &b, ScalarComputations &) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (!op->getParentOfType<ComputationOp>().getEntry()) {
      return op.emitError("rng-get-and-update-state inside a loop or branch is not supported yet");
    }
    if (type.getNumElements() != 2) {
      return op.emitError("rng-get-and-update-state: expected u64[2], got ") << type;
    }
    return Values{
        b.constant(DenseElementsAttr::get(type, {APInt(64, kInitialState), APInt(64, 0)}))};
  }
};

} // namespace

std::unique_ptr<Pass> hlo::createRngStateExpanderPass() {
  return std::make_unique<RngStateExpanderPass>();
}
