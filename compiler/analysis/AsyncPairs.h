//===- AsyncPairs.h - Collectives that begin and end apart ----------------===//
#ifndef COMPILER_ANALYSIS_ASYNCPAIRS_H
#define COMPILER_ANALYSIS_ASYNCPAIRS_H

#include "dialect/hlo/Dialect.h"

namespace hlo {

/// The asynchronous collective that the op finishes, in the same block; null if there is none.
mlir::Operation *startOf(CollectiveDoneOp done);

/// For each op between the two ops of an asynchronous collective, the first such end behind it.
/// Empty without such collectives.
llvm::DenseMap<mlir::Operation *, mlir::Operation *> endsBehind(mlir::Block &block);

} // namespace hlo

#endif
