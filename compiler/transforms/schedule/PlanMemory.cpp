//===- PlanMemory.cpp - The pass hlo-plan-memory --------------------------===//
//
// In: a module after phase "fuse" (see compiler/README.md). Out: the same program as
// cpurt. Fails with a located error at what cannot be planned; nothing is changed before
// the whole plan is made and checked.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/schedule/LowerToCpurt.h"
#include "compiler/transforms/schedule/Plan.h"
#include "compiler/transforms/schedule/RuntimeOps.h"
#include "compiler/transforms/schedule/Schedule.h"
#include "dialect/cpurt/Dialect.h"

using namespace mlir;
using namespace hlo;

/// Reads `hlo.leaf_alias`: output, input, output, input, ...
static LogicalResult readDonations(ModuleOp module, ComputationOp entry,
                                   SmallVectorImpl<schedule::Donation> &donations) {
  auto pairs = module->getAttrOfType<DenseI64ArrayAttr>("hlo.leaf_alias");
  if (!pairs) {
    return success();
  }
  int64_t inputs = entry.getBody().getNumArguments();
  int64_t outputs = entry.getReturn()->getNumOperands();
  for (size_t i = 0; i + 1 < size_t(pairs.size()); i += 2) {
    int64_t output = pairs[i], input = pairs[i + 1];
    if (output < 0 || output >= outputs || input < 0 || input >= inputs) {
      return entry.emitError("hlo.leaf_alias pairs output ")
             << output << " with input " << input << "; there are " << outputs << " and " << inputs;
    }
    if (llvm::any_of(donations, [&](schedule::Donation other) {
          return other.input == input || other.output == output;
        })) {
      return entry.emitError("hlo.leaf_alias names output ")
             << output << " or input " << input << " twice";
    }
    donations.push_back({uint32_t(output), uint32_t(input)});
  }
  return success();
}

namespace {
class HloPlanMemoryPass : public PassWrapper<HloPlanMemoryPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HloPlanMemoryPass)

  StringRef getArgument() const final { return "hlo-plan-memory"; }
  StringRef getDescription() const final {
    return "Schedule kernels and give their values places in memory";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<cpurt::CpurtDialect>();
  }

  void runOnOperation() final {
    if (failed(plan(getOperation()))) {
      signalPassFailure();
    }
  }

private:
  static LogicalResult plan(ModuleOp module) {
    FailureOr<ComputationGraph> graph = ComputationGraph::build(module);
    if (failed(graph) || failed(schedule::markRuntimeOps(module))) {
      return failure();
    }
    schedule::Plan plan;
    schedule::LoopSet doubled;
    if (failed(readDonations(module, graph->entry(), plan.donations)) ||
        failed(schedule::buildPlan(*graph, doubled, plan))) {
      return failure();
    }
    schedule::coalesce(plan);
    doubled = schedule::loopsToDouble(plan);
    if (!doubled.empty()) {
      schedule::Plan again;
      again.donations = plan.donations;
      if (failed(schedule::buildPlan(*graph, doubled, again))) {
        return failure();
      }
      schedule::coalesce(again);
      plan = std::move(again);
    }
    if (failed(schedule::assignOffsets(plan))) {
      return graph->entry().emitError("needs more than 2^63 bytes of memory");
    }
    if (failed(schedule::checkPlan(plan))) {
      return graph->entry().emitError("internal error: memory plan with overlapping buffers");
    }
    schedule::lowerToCpurt(module, *graph, plan);
    return success();
  }
};
} // namespace

std::unique_ptr<Pass> hlo::createHloPlanMemoryPass() {
  return std::make_unique<HloPlanMemoryPass>();
}

void hlo::registerSchedulePasses() { registerPass(createHloPlanMemoryPass); }
