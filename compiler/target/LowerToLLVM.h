//===- LowerToLLVM.h - Kernel functions to the LLVM dialect ---------------===//
#ifndef COMPILER_TARGET_LOWERTOLLVM_H
#define COMPILER_TARGET_LOWERTOLLVM_H

#include "mlir/IR/BuiltinOps.h"

namespace hlo {

/// Converts every op of `module` (llvm.func of scf, cf, arith, math, vector, ub ops) to the LLVM
/// dialect in one conversion. Reports an error at an op that no pattern converts.
mlir::LogicalResult lowerToLLVM(mlir::ModuleOp module);

} // namespace hlo

#endif
