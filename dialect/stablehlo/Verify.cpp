//===- Verify.cpp - Structure of ops --------------------------------------===//
#include "dialect/stablehlo/chlo/Dialect.h"
#include "dialect/stablehlo/sdy/Dialect.h"

using namespace mlir;

/// Every region is a block that ends in the dialect's return.
static LogicalResult verifyReturns(Operation *op, StringRef terminator) {
  for (Region &region : op->getRegions()) {
    if (region.hasOneBlock() && !region.front().empty() &&
        region.front().back().getName().getStringRef() == terminator) {
      continue;
    }
    return op->emitOpError("expects regions of one block that end in ") << terminator;
  }
  return success();
}

LogicalResult stablehlo::verifyOp(Operation *) { return success(); }
LogicalResult stablehlo::verifyRegionsOf(Operation *op) {
  return isa<CompositeOp>(op) ? success() : verifyReturns(op, "stablehlo.return");
}
LogicalResult chlo::verifyOp(Operation *) { return success(); }
LogicalResult chlo::verifyRegionsOf(Operation *op) { return verifyReturns(op, "stablehlo.return"); }
LogicalResult sdy::verifyOp(Operation *) { return success(); }
LogicalResult sdy::verifyRegionsOf(Operation *op) { return verifyReturns(op, "sdy.return"); }
