//===- Passes.cpp - The canonicalize phase and its registration -----------===//
//
// The order of passes inside the phase; each pass states its assumptions in its file.
//
//===----------------------------------------------------------------------===//
#include "mlir/Transforms/Passes.h"
#include "compiler/transforms/expanders/Expanders.h"
#include "compiler/transforms/layout/Layout.h"
#include "compiler/transforms/simplifiers/Simplifiers.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

void hlo::addCanonicalizePasses(OpPassManager &manager, const Machine &machine) {
  manager.addPass(createRefuseUnpartitionedPass());
  addFlattenPasses(manager);
  manager.addPass(createEntryPackingPass());
  manager.addPass(createComputationDedupPass());
  manager.addPass(createDcePass());
  // Where the masks of the dynamic padder are as it made them, and before expanders look at sizes.
  manager.addPass(createSizeVersionsPass());
  addExpanderPasses(manager);
  // Before constants of few bytes are folded with their scales; and after what stood between bytes
  // and their products is simplified.
  manager.addPass(createIntegerProductsPass(machine));
  addSimplifyPasses(manager, machine);
  manager.addPass(createIntegerProductsPass(machine));
  // After the other simplifications: a moved op becomes a carry, and rules do not look through
  // carries.
  manager.addPass(createWhileLoopInvariantCodeMotionPass(machine));
  manager.addPass(createMergeEqualPass());
  manager.addPass(createDcePass());
  manager.addPass(createVerifyFlatPass());
}

void hlo::addFlattenPasses(OpPassManager &manager) {
  // Before any pass reorders constants: placeholder values depend on the text order.
  manager.addPass(createElidedConstantsPass());
  manager.addPass(createFlattenCallsPass());
  manager.addPass(createFlattenTuplesPass());
  manager.addPass(createHostTransferExpanderPass());
  manager.addPass(createDeviceTransferExpanderPass());
  // Before layouts go: layouts hold the dynamic bits of dimensions.
  manager.addPass(createDynamicPadderPass());
  // Layouts are removed before any pass compares types: two arrays of one shape then have one type.
  manager.addPass(createLayoutNormalizationPass());
}

void hlo::addSimplifyPasses(OpPassManager &manager, const Machine &machine) {
  // Two rounds: folding, merging and simplifying often enable each other once more.
  for (int round = 0; round < 2; ++round) {
    manager.addPass(createConstantFoldingPass());
    manager.addPass(createConditionalSimplifierPass());
    manager.addPass(createWhileLoopSimplifierPass());
    manager.addPass(createAlgebraicSimplifierPass(machine));
    manager.addPass(createMergeEqualPass());
    manager.addPass(createDcePass());
  }
}

void hlo::registerSimplifierPasses(const Machine &machine) {
  registerPass([] { return createRefuseUnpartitionedPass(); });
  registerPass([] { return createElidedConstantsPass(); });
  registerPass([] { return createFlattenCallsPass(); });
  registerPass([] { return createFlattenTuplesPass(); });
  registerPass([] { return createDcePass(); });
  registerPass([] { return createComputationDedupPass(); });
  registerPass([] { return createMergeEqualPass(); });
  registerPass([&machine] { return createAlgebraicSimplifierPass(machine); });
  registerPass([] { return createConstantFoldingPass(); });
  registerPass([&machine] { return createIntegerProductsPass(machine); });
  registerPass([] { return createWhileLoopSimplifierPass(); });
  registerPass([&machine] { return createWhileLoopInvariantCodeMotionPass(machine); });
  registerPass([] { return createConditionalSimplifierPass(); });
  registerPass([] { return createVerifyFlatPass(); });
}
