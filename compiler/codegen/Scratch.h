//===- Scratch.h - Kernels whose variables are too large for a stack ------===//
#ifndef COMPILER_CODEGEN_SCRATCH_H
#define COMPILER_CODEGEN_SCRATCH_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace hlo::codegen {

/// Memory of a kernel's function in addition to its buffers, in bytes.
struct KernelMemory {
  int64_t variables = 0; ///< all variables
  int64_t scratch = 0;   ///< size of the last argument, enough for all variables; 0: there is none
};

/// Adds an argument `ptr scratch`, aligned to 64, and the attribute kScratchBytes to an emitted
/// function with variables of more than kMostVariableBytes. The variables stay for LLVM's passes,
/// which then know that they alias nothing, and are moved afterwards (target/MoveScratch).
/// `fixedType`: the function keeps its type.
mlir::FailureOr<KernelMemory> giveScratch(mlir::LLVM::LLVMFuncOp function, bool fixedType);

/// Replaces the first `buffers` arguments of an emitted function by one table of pointers, if they
/// are more than kMostPointers: otherwise calls would need a frame for all of them. Each pointer is
/// loaded at its use, so that they are not all live at once.
void takeTable(mlir::LLVM::LLVMFuncOp function, int64_t buffers);

} // namespace hlo::codegen

#endif
