//===- AsyncPairs.cpp - Collectives that begin and end apart --------------===//
//
//   %r = hlo.all_reduce %x {hlo.async}
//   ...                                   what runs meanwhile
//   %d = hlo.collective_done %r, %x
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/AsyncPairs.h"
#include "compiler/analysis/OpKinds.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace mlir;
using namespace hlo;

Operation *hlo::startOf(CollectiveDoneOp done) {
  Operation *start = done->getNumOperands() ? done->getOperand(0).getDefiningOp() : nullptr;
  size_t results = done->getNumResults();
  bool known = start && start->hasAttr(kAsyncAttr) && start->getBlock() == done->getBlock() &&
               start->getNumResults() == results && done->getNumOperands() >= results &&
               llvm::equal(start->getResults(), done->getOperands().take_front(results));
  return known ? start : nullptr;
}

DenseMap<Operation *, Operation *> hlo::endsBehind(Block &block) {
  DenseMap<Operation *, Operation *> behind;
  auto ends = block.getOps<CollectiveDoneOp>();
  if (ends.empty()) {
    return behind;
  }
  DenseMap<Operation *, int64_t> endNumber; // of a start
  std::map<int64_t, Operation *> open;      // the nearest end first
  int64_t number = 0;
  for (Operation &op : llvm::reverse(block)) {
    if (auto done = dyn_cast<CollectiveDoneOp>(op)) {
      if (Operation *start = startOf(done)) {
        open[--number] = done;
        endNumber[start] = number;
      }
    } else if (auto end = endNumber.find(&op); end != endNumber.end()) {
      open.erase(end->second);
    } else if (!open.empty()) {
      behind[&op] = open.begin()->second;
    }
  }
  return behind;
}
