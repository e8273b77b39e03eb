//===- InferType.cpp - The result shape of an instruction -----------------===//
//
// Dispatches an op's name to the rule of its family.
//
//===----------------------------------------------------------------------===//
#include "dialect/hlo/rules/InferType.h"

#include "dialect/hlo/rules/Rule.h"

using namespace mlir;

namespace hlo {

Rule findRule(StringRef opName) {
  for (auto family : {elementwiseRule, shapeRule, indexRule, reduceRule, windowRule, linalgRule,
                      factorizeRule, controlRule, communicationRule, collectiveRule}) {
    if (Rule rule = family(opName)) {
      return rule;
    }
  }
  return nullptr;
}

FailureOr<Type> inferType(StringRef opName, ValueRange operands, DictionaryAttr attrs,
                          llvm::function_ref<ComputationOp(StringRef)> lookup,
                          llvm::function_ref<InFlightDiagnostic()> emitError) {
  RuleContext context(opName, operands, attrs, /*written=*/{}, lookup, emitError);
  context.setParsing();
  Rule rule = findRule(opName);
  if (!rule) {
    return context.fail("c0", "the result shape must be written");
  }
  FailureOr<Type> type = rule(context);
  if (context.hasFailed()) {
    return failure();
  }
  return type;
}

} // namespace hlo
