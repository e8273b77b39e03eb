//===- Passes.cpp - The layout phase and its registration -----------------===//
//
// Layout normalization runs early in the canonicalize phase, where types are first compared (see
// simplifiers/Passes.cpp). This phase moves the transposes that it made to where they cost least.
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
