//===- Pipeline.cpp - The order of the passes, phase by phase -------------===//
//
// In: the verified module of `hlo` ops from the parser. Out: a planned module of `cpurt`. This is
// the only place that orders passes; every order that is not obvious has its reason next to it.
// compiler/README.md says what holds after each phase.
//
//===----------------------------------------------------------------------===//
#include "compiler/pipeline/Pipeline.h"
#include "compiler/codegen/Kernel.h"
#include "compiler/codegen/conv/ConvCycles.h"
#include "compiler/machine/Target.h"
#include "compiler/transforms/expanders/Expanders.h"
#include "compiler/transforms/fusion/Fusion.h"
#include "compiler/transforms/fusion/rewrites/Rewrites.h"
#include "compiler/transforms/layout/Layout.h"
#include "compiler/transforms/prepare/Prepare.h"
#include "compiler/transforms/schedule/Schedule.h"
#include "compiler/transforms/simplifiers/Simplifiers.h"
#include "dialect/cpurt/Dialect.h"
#include "dialect/hlo/verify/SymbolCache.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace hlo;

void hlo::registerAllDialects(DialectRegistry &registry) {
  registry.insert<HloDialect, cpurt::CpurtDialect, arith::ArithDialect, cf::ControlFlowDialect,
                  LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect, ub::UBDialect,
                  vector::VectorDialect>();
}

static LayoutCosts layoutCosts(const Machine &machine) {
  return {[machine](ConvolutionOp conv) { return codegen::convolutionCycles(conv, machine); },
          [machine](RankedTensorType type) { return codegen::transposeCycles(type, machine); }};
}

/// What is written otherwise so that fusion makes better kernels of it. After hlo-split-prepare: a
/// rewrite does not mix what is prepared with what is not.
static void addKernelRewrites(OpPassManager &passes) {
  // Reduces, from their elements outwards: which type is summed decides how many bytes one reads,
  // what is put together is reduced where it is made, and only what is left of both is cut in two.
  passes.addPass(createNarrowReducePass());
  passes.addPass(createReducePartsPass());
  passes.addPass(createSplitReducePass());
  // Columns. First those that a transpose hides. Last the concatenates that are none of columns:
  // those of columns are stacks by then.
  passes.addPass(createTurnColumnsPass());
  passes.addPass(createSplitColumnsPass());
  passes.addPass(createPairedConcatenatePass());
  // After the rewrites that look for the parts of a concatenate.
  passes.addPass(createSplitConcatenatePass());
}

void hlo::addPhase(OpPassManager &passes, Phase phase, const Machine &machine,
                   PartitionReport *report) {
  switch (phase) {
  case Phase::Partition:
    // Shardings are read first, because inlining and flattening drop what they do not know.
    passes.addPass(createImportShardingsPass());
    addFlattenPasses(passes);
    passes.addPass(createSpmdPartitionerPass(report));
    passes.addPass(createMergeEqualPass());
    // What the report counts: a collective of arrays that a loop does not change is outside of it.
    passes.addPass(createWhileLoopSimplifierPass());
    passes.addPass(createWhileLoopInvariantCodeMotionPass(machine));
    passes.addPass(createDcePass());
    break;
  case Phase::Canonicalize: addCanonicalizePasses(passes, machine); break;
  case Phase::Layout:
    addLayoutPasses(passes, layoutCosts(machine));
    // The transposes that are left merge with those of the program, and dots take them in.
    passes.addPass(createAlgebraicSimplifierPass(machine));
    passes.addPass(createMergeEqualPass());
    passes.addPass(createDcePass());
    break;
  case Phase::Fuse:
    // Before anyone asks how a dot would be multiplied.
    passes.addPass(createQuantizeActivationsPass());
    // These passes do nothing without immutable parameters or large constants. hlo-split-prepare
    // runs twice: on ops before fusion, so that no kernel mixes prepared values with others; then
    // on whole kernels.
    passes.addPass(createFoldScalesPass());
    passes.addPass(createPackOperandsPass([machine](Operation *hero, unsigned operand) {
      return codegen::wantedPanels(hero, operand, machine);
    }));
    passes.addPass(createSplitPreparePass());
    addKernelRewrites(passes);
    // Before fusion, which would store the scores.
    passes.addPass(createHloAttentionFusionPass(machine));
    passes.addPass(createHloFusionPass(machine));
    passes.addPass(createSplitPreparePass());
    // Last, so that kernels with prepared results are separate from the others by then.
    passes.addPass(createHloMultiOutputFusionPass(machine));
    break;
  case Phase::Plan: passes.addPass(createHloPlanMemoryPass()); break;
  case Phase::Parse:
  case Phase::Emit:
  case Phase::Optimize:
  case Phase::Package: break;
  }
}

/// While it lives, counts the errors that go through a context, and passes them on.
namespace {
struct ErrorCounter {
  explicit ErrorCounter(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          errors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
          return failure();
        }) {}
  unsigned errors = 0;
  ScopedDiagnosticHandler handler;
};
} // namespace

LogicalResult hlo::runPhase(ModuleOp module, Phase phase, const Machine &machine,
                            PartitionReport *report) {
  // Most modules have one partition, or are the program of one already.
  if (phase == Phase::Partition && !needsPartitioning(module)) {
    return success();
  }
  ErrorCounter counter(module.getContext());
  auto passes = PassManager::on<ModuleOp>(module.getContext());
  // Verification after each pass takes longer than most passes; each phase is verified as a whole.
  passes.enableVerifier(false);
  addPhase(passes, phase, machine, report);
  if (passes.empty()) {
    return success();
  }
  if (failed(passes.run(module))) {
    if (!counter.errors) {
      module.emitError("internal error: phase ") << phaseName(phase) << " failed without a reason";
    }
    return failure();
  }
  if (phase == Phase::Partition) {
    reportCommunication(module, report);
  }
  SymbolScope symbols(module);
  if (failed(verify(module))) {
    return module.emitError("internal error: the module is invalid after phase ")
           << phaseName(phase);
  }
  return success();
}

void hlo::registerAllPasses(const Machine &machine) {
  registerCanonicalizerPass();
  registerCSEPass();
  registerSymbolDCEPass();
  registerStripDebugInfoPass();
  registerSimplifierPasses(machine);
  registerSpmdPasses();
  registerExpanderPasses();
  registerLayoutPasses(layoutCosts(machine));
  registerKernelRewrites();
  registerFusionPasses(machine);
  registerPreparePasses();
  registerSchedulePasses();
  PassPipelineRegistration<>("kernel-rewrites",
                             "The passes of phase fuse that hlo-fusion needs before",
                             addKernelRewrites);
  for (Phase phase :
       {Phase::Partition, Phase::Canonicalize, Phase::Layout, Phase::Fuse, Phase::Plan}) {
    PassPipelineRegistration<>(
        ("phase-" + phaseName(phase)).str(), ("All passes of phase " + phaseName(phase)).str(),
        [phase, &machine](OpPassManager &passes) { addPhase(passes, phase, machine); });
  }
}
