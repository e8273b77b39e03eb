//===- ListScheduler.cpp - The order of a computation's kernels -----------===//
//
// In: a computation of fused ops. Out: a topological order of them that needs little memory. Ops
// with side effects keep their order.
//
// An asynchronous collective runs beside the ops between its two parts, so each op that the text
// has there stays there: behind the last start before it, and before the first end after it of a
// collective that has begun. The order of the effects makes that hold for all others.
//
// Wishes come first, as edges that are added unless they close a cycle: an op that overwrites a
// value (an in-place kernel, a loop that takes it as a carry, the producer of a body's next carry)
// should run after all other readers of that value. Each wish that is fulfilled saves a copy.
//
// Then three orders compete, and the one with the lowest peak wins; on a tie the program's own.
// They are: the program's own; greedy, which always takes the op that grows memory least; depth
// first from the results. Greedy alone is not safe (it runs the cheap starts of all long chains
// before it finishes any); depth first is its opposite. All take linear time except for a heap:
// about 20 ms for 20,000 ops.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/AsyncPairs.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Prepared.h"
#include "compiler/transforms/schedule/Plan.h"
#include "compiler/transforms/schedule/TopologicalOrder.h"
#include "llvm/ADT/SetVector.h"
#include <set>

using namespace mlir;
using namespace hlo;
using namespace hlo::schedule;

/// Most nodes visited to fulfil one wish; beyond that, a copy is cheaper.
static constexpr unsigned wishEffort = 4096;

namespace {
/// A value's memory, which is freed after its last use; a bitcast shares the storage of its
/// operand.
struct Storage {
  int64_t bytes = 0;              ///< bytes freed; 0 for memory that the plan does not own
  SmallVector<uint32_t, 2> users; ///< distinct nodes; users of bitcasts count
};

struct Node {
  Operation *op;
  int64_t allocated = 0;
  SmallVector<uint32_t, 4> operands; ///< distinct storages
  SmallVector<uint32_t, 1> results;  ///< storages
  SmallVector<uint32_t, 1> updates;  ///< storages that the node overwrites
};

class Scheduler {
public:
  Scheduler(ComputationOp computation, const ComputationGraph &graph, InvariantCarries &invariant)
      : block(computation.getBody().front()), graph(graph), invariant(invariant),
        entry(isRoot(computation)) {}

  std::vector<Operation *> run();

private:
  void collectNodes();
  void addEdges();
  void keepBetween();
  void addWishes();
  bool hasSideEffects(Operation *op) const;
  Value storageRoot(Value value) const;
  uint32_t storageOf(Value value) const { return storageIds.lookup(storageRoot(value)); }

  int64_t peakOf(ArrayRef<uint32_t> order) const;
  int64_t growth(uint32_t node, ArrayRef<uint32_t> usesLeft) const;
  std::vector<uint32_t> usesPerStorage() const;
  std::vector<uint32_t> greedyOrder() const;
  std::vector<uint32_t> depthFirstOrder() const;

  Block &block;
  const ComputationGraph &graph;
  InvariantCarries &invariant;
  bool entry;
  std::vector<Node> nodes;
  std::vector<Storage> storages;
  DenseMap<Value, uint32_t> storageIds;
  DenseMap<Operation *, uint32_t> nodeIds;
  std::optional<TopologicalOrder> order;
};
} // namespace

Value Scheduler::storageRoot(Value value) const {
  while (auto bitcast = value.getDefiningOp<BitcastOp>()) {
    value = bitcast.getOperand();
  }
  return value;
}

bool Scheduler::hasSideEffects(Operation *op) const {
  return op
      ->walk([&](Operation *inner) {
        bool pure = !graph.hasSideEffects(inner);
        return pure ? WalkResult::advance() : WalkResult::interrupt();
      })
      .wasInterrupted();
}

void Scheduler::collectNodes() {
  llvm::SmallDenseSet<Value> returned;
  for (Value value : block.getTerminator()->getOperands()) {
    returned.insert(storageRoot(value));
  }
  auto addStorage = [&](Value value, int64_t bytes) {
    storageIds[value] = storages.size();
    storages.push_back({bytes, {}});
    return storages.size() - 1;
  };
  for (BlockArgument argument : block.getArguments()) {
    addStorage(argument, 0);
  }
  for (Operation &op : block.without_terminator()) {
    uint32_t id = nodes.size();
    nodeIds[&op] = id;
    nodes.push_back({&op});
    Node &node = nodes.back();
    if (isa<BitcastOp>(op)) {
      continue;
    }
    llvm::SmallSetVector<uint32_t, 8> operands;
    for (Value operand : op.getOperands()) {
      operands.insert(storageOf(operand));
    }
    for (uint32_t operand : operands) {
      storages[operand].users.push_back(id);
    }
    node.operands.assign(operands.begin(), operands.end());
    for (Value result : op.getResults()) {
      // Results of the entry are in the caller's buffers, constants in the object.
      bool ours = !isa<ConstantOp>(op) && !(entry && returned.contains(result));
      int64_t bytes = ours ? bytesOf(result.getType()).value_or(0) : 0;
      node.results.push_back(addStorage(result, returned.contains(result) ? 0 : bytes));
      node.allocated += bytes;
    }
    auto updates = [&](Value operand) { node.updates.push_back(storageOf(operand)); };
    if (auto loop = dyn_cast<WhileOp>(op)) {
      for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
        if (!invariant.contains(loop, i)) {
          updates(operand);
        }
      }
    } else if (auto pairs = op.getAttrOfType<DenseI64ArrayAttr>("in_place")) {
      for (int64_t i = 1; i < pairs.size(); i += 2) {
        updates(op.getOperand(pairs[i]));
      }
    }
  }
  if (entry) {
    return;
  }
  // Result i of a loop's body is written to argument i's place. (For branches this wish has no
  // effect on copies.)
  OperandRange results = block.getTerminator()->getOperands();
  for (auto [argument, result] : llvm::zip(block.getArguments(), results)) {
    Operation *producer = storageRoot(result).getDefiningOp();
    if (producer && !isa<ConstantOp>(producer)) {
      nodes[nodeIds[producer]].updates.push_back(storageOf(argument));
    }
  }
}

void Scheduler::addEdges() {
  order.emplace(nodes.size());
  uint32_t lastEffect = none;
  for (auto [id, node] : llvm::enumerate(nodes)) {
    for (Value operand : node.op->getOperands()) {
      if (Operation *producer = operand.getDefiningOp()) {
        order->addKnownEdge(nodeIds[producer], id);
      }
    }
    if (hasSideEffects(node.op)) {
      if (lastEffect != none) {
        order->addKnownEdge(lastEffect, id);
      }
      lastEffect = id;
    }
  }
}

/// Adds the edges of ops between the two parts of collectives. They follow the program's order, so
/// they close no cycle.
void Scheduler::keepBetween() {
  DenseMap<Operation *, Operation *> ends = endsBehind(block);
  if (ends.empty()) {
    return;
  }
  uint32_t lastStart = none;
  for (auto [id, node] : llvm::enumerate(nodes)) {
    if (node.op->hasAttr(kAsyncAttr)) {
      lastStart = id;
    } else if (Operation *end = ends.lookup(node.op)) {
      order->addKnownEdge(lastStart, id);
      order->addKnownEdge(id, nodeIds.lookup(end));
    }
  }
}

void Scheduler::addWishes() {
  for (uint32_t writer : llvm::seq<uint32_t>(nodes.size())) {
    for (uint32_t storage : nodes[writer].updates) {
      for (uint32_t reader : storages[storage].users) {
        if (reader != writer) {
          order->tryAddEdge(reader, writer, wishEffort);
        }
      }
    }
  }
}

std::vector<uint32_t> Scheduler::usesPerStorage() const {
  std::vector<uint32_t> uses;
  for (const Storage &storage : storages) {
    uses.push_back(storage.users.size());
  }
  return uses;
}

int64_t Scheduler::growth(uint32_t node, ArrayRef<uint32_t> usesLeft) const {
  int64_t freed = 0;
  for (uint32_t operand : nodes[node].operands) {
    freed += usesLeft[operand] == 1 ? storages[operand].bytes : 0;
  }
  return nodes[node].allocated - freed;
}

int64_t Scheduler::peakOf(ArrayRef<uint32_t> candidate) const {
  std::vector<uint32_t> usesLeft = usesPerStorage();
  int64_t live = 0, peak = 0;
  for (uint32_t id : candidate) {
    const Node &node = nodes[id];
    int64_t reused = 0;
    for (uint32_t operand : node.updates) {
      reused += usesLeft[operand] == 1 ? storages[operand].bytes : 0;
    }
    if (auto pairs = node.op->getAttrOfType<DenseI64ArrayAttr>("may_alias")) {
      for (int64_t i = 0; i + 1 < pairs.size(); i += 2) {
        uint32_t operand = storageOf(node.op->getOperand(pairs[i + 1]));
        if (usesLeft[operand] == 1) {
          reused = std::max(reused, std::min(storages[operand].bytes, node.allocated));
        }
      }
    }
    peak = std::max(peak, live + std::max<int64_t>(node.allocated - reused, 0));
    live += growth(id, usesLeft);
    for (uint32_t operand : node.operands) {
      --usesLeft[operand];
    }
    for (uint32_t result : node.results) {
      live -= usesLeft[result] ? 0 : storages[result].bytes;
    }
  }
  return peak;
}

std::vector<uint32_t> Scheduler::greedyOrder() const {
  std::vector<uint32_t> usesLeft = usesPerStorage();
  std::vector<uint32_t> missing(nodes.size());
  std::vector<int64_t> key(nodes.size());
  std::vector<char> done(nodes.size(), 0);
  using Entry =
      std::tuple<int64_t, uint32_t, uint32_t>; // growth, position in the program's order, node
  std::set<Entry> ready;
  auto insert = [&](uint32_t node) {
    key[node] = growth(node, usesLeft);
    ready.insert({key[node], order->positionOf(node), node});
  };
  for (uint32_t node : llvm::seq(order->size())) {
    missing[node] = order->predecessors(node).size();
    if (!missing[node]) {
      insert(node);
    }
  }
  std::vector<uint32_t> result;
  while (!ready.empty()) {
    uint32_t node = std::get<2>(*ready.begin());
    ready.erase(ready.begin());
    result.push_back(node);
    done[node] = 1;
    for (uint32_t operand : nodes[node].operands) {
      if (--usesLeft[operand] != 1 || !storages[operand].bytes) {
        continue;
      }
      // The last remaining user now frees the operand.
      for (uint32_t user : storages[operand].users) {
        if (!done[user] && !missing[user]) {
          ready.erase({key[user], order->positionOf(user), user});
          insert(user);
        }
      }
    }
    for (uint32_t next : order->successors(node)) {
      if (--missing[next] == 0) {
        insert(next);
      }
    }
  }
  return result;
}

std::vector<uint32_t> Scheduler::depthFirstOrder() const {
  std::vector<uint32_t> result;
  std::vector<char> seen(nodes.size(), 0);
  SmallVector<std::pair<uint32_t, SmallVector<uint32_t>>> stack;
  auto open = [&](uint32_t node) {
    seen[node] = 1;
    SmallVector<uint32_t> inputs(order->predecessors(node));
    // Taken from the back: the op that allocates most comes first.
    llvm::sort(inputs, [&](uint32_t a, uint32_t b) {
      return std::pair(nodes[a].allocated, order->positionOf(b)) <
             std::pair(nodes[b].allocated, order->positionOf(a));
    });
    stack.push_back({node, std::move(inputs)});
  };
  for (uint32_t root : order->order()) {
    if (seen[root] || !order->successors(root).empty()) {
      continue;
    }
    open(root);
    while (!stack.empty()) {
      auto &[node, inputs] = stack.back();
      if (inputs.empty()) {
        result.push_back(node);
        stack.pop_back();
        continue;
      }
      uint32_t next = inputs.pop_back_val();
      if (!seen[next]) {
        open(next);
      }
    }
  }
  return result;
}

std::vector<Operation *> Scheduler::run() {
  collectNodes();
  addEdges();
  keepBetween();
  addWishes();
  std::vector<uint32_t> best(order->order().begin(), order->order().end());
  int64_t bestPeak = peakOf(best);
  for (const std::vector<uint32_t> &candidate : {greedyOrder(), depthFirstOrder()}) {
    int64_t peak = peakOf(candidate);
    if (peak < bestPeak) {
      best = candidate;
      bestPeak = peak;
    }
  }
  std::vector<Operation *> ops;
  for (uint32_t node : best) {
    ops.push_back(nodes[node].op);
  }
  return ops;
}

std::vector<Operation *> schedule::scheduleComputation(ComputationOp computation,
                                                       const ComputationGraph &graph,
                                                       InvariantCarries &invariant) {
  return Scheduler(computation, graph, invariant).run();
}
