//===- Passes.cpp - The canonicalize phase and its registration -----------===//
//
// The order inside the phase; what each pass needs is said at its file.
//
//===----------------------------------------------------------------------===//
#include "mlir/Transforms/Passes.h"
#include "compiler/transforms/expanders/Expanders.h"
#include "compiler/transforms/layout/Layout.h"
#include "compiler/transforms/simplifiers/Simplifiers.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

void hlo::addCanonicalizePasses(OpPassManager &manager) {
  manager.addPass(createRefuseUnpartitionedPass());
  // While the constants are in the order of the text.
  manager.addPass(createElidedConstantsPass());
  manager.addPass(createFlattenCallsPass());
  manager.addPass(createFlattenTuplesPass());
  manager.addPass(createHostTransferExpanderPass());
  manager.addPass(createDeviceTransferExpanderPass());
  // The layouts hold which dimensions are dynamic.
  manager.addPass(createDynamicPadderPass());
  // Layouts go before anything compares types: two arrays of one shape are then one type.
  manager.addPass(createLayoutNormalizationPass());
  manager.addPass(createEntryPackingPass());
  manager.addPass(createComputationDedupPass());
  manager.addPass(createDcePass());
  addExpanderPasses(manager);
  addSimplifyPasses(manager);
  // Once all else is simple: a moved op is a carry, and no rule looks through carries.
  manager.addPass(createWhileLoopInvariantCodeMotionPass());
  manager.addPass(createCSEPass());
  manager.addPass(createDcePass());
  manager.addPass(createVerifyFlatPass());
}

void hlo::addSimplifyPasses(OpPassManager &manager) {
  // Twice: what one round of folding, merging and simplifying finds is often worth a second.
  for (int round = 0; round < 2; ++round) {
    manager.addPass(createConstantFoldingPass());
    manager.addPass(createConditionalSimplifierPass());
    manager.addPass(createWhileLoopSimplifierPass());
    manager.addPass(createAlgebraicSimplifierPass());
    manager.addPass(createCSEPass());
    manager.addPass(createDcePass());
  }
}

void hlo::registerSimplifierPasses() {
  registerPass([] { return createRefuseUnpartitionedPass(); });
  registerPass([] { return createElidedConstantsPass(); });
  registerPass([] { return createFlattenCallsPass(); });
  registerPass([] { return createFlattenTuplesPass(); });
  registerPass([] { return createDcePass(); });
  registerPass([] { return createComputationDedupPass(); });
  registerPass([] { return createAlgebraicSimplifierPass(); });
  registerPass([] { return createConstantFoldingPass(); });
  registerPass([] { return createWhileLoopSimplifierPass(); });
  registerPass([] { return createWhileLoopInvariantCodeMotionPass(); });
  registerPass([] { return createConditionalSimplifierPass(); });
  registerPass([] { return createVerifyFlatPass(); });
}
