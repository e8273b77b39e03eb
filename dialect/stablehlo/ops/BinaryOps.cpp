//===- BinaryOps.cpp - Generated definitions of BinaryOps.td -----------===//
#include "dialect/stablehlo/Assembly.h"
#include "dialect/stablehlo/ops/Families.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/stablehlo/ops/BinaryOps.cpp.inc"

void stablehlo::registerBinaryOps(Dialect &dialect) {
  FamilyRegistrar::add<
#define GET_OP_LIST
#include "dialect/stablehlo/ops/BinaryOps.cpp.inc"
      >(dialect);
}
