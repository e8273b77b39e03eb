//===- Dce.cpp - Unused ops, computations and loop carries ----------------===//
//
// Visits the computations from the entry down. In a block, ops are visited last to first: an op
// without users and side effects is erased, and a collective without users, which no device runs
// then. A loop's carry stays if its result has users, or if the condition, an op with side effects
// in the body, or another carry that stays needs it:
//
//   %a, %b = while(%x, %y)   with %b unused, %a's body not reading %b
//   -> %a = while(%x)
//
// A backward walk from the needed carries finds all needed values, visiting each once; the other
// carries are removed. A conditional loses unused results and the operands that no branch reads.
// Computations without references are erased.
//
// Assumes flat tuples, and that loops and branches have computations of their own
// (hlo-flatten-calls).
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Computations.h"
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/transforms/simplifiers/Simplifiers.h"

using namespace mlir;
using namespace hlo;

namespace {

class DcePass : public SettlingPass<DcePass> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DcePass)
  StringRef getArgument() const final { return "hlo-dce"; }
  StringRef getDescription() const final {
    return "Remove unused ops, computations and loop carries";
  }

  FailureOr<bool> change() {
    const FailureOr<ComputationGraph> &built = getAnalysis<ModuleCalls>().graph;
    if (failed(built)) {
      return failure();
    }
    graph = &*built;
    changed = false;
    // Callers first: callees need not compute results that no caller uses.
    SetVector<Operation *> reached;
    reached.insert(graph->entry());
    for (size_t next = 0; next < reached.size(); ++next) {
      Block &block = cast<ComputationOp>(reached[next]).getBody().front();
      sweep(block);
      for (Operation &op : block) {
        forEachCallee(&op, [&](FlatSymbolRefAttr name) { reached.insert(graph->lookup(name)); });
      }
    }
    // Then callees first: callers need not pass arguments that no branch reads.
    for (Operation *computation : llvm::reverse(reached)) {
      Block &block = cast<ComputationOp>(computation).getBody().front();
      for (Operation &op : llvm::make_early_inc_range(block)) {
        if (auto conditional = dyn_cast<ConditionalOp>(op)) {
          dropUnreadOperands(conditional);
        }
      }
      eraseDead(block);
    }
    for (ComputationOp computation :
         llvm::make_early_inc_range(getOperation().getOps<ComputationOp>())) {
      if (!reached.contains(computation)) {
        computation.erase();
        changed = true;
      }
    }
    return changed;
  }

private:
  /// Erases dead ops, and removes unused carries, results and operands of loops and conditionals.
  void sweep(Block &block);
  /// Erases dead ops only.
  void eraseDead(Block &block);
  /// True if the op must run though nothing uses its results.
  bool isNeeded(Operation *op) const {
    bool onlyExchanges = isa<AllGatherOp, AllReduceOp, AllToAllOp, CollectiveBroadcastOp,
                             CollectivePermuteOp, PartitionIdOp, ReduceScatterOp, ReplicaIdOp>(op);
    return !onlyExchanges && graph->hasSideEffects(op);
  }
  /// Both return the op to visit next: the given one or what replaced it.
  Operation *shrinkWhile(WhileOp op);
  Operation *dropUnusedResults(ConditionalOp op);
  void dropUnreadOperands(ConditionalOp op);
  /// The branches, if no other op refers to them; else none.
  SmallVector<ComputationOp> ownBranches(ConditionalOp op);

  const ComputationGraph *graph = nullptr;
  bool changed = false;
};

/// Keeps the listed entries of the signature of `computation`.
void keepSignature(ComputationOp computation, const BitVector &arguments,
                   const BitVector &results) {
  Block &block = computation.getBody().front();
  Operation *root = block.getTerminator();
  BitVector unusedResults = results;
  unusedResults.flip();
  root->eraseOperands(unusedResults);
  BitVector unusedArguments = arguments;
  unusedArguments.flip();
  block.eraseArguments(unusedArguments);
  updateFunctionType(computation);
}

SmallVector<Value> kept(ValueRange values, const BitVector &keep) {
  SmallVector<Value> result;
  for (unsigned i : keep.set_bits()) {
    result.push_back(values[i]);
  }
  return result;
}

/// `op` with other operands and only the results in `keep`.
Operation *rebuild(Operation *op, ArrayRef<Value> operands, const BitVector &keep) {
  OperationState state(op->getLoc(), op->getName());
  state.attributes = op->getAttrs();
  state.addOperands(operands);
  for (unsigned i : keep.set_bits()) {
    state.addTypes(op->getResult(i).getType());
  }
  OpBuilder builder(op);
  Operation *result = builder.create(state);
  for (auto [i, old] : llvm::enumerate(keep.set_bits())) {
    op->getResult(old).replaceAllUsesWith(result->getResult(i));
  }
  return result;
}

} // namespace

void DcePass::sweep(Block &block) {
  Operation *next = nullptr;
  for (Operation *op = block.getTerminator()->getPrevNode(); op; op = next) {
    if (auto loop = dyn_cast<WhileOp>(op)) {
      op = shrinkWhile(loop);
    } else if (auto conditional = dyn_cast<ConditionalOp>(op)) {
      op = dropUnusedResults(conditional);
    }
    next = op->getPrevNode();
    if (op->use_empty() && !isNeeded(op)) {
      op->erase();
      changed = true;
    }
  }
}

void DcePass::eraseDead(Block &block) {
  Operation *next = nullptr;
  for (Operation *op = block.getTerminator()->getPrevNode(); op; op = next) {
    next = op->getPrevNode();
    if (op->use_empty() && !isNeeded(op)) {
      op->erase();
      changed = true;
    }
  }
}

Operation *DcePass::shrinkWhile(WhileOp op) {
  if (op->use_empty() && !graph->hasSideEffects(op)) {
    return op;
  }
  ComputationOp condition = graph->lookup(op.getConditionAttr());
  ComputationOp body = graph->lookup(op.getBodyAttr());
  Block &bodyBlock = body.getBody().front();
  if (graph->uses(condition) != 1 || graph->uses(body) != 1 ||
      bodyBlock.getNumArguments() != op->getNumOperands()) {
    return op;
  }
  Operation *root = bodyBlock.getTerminator();

  BitVector live(op->getNumOperands());
  SmallVector<unsigned> pending;
  auto need = [&](unsigned i) {
    if (!live.test(i)) {
      live.set(i);
      pending.push_back(i);
    }
  };
  DenseSet<Operation *> seen;
  SmallVector<Operation *> stack;
  auto reach = [&](Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      need(argument.getArgNumber());
    } else if (seen.insert(value.getDefiningOp()).second) {
      stack.push_back(value.getDefiningOp());
    }
  };
  auto drain = [&] {
    while (!stack.empty()) {
      for (Value operand : stack.pop_back_val()->getOperands()) {
        reach(operand);
      }
    }
  };

  eraseDead(condition.getBody().front());
  for (BlockArgument argument : condition.getBody().getArguments()) {
    if (!argument.use_empty()) {
      need(argument.getArgNumber());
    }
  }
  for (OpResult result : op->getResults()) {
    if (!result.use_empty()) {
      need(result.getResultNumber());
    }
  }
  for (Operation &inner : bodyBlock.without_terminator()) {
    if (isNeeded(&inner) && seen.insert(&inner).second) {
      stack.push_back(&inner);
    }
  }
  drain();
  while (!pending.empty()) {
    reach(root->getOperand(pending.pop_back_val()));
    drain();
  }
  if (live.all()) {
    return op;
  }

  changed = true;
  // Ops that only dead carries need are erased first: they use the dead arguments.
  BitVector dead = live;
  dead.flip();
  root->eraseOperands(dead);
  Operation *previous = nullptr;
  for (Operation *inner = root->getPrevNode(); inner; inner = previous) {
    previous = inner->getPrevNode();
    if (!seen.contains(inner)) {
      inner->erase();
    }
  }
  keepSignature(body, live, BitVector(root->getNumOperands(), true));
  keepSignature(condition, live, BitVector(1, true));
  Operation *shrunk = rebuild(op, kept(op->getOperands(), live), live);
  op->erase();
  return shrunk;
}

SmallVector<ComputationOp> DcePass::ownBranches(ConditionalOp op) {
  SmallVector<ComputationOp> branches;
  for (Attribute name : op.getBranchComputations()) {
    branches.push_back(graph->lookup(cast<FlatSymbolRefAttr>(name)));
    if (graph->uses(branches.back()) != 1) {
      return {};
    }
  }
  std::optional<ArrayRef<int64_t>> counts = op.getBranchOperandCounts();
  return counts && counts->size() == branches.size() ? branches : SmallVector<ComputationOp>();
}

Operation *DcePass::dropUnusedResults(ConditionalOp op) {
  BitVector results(op->getNumResults());
  for (OpResult result : op->getResults()) {
    if (!result.use_empty()) {
      results.set(result.getResultNumber());
    }
  }
  SmallVector<ComputationOp> branches = ownBranches(op);
  bool dead = results.none() && !graph->hasSideEffects(op);
  if (results.all() || dead || branches.empty()) {
    return op;
  }
  changed = true;
  for (ComputationOp branch : branches) {
    unsigned arguments = branch.getBody().getNumArguments();
    keepSignature(branch, BitVector(arguments, true), results);
  }
  Operation *shrunk = rebuild(op, SmallVector<Value>(op->getOperands()), results);
  op->erase();
  return shrunk;
}

void DcePass::dropUnreadOperands(ConditionalOp op) {
  SmallVector<ComputationOp> branches = ownBranches(op);
  if (branches.empty()) {
    return;
  }
  SmallVector<Value> operands{op.getSelector()};
  SmallVector<int64_t> counts;
  unsigned next = 1;
  for (auto [branch, count] : llvm::zip(branches, *op.getBranchOperandCounts())) {
    Block &block = branch.getBody().front();
    BitVector used(block.getNumArguments());
    for (BlockArgument argument : block.getArguments()) {
      if (!argument.use_empty()) {
        used.set(argument.getArgNumber());
        operands.push_back(op->getOperand(next + argument.getArgNumber()));
      }
    }
    next += count;
    counts.push_back(used.count());
    if (!used.all()) {
      changed = true;
      keepSignature(branch, used, BitVector(block.getTerminator()->getNumOperands(), true));
    }
  }
  if (operands.size() != op->getNumOperands()) {
    changed = true;
    Operation *shrunk = rebuild(op, operands, BitVector(op->getNumResults(), true));
    cast<ConditionalOp>(shrunk).setBranchOperandCounts(counts);
    op->erase();
  }
}

std::unique_ptr<Pass> hlo::createDcePass() { return std::make_unique<DcePass>(); }
