//===- CommunicationOps.cpp - Generated definitions of CommunicationOps.td -----------===//
#include "dialect/stablehlo/Assembly.h"
#include "dialect/stablehlo/ops/Families.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/stablehlo/ops/CommunicationOps.cpp.inc"

void stablehlo::registerCommunicationOps(Dialect &dialect) {
  FamilyRegistrar::add<
#define GET_OP_LIST
#include "dialect/stablehlo/ops/CommunicationOps.cpp.inc"
      >(dialect);
}
