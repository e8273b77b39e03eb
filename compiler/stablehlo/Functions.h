//===- Functions.h - The entry, and the functions that it calls -----------===//
#ifndef COMPILER_STABLEHLO_FUNCTIONS_H
#define COMPILER_STABLEHLO_FUNCTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <vector>

namespace hlo::stable {

/// The function that a caller of the module calls: `main`, else the only function, else the only
/// one that is not private. Null if there is none.
mlir::func::FuncOp findEntry(mlir::ModuleOp module);

/// `entry` and all functions that it reaches by calls, callees first. Fails, with errors at the
/// functions, if one has no body, has several blocks, or calls itself.
mlir::FailureOr<std::vector<mlir::func::FuncOp>> callOrder(mlir::ModuleOp module,
                                                           mlir::func::FuncOp entry);

} // namespace hlo::stable

#endif
