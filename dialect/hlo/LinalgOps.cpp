//===- LinalgOps.cpp - Generated definitions of LinalgOps.td -----------===//
#include "dialect/hlo/Families.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/hlo/LinalgOps.cpp.inc"

void hlo::registerLinalgOps(Dialect &dialect) {
  FamilyRegistrar::add<
#define GET_OP_LIST
#include "dialect/hlo/LinalgOps.cpp.inc"
      >(dialect);
}
