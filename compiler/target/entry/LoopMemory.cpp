//===- LoopMemory.cpp - Arena ranges of small loops as variables ----------===//
//
// In: a small loop of the plan; LLVM IR of small loops. Out: the ranges of the arena that may be
// variables of the loop's function; the same IR without constant masks.
//
// Kernels over short vectors (3 elements) pass values by a masked store and a masked load of 8
// lanes, which LLVM does not keep in registers. With plain accesses it does, which halves the time
// of such loops (test/performance/modules/loop_rk4_1000_f64.hlo).
//
//===----------------------------------------------------------------------===//
#include "compiler/target/entry/LoopMemory.h"
#include "compiler/support/Stack.h"
#include "compiler/target/entry/Entry.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// Ranges larger than maxSlotBytes stay in the arena; all of them do if their sum exceeds
/// maxLoopBytes.
static constexpr int64_t maxSlotBytes = 2048, maxLoopBytes = 16384;

SmallVector<hlo::LoopSlot> hlo::loopSlots(cpurt::WhileOp loop, const ArenaUses &uses) {
  SmallVector<LoopSlot> slots;
  loop->walk([&](mlir::Operation *op) {
    for (mlir::Value operand : op->getOperands()) {
      if (auto slice = operand.getDefiningOp<cpurt::ArenaOp>()) {
        slots.push_back({int64_t(slice.getOffset()), int64_t(slice.getBytes()), false});
      }
    }
  });
  llvm::sort(slots, [](const LoopSlot &a, const LoopSlot &b) { return a.offset < b.offset; });
  SmallVector<LoopSlot> merged;
  for (const LoopSlot &slot : slots) {
    if (!merged.empty() && slot.offset < merged.back().offset + merged.back().bytes) {
      LoopSlot &last = merged.back();
      last.bytes = std::max(last.bytes, slot.offset + slot.bytes - last.offset);
    } else {
      merged.push_back(slot);
    }
  }
  llvm::erase_if(merged, [](const LoopSlot &slot) { return slot.bytes > maxSlotBytes; });
  int64_t total = 0;
  for (const LoopSlot &slot : merged) {
    total += slot.bytes;
  }
  if (total > maxLoopBytes) {
    return {};
  }
  for (LoopSlot &slot : merged) {
    slot.usedOutside = uses.touchesOutside(loop, slot.offset, slot.bytes);
  }
  return merged;
}

hlo::ArenaUses::ArenaUses(cpurt::EntryOp entry, function_ref<bool(mlir::Operation *)> isLoop) {
  // What was found for each block: of many users inside each other, each block is climbed once.
  DenseMap<mlir::Block *, mlir::Operation *> around;
  auto loopOf = [&](mlir::Operation *op) {
    SmallVector<mlir::Block *> climbed;
    while (op && !isLoop(op)) {
      mlir::Block *block = op->getBlock();
      if (auto it = around.find(block); it != around.end()) {
        op = it->second;
        break;
      }
      climbed.push_back(block);
      op = op->getParentOp();
    }
    for (mlir::Block *block : climbed) {
      around[block] = op;
    }
    return op;
  };
  entry->walk([&](cpurt::ArenaOp slice) {
    Range range{int64_t(slice.getOffset()), int64_t(slice.getOffset() + slice.getBytes()), nullptr};
    bool first = true;
    for (mlir::Operation *user : slice->getUsers()) {
      mlir::Operation *loop = loopOf(user);
      range.loop = first ? loop : range.loop == loop ? loop : nullptr;
      first = false;
    }
    if (!first) {
      ranges.push_back(range);
    }
  });
  // Most slices cover the same bytes as another one.
  auto key = [](const Range &range) { return std::make_tuple(range.begin, range.end, range.loop); };
  llvm::sort(ranges, [&](const Range &a, const Range &b) { return key(a) < key(b); });
  ranges.erase(
      llvm::unique(ranges, [&](const Range &a, const Range &b) { return key(a) == key(b); }),
      ranges.end());
  int64_t end = 0;
  for (const Range &range : ranges) {
    ends.push_back(end = std::max(end, range.end));
  }
}

bool hlo::ArenaUses::touchesOutside(mlir::Operation *loop, int64_t offset, int64_t bytes) const {
  auto first = llvm::partition_point(
      ranges, [&](const Range &range) { return range.begin < offset + bytes; });
  for (size_t i = first - ranges.begin(); i-- > 0 && ends[i] > offset;) {
    if (ranges[i].end > offset && (!ranges[i].loop || ranges[i].loop != loop)) {
      return true;
    }
  }
  return false;
}

int64_t hlo::loopScratchBytes(cpurt::WhileOp loop, llvm::ArrayRef<LoopSlot> slots,
                              const llvm::StringMap<KernelInfo> &kernels) {
  int64_t bytes = 0;
  for (const LoopSlot &slot : slots) {
    bytes += alignTo(slot.bytes, 64);
  }
  loop->walk([&](cpurt::LaunchOp launch) {
    auto kernel = kernels.find(launch.getKernel());
    bytes += kernel == kernels.end() ? 0 : kernel->second.variableBytes;
  });
  return bytes > kMostVariableBytes ? bytes : 0;
}

namespace {
/// A range of adjacent lanes.
struct LaneRange {
  unsigned first, count;
};
} // namespace

/// The set lanes of a constant mask if they are adjacent and at least one.
static std::optional<LaneRange> lanesOf(const Value *mask) {
  auto *constant = dyn_cast<Constant>(mask);
  auto *type = dyn_cast<FixedVectorType>(mask->getType());
  if (!constant || !type) {
    return std::nullopt;
  }
  LaneRange range{0, 0};
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    const Constant *element = constant->getAggregateElement(lane);
    if (!element || !(element->isNullValue() || element->isOneValue())) {
      return std::nullopt;
    }
    if (element->isOneValue()) {
      if (range.count && lane != range.first + range.count) {
        return std::nullopt;
      }
      range.first = range.count ? range.first : lane;
      ++range.count;
    }
  }
  return range.count ? std::optional<LaneRange>(range) : std::nullopt;
}

static Value *loadLanes(IRBuilder<> &builder, IntrinsicInst *call, LaneRange range, Value *address,
                        Align align) {
  auto *type = cast<FixedVectorType>(call->getType());
  auto *narrow = FixedVectorType::get(type->getElementType(), range.count);
  LoadInst *load = builder.CreateAlignedLoad(narrow, address, align);
  load->setAAMetadata(call->getAAMetadata());
  unsigned total = type->getNumElements();
  SmallVector<int> widen(total, PoisonMaskElem), merge;
  for (unsigned lane = 0; lane < total; ++lane) {
    bool loaded = lane >= range.first && lane < range.first + range.count;
    if (loaded) {
      widen[lane] = lane - range.first;
    }
    merge.push_back(loaded ? lane : total + lane);
  }
  return builder.CreateShuffleVector(builder.CreateShuffleVector(load, widen),
                                     call->getArgOperand(2), merge);
}

static void storeLanes(IRBuilder<> &builder, IntrinsicInst *call, LaneRange range, Value *address,
                       Align align) {
  SmallVector<int> lanes;
  for (unsigned i = 0; i < range.count; ++i) {
    lanes.push_back(range.first + i);
  }
  Value *part = builder.CreateShuffleVector(call->getArgOperand(0), lanes);
  StoreInst *store = builder.CreateAlignedStore(part, address, align);
  store->setAAMetadata(call->getAAMetadata());
}

void hlo::narrowMaskedAccesses(Function &function) {
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    auto *call = dyn_cast<IntrinsicInst>(&instruction);
    bool isStore = call && call->getIntrinsicID() == Intrinsic::masked_store;
    if (!call || !(isStore || call->getIntrinsicID() == Intrinsic::masked_load)) {
      continue;
    }
    std::optional<LaneRange> range = lanesOf(call->getArgOperand(isStore ? 2 : 1));
    auto *type =
        cast<FixedVectorType>(isStore ? call->getArgOperand(0)->getType() : call->getType());
    // Lanes of less than a byte stay masked.
    if (!range || type->getScalarSizeInBits() % 8) {
      continue;
    }
    IRBuilder<> builder(call);
    uint64_t skipped = range->first * (type->getScalarSizeInBits() / 8);
    // Not `inbounds`: lanes before the first set one may lie before the buffer.
    Value *address = call->getArgOperand(isStore ? 1 : 0);
    Align align = commonAlignment(call->getParamAlign(isStore ? 1 : 0).valueOrOne(), skipped);
    if (skipped) {
      address = builder.CreateConstGEP1_64(builder.getInt8Ty(), address, skipped);
    }
    if (isStore) {
      storeLanes(builder, call, *range, address, align);
    } else {
      call->replaceAllUsesWith(loadLanes(builder, call, *range, address, align));
    }
    call->eraseFromParent();
  }
}
