//===- ShapeOps.cpp - Generated definitions of ShapeOps.td -----------===//
#include "dialect/hlo/ops/Families.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/hlo/ops/ShapeOps.cpp.inc"

void hlo::registerShapeOps(Dialect &dialect) {
  FamilyRegistrar::add<
#define GET_OP_LIST
#include "dialect/hlo/ops/ShapeOps.cpp.inc"
      >(dialect);
}

OpFoldResult hlo::ConstantOp::fold(FoldAdaptor) {
  return isa<ElementsAttr>(getValue()) ? getValue() : Attribute();
}
