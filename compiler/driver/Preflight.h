//===- Preflight.h - Decisions about a parsed module ----------------------===//
#ifndef COMPILER_DRIVER_PREFLIGHT_H
#define COMPILER_DRIVER_PREFLIGHT_H

#include "compiler/support/Options.h"
#include "mlir/IR/BuiltinOps.h"

namespace hlo {

/// Gives every array of the entry's parameters and results the row-major layout, unless `mode`
/// keeps the layouts of the text. If the text has another layout, a remark at the module says what
/// was done. Fails with an error if the layouts are kept and those of an aliased pair differ.
llvm::LogicalResult applyEntryLayouts(mlir::ModuleOp module, EntryLayouts mode);

/// Handles constants printed as `{...}`: an error at the first one; if `allowed`, nothing, unless
/// the values that the canonicalize phase will make up exceed the budget.
llvm::LogicalResult refuseElidedConstants(mlir::ModuleOp module, bool allowed,
                                          const Budget &budget);
/// Reports an error at each custom call whose target is a reserved name
/// (target/header/ReservedTargets.h). `prefix` is the prefix of the module's own symbols.
llvm::LogicalResult refuseReservedTargets(mlir::ModuleOp module, llvm::StringRef prefix);

/// Emits the warning of hlo-elided-constants for a module that is only checked.
void warnOfElidedConstants(mlir::ModuleOp module);

} // namespace hlo

#endif
