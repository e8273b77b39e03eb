//===- Prepared.h - A module in two functions: prepare and run ------------===//
//
// With immutable parameters a module has two computations that run at top level:
//
//   entry     Its arguments are the leaves of the parameters, followed by one prepared array
//             per result of the prepare computation.
//   prepare   Marked `hlo.prepare`. Its arguments are the same leaves; it reads only the
//             immutable ones.
//
// The module attribute `hlo.immutable_leaves`, an array<i64: ...>, lists the immutable leaves from
// the end of the canonicalize phase on; it may be empty.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_ANALYSIS_PREPARED_H
#define COMPILER_ANALYSIS_PREPARED_H

#include "dialect/hlo/Dialect.h"

namespace hlo {

inline constexpr llvm::StringLiteral kImmutableLeaves = "hlo.immutable_leaves";
inline constexpr llvm::StringLiteral kPrepare = "hlo.prepare";
/// Attributes of a planned module: bytes of the block, and for each leaf a set of HLO_READ_BY_*
/// (runtime/abi/hlo/rt.h).
inline constexpr llvm::StringLiteral kPreparedBytes = "hlo.prepared_bytes";
inline constexpr llvm::StringLiteral kInputUse = "hlo.input_use";

/// The prepare computation, or null.
ComputationOp findPrepare(mlir::ModuleOp module);
/// True if the caller of the object calls the computation: the entry and the prepare computation.
bool isRoot(ComputationOp computation);

/// The places of the prepare computation's results in the block.
struct PreparedBlock {
  llvm::SmallVector<int64_t> offsets; ///< of each result, multiples of 64
  int64_t bytes = 0;                  ///< of the whole block, its header included
};
/// Fails if the block's size does not fit into 63 bits.
mlir::FailureOr<PreparedBlock> layOutBlock(ComputationOp prepare);

} // namespace hlo

#endif
