//===- Passes.cpp - Registration of the rewrites --------------------------===//
#include "compiler/transforms/fusion/rewrites/Rewrites.h"

void hlo::registerKernelRewrites() {
  mlir::registerPass([] { return createQuantizeActivationsPass(); });
  mlir::registerPass([] { return createNarrowReducePass(); });
  mlir::registerPass([] { return createReducePartsPass(); });
  mlir::registerPass([] { return createSplitReducePass(); });
  mlir::registerPass([] { return createTurnColumnsPass(); });
  mlir::registerPass([] { return createSplitColumnsPass(); });
  mlir::registerPass([] { return createPairedConcatenatePass(); });
  mlir::registerPass([] { return createSplitConcatenatePass(); });
}
