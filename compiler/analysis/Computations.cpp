//===- Computations.cpp - Call graph of a module's computations -----------===//
//
// Attributes refer to computations by symbol (`to_apply`, `body`, ...) or by arrays of symbols
// (`branch_computations`). The graph is built with an explicit stack, so that a chain of ten
// thousand calls does not overflow the thread's stack.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Computations.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Prepared.h"

using namespace mlir;
using namespace hlo;

void hlo::forEachCallee(Operation *op, function_ref<void(FlatSymbolRefAttr)> visit) {
  for (NamedAttribute attr : op->getAttrs()) {
    if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attr.getValue())) {
      visit(symbol);
    } else if (auto list = dyn_cast<ArrayAttr>(attr.getValue())) {
      for (Attribute item : list) {
        if (auto symbol = dyn_cast<FlatSymbolRefAttr>(item)) {
          visit(symbol);
        }
      }
    }
  }
}

void hlo::renameCallees(Operation *op, function_ref<FlatSymbolRefAttr(FlatSymbolRefAttr)> rename) {
  auto renamed = [&](Attribute attr) -> Attribute {
    auto symbol = dyn_cast<FlatSymbolRefAttr>(attr);
    FlatSymbolRefAttr name = symbol ? rename(symbol) : FlatSymbolRefAttr();
    return name ? Attribute(name) : attr;
  };
  SmallVector<NamedAttribute> attrs(op->getAttrs());
  bool changed = false;
  for (NamedAttribute &attr : attrs) {
    Attribute value = attr.getValue();
    if (auto list = dyn_cast<ArrayAttr>(value)) {
      if (llvm::none_of(list, llvm::IsaPred<FlatSymbolRefAttr>)) {
        continue;
      }
      value = ArrayAttr::get(op->getContext(), llvm::map_to_vector(list, renamed));
    } else {
      value = renamed(value);
    }
    changed |= value != attr.getValue();
    attr.setValue(value);
  }
  if (changed) {
    op->setAttrs(attrs);
  }
}

bool hlo::callsAtTopLevel(Operation *op) {
  return isa<CallOp, WhileOp, ConditionalOp, FusionOp, AsyncStartOp, AsyncUpdateOp, AsyncDoneOp>(
      op);
}

/// Whether the op has side effects; none: that is up to its callees.
static std::optional<bool> ownSideEffects(Operation *op) {
  if (auto call = dyn_cast<CustomCallOp>(op)) {
    return call.getCustomCallHasSideEffect().value_or(false);
  }
  // A collective is a meeting of all ranks: one that leaves it out blocks the others.
  if (hasFlag(op, OpFlag::Effect)) {
    return true;
  }
  return std::nullopt;
}

bool ComputationGraph::hasSideEffects(Operation *op) const {
  if (std::optional<bool> own = ownSideEffects(op)) {
    return *own;
  }
  bool found = false;
  forEachCallee(op, [&](FlatSymbolRefAttr name) {
    Operation *callee = lookup(name);
    found |= callee && effects.contains(callee);
  });
  return found;
}

FailureOr<ComputationGraph> ComputationGraph::build(ModuleOp module) {
  ComputationGraph graph;
  SmallVector<ComputationOp> all(module.getOps<ComputationOp>());
  graph.byName.reserve(all.size());
  for (ComputationOp computation : all) {
    graph.byName[computation.getSymNameAttr()] = computation;
    if (computation.getEntry()) {
      graph.entryOp = computation;
    } else if (isRoot(computation)) {
      graph.prepareOp = computation;
    }
  }
  if (!graph.entryOp) {
    return module.emitError("module has no entry computation");
  }

  enum State { Unseen, Open, Done };
  DenseMap<Operation *, State> states;
  states.reserve(all.size());
  struct Call {
    Operation *caller;
    ComputationOp callee;
    bool passesEffects; ///< the caller has the callee's side effects
  };
  struct Frame {
    ComputationOp computation;
    SmallVector<Call, 2> calls;
    size_t next = 0;
    bool hasEffects = false; ///< of its ops, callees left out
  };
  SmallVector<Frame, 0> stack;
  // All that is asked of an op is asked here: where calls are deep, its memory has long left the
  // caches when the computation's callees are done.
  auto open = [&](ComputationOp computation) -> LogicalResult {
    states[computation] = Open;
    Frame frame{computation, {}};
    for (Operation &op : computation.getBody().front()) {
      WalkResult result = op.walk([&](Operation *inner) {
        bool known = true;
        std::optional<bool> own = ownSideEffects(inner);
        frame.hasEffects |= own.value_or(false);
        forEachCallee(inner, [&](FlatSymbolRefAttr name) {
          ComputationOp callee = graph.lookup(name);
          if (!callee) {
            inner->emitError("computation does not exist: ") << name.getValue();
            known = false;
            return;
          }
          ++graph.useCounts[callee];
          frame.calls.push_back({inner, callee, /*passesEffects=*/!own});
        });
        return known ? WalkResult::advance() : WalkResult::interrupt();
      });
      if (result.wasInterrupted()) {
        return failure();
      }
    }
    stack.push_back(std::move(frame));
    return success();
  };

  // The entry is pushed first, so it is finished last, after the prepare computation.
  if (failed(open(graph.entryOp)) || (graph.prepareOp && failed(open(graph.prepareOp)))) {
    return failure();
  }
  while (!stack.empty()) {
    Frame &frame = stack.back();
    if (frame.next < frame.calls.size()) {
      auto [caller, callee, passesEffects] = frame.calls[frame.next++];
      State state = states.lookup(callee);
      if (state == Open) {
        caller->emitError("computation calls itself: ") << callee.getSymName();
        return failure();
      }
      if (state == Unseen && failed(open(callee))) {
        return failure();
      }
      continue;
    }
    states[frame.computation] = Done;
    graph.order.push_back(frame.computation);
    if (frame.hasEffects || llvm::any_of(frame.calls, [&](const Call &call) {
          return call.passesEffects && graph.effects.contains(call.callee);
        })) {
      graph.effects.insert(frame.computation);
    }
    stack.pop_back();
  }
  return graph;
}

void hlo::updateFunctionType(ComputationOp computation) {
  Block &body = computation.getBody().front();
  computation.setFunctionType(FunctionType::get(computation.getContext(), body.getArgumentTypes(),
                                                body.getTerminator()->getOperandTypes()));
}

LogicalResult hlo::eraseUnreachable(ModuleOp module) {
  FailureOr<ComputationGraph> graph = ComputationGraph::build(module);
  if (failed(graph)) {
    return failure();
  }
  for (auto computation : llvm::make_early_inc_range(module.getOps<ComputationOp>())) {
    if (!graph->isReachable(computation)) {
      computation.erase();
    }
  }
  return success();
}
