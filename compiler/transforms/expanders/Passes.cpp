//===- Passes.cpp - The order of the expanders and their registration -----===//
//
// Each pass is independent of the others unless its line says otherwise.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/expanders/Expanders.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

void hlo::addExpanderPasses(OpPassManager &manager) {}

void hlo::registerExpanderPasses() {}
