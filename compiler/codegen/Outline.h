//===- Outline.h - Functions that are too large for LLVM ------------------===//
#ifndef COMPILER_CODEGEN_OUTLINE_H
#define COMPILER_CODEGEN_OUTLINE_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace hlo::codegen {

/// Moves the loops at the top of an emitted function to internal functions NAME.part0, ... if the
/// function has more ops than LLVM compiles in linear time.
void outlineLoops(mlir::LLVM::LLVMFuncOp function);

} // namespace hlo::codegen

#endif
