//===- HaloPlan.cpp - Who sends what to whom in an exchange ----------------===//
//
// In: an Exchange. Each read is cut at the borders of the runs: a move takes [begin, end) from one
// shard to another. Moves are grouped into rounds, in which each shard sends and receives once; a
// round is one collective-permute of as many elements as its longest move. Candidates, of which the
// one that sends least is taken:
//
//   by distance     all moves of t -> t + d: what windows need, at the same places on all shards
//   by edge colors  rounds = the most moves of one shard, the least possible
//   first fit       in the order of the dimension, or longest moves first
//   gather          the part of the shards that anyone reads, if that sends less than the rounds
//   sum             if all shards read the same: an all-reduce of the parts
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/spmd/HaloPlan.h"

#include "compiler/analysis/Shapes.h"
#include "llvm/ADT/DenseSet.h"

#include <optional>

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

bool Exchange::readsOutside() const {
  return llvm::any_of(reads, [&](Span span) {
    return !span.isEmpty() && (span.begin < domain.begin || span.end > domain.end);
  });
}

void Exchange::addShards(int64_t size, int64_t first, int64_t at, int64_t part) {
  int64_t local = shardSize(size, shards());
  for (int64_t shard = 0; shard < shards() && shard * local < size; ++shard) {
    Span span{first + shard * local, first + std::min((shard + 1) * local, size)};
    runs.push_back({shard, span, at, part});
  }
}

void Exchange::holdWhole(int64_t size) {
  held = size;
  runs.clear();
  for (int64_t shard = 0; shard < shards(); ++shard) {
    runs.push_back({shard, {0, size}});
  }
}

namespace {

/// A shard with more moves than this, on average, gathers: the list of all moves would take space
/// quadratic in the number of shards.
constexpr size_t kMostMovesPerShard = 64;

/// Beyond this many moves only the grouping by distance is tried: the others take time quadratic in
/// the number of moves of a shard.
constexpr size_t kMostColoredMoves = 4096;

class Planner {
public:
  explicit Planner(const Exchange &x) : x(x), shards(x.shards()) {}
  Plan plan();

private:
  /// Lists the moves; false if there are too many.
  bool findMoves();
  double sumCost() const;
  /// Rounds of the moves with equal keys; none if a shard would send or receive twice.
  std::optional<SmallVector<Round>> roundsOf(ArrayRef<int64_t> keys) const;
  SmallVector<int64_t> firstFit(ArrayRef<size_t> order) const;
  SmallVector<int64_t> edgeColors() const;

  const Exchange &x;
  int64_t shards;
  std::vector<Move> moves; ///< between shards
  SmallVector<Move> own;
};

} // namespace

bool Planner::findMoves() {
  SmallVector<SmallVector<const Run *, 2>> runsOf(shards);
  std::vector<const Run *> sorted;
  for (const Run &run : x.runs) {
    if (!run.span.isEmpty()) {
      runsOf[run.shard].push_back(&run);
      sorted.push_back(&run);
    }
  }
  llvm::sort(sorted, [](const Run *a, const Run *b) {
    return std::tie(a->span.begin, a->shard) < std::tie(b->span.begin, b->shard);
  });
  auto moveOf = [](const Run &run, Span span, int64_t target) {
    return Move{run.shard, target,  span, run.at + (span.begin - run.span.begin),
                run.span,  run.part};
  };
  for (int64_t target = 0; target < shards; ++target) {
    SmallVector<Span> missing{x.reads[target] & x.domain};
    for (const Run *run : runsOf[target]) {
      SmallVector<Span> rest;
      for (Span span : missing) {
        Span common = span & run->span;
        if (common.isEmpty()) {
          rest.push_back(span);
          continue;
        }
        own.push_back(moveOf(*run, common, target));
        rest.push_back({span.begin, common.begin});
        rest.push_back({common.end, span.end});
      }
      missing = rest;
    }
    for (Span span : missing) {
      auto run = llvm::partition_point(
          sorted, [&](const Run *candidate) { return candidate->span.end <= span.begin; });
      for (; run != sorted.end() && !span.isEmpty() && (*run)->span.begin < span.end; ++run) {
        Span common = span & (*run)->span;
        if (!common.isEmpty()) {
          moves.push_back(moveOf(**run, common, target));
          span.begin = common.end;
        }
      }
    }
    if (moves.size() > kMostMovesPerShard * shards) {
      return false;
    }
  }
  return true;
}

std::optional<SmallVector<Round>> Planner::roundsOf(ArrayRef<int64_t> keys) const {
  SmallVector<Round> rounds;
  llvm::DenseMap<int64_t, size_t> indexOf;
  llvm::DenseSet<std::pair<int64_t, int64_t>> sends, receives;
  for (auto [move, key] : llvm::zip(moves, keys)) {
    auto [place, isNew] = indexOf.try_emplace(key, rounds.size());
    if (isNew) {
      rounds.emplace_back();
    }
    if (!sends.insert({key, move.source}).second || !receives.insert({key, move.target}).second) {
      return std::nullopt;
    }
    Round &round = rounds[place->second];
    round.moves.push_back(move);
    round.width = std::max(round.width, move.width());
  }
  return rounds;
}

SmallVector<int64_t> Planner::firstFit(ArrayRef<size_t> order) const {
  SmallVector<int64_t> keys(moves.size());
  std::vector<std::vector<bool>> sends, receives; // by round and shard
  for (size_t i : order) {
    const Move &move = moves[i];
    size_t round = 0;
    while (round < sends.size() && (sends[round][move.source] || receives[round][move.target])) {
      ++round;
    }
    if (round == sends.size()) {
      sends.emplace_back(shards);
      receives.emplace_back(shards);
    }
    sends[round][move.source] = receives[round][move.target] = true;
    keys[i] = round;
  }
  return keys;
}

/// A proper edge coloring of the bipartite multigraph source -> target with as many colors as the
/// largest degree (Koenig): where no color is free at both ends, the alternating path of one free
/// color of each end is swapped.
SmallVector<int64_t> Planner::edgeColors() const {
  std::vector<int64_t> sends(shards), receives(shards);
  int64_t colors = 0;
  for (const Move &move : moves) {
    colors = std::max({colors, ++sends[move.source], ++receives[move.target]});
  }
  constexpr int64_t kFree = -1;
  std::vector<int64_t> atSource(shards * colors, kFree), atTarget(shards * colors, kFree);
  SmallVector<int64_t> keys(moves.size(), kFree);
  auto freeColor = [&](const std::vector<int64_t> &table, int64_t shard) {
    int64_t color = 0;
    while (table[shard * colors + color] != kFree) {
      ++color;
    }
    return color;
  };
  auto assign = [&](int64_t move, int64_t color) {
    keys[move] = color;
    atSource[moves[move].source * colors + color] = move;
    atTarget[moves[move].target * colors + color] = move;
  };
  for (int64_t i = 0; i < static_cast<int64_t>(moves.size()); ++i) {
    int64_t a = freeColor(atSource, moves[i].source), b = freeColor(atTarget, moves[i].target);
    SmallVector<int64_t> path;
    int64_t next = atTarget[moves[i].target * colors + a];
    for (bool fromTarget = true; next != kFree; fromTarget = !fromTarget) {
      path.push_back(next);
      next = fromTarget ? atSource[moves[next].source * colors + b]
                        : atTarget[moves[next].target * colors + a];
    }
    for (int64_t move : path) {
      atSource[moves[move].source * colors + keys[move]] = kFree;
      atTarget[moves[move].target * colors + keys[move]] = kFree;
    }
    for (int64_t move : path) {
      assign(move, keys[move] == a ? b : a);
    }
    assign(i, a);
  }
  return keys;
}

double Planner::sumCost() const {
  // All read the same, and no shard has two parts of it.
  constexpr double kNever = std::numeric_limits<double>::infinity();
  for (int64_t t = 1; t < shards; ++t) {
    if (x.origin[t] != x.origin[0] || x.reads[t].begin != x.reads[0].begin ||
        x.reads[t].end != x.reads[0].end) {
      return kNever;
    }
  }
  for (size_t i = 1; i < own.size(); ++i) {
    if (own[i].target == own[i - 1].target) {
      return kNever;
    }
  }
  return 2.0 * (shards - 1) * x.length / shards;
}

static double costOf(ArrayRef<Round> rounds) {
  double cost = 0;
  for (const Round &round : rounds) {
    cost += round.width;
  }
  return cost;
}

Plan Planner::plan() {
  Plan plan;
  if (!findMoves()) {
    plan.kind = Plan::Kind::Gather;
    plan.used = {0, x.held};
    plan.elements = double(shards - 1) * x.held;
    return plan;
  }
  // What a shard has itself: one round for each part.
  for (const Move &move : own) {
    Round *round = llvm::find_if(plan.rounds, [&](const Round &candidate) {
      return candidate.moves.front().part == move.part &&
             candidate.moves.back().target != move.target;
    });
    if (round == plan.rounds.end()) {
      plan.rounds.emplace_back();
      round = &plan.rounds.back();
      round->isLocal = true;
    }
    round->moves.push_back(move);
    round->width = std::max(round->width, move.width());
  }
  if (moves.empty()) {
    return plan;
  }
  plan.used = {x.held, 0};
  std::vector<int64_t> received(shards), sent(shards);
  auto use = [&](const Move &move) {
    plan.used.begin = std::min(plan.used.begin, move.at);
    plan.used.end = std::max(plan.used.end, move.at + move.width());
  };
  llvm::for_each(own, use);
  for (const Move &move : moves) {
    use(move);
    received[move.target] += move.width();
    sent[move.source] += move.width();
  }
  double gatherCost = double(shards - 1) * (plan.used.end - plan.used.begin);
  double bound = std::max(*llvm::max_element(received), *llvm::max_element(sent));
  double sum = sumCost();

  SmallVector<Round> best;
  double cost = std::numeric_limits<double>::infinity();
  auto tryKeys = [&](ArrayRef<int64_t> keys) {
    std::optional<SmallVector<Round>> rounds = roundsOf(keys);
    if (rounds && costOf(*rounds) < cost) {
      cost = costOf(*rounds);
      best = std::move(*rounds);
    }
  };
  if (bound < gatherCost && bound < sum) {
    SmallVector<int64_t> keys;
    for (const Move &move : moves) {
      keys.push_back((move.source - move.target) * 65536 + move.part);
    }
    tryKeys(keys);
    if (cost > bound && moves.size() <= kMostColoredMoves) {
      tryKeys(edgeColors());
      SmallVector<size_t> order(moves.size());
      for (size_t i = 0; i < order.size(); ++i) {
        order[i] = i;
      }
      tryKeys(firstFit(order));
      llvm::sort(order, [&](size_t a, size_t b) {
        return std::pair(-moves[a].width(), a) < std::pair(-moves[b].width(), b);
      });
      tryKeys(firstFit(order));
    }
  }
  if (sum < cost && sum < gatherCost) {
    plan.kind = Plan::Kind::Sum;
    plan.elements = sum;
  } else if (gatherCost < cost || (gatherCost == cost && best.size() > 1)) {
    plan.kind = Plan::Kind::Gather;
    plan.elements = gatherCost;
  } else {
    llvm::append_range(plan.rounds, best);
    plan.elements = cost;
  }
  return plan;
}

Plan hlo::spmd::planExchange(const Exchange &x) { return Planner(x).plan(); }

SentBytes::SentBytes(RankedTensorType global, const Sharding &sharding, const Mesh &mesh)
    : shape(shardShape(global.getShape(), sharding, mesh)),
      elementSize(elementBytes(global.getElementType())) {}

void SentBytes::add(int64_t dim, const Exchange &x) {
  double others = elementSize;
  for (auto [i, size] : llvm::enumerate(shape)) {
    others *= static_cast<int64_t>(i) == dim ? 1 : size;
  }
  bytes += static_cast<int64_t>(planExchange(x).elements * others);
  shape[dim] = x.length;
}
