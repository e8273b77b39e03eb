//===- CommunicationOps.cpp - Generated definitions of CommunicationOps.td -----------===//
#include "dialect/hlo/ops/Families.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/hlo/ops/CommunicationOps.cpp.inc"

void hlo::registerCommunicationOps(Dialect &dialect) {
  FamilyRegistrar::add<
#define GET_OP_LIST
#include "dialect/hlo/ops/CommunicationOps.cpp.inc"
      >(dialect);
}
