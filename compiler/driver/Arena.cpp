//===- Arena.cpp - The arena that calls of a planned program need ---------===//
//
//   | entry's buffers | table of pointers | slot of thread 0 | slot of thread 1 | ...
//   | table of pointers | entry's buffers | slot of thread 0 | ...        with versions
//
// A version of the program for some sizes (hlo-size-versions) uses a part of the buffers at their
// start, and the slots of a call follow that part: they are as large as its kernels need. Live
// ranges of different versions do not meet, so each version's buffers are packed from the start.
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/Arena.h"
#include "compiler/analysis/entry/SizeArguments.h"
#include "compiler/target/MoveScratch.h"

using namespace mlir;
using namespace hlo;

ArenaSize hlo::arenaOf(cpurt::EntryOp entry, uint64_t align) {
  ArenaSize arena{.bytes = entry.getArenaBytes()};
  if (uint64_t bytes = tableBytes(entry)) {
    if (versionsOf(entry)) {
      arena.tableAt = 0;
      arena.planAt = llvm::alignTo(bytes, align);
      arena.bytes += arena.planAt;
    } else {
      arena.tableAt = llvm::alignTo(arena.bytes, 64);
      arena.bytes = *arena.tableAt + bytes;
    }
  }
  // C11's aligned_alloc wants sizes that are multiples of the alignment.
  arena.bytes = llvm::alignTo(arena.bytes, align);
  return arena;
}

void hlo::addScratch(ArenaSize &arena, uint64_t scratchBytes) {
  arena.bytes -= arena.threadBytes;
  arena.threadBytes = slotBytes(scratchBytes);
  arena.bytes += arena.threadBytes;
}

/// The number of versions that the module's choices lead to; 0 if it has none.
static size_t countVersions(ArrayRef<int64_t> choices) {
  size_t total = 0;
  for (int64_t left = choices.empty() ? 0 : choices.front(), at = 1; left > 0; --left) {
    at += 1 + 2 * choices[at]; // conditions
    size_t count = 1;
    for (int64_t classes = choices[at++]; classes > 0; --classes) {
      at += 1 + choices[at]; // inputs
      count *= choices[at];
      at += 2 + choices[at + 1]; // intervals, limits
    }
    total += count;
  }
  return total;
}

cpurt::CaseOp hlo::versionsOf(cpurt::EntryOp entry) {
  auto choices = entry->getParentOfType<ModuleOp>()->getAttrOfType<DenseI64ArrayAttr>(kSizeChoices);
  if (!choices || entry.getPrepare()) {
    return {};
  }
  size_t count = countVersions(choices);
  for (auto choice : entry.getOps<cpurt::CaseOp>()) {
    if (!choice.getPredicated() && choice.getBranches().size() == count) {
      return choice;
    }
  }
  return {};
}

/// The end of the entry's buffers that an op, or one inside it but not inside `except`, uses.
static uint64_t endOfBuffers(Operation *root, Operation *except) {
  uint64_t end = 0;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      if (auto buffer = operand.getDefiningOp<cpurt::ArenaOp>()) {
        end = std::max<uint64_t>(end, buffer.getOffset() + buffer.getBytes());
      }
    }
    return op == except ? WalkResult::skip() : WalkResult::advance();
  });
  return end;
}

SizeVersionsInfo hlo::describeVersions(cpurt::CaseOp versions, uint64_t align) {
  SizeVersionsInfo info;
  auto entry = versions->getParentOfType<cpurt::EntryOp>();
  auto choices = entry->getParentOfType<ModuleOp>()->getAttrOfType<DenseI64ArrayAttr>(kSizeChoices);
  info.numChoices = choices[0];
  info.choices = choices.asArrayRef().drop_front().vec();
  uint64_t planAt = arenaOf(entry, align).planAt, outside = endOfBuffers(entry, versions);
  for (Region &branch : versions.getBranches()) {
    uint64_t end = outside;
    for (Operation &op : branch.front()) {
      end = std::max(end, endOfBuffers(&op, nullptr));
    }
    info.arenaBytes.push_back(llvm::alignTo(planAt + end, align));
    info.threadBytes.push_back(0);
  }
  return info;
}

void hlo::addScratch(SizeVersionsInfo &versions,
                     llvm::function_ref<uint64_t(size_t)> scratchBytes) {
  for (size_t i = 0; i < versions.arenaBytes.size(); ++i) {
    versions.arenaBytes[i] -= versions.threadBytes[i];
    versions.threadBytes[i] = slotBytes(scratchBytes(i));
    versions.arenaBytes[i] += versions.threadBytes[i];
  }
}
