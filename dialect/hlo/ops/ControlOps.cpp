//===- ControlOps.cpp - Generated definitions of ControlOps.td -----------===//
#include "dialect/hlo/Shapes.h"
#include "dialect/hlo/Strategy.h"
#include "dialect/hlo/ops/Families.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;

#include "dialect/hlo/Strategy.cpp.inc"

#define GET_OP_CLASSES
#include "dialect/hlo/ops/ControlOps.cpp.inc"

void hlo::registerControlOps(Dialect &dialect) {
  FamilyRegistrar::add<
#define GET_OP_LIST
#include "dialect/hlo/ops/ControlOps.cpp.inc"
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

LogicalResult hlo::ComputationOp::verifyRegions() {
  auto fail = [&](const Twine &message) {
    return mlir::emitError(getLoc(), "computation '" + getSymName() + "': " + message);
  };
  if (!getBody().hasOneBlock() || getBody().front().empty()) {
    return fail("the body must have one block");
  }
  auto root = dyn_cast<ReturnOp>(getBody().front().back());
  if (!root) {
    return fail("the body must end in hlo.return");
  }
  ArrayRef<Type> results = getResultTypes();
  if (root->getNumOperands() != results.size()) {
    return fail("returns " + Twine(root->getNumOperands()) + " values, its signature has " +
                Twine(results.size()));
  }
  bool good = true;
  for (auto [value, type] : llvm::zip(root->getOperands(), results)) {
    if (!sameShape(value.getType(), type)) {
      InFlightDiagnostic diagnostic =
          fail("returns " + hloText(value.getType()) + ", its signature has " + hloText(type));
      diagnostic.attachNote(value.getLoc()) << "the value is defined here";
      good = false;
    }
  }
  for (BlockArgument argument : getBody().getArguments()) {
    for (Type leaf : leafTypes(argument.getType())) {
      auto array = asArray(leaf);
      std::string problem = array ? shapeProblem(array) : std::string();
      if (!problem.empty()) {
        mlir::emitError(argument.getLoc(), "parameter: " + problem);
        good = false;
      }
    }
  }
  return success(good);
}
