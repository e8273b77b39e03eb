//===- Immutable.cpp - Values that depend only on immutable parameters ----===//
//
// In: a module with immutable leaves or large constants. Out: the set of values that are the same
// in every call. Runtime ops, random state and everything with side effects belong to a call and
// are excluded, also inside loops and branches.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/prepare/Immutable.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Prepared.h"
#include "compiler/analysis/evaluator/LargeArrays.h"
#include "compiler/transforms/prepare/FoldConstants.h"

using namespace mlir;
using namespace hlo;

bool hlo::declaresImmutable(ModuleOp module) { return module->hasAttr(kImmutableLeaves); }

LogicalResult hlo::changeImmutable(ModuleOp module,
                                   function_ref<void(const ComputationGraph &graph)> change) {
  if (!declaresImmutable(module) &&
      llvm::none_of(module.getOps<ComputationOp>(), hasLargeConstants)) {
    return success();
  }
  FailureOr<ComputationGraph> graph = ComputationGraph::build(module);
  if (failed(graph)) {
    return failure();
  }
  change(*graph);
  return success();
}

/// True if the op, or an op in a computation that it calls, is executed by the runtime.
static bool callsRuntime(Operation *op, const ComputationGraph &graph) {
  if (isRuntimeOp(op) || isCollectiveOp(op) || isa<RngGetAndUpdateStateOp, RngOp>(op)) {
    return true;
  }
  bool found = false;
  forEachCallee(op, [&](FlatSymbolRefAttr name) {
    if (ComputationOp callee = graph.lookup(name); callee && !found) {
      found =
          callee.getBody()
              .walk([&](Operation *inner) {
                return callsRuntime(inner, graph) ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
    }
  });
  return found;
}

bool ImmutableValues::isMovable(Operation *op) const {
  auto isArray = [](Type type) { return isa<RankedTensorType>(type); };
  return !op->hasTrait<mlir::OpTrait::IsTerminator>() && op->getNumResults() > 0 &&
         llvm::all_of(op->getResultTypes(), isArray) && !callsRuntime(op, graph) &&
         !graph.hasSideEffects(op);
}

void ImmutableValues::add(Operation *op) {
  if (llvm::all_of(op->getOperands(), [&](Value value) { return contains(value); }) &&
      isMovable(op) && (!onlyConstants || canEvaluateLarge(op))) {
    values.insert(op->result_begin(), op->result_end());
  }
}

void ImmutableValues::removeDead(ComputationOp computation) const {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(computation.getBody().front()))) {
    if (op.use_empty() && isMovable(&op)) {
      op.erase();
    }
  }
}

void ImmutableValues::removeDead() const {
  // A branch may have been the last reader of a value of the entry.
  for (ComputationOp program : llvm::reverse(all)) {
    removeDead(program);
  }
}

void ImmutableValues::findPrograms() {
  all.push_back(graph.entry());
  for (auto op : ComputationOp(graph.entry()).getBody().front().getOps<ConditionalOp>()) {
    if (!op.getBranchOperandCounts()) {
      continue;
    }
    for (Attribute name : op.getBranchComputations()) {
      ComputationOp branch = graph.lookup(cast<FlatSymbolRefAttr>(name));
      if (branch && graph.uses(branch) == 1) {
        all.push_back(branch);
        calls[branch] = op;
      }
    }
  }
}

std::pair<ConditionalOp, unsigned> ImmutableValues::callOf(ComputationOp branch) const {
  ConditionalOp op = calls.lookup(branch);
  unsigned first = 1;
  for (auto [name, count] : llvm::zip(op.getBranchComputations(), *op.getBranchOperandCounts())) {
    if (cast<FlatSymbolRefAttr>(name).getAttr() == branch.getSymNameAttr()) {
      break;
    }
    first += count;
  }
  return {op, first};
}

Value ImmutableValues::outside(BlockArgument argument) const {
  auto [op, first] = callOf(cast<ComputationOp>(argument.getOwner()->getParentOp()));
  return op->getOperand(first + argument.getArgNumber());
}

ImmutableValues::ImmutableValues(const ComputationGraph &graph, ModuleOp module)
    : graph(graph), onlyConstants(!declaresImmutable(module)) {
  findPrograms();
  Block &body = ComputationOp(graph.entry()).getBody().front();
  // The arguments after the leaves, which both computations share, are prepared arrays.
  ComputationOp prepare = graph.prepare();
  unsigned leaves = prepare ? prepare.getBody().getNumArguments() : body.getNumArguments();
  auto immutable = module->getAttrOfType<DenseI64ArrayAttr>(kImmutableLeaves);
  for (BlockArgument argument : body.getArguments()) {
    if (argument.getArgNumber() >= leaves ||
        (immutable && llvm::is_contained(immutable.asArrayRef(), argument.getArgNumber()))) {
      values.insert(argument);
    }
  }
  for (ComputationOp program : all) {
    if (ConditionalOp op = calls.lookup(program)) {
      unsigned first = callOf(program).second;
      for (BlockArgument argument : program.getBody().getArguments()) {
        if (contains(op->getOperand(first + argument.getArgNumber()))) {
          values.insert(argument);
        }
      }
    }
    for (Operation &op : program.getBody().front()) {
      add(&op);
    }
  }
}
