//===- PlanMemory.cpp - The pass hlo-plan-memory --------------------------===//
//
// In: a module after phase "fuse" (see compiler/README.md). Out: the same program as cpurt. Fails
// with a located error if something cannot be planned; the module is not changed before the whole
// plan is made and checked.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/entry/SizeArguments.h"
#include "compiler/transforms/schedule/LowerToCpurt.h"
#include "compiler/transforms/schedule/Plan.h"
#include "compiler/transforms/schedule/RuntimeOps.h"
#include "compiler/transforms/schedule/Schedule.h"
#include "dialect/cpurt/Dialect.h"

using namespace mlir;
using namespace hlo;

/// The ABI's HLO_READ_BY_RUN, HLO_READ_BY_PREPARE and HLO_IMMUTABLE.
static constexpr int8_t readByRun = 1, readByPrepare = 2, isImmutable = 4;

/// Reads `hlo.leaf_alias`: output, input, output, input, ...
static LogicalResult readDonations(ModuleOp module, ComputationOp entry,
                                   SmallVectorImpl<schedule::Donation> &donations) {
  auto pairs = module->getAttrOfType<DenseI64ArrayAttr>("hlo.leaf_alias");
  if (!pairs) {
    return success();
  }
  int64_t inputs = entry.getBody().getNumArguments();
  int64_t outputs = entry.getReturn()->getNumOperands();
  llvm::DenseSet<int64_t> givenInputs, givenOutputs;
  for (size_t i = 0; i + 1 < size_t(pairs.size()); i += 2) {
    int64_t output = pairs[i], input = pairs[i + 1];
    if (output < 0 || output >= outputs || input < 0 || input >= inputs) {
      return entry.emitError("hlo.leaf_alias pairs output ")
             << output << " with input " << input << "; there are " << outputs << " and " << inputs;
    }
    if (!givenInputs.insert(input).second || !givenOutputs.insert(output).second) {
      return entry.emitError("hlo.leaf_alias names output ")
             << output << " or input " << input << " twice";
    }
    donations.push_back({uint32_t(output), uint32_t(input)});
  }
  llvm::sort(donations,
             [](schedule::Donation a, schedule::Donation b) { return a.output < b.output; });
  return success();
}

/// Sets the attributes that say which leaves each of the two programs reads, and the size of the
/// prepared block.
static void noteInputUse(ModuleOp module, ComputationOp entry, ComputationOp prepare,
                         const PreparedBlock &block) {
  Builder b(module.getContext());
  SmallVector<int8_t> use;
  for (auto [argument, other] :
       llvm::zip_first(prepare.getBody().getArguments(), entry.getBody().getArguments())) {
    use.push_back((other.use_empty() ? 0 : readByRun) | (argument.use_empty() ? 0 : readByPrepare));
  }
  if (auto leaves = module->getAttrOfType<DenseI64ArrayAttr>(kImmutableLeaves)) {
    for (int64_t leaf : leaves.asArrayRef()) {
      use[leaf] |= isImmutable;
    }
  }
  module->setAttr(kInputUse, b.getDenseI8ArrayAttr(use));
  module->setAttr(kPreparedBytes, b.getI64IntegerAttr(block.bytes));
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
    SmallVector<schedule::PlannedRoot, 2> roots;
    roots.push_back({graph->entry(), {}});
    if (failed(readDonations(module, graph->entry(), roots[0].plan.donations))) {
      return failure();
    }
    PreparedBlock block;
    if (ComputationOp prepare = graph->prepare()) {
      FailureOr<PreparedBlock> made = layOutBlock(prepare);
      if (failed(made)) {
        return prepare.emitError("what is prepared needs more than 2^63 bytes");
      }
      block = std::move(*made);
      noteInputUse(module, graph->entry(), prepare, block);
      roots.push_back({prepare, {}});
    }
    for (schedule::PlannedRoot &root : roots) {
      if (failed(planRoot(*graph, root.computation, root.plan))) {
        return failure();
      }
    }
    schedule::lowerToCpurt(module, *graph, roots, block);
    return success();
  }

  static LogicalResult planRoot(const ComputationGraph &graph, ComputationOp root,
                                schedule::Plan &plan) {
    schedule::LoopSet doubled;
    if (failed(schedule::buildPlan(graph, doubled, plan, root))) {
      return failure();
    }
    schedule::coalesce(plan);
    doubled = schedule::loopsToDouble(plan);
    if (!doubled.empty()) {
      schedule::Plan again;
      again.donations = plan.donations;
      if (failed(schedule::buildPlan(graph, doubled, again, root))) {
        return failure();
      }
      schedule::coalesce(again);
      plan = std::move(again);
    }
    // A caller's dense buffer may end anywhere before the bound.
    bool guests = root.getEntry() && !root->getParentOp()->hasAttr(kDenseBuffers);
    if (failed(schedule::assignOffsets(plan, guests))) {
      return root.emitError("needs more than 2^63 bytes of memory");
    }
    if (failed(schedule::checkPlan(plan))) {
      return root.emitError("internal error: memory plan with overlapping buffers");
    }
    return success();
  }
};
} // namespace

std::unique_ptr<Pass> hlo::createHloPlanMemoryPass() {
  return std::make_unique<HloPlanMemoryPass>();
}

void hlo::registerSchedulePasses() { registerPass(createHloPlanMemoryPass); }
