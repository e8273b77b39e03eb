//===- Dialect.cpp - Registration and attributes of chlo ------------------===//
#include "dialect/stablehlo/chlo/Dialect.h"
#include "dialect/stablehlo/Assembly.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using stablehlo::NumbersPrinter;

#include "dialect/stablehlo/chlo/Dialect.cpp.inc"
#include "dialect/stablehlo/chlo/Enums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/stablehlo/chlo/Attrs.cpp.inc"

void chlo::ChloDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/stablehlo/chlo/Attrs.cpp.inc"
      >();
}

void chlo::ChloDialect::initialize() {
  registerAttributes();
  registerBroadcastOps(*this);
  registerFunctionOps(*this);
}

Attribute chlo::RaggedDotDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContracting, rhsContracting, ragged, group;
  if (parser.parseLess() ||
      stablehlo::parseNumbers(parser, {{"lhs_batching_dimensions", &lhsBatch},
                                       {"rhs_batching_dimensions", &rhsBatch},
                                       {"lhs_contracting_dimensions", &lhsContracting},
                                       {"rhs_contracting_dimensions", &rhsContracting},
                                       {"lhs_ragged_dimensions", &ragged},
                                       {"rhs_group_dimensions", &group}})) {
    return {};
  }
  return get(parser.getContext(), lhsBatch, rhsBatch, lhsContracting, rhsContracting, ragged,
             group);
}

void chlo::RaggedDotDimensionNumbersAttr::print(AsmPrinter &printer) const {
  NumbersPrinter(printer)
      .list("lhs_batching_dimensions", getLhsBatchingDimensions())
      .list("rhs_batching_dimensions", getRhsBatchingDimensions())
      .list("lhs_contracting_dimensions", getLhsContractingDimensions())
      .list("rhs_contracting_dimensions", getRhsContractingDimensions())
      .list("lhs_ragged_dimensions", getLhsRaggedDimensions())
      .list("rhs_group_dimensions", getRhsGroupDimensions());
}
