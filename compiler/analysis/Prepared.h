//===- Prepared.h - A module in two functions: prepare and run ------------===//
//
// With immutable parameters a module has two computations that run at top level:
//
//   entry     its arguments are the leaves of the parameters, then one prepared array
//             for each result of
//   prepare   (attribute `hlo.prepare`), whose arguments are the same leaves, of which it
//             reads the immutable ones only
//
// Which leaves are immutable is in the module attribute `hlo.immutable_leaves`, an
// array<i64: ...>, from the end of the canonicalize phase on; it may be empty.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_ANALYSIS_PREPARED_H
#define COMPILER_ANALYSIS_PREPARED_H

#include "dialect/hlo/Dialect.h"

namespace hlo {

inline constexpr llvm::StringLiteral kImmutableLeaves = "hlo.immutable_leaves";
inline constexpr llvm::StringLiteral kPrepare = "hlo.prepare";
/// Of a planned module: bytes of the block, and for each leaf a set of HLO_READ_BY_*
/// (runtime/abi/hlo/rt.h).
inline constexpr llvm::StringLiteral kPreparedBytes = "hlo.prepared_bytes";
inline constexpr llvm::StringLiteral kInputUse = "hlo.input_use";

/// The computation that prepares, or null.
ComputationOp findPrepare(mlir::ModuleOp module);
/// Whether a computation runs at top level because the caller calls it.
bool isRoot(ComputationOp computation);

/// Where the results of the prepare computation are in its block.
struct PreparedBlock {
  llvm::SmallVector<int64_t> offsets; ///< of each result, multiples of 64
  int64_t bytes = 0;                  ///< of the whole block, its header included
};
/// Fails if the bytes are more than 63 bits hold.
mlir::FailureOr<PreparedBlock> layOutBlock(ComputationOp prepare);

} // namespace hlo

#endif
