//===- ShapeOps.cpp - Generated definitions of ShapeOps.td -----------===//
#include "dialect/stablehlo/Assembly.h"
#include "dialect/stablehlo/ops/Families.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/stablehlo/ops/ShapeOps.cpp.inc"

void stablehlo::registerShapeOps(Dialect &dialect) {
  FamilyRegistrar::add<
#define GET_OP_LIST
#include "dialect/stablehlo/ops/ShapeOps.cpp.inc"
      >(dialect);
}

OpFoldResult stablehlo::ConstantOp::fold(FoldAdaptor) { return getValue(); }

ParseResult stablehlo::ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseConstant(parser, result);
}
void stablehlo::ConstantOp::print(OpAsmPrinter &printer) {
  printConstant(printer, *this, getValue());
}

void stablehlo::ConstantOp::getAsmResultNames(function_ref<void(Value, StringRef)> setName) {
  setName(getResult(), isa<IntegerType>(getType().getElementType()) ? "c" : "cst");
}
