//===- HaloPlan.h - Who sends what to whom in an exchange ------------------===//
#ifndef COMPILER_TRANSFORMS_SPMD_HALOPLAN_H
#define COMPILER_TRANSFORMS_SPMD_HALOPLAN_H

#include "compiler/transforms/spmd/Halo.h"

namespace hlo::spmd {

/// Elements of `run` that one shard reads from another, or from itself.
struct Move {
  int64_t source = 0, target = 0;
  Span span;
  int64_t at = 0; ///< index of span.begin in the source's array
  Span run;       ///< the elements around it that the source has
  int64_t part = 0;
  int64_t width() const { return span.end - span.begin; }
};

/// Moves in which each shard sends and receives at most once.
struct Round {
  bool isLocal = false;
  int64_t width = 0;
  llvm::SmallVector<Move> moves;
};

/// How an exchange is done.
struct Plan {
  enum class Kind { Permutes, Gather, Sum } kind = Kind::Permutes;
  /// Local rounds first.
  llvm::SmallVector<Round> rounds;
  /// The indices of the shards' arrays that some shard reads.
  Span used;
  double elements = 0; ///< that a shard sends
};

/// The plan that sends least.
Plan planExchange(const Exchange &x);

} // namespace hlo::spmd

#endif
