//===- ControlOps.cpp - Generated definitions of ControlOps.td -----------===//
#include "dialect/hlo/Families.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/hlo/ControlOps.cpp.inc"

void hlo::registerControlOps(Dialect &dialect) {
  FamilyRegistrar::add<
#define GET_OP_LIST
#include "dialect/hlo/ControlOps.cpp.inc"
      >(dialect);
}

void hlo::ComputationOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                               FunctionType type) {
  state.addAttribute(SymbolTable::getSymbolAttrName(), builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  state.addRegion();
}

ParseResult hlo::ComputationOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> inputs, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(inputs, results); };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void hlo::ComputationOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false,
                                           getFunctionTypeAttrName(), getArgAttrsAttrName(),
                                           getResAttrsAttrName());
}
