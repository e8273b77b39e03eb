//===- ElementwiseOps.cpp - Generated definitions of ElementwiseOps.td -----------===//
#include "dialect/hlo/ops/Families.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/hlo/ops/ElementwiseOps.cpp.inc"

void hlo::registerElementwiseOps(Dialect &dialect) {
  FamilyRegistrar::add<
#define GET_OP_LIST
#include "dialect/hlo/ops/ElementwiseOps.cpp.inc"
      >(dialect);
}
