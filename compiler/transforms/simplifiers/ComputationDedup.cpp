//===- ComputationDedup.cpp - Equal computations become one ---------------===//
//
// JAX writes one `add` computation per reduce. Computations are visited callees first, so that
// callers that differ only in the names of equal callees are equal too. Two computations are equal
// if their ops are, except for names and locations. The first in text order stays.
//
// Loops and branches keep computations of their own (see hlo-flatten-calls); the planner finds
// their common kernels again (KernelTable).
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Computations.h"
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/transforms/simplifiers/Simplifiers.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/Hashing.h"

using namespace mlir;
using namespace hlo;

namespace {

class ComputationDedupPass : public PassWrapper<ComputationDedupPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ComputationDedupPass)
  StringRef getArgument() const final { return "hlo-computation-dedup"; }
  StringRef getDescription() const final { return "Merge equal scalar computations"; }

  void runOnOperation() final {
    const FailureOr<ComputationGraph> &graph = getAnalysis<ModuleCalls>().graph;
    if (failed(graph)) {
      return signalPassFailure();
    }
    if (graph->postOrder().size() == 1) {
      return markAllAnalysesPreserved();
    }
    DenseSet<Operation *> bodies;
    for (ComputationOp computation : graph->postOrder()) {
      computation.getBody().walk([&](Operation *op) {
        if (callsAtTopLevel(op)) {
          forEachCallee(op, [&](FlatSymbolRefAttr name) { bodies.insert(graph->lookup(name)); });
        }
      });
    }
    DenseMap<Attribute, FlatSymbolRefAttr> renamed;
    DenseMap<uint64_t, SmallVector<ComputationOp>> byHash;
    SmallVector<ComputationOp> duplicates;
    for (ComputationOp computation : graph->postOrder()) {
      computation.getBody().walk([&](Operation *op) {
        renameCallees(op, [&](FlatSymbolRefAttr name) { return renamed.lookup(name); });
      });
      if (computation == graph->entry() || bodies.contains(computation)) {
        continue;
      }
      SmallVector<ComputationOp> &bucket = byHash[hashOf(computation)];
      auto equal =
          llvm::find_if(bucket, [&](ComputationOp other) { return areEqual(computation, other); });
      if (equal == bucket.end()) {
        bucket.push_back(computation);
        continue;
      }
      renamed[FlatSymbolRefAttr::get(computation.getSymNameAttr())] =
          FlatSymbolRefAttr::get((*equal).getSymNameAttr());
      duplicates.push_back(computation);
    }
    if (duplicates.empty()) {
      markAllAnalysesPreserved();
    }
    for (ComputationOp computation : duplicates) {
      computation.erase();
    }
  }

private:
  /// Hashes opcodes and attributes only: operands are compared, not hashed.
  static uint64_t hashOf(ComputationOp computation) {
    llvm::hash_code hash = llvm::hash_value(computation.getFunctionType().getAsOpaquePointer());
    for (Operation &op : computation.getBody().front()) {
      hash = llvm::hash_combine(hash, op.getName().getAsOpaquePointer(),
                                op.getAttrDictionary().getAsOpaquePointer());
    }
    return static_cast<uint64_t>(hash);
  }
  static bool areEqual(ComputationOp a, ComputationOp b) {
    return a.getFunctionType() == b.getFunctionType() &&
           OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(),
                                                      OperationEquivalence::IgnoreLocations);
  }
};

} // namespace

std::unique_ptr<Pass> hlo::createComputationDedupPass() {
  return std::make_unique<ComputationDedupPass>();
}
