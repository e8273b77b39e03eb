//===- BroadcastOps.cpp - Generated definitions of BroadcastOps.td --------===//
#include "dialect/stablehlo/chlo/Dialect.h"
#include "dialect/stablehlo/ops/Families.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/stablehlo/chlo/BroadcastOps.cpp.inc"

void chlo::registerBroadcastOps(Dialect &dialect) {
  stablehlo::FamilyRegistrar::add<
#define GET_OP_LIST
#include "dialect/stablehlo/chlo/BroadcastOps.cpp.inc"
      >(dialect);
}
