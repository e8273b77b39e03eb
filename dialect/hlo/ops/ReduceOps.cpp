//===- ReduceOps.cpp - Generated definitions of ReduceOps.td -----------===//
#include "dialect/hlo/ops/Families.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/hlo/ops/ReduceOps.cpp.inc"

void hlo::registerReduceOps(Dialect &dialect) {
  FamilyRegistrar::add<
#define GET_OP_LIST
#include "dialect/hlo/ops/ReduceOps.cpp.inc"
      >(dialect);
}
