//===- Propagation.cpp - A sharding for every array -----------------------===//
//
// Annotated arrays come first; then each op gives the axes of its factors to all of its operands
// and results that have the factor, forwards and backwards, until nothing changes: first along ops
// that pass elements through (element-wise, reshapes, transposes), so that a large array's own
// sharding decides before a reduction's; then along all ops, but not from operand to operand by
// factors that are summed, because a split sum costs a collective; then by these, too. Annotations
// with a priority wait for their round. Lists of axes only grow, so this ends.
//
// If an op's arrays disagree about a factor, the list with the most shards wins, then the larger
// array; if a list cannot grow because one of its axes splits another dimension, it stays. The
// partitioner reshards where neighbours differ.
//
// Source of the method: GSPMD (arXiv 2105.04663), and Shardy's propagation by factors.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/spmd/Partitioner.h"
#include "compiler/transforms/spmd/Program.h"
#include <deque>

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

void hlo::spmd::projectFactors(const Rule &rule, const DimFactors &dims, const Sharding &sharding,
                               const Mesh &mesh, FactorAxes &axes) {
  for (auto [factors, list] : llvm::zip(dims, sharding.dims)) {
    if (factors.size() == 1) {
      axes[factors[0]] = list;
      continue;
    }
    size_t next = 0;
    for (unsigned factor : factors) {
      int64_t count = 1, size = rule.factors[factor].size;
      AxisList taken;
      while (next < list.size() && size % (count * mesh.size(list[next])) == 0) {
        count *= mesh.size(list[next]);
        taken.push_back(list[next++]);
      }
      axes[factor] = taken;
      if (count < size) {
        break;
      }
    }
  }
}

namespace hlo::spmd {

class Propagation {
public:
  explicit Propagation(Program &program) : program(program), mesh(program.mesh) {}
  void run();

private:
  /// One array of an op, and the factors of its dimensions.
  struct Edge {
    unsigned node;
    const DimFactors *dims;
  };
  struct Visit {
    Rule rule;
    SmallVector<unsigned> nodes; ///< operands, then results
  };

  void collect();
  void addIdentity(unsigned from, unsigned to);
  void visit(unsigned index);
  /// Which ops and factors propagate.
  enum class Stage : uint8_t { PassThrough, NoSums, All };
  void drain(Stage stage);
  void enterBarriers();
  void closeParameters();
  bool grow(unsigned node, int64_t dim, const AxisList &axes);
  void touch(unsigned node);

  Program &program;
  const Mesh &mesh;
  std::vector<Visit> visits;
  std::vector<SmallVector<unsigned, 4>> visitsOf; ///< of each node
  std::deque<unsigned> queue;
  std::vector<bool> isQueued;
  Stage stage = Stage::PassThrough;
};

} // namespace hlo::spmd

/// Arrays of one shape that want one sharding: a loop's initial value and its carry.
void Propagation::addIdentity(unsigned from, unsigned to) {
  Visit visit;
  size_t rank = program.nodes[to].open.size();
  if (from == to || rank == 0 || program.nodes[from].open.size() != rank) {
    return;
  }
  visit.rule.passesThrough = true;
  DimFactors dims(rank);
  for (size_t dim = 0; dim < rank; ++dim) {
    dims[dim] = {visit.rule.addFactor(int64_t(1) << 40)};
  }
  visit.rule.operands.push_back(dims);
  visit.rule.results.push_back(dims);
  visit.nodes = {from, to};
  visits.push_back(std::move(visit));
}

void Propagation::collect() {
  auto nodeOf = [&](Value value) { return program.nodeOf.lookup(value); };
  for (ComputationOp computation : program.computations) {
    for (Operation &op : computation.getBody().front()) {
      StringRef marker = markerOf(&op);
      if (marker == kMarkBarrier || isa<ReturnOp>(op)) {
        continue;
      }
      if (!marker.empty()) {
        addIdentity(nodeOf(op.getOperand(0)), nodeOf(op.getResult(0)));
        continue;
      }
      if (auto loop = dyn_cast<WhileOp>(op)) {
        Block &body = program.computation(loop.getBodyAttr()).getBody().front();
        for (auto [operand, result, yielded] :
             llvm::zip(op.getOperands(), op.getResults(), body.getTerminator()->getOperands())) {
          addIdentity(nodeOf(operand), nodeOf(result));
          addIdentity(nodeOf(yielded), nodeOf(result));
        }
        continue;
      }
      if (auto conditional = dyn_cast<ConditionalOp>(op)) {
        size_t next = 1;
        for (Attribute name : conditional.getBranchComputations()) {
          Block &body = program.computation(cast<FlatSymbolRefAttr>(name)).getBody().front();
          for (BlockArgument argument : body.getArguments()) {
            addIdentity(nodeOf(op.getOperand(next++)), nodeOf(argument));
          }
          for (auto [result, yielded] :
               llvm::zip(op.getResults(), body.getTerminator()->getOperands())) {
            addIdentity(nodeOf(yielded), nodeOf(result));
          }
        }
        continue;
      }
      if (op.getNumResults() == 0 || program.manualAround(&op) == mesh.all()) {
        continue;
      }
      Visit visit{ruleOf(&op), {}};
      for (Value value : op.getOperands()) {
        visit.nodes.push_back(nodeOf(value));
      }
      for (Value value : op.getResults()) {
        visit.nodes.push_back(nodeOf(value));
      }
      visits.push_back(std::move(visit));
    }
  }
  visitsOf.resize(program.nodes.size());
  for (auto [index, visit] : llvm::enumerate(visits)) {
    for (unsigned node : visit.nodes) {
      if (visitsOf[node].empty() || visitsOf[node].back() != index) {
        visitsOf[node].push_back(index);
      }
    }
  }
  isQueued.resize(visits.size(), false);
}

/// Gives the dimension these axes if they extend its own; whether anything changed.
bool Propagation::grow(unsigned node, int64_t dim, const AxisList &axes) {
  NodeState &state = program.nodes[node];
  AxisList &now = state.sharding.dims[dim];
  if (!state.open[dim] || axes.size() <= now.size() ||
      !std::equal(now.begin(), now.end(), axes.begin())) {
    return false;
  }
  AxisSet others = state.manual;
  for (auto [i, list] : llvm::enumerate(state.sharding.dims)) {
    others |= static_cast<int64_t>(i) == dim ? 0 : setOf(list);
  }
  AxisList next(now);
  for (size_t i = now.size(); i < axes.size(); ++i) {
    // Factors of one dimension may have got the same axis from different arrays.
    if ((others >> axes[i] & 1) || llvm::is_contained(next, axes[i])) {
      break;
    }
    next.push_back(axes[i]);
  }
  if (next.size() == now.size()) {
    return false;
  }
  now = next;
  return true;
}

void Propagation::touch(unsigned node) {
  for (unsigned index : visitsOf[node]) {
    if (!isQueued[index]) {
      isQueued[index] = true;
      queue.push_back(index);
    }
  }
}

void Propagation::visit(unsigned index) {
  Visit &visit = visits[index];
  const Rule &rule = visit.rule;
  size_t operands = rule.operands.size();
  auto dimsOf = [&](size_t i) -> const DimFactors & {
    return i < operands ? rule.operands[i] : rule.results[i - operands];
  };
  // The best list of each factor.
  FactorAxes best(rule.factors.size());
  SmallVector<int64_t> bestBytes(rule.factors.size(), -1);
  for (auto [i, node] : llvm::enumerate(visit.nodes)) {
    const NodeState &state = program.nodes[node];
    if (dimsOf(i).size() != state.open.size()) {
      continue;
    }
    FactorAxes own(rule.factors.size());
    projectFactors(rule, dimsOf(i), state.sharding, mesh, own);
    for (auto [factor, axes] : llvm::enumerate(own)) {
      if (axes.empty()) {
        continue;
      }
      int64_t count = mesh.count(axes), bestCount = mesh.count(best[factor]);
      if (count > bestCount || (count == bestCount && state.bytes > bestBytes[factor])) {
        best[factor] = axes;
        bestBytes[factor] = state.bytes;
      }
    }
  }
  // Larger sources first, since the first to take an axis has it.
  SmallVector<unsigned> order;
  for (unsigned factor = 0; factor < best.size(); ++factor) {
    FactorKind kind = rule.factors[factor].kind;
    if (!best[factor].empty() && kind != FactorKind::Whole &&
        (kind != FactorKind::Sum || stage == Stage::All)) {
      order.push_back(factor);
    }
  }
  llvm::stable_sort(order, [&](unsigned a, unsigned b) { return bestBytes[a] > bestBytes[b]; });
  for (auto [i, node] : llvm::enumerate(visit.nodes)) {
    const DimFactors &dims = dimsOf(i);
    if (dims.size() != program.nodes[node].open.size()) {
      continue;
    }
    bool changed = false;
    for (unsigned factor : order) {
      for (auto [dim, factors] : llvm::enumerate(dims)) {
        if (!llvm::is_contained(factors, factor)) {
          continue;
        }
        // The dimension's list up to this factor: those before it must be split to the end.
        AxisList axes;
        for (unsigned each : factors) {
          const AxisList &part = best[each];
          if (factors.size() == 1) {
            axes = part;
            break;
          }
          int64_t count = 1, size = rule.factors[each].size;
          for (Axis axis : part) {
            if (size % (count * mesh.size(axis)) != 0) {
              break;
            }
            count *= mesh.size(axis);
            axes.push_back(axis);
          }
          if (count < size) {
            break;
          }
        }
        int64_t shape = rule.factors[factor].size;
        if (factors.size() == 1 && rule.factors[factor].kind == FactorKind::Special &&
            shape < mesh.count(axes)) {
          // A dimension of another size: no more shards than elements.
          AxisList fitting;
          for (Axis axis : axes) {
            fitting.push_back(axis);
            if (mesh.count(fitting) > shape) {
              fitting.pop_back();
              break;
            }
          }
          axes = fitting;
        }
        changed |= grow(node, dim, axes);
      }
    }
    if (changed) {
      touch(node);
    }
  }
}

void Propagation::drain(Stage limit) {
  stage = limit;
  std::deque<unsigned> later;
  while (!queue.empty()) {
    unsigned index = queue.front();
    queue.pop_front();
    if (stage == Stage::PassThrough && !visits[index].rule.passesThrough) {
      later.push_back(index);
      continue;
    }
    isQueued[index] = false;
    visit(index);
  }
  queue = std::move(later);
}

/// What is behind a barrier and has no sharding of its own is split as what is before it, which
/// costs nothing: a barrier keeps a sharding from its users, not from itself.
void Propagation::enterBarriers() {
  for (ComputationOp computation : program.computations) {
    for (Operation &op : computation.getBody().front()) {
      if (markerOf(&op) != kMarkBarrier) {
        continue;
      }
      const NodeState &from = program.nodes[program.nodeOf.lookup(op.getOperand(0))];
      NodeState &to = program.nodes[program.nodeOf.lookup(op.getResult(0))];
      if (to.sharding.isReplicated() && to.manual == from.manual &&
          !llvm::is_contained(to.open, false)) {
        to.sharding = from.sharding;
      }
    }
  }
}

/// Parameters of the entry of which the text says nothing are whole, as XLA has them, unless the
/// header allows propagation to them. A partition takes its part of a whole array for nothing.
void Propagation::closeParameters() {
  StringRef text;
  if (auto allowed = program.module->getAttrOfType<StringAttr>(
          "hlo.allow_spmd_sharding_propagation_to_parameters")) {
    text = allowed.getValue();
  }
  SmallVector<StringRef> flags;
  text.trim("{} ").split(flags, ',');
  for (auto [i, argument] : llvm::enumerate(program.entry.getBody().getArguments())) {
    bool isAllowed = (i < flags.size() ? flags[i] : flags.front()).trim() == "true";
    if (!program.parameters[i] && !isAllowed) {
      NodeState &state = program.nodes[program.nodeOf.lookup(argument)];
      state.sharding = Sharding(state.sharding.rank());
    }
  }
}

void Propagation::run() {
  collect();
  // Closed dimensions of all rounds are closed from the start.
  for (const auto &[node, annotation] : program.given) {
    NodeState &state = program.nodes[node];
    for (size_t dim = 0; dim < state.open.size(); ++dim) {
      state.open[dim] = state.open[dim] && annotation.open[dim];
    }
  }
  for (size_t next = 0; next < program.given.size();) {
    auto roundOf = [](const Annotation &annotation) {
      int64_t round = 0;
      for (int64_t each : annotation.priority) {
        round = std::max(round, each);
      }
      return round;
    };
    int64_t round = roundOf(program.given[next].second);
    for (; next < program.given.size() && roundOf(program.given[next].second) == round; ++next) {
      auto &[node, annotation] = program.given[next];
      NodeState &state = program.nodes[node];
      for (size_t dim = 0; dim < state.open.size(); ++dim) {
        AxisList &now = state.sharding.dims[dim];
        const AxisList &wanted = annotation.sharding.dims[dim];
        if (!annotation.open[dim] || wanted.size() > now.size()) {
          now = wanted;
        }
      }
      // Earlier rounds may have used an axis in another dimension: what the text says stays.
      AxisSet seen = state.manual;
      for (AxisList &axes : state.sharding.dims) {
        size_t kept = 0;
        while (kept < axes.size() && !(seen >> axes[kept] & 1)) {
          seen |= AxisSet(1) << axes[kept++];
        }
        axes.truncate(kept);
      }
      touch(node);
    }
    drain(Stage::PassThrough);
    drain(Stage::NoSums);
    for (auto [index, visit] : llvm::enumerate(visits)) {
      if (llvm::any_of(visit.rule.factors,
                       [](const Factor &factor) { return factor.kind == FactorKind::Sum; })) {
        isQueued[index] = true;
        queue.push_back(index);
      }
    }
    drain(Stage::All);
  }
  enterBarriers();
  closeParameters();
}

void Program::propagate() { Propagation(*this).run(); }
