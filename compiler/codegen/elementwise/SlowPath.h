//===- SlowPath.h - Code that is called, not repeated ---------------------===//
//
// Internal functions of the module, made when first needed. A slow path is a scalar function and
// a loop that calls it for each lane, used behind `rarely`.
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

/// Calls `function` once with all lanes of the arguments.
llvm::SmallVector<Num> callOnce(Emission &e, mlir::LLVM::LLVMFuncOp function,
                                llvm::ArrayRef<Num> arguments);

/// Calls `function` for each lane of the arguments; the results have as many lanes.
llvm::SmallVector<Num> callPerLane(mlir::LLVM::LLVMFuncOp function, llvm::ArrayRef<Num> arguments);

} // namespace hlo::codegen

#endif
