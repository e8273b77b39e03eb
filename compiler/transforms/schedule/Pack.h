//===- Pack.h - Offsets for buffers with live ranges ----------------------===//
#ifndef COMPILER_TRANSFORMS_SCHEDULE_PACK_H
#define COMPILER_TRANSFORMS_SCHEDULE_PACK_H

#include "compiler/analysis/LiveRange.h"
#include <optional>

namespace hlo::schedule {

/// Alignment of the arena and of every buffer in it: a cache line, and the widest vector.
constexpr int64_t arenaAlignment = 64;

/// A buffer to be placed: `bytes` > 0, `range` not empty.
struct PackItem {
  int64_t bytes = 0;
  const LiveRange *range = nullptr;
  int64_t offset = 0; ///< the result
};

/// Assigns offsets such that no two items live at one point overlap. Returns the size of the arena,
/// or nothing if it exceeds 63 bits.
std::optional<int64_t> pack(llvm::MutableArrayRef<PackItem> items);

/// The most bytes live at one point, with each buffer rounded up to the alignment: a lower bound
/// for any arena.
int64_t peakBytes(llvm::ArrayRef<PackItem> items);

} // namespace hlo::schedule

#endif
