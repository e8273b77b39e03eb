//===- LinalgOps.cpp - Generated definitions of LinalgOps.td -----------===//
#include "dialect/hlo/ops/Families.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/hlo/ops/LinalgOps.cpp.inc"

void hlo::registerLinalgOps(Dialect &dialect) {
  FamilyRegistrar::add<
#define GET_OP_LIST
#include "dialect/hlo/ops/LinalgOps.cpp.inc"
      >(dialect);
}
