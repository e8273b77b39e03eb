//===- LoopMemory.h - Arena ranges of small loops as variables ------------===//
//
// A small loop's slices of the arena become variables of its function, which LLVM keeps in
// registers. Masked accesses, which it would leave in memory, become plain ones.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TARGET_ENTRY_LOOPMEMORY_H
#define COMPILER_TARGET_ENTRY_LOOPMEMORY_H

#include "dialect/cpurt/Dialect.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include <cstdint>
#include <vector>

namespace llvm {
class Function;
} // namespace llvm

namespace hlo {

struct KernelInfo;

/// A range of the arena that a loop uses; ranges do not overlap.
struct LoopSlot {
  int64_t offset, bytes;
  bool usedOutside; ///< code outside of the loop touches it too
};

/// The loops that use each slice of an entry's arena: computed once, queried per loop.
class ArenaUses {
public:
  /// `isLoop` selects the loops; none may contain another.
  ArenaUses(cpurt::EntryOp entry, llvm::function_ref<bool(mlir::Operation *)> isLoop);

  /// True if anything other than `loop` uses one of the bytes.
  bool touchesOutside(mlir::Operation *loop, int64_t offset, int64_t bytes) const;

private:
  struct Range {
    int64_t begin, end;
    mlir::Operation *loop; ///< the loop that contains all users; null if there are other users
  };
  std::vector<Range> ranges; ///< sorted by begin
  std::vector<int64_t> ends; ///< prefix maximum of the ranges' ends
};

/// The small ranges of the arena that `loop` uses, by offset. Overlapping slices are one range.
llvm::SmallVector<LoopSlot> loopSlots(cpurt::WhileOp loop, const ArenaUses &uses);

/// Scratch memory of a small loop's function: for its variables (`slots`) and those of the kernels
/// that it inlines; 0 if they are small.
int64_t loopScratchBytes(cpurt::WhileOp loop, llvm::ArrayRef<LoopSlot> slots,
                         const llvm::StringMap<KernelInfo> &kernels);

/// Replaces masked loads and stores with constant adjacent lanes by plain accesses to those lanes:
/// a stored value can then stay in a register, and a load after the store need not wait for the
/// cache.
void narrowMaskedAccesses(llvm::Function &loop);

} // namespace hlo

#endif // COMPILER_TARGET_ENTRY_LOOPMEMORY_H
