//===- Expansion.h - Size of a module after inlining ----------------------===//
#ifndef COMPILER_ANALYSIS_EXPANSION_H
#define COMPILER_ANALYSIS_EXPANSION_H

#include "compiler/support/Budget.h"
#include "mlir/IR/BuiltinOps.h"

namespace hlo {

/// Reports an error at the instruction where inlining would exceed both the budget and ten added
/// instructions per instruction of the text, and where loops and branches are nested deeper than
/// the budget allows. Visits each instruction once, however large the inlined module would be.
/// Assumes a verified module.
llvm::LogicalResult checkExpansion(mlir::ModuleOp module, const Budget &budget);

/// Reports an error at each kernel that has more instructions than the budget, including all
/// computations that its ops apply: fusion cannot split such a kernel. For modules after phase
/// fuse.
llvm::LogicalResult checkKernels(mlir::ModuleOp module, const Budget &budget);

} // namespace hlo

#endif
