//===- UnaryOps.cpp - Generated definitions of UnaryOps.td -----------===//
#include "dialect/stablehlo/Assembly.h"
#include "dialect/stablehlo/ops/Families.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/stablehlo/ops/UnaryOps.cpp.inc"

void stablehlo::registerUnaryOps(Dialect &dialect) {
  FamilyRegistrar::add<
#define GET_OP_LIST
#include "dialect/stablehlo/ops/UnaryOps.cpp.inc"
      >(dialect);
}
