//===- ImmutableParams.h - Parameters named by --immutable-params ---------===//
#ifndef COMPILER_DRIVER_IMMUTABLEPARAMS_H
#define COMPILER_DRIVER_IMMUTABLEPARAMS_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace hlo {

/// Parses the value of --immutable-params and records the leaves that it names in the module
/// attribute `hlo.immutable_leaves` (analysis/Prepared.h). The module must be canonical. If the
/// list is wrong, or a run may overwrite a leaf, fills `message` and fails.
///
///   LIST          item,item,...
///   all-but:LIST  every parameter except these
///   all, none     `none`: prepares values that depend on constants alone, as far as the compiler
///                 does not compute them
///
/// An item is a parameter number (3), a range (1-200), a number with tuple indices (0.2.1: that
/// leaf, or all leaves below it), the name of a parameter (all its leaves) or of a leaf as in the
/// HLO text or in the header, or a glob over such names (state_*).
mlir::LogicalResult markImmutableLeaves(mlir::ModuleOp module, llvm::StringRef list,
                                        std::string &message);

} // namespace hlo

#endif
