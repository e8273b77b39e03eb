//===- Region.cpp - Checks of regions -------------------------------------===//
#include "dialect/stablehlo/rules/Region.h"

using namespace mlir;
using namespace stablehlo;

std::optional<ValueRange> stablehlo::returned(Check &check, StringRef label, Region &region,
                                              StringRef what) {
  auto end = region.hasOneBlock() && !region.front().empty()
                 ? dyn_cast<ReturnOp>(region.front().back())
                 : ReturnOp();
  if (!end) {
    check.fail(label, what, " must be one block that ends in stablehlo.return");
    return std::nullopt;
  }
  return ValueRange(end->getOperands());
}

bool stablehlo::checkArguments(Check &check, StringRef label, Region &region, StringRef what,
                               TypeRange expected) {
  if (!check.require(region.getNumArguments() == expected.size(), label, what, " has ",
                     region.getNumArguments(), " arguments, expected ", expected.size())) {
    return false;
  }
  bool valid = true;
  for (auto [i, type] : llvm::enumerate(expected)) {
    valid &=
        check.require(typesAgree(region.getArgument(i).getType(), type), label, "argument ", i,
                      " of ", what, " is ", region.getArgument(i).getType(), ", expected ", type);
  }
  return valid;
}

Type stablehlo::predicateType(MLIRContext *context) {
  return RankedTensorType::get({}, IntegerType::get(context, 1));
}

bool stablehlo::checkReturned(Check &check, StringRef label, Region &region, StringRef what,
                              TypeRange expected) {
  std::optional<ValueRange> values = returned(check, label, region, what);
  if (!values || !check.require(values->size() == expected.size(), label, what, " returns ",
                                values->size(), " values, expected ", expected.size())) {
    return false;
  }
  bool valid = true;
  for (auto [i, value, type] : llvm::enumerate(*values, expected)) {
    valid &= check.require(typesAgree(value.getType(), type), label, what, " returns ",
                           value.getType(), " as value ", i, ", expected ", type);
  }
  return valid;
}

void stablehlo::checkBranch(Check &check, StringRef inputs, StringRef outputs, Region &region,
                            StringRef what) {
  check.require(region.getNumArguments() == 0, inputs, what, " has arguments");
  checkReturned(check, outputs, region, what, check->getResultTypes());
}

void stablehlo::checkReducer(Check &check, StringRef label, StringRef resultLabel, Region &region,
                             StringRef what, TypeRange inputs, TypeRange initial,
                             size_t firstResult) {
  size_t count = inputs.size();
  std::optional<ValueRange> values = returned(check, label, region, what);
  bool valid = check.require(region.getNumArguments() == 2 * count, label, what, " has ",
                             region.getNumArguments(), " arguments, expected ", 2 * count);
  if (!values || !valid ||
      !check.require(values->size() == count, label, what, " returns ", values ? values->size() : 0,
                     " values, expected ", count)) {
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    RankedTensorType type = arrayOf((*values)[i].getType());
    if (!check.require(type && type.getRank() == 0, label, what, " returns ",
                       (*values)[i].getType(), " as value ", i, ", expected a scalar")) {
      continue;
    }
    for (size_t argument : {i, i + count}) {
      RankedTensorType taken = arrayOf(region.getArgument(argument).getType());
      check.require(taken && taken.getRank() == 0 &&
                        elementsAgree(taken.getElementType(), type.getElementType()),
                    label, "argument ", argument, " of ", what, " is ",
                    region.getArgument(argument).getType(), ", the value returned for it ", type);
    }
    SmallVector<Type> sources = {inputs[i]};
    if (!initial.empty()) {
      sources.push_back(initial[i]);
    }
    for (Type source : sources) {
      check.require(
          accumulates(cast<RankedTensorType>(source).getElementType(), type.getElementType()),
          label, what, " computes with ", type, ", which does not hold elements of ", source);
    }
    size_t number = firstResult + i;
    RankedTensorType result =
        check->getNumResults() > number ? check.result(number) : RankedTensorType();
    check.require(!result || elementsAgree(result.getElementType(), type.getElementType()),
                  resultLabel, "result ", number, " is ", result, ", ", what, " returns ", type);
  }
}
