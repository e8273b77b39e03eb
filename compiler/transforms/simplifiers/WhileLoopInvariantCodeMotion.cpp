//===- WhileLoopInvariantCodeMotion.cpp - What a loop need not repeat -----===//
//
// A carry that the body returns as it is has one value in all iterations, and so
// has every op computed from such carries and constants alone. Those that cost
// something move in front of the loop, and their results become carries:
//
//   while(x, w) { x = dot(x, convert(w)) }   ->   c = convert(w); while(x, c) { x = dot(x, c) }
//
// An op moves if it, or one that only it needs, is expensive or reads more bytes
// than it makes; one that spreads data (a broadcast, a widening conversion) costs
// less in the loop than the memory it would fill. A loop that runs zero times
// then computes something in vain, which is harmless: the ops are pure.
//
// Inner loops come first, so that ops leave several loops in one run.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Computations.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/simplifiers/Simplifiers.h"
#include "dialect/hlo/Builder.h"

using namespace mlir;
using namespace hlo;

namespace {

/// A moved result may be this large whatever it is made from: it stays in the first-level cache.
constexpr int64_t kAlwaysSmallBytes = 4096;

/// Ops that cost nothing once they are part of a kernel.
bool isFree(Operation *op) {
  return isa<ConstantOp, IotaOp, BroadcastOp, ReshapeOp, BitcastOp, SliceOp, ReverseOp, PadOp>(op);
}

/// Whether doing it in each iteration is a loss by itself.
bool isWorthMoving(Operation *op) {
  if (isFree(op)) {
    return false;
  }
  Value result = op->getResult(0);
  if (isElementwiseOp(op)) {
    int64_t read = 0;
    for (Value operand : op->getOperands()) {
      read += operand.getDefiningOp<BroadcastOp>() ? 0 : bytesOf(operand);
    }
    bool shrinks = elementsOf(result) > 1 && bytesOf(result) <= read;
    return isExpensiveElementwise(op) || shrinks;
  }
  return true;
}

class LoopMotion {
public:
  LoopMotion(WhileOp loop, ComputationOp condition, ComputationOp body,
             const ComputationGraph &graph)
      : loop(loop), condition(condition), body(body), graph(graph) {}

  void run() {
    findInvariants();
    SmallVector<Value> moved = chooseMoved();
    if (!moved.empty()) {
      move(moved);
    }
  }

private:
  void findInvariants() {
    Operation *root = body.getReturn();
    for (BlockArgument argument : body.getBody().getArguments()) {
      if (root->getOperand(argument.getArgNumber()) == argument) {
        invariant.insert(argument);
      }
    }
    for (Operation &op : body.getBody().front().without_terminator()) {
      if (isPure(&op) && op.getNumResults() > 0 && !graph.hasSideEffects(&op) &&
          llvm::all_of(op.getOperands(), [&](Value v) { return invariant.contains(v); })) {
        invariant.insert_range(op.getResults());
        bool worth = isWorthMoving(&op);
        int64_t read = 0;
        for (Value operand : op.getOperands()) {
          Operation *producer = operand.getDefiningOp();
          worth |= producer && worthy.contains(producer);
          read += producer ? inputBytes.lookup(producer) : bytesOf(operand);
        }
        inputBytes[&op] = read;
        if (worth) {
          worthy.insert(&op);
        }
      }
    }
  }

  /// Invariant values that the rest of the body uses.
  SmallVector<Value> chooseMoved() {
    SmallVector<Value> moved;
    for (Operation &op : body.getBody().front().without_terminator()) {
      if (!worthy.contains(&op)) {
        continue;
      }
      for (OpResult result : op.getResults()) {
        bool leaves = llvm::any_of(result.getUses(), [&](OpOperand &use) {
          Operation *user = use.getOwner();
          return user->getNumResults() == 0 || !invariant.contains(user->getResult(0)) ||
                 !worthy.contains(user) || !fits(user);
        });
        if (leaves && fits(&op)) {
          moved.push_back(result);
        }
      }
    }
    return moved;
  }

  bool fits(Operation *op) {
    int64_t made = 0;
    for (Value result : op->getResults()) {
      made += bytesOf(result);
    }
    return made <= std::max(inputBytes.lookup(op), kAlwaysSmallBytes);
  }

  void move(ArrayRef<Value> moved) {
    // The ops that make the moved values, in order, outside.
    SetVector<Operation *> needed;
    SmallVector<Operation *> stack;
    for (Value value : moved) {
      stack.push_back(value.getDefiningOp());
    }
    while (!stack.empty()) {
      Operation *op = stack.pop_back_val();
      if (needed.insert(op)) {
        for (Value operand : op->getOperands()) {
          if (Operation *producer = operand.getDefiningOp()) {
            stack.push_back(producer);
          }
        }
      }
    }
    OpBuilder builder(loop);
    IRMapping outside;
    outside.map(body.getBody().getArguments(), loop->getOperands());
    for (Operation &op : body.getBody().front().without_terminator()) {
      if (needed.contains(&op)) {
        builder.clone(op, outside);
      }
    }
    SmallVector<Value> starts(loop->getOperands());
    Operation *root = body.getReturn();
    for (Value value : moved) {
      starts.push_back(outside.lookup(value));
      Value carry = body.getBody().front().addArgument(value.getType(), value.getLoc());
      condition.getBody().front().addArgument(value.getType(), value.getLoc());
      value.replaceAllUsesWith(carry);
      root->insertOperands(root->getNumOperands(), carry);
    }
    for (ComputationOp computation : {condition, body}) {
      computation.setFunctionType(
          builder.getFunctionType(computation.getBody().getArgumentTypes(),
                                  computation.getReturn()->getOperandTypes()));
    }
    OperationState state(loop.getLoc(), loop->getName());
    state.attributes = loop->getAttrs();
    state.addOperands(starts);
    state.addTypes(ValueRange(starts).getTypes());
    Operation *wider = builder.create(state);
    loop->replaceAllUsesWith(wider->getResults().take_front(loop->getNumResults()));
    loop.erase();
  }

  WhileOp loop;
  ComputationOp condition, body;
  const ComputationGraph &graph;
  DenseSet<Value> invariant;
  /// Invariant ops that cost something, or need one that does.
  DenseSet<Operation *> worthy;
  /// What the invariant ops read of carries, in bytes, through those they need.
  DenseMap<Operation *, int64_t> inputBytes;
};

class WhileLoopInvariantCodeMotionPass
    : public PassWrapper<WhileLoopInvariantCodeMotionPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(WhileLoopInvariantCodeMotionPass)
  StringRef getArgument() const final { return "hlo-while-loop-invariant-code-motion"; }
  StringRef getDescription() const final { return "Move what a loop repeats in front of it"; }

  void runOnOperation() final {
    FailureOr<ComputationGraph> graph = ComputationGraph::build(getOperation());
    if (failed(graph)) {
      return signalPassFailure();
    }
    for (ComputationOp computation : graph->postOrder()) {
      SmallVector<WhileOp> loops(computation.getBody().getOps<WhileOp>());
      for (WhileOp loop : loops) {
        ComputationOp condition = graph->lookup(loop.getConditionAttr());
        ComputationOp body = graph->lookup(loop.getBodyAttr());
        if (graph->uses(condition) == 1 && graph->uses(body) == 1) {
          LoopMotion(loop, condition, body, *graph).run();
        }
      }
    }
  }
};

} // namespace

std::unique_ptr<Pass> hlo::createWhileLoopInvariantCodeMotionPass() {
  return std::make_unique<WhileLoopInvariantCodeMotionPass>();
}
