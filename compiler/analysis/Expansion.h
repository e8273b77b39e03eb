//===- Expansion.h - What a module becomes once calls are inlined ---------===//
#ifndef COMPILER_ANALYSIS_EXPANSION_H
#define COMPILER_ANALYSIS_EXPANSION_H

#include "compiler/support/Budget.h"
#include "mlir/IR/BuiltinOps.h"

namespace hlo {

/// An error at the instruction where inlining would add more instructions than the budget, and
/// more than ten for each that the text has; likewise where loops and branches are nested deeper.
/// Costs a visit of each instruction, whatever the module would become. Assumes a verified module.
llvm::LogicalResult checkExpansion(mlir::ModuleOp module, const Budget &budget);

/// An error at each kernel whose code, with all computations that its ops apply, is of more
/// instructions than the budget: what fusion cannot split. For modules after phase fuse.
llvm::LogicalResult checkKernels(mlir::ModuleOp module, const Budget &budget);

} // namespace hlo

#endif
