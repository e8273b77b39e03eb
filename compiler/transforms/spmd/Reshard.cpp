//===- Reshard.cpp - From one sharding of an array to another -------------===//
//
// A search for the cheapest path (Dijkstra) from the sharding that an array has to the one that is
// wanted. A path's cost is the bytes that a partition sends, and a little for each step, so that of
// two paths with equal bytes the shorter one is taken. Moves:
// - slice: append an axis that the target has there; sends nothing;
// - gather: remove the last axes of a dimension;
// - exchange: move the last axes of a dimension to the end of another one, where the target has
//   them;
// - permute: replace the axes by others with as many shards in each dimension.
// Gathering everything and slicing is always a path. Gathers are merged afterwards.
//
// The padding of uneven dimensions restricts the moves: n shards of ceil(d / n) elements are the
// parts of n / m shards only if ceil(d / (n / m)) = m * ceil(d / n), or if they are all of them.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/spmd/Reshard.h"
#include <queue>

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

namespace {

/// What a step costs beside its bytes, in bytes: enough to decide between equal sums, and of the
/// size of a message's own data.
constexpr int64_t kBytesOfStep = 16;
/// States that one search looks at; the paths of real programs have a few hundred.
constexpr size_t kMostStates = 4000;

class Search {
public:
  Search(const Mesh &mesh, ArrayRef<int64_t> shape, int64_t elementBytes, const Sharding &target)
      : mesh(mesh), shape(shape), elementBytes(elementBytes), target(target) {}

  ReshardPlans::Plan run(const Sharding &from);

private:
  struct State {
    Sharding sharding;
    int64_t cost = 0;
    int parent = -1;
    Step step;
    bool done = false;
  };

  int64_t bytesOf(const Sharding &sharding) const {
    int64_t bytes = elementBytes;
    for (auto [size, axes] : llvm::zip(shape, sharding.dims)) {
      bytes *= shardSize(size, mesh.count(axes));
    }
    return bytes;
  }
  /// Whether shards of dimension `dim` over `few` axes are made of those over `many`.
  bool nest(int64_t dim, ArrayRef<Axis> few, ArrayRef<Axis> many) const {
    int64_t outer = mesh.count(few), inner = mesh.count(many);
    return outer == 1 ||
           shardSize(shape[dim], outer) == inner / outer * shardSize(shape[dim], inner);
  }
  static bool isPrefix(ArrayRef<Axis> prefix, ArrayRef<Axis> list) {
    return prefix.size() <= list.size() && list.take_front(prefix.size()) == prefix;
  }
  static std::string keyOf(const Sharding &sharding) {
    std::string key;
    for (const AxisList &axes : sharding.dims) {
      for (Axis axis : axes) {
        key += static_cast<char>(axis + 1);
      }
      key += '\0';
    }
    return key;
  }
  void reach(int parent, Step step, int64_t bytes);
  void expand(int index);
  void permutations(int index);

  const Mesh &mesh;
  ArrayRef<int64_t> shape;
  int64_t elementBytes;
  const Sharding &target;
  std::vector<State> states;
  std::map<std::string, int> index;
  std::priority_queue<std::pair<int64_t, int>, std::vector<std::pair<int64_t, int>>, std::greater<>>
      queue;
};

} // namespace

void Search::reach(int parent, Step step, int64_t bytes) {
  int64_t cost = states[parent].cost + bytes + kBytesOfStep;
  step.before = states[parent].sharding;
  step.bytes = bytes;
  auto [place, isNew] = index.try_emplace(keyOf(step.after), states.size());
  if (isNew) {
    states.push_back({step.after, cost, parent, std::move(step), false});
  } else {
    State &state = states[place->second];
    if (state.done || state.cost <= cost) {
      return;
    }
    state.cost = cost;
    state.parent = parent;
    state.step = std::move(step);
  }
  queue.emplace(cost, place->second);
}

/// Permutations to shardings with as many shards in each dimension that are closer to the target:
/// the target's axes first, or in place of as many others.
void Search::permutations(int from) {
  const Sharding now = states[from].sharding; // states grow
  for (bool replaces : {false, true}) {
    Sharding next = now;
    for (auto [dim, axes] : llvm::enumerate(next.dims)) {
      const AxisList &wanted = target.dims[dim];
      if (isPrefix(axes, wanted)) {
        continue;
      }
      if ((setOf(wanted) & ~setOf(axes)) == 0) {
        AxisList rest;
        llvm::copy_if(axes, std::back_inserter(rest),
                      [&](Axis axis) { return !llvm::is_contained(wanted, axis); });
        axes = wanted;
        llvm::append_range(axes, rest);
      } else if (replaces) {
        for (size_t n = 1; n <= wanted.size(); ++n) {
          if (mesh.count(ArrayRef(wanted).take_front(n)) == mesh.count(axes)) {
            axes.assign(wanted.begin(), wanted.begin() + n);
            break;
          }
        }
      }
    }
    size_t total = 0;
    for (const AxisList &axes : next.dims) {
      total += axes.size();
    }
    if (next != now && static_cast<size_t>(llvm::popcount(next.used())) == total) {
      reach(from, {Step::Kind::Permute, 0, 0, {}, {}, next, 0}, bytesOf(now));
    }
  }
}

void Search::expand(int from) {
  Sharding now = states[from].sharding;
  AxisSet used = now.used();
  int64_t bytes = bytesOf(now);
  for (int64_t dim = 0; dim < now.rank(); ++dim) {
    AxisList &axes = now.dims[dim];
    const AxisList &wanted = target.dims[dim];
    // Slices: the longest run of free axes first, since some uneven parts exist only together.
    if (isPrefix(axes, wanted)) {
      for (size_t n = axes.size() + 1; n <= wanted.size() && !(used >> wanted[n - 1] & 1); ++n) {
        Step step{Step::Kind::Slice, 0, dim, {}, {}, now, 0};
        step.axes.assign(wanted.begin() + axes.size(), wanted.begin() + n);
        step.after.dims[dim].assign(wanted.begin(), wanted.begin() + n);
        if (nest(dim, axes, step.after.dims[dim])) {
          reach(from, std::move(step), 0);
        }
      }
    }
    for (size_t moved = 1; moved <= axes.size(); ++moved) {
      AxisList kept(axes.begin(), axes.end() - moved), tail(axes.end() - moved, axes.end());
      if (!nest(dim, kept, axes)) {
        continue;
      }
      int64_t parts = mesh.count(tail);
      Step gather{Step::Kind::Gather, dim, 0, tail, {}, now, 0};
      gather.after.dims[dim] = kept;
      int64_t gathered = (parts - 1) * bytes;
      int64_t summed = 2 * (parts - 1) * bytesOf(gather.after) / parts;
      gather.kind = summed < gathered ? Step::Kind::Sum : Step::Kind::Gather;
      reach(from, std::move(gather), std::min(gathered, summed));
      for (int64_t to = 0; to < now.rank(); ++to) {
        AxisList there = now.dims[to];
        llvm::append_range(there, tail);
        if (to == dim || !isPrefix(there, target.dims[to]) || !nest(to, now.dims[to], there)) {
          continue;
        }
        Step exchange{Step::Kind::Exchange, dim, to, tail, {}, now, 0};
        exchange.after.dims[dim] = kept;
        exchange.after.dims[to] = there;
        // An uneven dimension is padded up before it is cut.
        int64_t size = shardSize(shape[to], mesh.count(now.dims[to]));
        int64_t padded = parts * shardSize(shape[to], mesh.count(there));
        reach(from, std::move(exchange),
              bytes / std::max<int64_t>(size, 1) * padded / parts * (parts - 1));
      }
    }
  }
  permutations(from);
}

ReshardPlans::Plan Search::run(const Sharding &from) {
  states.push_back({from, 0, -1, {}, false});
  index[keyOf(from)] = 0;
  queue.emplace(0, 0);
  int found = -1;
  while (!queue.empty() && states.size() < kMostStates) {
    auto [cost, next] = queue.top();
    queue.pop();
    if (states[next].done) {
      continue;
    }
    states[next].done = true;
    if (states[next].sharding == target) {
      found = next;
      break;
    }
    expand(next);
  }
  ReshardPlans::Plan plan;
  if (found < 0) { // too many states: gather all, then slice
    Sharding now = from;
    for (int64_t dim = 0; dim < from.rank(); ++dim) {
      if (AxisList axes = now.dims[dim]; !axes.empty()) {
        Step step{
            Step::Kind::Gather, dim, 0, axes, now, now, (mesh.count(axes) - 1) * bytesOf(now)};
        step.after.dims[dim].clear();
        now = step.after;
        plan.steps.push_back(std::move(step));
      }
    }
    for (int64_t dim = 0; dim < from.rank(); ++dim) {
      if (const AxisList &axes = target.dims[dim]; !axes.empty()) {
        Step step{Step::Kind::Slice, 0, dim, axes, now, now, 0};
        step.after.dims[dim] = axes;
        now = step.after;
        plan.steps.push_back(std::move(step));
      }
    }
  }
  for (int at = found; at > 0; at = states[at].parent) {
    plan.steps.push_back(states[at].step);
  }
  if (found >= 0) {
    std::reverse(plan.steps.begin(), plan.steps.end());
  }
  for (const Step &step : plan.steps) {
    plan.bytes += step.bytes;
  }
  return plan;
}

const ReshardPlans::Plan &ReshardPlans::find(ArrayRef<int64_t> shape, int64_t elementBytes,
                                             const Sharding &from, const Sharding &to) {
  std::string key;
  llvm::raw_string_ostream os(key);
  os << elementBytes;
  for (int64_t size : shape) {
    os << 'x' << size;
  }
  for (const Sharding *sharding : {&from, &to}) {
    os << '|';
    for (const AxisList &axes : sharding->dims) {
      for (Axis axis : axes) {
        os << int(axis) << ',';
      }
      os << ';';
    }
  }
  auto [place, isNew] = known.try_emplace(key);
  if (isNew && from != to) {
    place->second = Search(mesh, shape, elementBytes, to).run(from);
  }
  return place->second;
}
