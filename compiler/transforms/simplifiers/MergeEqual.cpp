//===- MergeEqual.cpp - Equal ops of a computation become one -------------===//
//
//   %a = add(%x, %y) ... %b = add(%x, %y)  ->  %a, used in the place of %b too
//
// An op is equal to another with the same opcode, operands, attributes and result types. Only pure
// ops merge. An op without users is erased, and nothing merges with it. Erasing waits for the end,
// so of a chain of unused ops only the last goes; hlo-dce erases the others.
//
// MLIR's own pass does the same, but compares keys by hashing the ops again each time that its
// table grows or two ops meet, which takes a tenth of the compilation of a large module.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/transforms/simplifiers/Simplifiers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace hlo;

namespace {
/// Ops by hash, with open addressing.
class OpTable {
public:
  void clear() {
    slots.assign(kLeast, {});
    used = 0;
  }

  /// The op that is equal to `op` and was entered before; null, after entering `op`, if there is
  /// none.
  Operation *findOrEnter(Operation *op) {
    if (2 * (used + 1) > slots.size()) {
      grow();
    }
    uint64_t hash = OperationEquivalence::computeHash(op, OperationEquivalence::directHashValue,
                                                      OperationEquivalence::ignoreHashValue,
                                                      OperationEquivalence::IgnoreLocations);
    size_t at = hash & (slots.size() - 1);
    for (; slots[at].op; at = (at + 1) & (slots.size() - 1)) {
      if (slots[at].hash == hash && OperationEquivalence::isEquivalentTo(
                                        slots[at].op, op, OperationEquivalence::IgnoreLocations)) {
        return slots[at].op;
      }
    }
    slots[at] = {hash, op};
    ++used;
    return nullptr;
  }

private:
  struct Slot {
    uint64_t hash = 0;
    Operation *op = nullptr;
  };

  void grow() {
    std::vector<Slot> old(2 * slots.size());
    old.swap(slots);
    for (const Slot &slot : old) {
      if (slot.op) {
        size_t at = slot.hash & (slots.size() - 1);
        while (slots[at].op) {
          at = (at + 1) & (slots.size() - 1);
        }
        slots[at] = slot;
      }
    }
  }

  static constexpr size_t kLeast = 64; ///< a power of two
  std::vector<Slot> slots;
  size_t used = 0;
};

class MergeEqualPass : public SettlingPass<MergeEqualPass> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MergeEqualPass)
  StringRef getArgument() const final { return "hlo-merge-equal"; }
  StringRef getDescription() const final { return "Merge equal ops"; }

  FailureOr<bool> change() {
    SmallVector<Operation *> unused;
    OpTable known;
    for (auto computation : getOperation().getOps<ComputationOp>()) {
      known.clear();
      for (Operation &op : computation.getBody().front().without_terminator()) {
        if (isOpTriviallyDead(&op)) {
          unused.push_back(&op);
          continue;
        }
        if (op.getNumRegions() != 0 || !isMemoryEffectFree(&op)) {
          continue;
        }
        if (Operation *first = known.findOrEnter(&op)) {
          op.replaceAllUsesWith(first);
          unused.push_back(&op);
        }
      }
    }
    for (Operation *op : unused) {
      op->erase();
    }
    return !unused.empty();
  }
};
} // namespace

std::unique_ptr<Pass> hlo::createMergeEqualPass() { return std::make_unique<MergeEqualPass>(); }
