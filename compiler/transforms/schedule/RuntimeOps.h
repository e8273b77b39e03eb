//===- RuntimeOps.h - Buffers and scratch memory of runtime ops -----------===//
#ifndef COMPILER_TRANSFORMS_SCHEDULE_RUNTIMEOPS_H
#define COMPILER_TRANSFORMS_SCHEDULE_RUNTIMEOPS_H

#include "dialect/hlo/Dialect.h"

namespace hlo::schedule {

/// Sets on each runtime op which results must or may share an operand's buffer: `in_place` and
/// `may_alias`, as on kernels (compiler/README.md).
mlir::LogicalResult markRuntimeOps(mlir::ModuleOp module);

/// Memory that the runtime needs to execute the op, besides its operands and results.
int64_t runtimeScratchBytes(mlir::Operation *op);

/// The types of the op's operands or results as the callee sees them: leaves, with layouts.
llvm::SmallVector<mlir::Type> runtimeOperandTypes(mlir::Operation *op);
llvm::SmallVector<mlir::Type> runtimeResultTypes(mlir::Operation *op);

} // namespace hlo::schedule

#endif
