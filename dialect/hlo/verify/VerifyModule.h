//===- VerifyModule.h - Checks of a whole HLO module ------------*- C++ -*-===//
#ifndef DIALECT_HLO_VERIFY_VERIFYMODULE_H
#define DIALECT_HLO_VERIFY_VERIFYMODULE_H

#include "dialect/hlo/Dialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace hlo {

/// Verifies a module as parsed: every op on its own (including MLIR's invariants), then everything
/// that needs the whole module: the entry and its declared layout, aliases and donors, the call
/// graph, asynchronous pairs, feeds, and collectives against the device counts. Reports every
/// violation. Not for later phases, in which tuples and tokens are gone.
mlir::LogicalResult verifyModule(mlir::ModuleOp module);

// The parts of verifyModule; each requires verified ops.

/// There is one entry, `entry_computation_layout` matches it, and no buffers cross its boundary.
mlir::LogicalResult verifyEntry(mlir::ModuleOp module);

/// `input_output_alias` and `buffer_donor` refer to existing arrays, to each parameter's at most
/// once.
mlir::LogicalResult verifyAliases(mlir::ModuleOp module);

/// No computation reaches itself; the entry is not called.
mlir::LogicalResult verifyCallGraph(mlir::ModuleOp module);

/// Starts and dones form pairs; the infeeds of a computation are in one order.
mlir::LogicalResult verifyPairs(mlir::ModuleOp module);

/// Collectives refer to devices that the module has, and all-reduces agree on `constrain_layout`.
mlir::LogicalResult verifyCollectives(mlir::ModuleOp module);

/// Shardings have one entry per leaf, and tiles of the array's rank.
mlir::LogicalResult verifyShardings(mlir::ModuleOp module);

} // namespace hlo

#endif
