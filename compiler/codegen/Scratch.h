//===- Scratch.h - Kernels whose variables are too large for a stack ------===//
#ifndef COMPILER_CODEGEN_SCRATCH_H
#define COMPILER_CODEGEN_SCRATCH_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace hlo::codegen {

/// Memory of a kernel's function beside its buffers, in bytes.
struct KernelMemory {
  int64_t variables = 0; ///< all that it has
  int64_t scratch = 0;   ///< of its last argument, enough for all of them; 0: there is none
};

/// Gives an emitted function with variables of more than kMostVariableBytes one argument more,
/// `ptr scratch`, aligned to 64, and the attribute kScratchBytes. The variables stay as they are,
/// so that LLVM's passes know that they alias nothing, and are moved when these are done
/// (target/MoveScratch). `fixedType`: the function keeps its type.
mlir::FailureOr<KernelMemory> giveScratch(mlir::LLVM::LLVMFuncOp function, bool fixedType);

/// Replaces the first `buffers` arguments of an emitted function by one, a table of pointers to
/// them, if they are more than kMostPointers: calls would need a frame for all of them. They are
/// loaded where they are used, so that not all of them live at once in a frame.
void takeTable(mlir::LLVM::LLVMFuncOp function, int64_t buffers);

} // namespace hlo::codegen

#endif
