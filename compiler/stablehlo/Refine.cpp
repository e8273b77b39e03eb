//===- Refine.cpp - Sizes that the text leaves open -----------------------===//
#include "compiler/stablehlo/Refine.h"
#include "dialect/stablehlo/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace hlo;

/// Whether the array has a dimension `?` without a bound.
static bool isOpen(Type type) {
  auto array = dyn_cast<RankedTensorType>(type);
  if (!array || array.hasStaticShape()) {
    return false;
  }
  auto bounds = dyn_cast_if_present<stablehlo::TypeExtensionsAttr>(array.getEncoding());
  for (int64_t dim = 0; dim < array.getRank(); ++dim) {
    bool hasBound = bounds && dim < static_cast<int64_t>(bounds.getBounds().size()) &&
                    bounds.getBounds()[dim] != ShapedType::kDynamic;
    if (array.isDynamicDim(dim) && !hasBound) {
      return true;
    }
  }
  return false;
}

LogicalResult hlo::stable::refineSizes(ModuleOp module, const StablehloOptions &options) {
  LogicalResult result = success();
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.getSymName() != "main") {
      continue;
    }
    for (BlockArgument argument : function.getArguments()) {
      if (isOpen(argument.getType())) {
        result = mlir::emitError(argument.getLoc())
                 << "parameter " << argument.getArgNumber()
                 << " has a dimension `?`; sizes that are not known are not supported";
      }
    }
  }
  return result;
}
