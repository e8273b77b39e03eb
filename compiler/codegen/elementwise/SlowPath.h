//===- SlowPath.h - Code that few lanes need ------------------------------===//
//
// A slow path is a scalar function of the module, made when first needed, and a loop that
// calls it for each lane. Used behind `rarely`.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_ELEMENTWISE_SLOWPATH_H
#define COMPILER_CODEGEN_ELEMENTWISE_SLOWPATH_H

#include "compiler/codegen/elementwise/Num.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace hlo::codegen {

/// The module that is being emitted into.
mlir::ModuleOp enclosingModule(Emission &e);

/// The internal function @name of the module. If there is none yet, it is made; `body` gets the
/// arguments and returns the results (of types `results`).
mlir::LLVM::LLVMFuncOp
internalFunction(Emission &e, llvm::StringRef name, llvm::ArrayRef<mlir::Type> arguments,
                 llvm::ArrayRef<mlir::Type> results,
                 llvm::function_ref<llvm::SmallVector<Num>(llvm::ArrayRef<Num>)> body);

/// Calls `function` for each lane of the arguments; the results have as many lanes.
llvm::SmallVector<Num> callPerLane(mlir::LLVM::LLVMFuncOp function, llvm::ArrayRef<Num> arguments);

} // namespace hlo::codegen

#endif
