//===- Passes.cpp - The order of the expanders and their registration -----===//
//
// Each pass is independent of the others unless its line says otherwise.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/expanders/Expanders.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

void hlo::addExpanderPasses(OpPassManager &manager) {
  manager.addPass(createBatchNormExpanderPass());
  manager.addPass(createTopkExpanderPass());
  manager.addPass(createRngExpanderPass());
  // Then more maps are element-wise, and no emitter meets an array where it expects scalars.
  manager.addPass(createScalarizerPass());
  manager.addPass(createMapInlinerPass());
  manager.addPass(createReducerExpanderPass());  // its arrays may be computed by maps
  manager.addPass(createExtremumExpanderPass()); // after the reducers, whose maxima are single ops
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
