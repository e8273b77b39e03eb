//===- ImmutableParams.h - Which parameters a list names ------------------===//
#ifndef COMPILER_DRIVER_IMMUTABLEPARAMS_H
#define COMPILER_DRIVER_IMMUTABLEPARAMS_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace hlo {

/// Reads the value of --immutable-params and notes the leaves that it names in the module's
/// attribute `hlo.immutable_leaves` (analysis/Prepared.h). The module is canonical. On a mistake in
/// the list, or a leaf that a run may overwrite, fills `message` and fails.
///
///   LIST          item,item,...
///   all-but:LIST  every parameter but those
///   all, none     `none`: what depends on constants alone is prepared
///
/// An item is a parameter number (3), a range (1-200), a number with tuple indices (0.2.1: that
/// leaf, or all below it), a name as in the HLO text or in the header, of a parameter (all its
/// leaves) or of a leaf, or the start of such names (state_*).
mlir::LogicalResult markImmutableLeaves(mlir::ModuleOp module, llvm::StringRef list,
                                        std::string &message);

} // namespace hlo

#endif
