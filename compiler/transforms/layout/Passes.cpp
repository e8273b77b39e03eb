//===- Passes.cpp - The layout phase and its registration -----------------===//
//
// Normalization itself runs early in the canonicalize phase, where types are
// first compared (see simplifiers/Passes.cpp); what is left for this phase is
// to move the transposes that it made to where they cost least.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/layout/Layout.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

void hlo::addLayoutPasses(OpPassManager &manager) {}

void hlo::registerLayoutPasses() {
  registerPass([] { return createLayoutNormalizationPass(); });
  registerPass([] { return createEntryPackingPass(); });
}
