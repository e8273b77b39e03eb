//===- Passes.cpp - The order of the expanders and their registration -----===//
//
// The passes are independent of each other unless a line says otherwise.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/expanders/Expanders.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

void hlo::addExpanderPasses(OpPassManager &manager) {
  manager.addPass(createBatchNormExpanderPass());
  manager.addPass(createTopkExpanderPass());
  manager.addPass(createRngExpanderPass());
  // First: more maps become element-wise, and emitters never meet arrays in scalar computations.
  manager.addPass(createScalarizerPass());
  manager.addPass(createMapInlinerPass());
  manager.addPass(createReducerExpanderPass()); // after the maps, which may compute its arrays
  manager.addPass(
      createExtremumExpanderPass()); // after the reducers, which leave single maximum ops
  manager.addPass(createIndexExpanderPass());
  manager.addPass(createScanExpanderPass());
  manager.addPass(createRaggedDotExpanderPass());
  manager.addPass(createScaledDotExpanderPass());
  manager.addPass(createProductTypeExpanderPass()); // after the other products
  manager.addPass(createCholeskyExpanderPass());
  manager.addPass(createTriangularSolveExpanderPass());
  manager.addPass(createImplicitBroadcastExpanderPass());
  manager.addPass(createSingleRankCollectivesPass());
}

void hlo::registerExpanderPasses() {
  registerPass([] { return createBatchNormExpanderPass(); });
  registerPass([] { return createTopkExpanderPass(); });
  registerPass([] { return createRngExpanderPass(); });
  registerPass([] { return createScalarizerPass(); });
  registerPass([] { return createMapInlinerPass(); });
  registerPass([] { return createReducerExpanderPass(); });
  registerPass([] { return createExtremumExpanderPass(); });
  registerPass([] { return createIndexExpanderPass(); });
  registerPass([] { return createDynamicPadderPass(); });
  registerPass([] { return createSizeVersionsPass(); });
  registerPass([] { return createScanExpanderPass(); });
  registerPass([] { return createRaggedDotExpanderPass(); });
  registerPass([] { return createScaledDotExpanderPass(); });
  registerPass([] { return createProductTypeExpanderPass(); });
  registerPass([] { return createCholeskyExpanderPass(); });
  registerPass([] { return createTriangularSolveExpanderPass(); });
  registerPass([] { return createImplicitBroadcastExpanderPass(); });
  registerPass([] { return createSingleRankCollectivesPass(); });
  registerPass([] { return createHostTransferExpanderPass(); });
  registerPass([] { return createDeviceTransferExpanderPass(); });
}
