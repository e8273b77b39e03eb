//===- Passes.cpp - The layout phase and its registration -----------------===//
//
// Layout normalization runs early in the canonicalize phase, where types are first compared (see
// simplifiers/Passes.cpp). This phase chooses orders of dimensions where a program has
// convolutions.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/layout/Layout.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

void hlo::addLayoutPasses(OpPassManager &manager, LayoutCosts costs) {
  manager.addPass(createLayoutAssignmentPass(std::move(costs)));
}

void hlo::registerLayoutPasses(const LayoutCosts &costs) {
  registerPass([costs] { return createLayoutAssignmentPass(costs); });
  registerPass([] { return createLayoutNormalizationPass(); });
  registerPass([] { return createEntryPackingPass(); });
}
