//===- Dialect.cpp - Registration, types, attributes ----------------------===//
//
// Ops are registered family by family (see the <Family>Ops.cpp files), so that
// each generated definition file is compiled on its own.
//
//===----------------------------------------------------------------------===//
#include "dialect/hlo/Dialect.h"
#include "dialect/hlo/Families.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

#include "dialect/hlo/Dialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/hlo/Types.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/hlo/Attrs.cpp.inc"

void hlo::HloDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/hlo/Types.cpp.inc"
      >();
}

void hlo::HloDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/hlo/Attrs.cpp.inc"
      >();
}

void hlo::HloDialect::initialize() {
  registerTypes();
  registerAttributes();
  registerElementwiseOps(*this);
  registerShapeOps(*this);
  registerReduceOps(*this);
  registerLinalgOps(*this);
  registerControlOps(*this);
  registerCommunicationOps(*this);
}
