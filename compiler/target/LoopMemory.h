//===- LoopMemory.h - What a small loop keeps out of memory ---------------===//
//
// The arena's slices that a small loop works in become variables of its function, which
// LLVM turns into registers; masked accesses, which it would not, become plain ones.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TARGET_LOOPMEMORY_H
#define COMPILER_TARGET_LOOPMEMORY_H

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
  bool usedOutside; ///< something outside of the loop touches it too
};

/// Which loops an entry's slices of the arena are used in: found once, asked for each loop.
class ArenaUses {
public:
  /// `isLoop`: whether an op is one of the loops; none is inside another.
  ArenaUses(cpurt::EntryOp entry, llvm::function_ref<bool(mlir::Operation *)> isLoop);

  /// Whether anything but `loop` uses one of the bytes.
  bool touchesOutside(mlir::Operation *loop, int64_t offset, int64_t bytes) const;

private:
  struct Range {
    int64_t begin, end;
    mlir::Operation *loop; ///< that has all users; null if there are others
  };
  std::vector<Range> ranges; ///< by begin
  std::vector<int64_t> ends; ///< the largest end of the ranges up to each
};

/// The small ranges of the arena that `loop` uses, by offset. Slices that share bytes share a slot.
llvm::SmallVector<LoopSlot> loopSlots(cpurt::WhileOp loop, const ArenaUses &uses);

/// The scratch memory of a small loop's function: enough for its variables (`slots`) and those of
/// the kernels that it inlines; 0 if they are small.
int64_t loopScratchBytes(cpurt::WhileOp loop, llvm::ArrayRef<LoopSlot> slots,
                         const llvm::StringMap<KernelInfo> &kernels);

/// In a loop's function, masked loads and stores of known neighbouring lanes become plain ones of
/// so many lanes: a value stored so can stay in a register, and a load after the store need not
/// wait for the cache.
void narrowMaskedAccesses(llvm::Function &loop);

} // namespace hlo

#endif // COMPILER_TARGET_LOOPMEMORY_H
