//===- Preflight.h - Decisions about a parsed module ----------------------===//
#ifndef COMPILER_DRIVER_PREFLIGHT_H
#define COMPILER_DRIVER_PREFLIGHT_H

#include "compiler/support/Options.h"
#include "mlir/IR/BuiltinOps.h"

namespace hlo {

/// Gives every array of the entry's parameters and results the row-major layout, unless `mode`
/// says to keep the layouts of the text. A remark at the module tells what was done if the text
/// has another layout. Fails, with an error, if the layouts are kept and those of an aliased pair
/// differ.
llvm::LogicalResult applyEntryLayouts(mlir::ModuleOp module, EntryLayouts mode);

/// Constants printed as `{...}`: an error at the first one, or nothing if `allowed` (then the
/// canonicalize phase makes values up, with a warning, if the budget has room for them).
llvm::LogicalResult refuseElidedConstants(mlir::ModuleOp module, bool allowed,
                                          const Budget &budget);
/// Fails, with an error at each, if a custom call's target is a name that no module may call
/// (target/ReservedTargets.h). `prefix`: of the module's own symbols.
llvm::LogicalResult refuseReservedTargets(mlir::ModuleOp module, llvm::StringRef prefix);

/// The warning of hlo-elided-constants, for a module that is only checked.
void warnOfElidedConstants(mlir::ModuleOp module);

} // namespace hlo

#endif
