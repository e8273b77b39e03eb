//===- Halo.cpp - Exchange of parts of a dimension between shards ---------===//
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
// Out: buffers. If each slab lands at the same index on all shards, they are concatenated;
// otherwise they are written one after the other into a buffer with margins. A slab that is wider
// than a move holds more elements of the same run, which are right wherever they land; only where
// it exceeds the run is the rest masked.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/spmd/Halo.h"

#include "compiler/analysis/Shapes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

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

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

namespace {

/// Elements of `run` that one shard reads from another, or from itself.
struct Move {
  int64_t source = 0, target = 0;
  Span span;
  int64_t at = 0; ///< index of span.begin in the source's array
  Span run;       ///< the elements around it that the source has
  int64_t part = 0;
  int64_t width() const { return span.end - span.begin; }
};

/// Moves in which each shard sends and receives at most once.
struct Round {
  bool isLocal = false;
  int64_t width = 0;
  SmallVector<Move> moves;
};

struct Plan {
  enum class Kind { Permutes, Gather, Sum } kind = Kind::Permutes;
  /// Local rounds first.
  SmallVector<Round> rounds;
  /// The indices of the shards' arrays that some shard reads.
  Span used;
  double elements = 0; ///< that a shard sends
};

/// Beyond this many moves only the grouping by distance is tried: the others take time quadratic in
/// the number of moves of a shard.
constexpr size_t kMostColoredMoves = 4096;

class Planner {
public:
  explicit Planner(const Exchange &x) : x(x), shards(x.shards()) {}
  Plan plan();

private:
  void findMoves();
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

void Planner::findMoves() {
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
  }
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
  findMoves();
  Plan plan;
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

double hlo::spmd::elementsSent(const Exchange &x) { return Planner(x).plan().elements; }

SentBytes::SentBytes(RankedTensorType global, const Sharding &sharding, const Mesh &mesh)
    : shape(shardShape(global.getShape(), sharding, mesh)),
      elementSize(elementBytes(global.getElementType())) {}

void SentBytes::add(int64_t dim, const Exchange &x) {
  double others = elementSize;
  for (auto [i, size] : llvm::enumerate(shape)) {
    others *= static_cast<int64_t>(i) == dim ? 1 : size;
  }
  bytes += static_cast<int64_t>(elementsSent(x) * others);
  shape[dim] = x.length;
}

//===----------------------------------------------------------------------===//
// Local pieces
//===----------------------------------------------------------------------===//

bool hlo::spmd::isZero(Value scalar) {
  auto constant = scalar ? scalar.getDefiningOp<ConstantOp>() : ConstantOp();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!elements || !elements.isSplat()) {
    return false;
  }
  Type element = elements.getElementType();
  if (isa<FloatType>(element)) {
    return elements.getSplatValue<APFloat>().isPosZero();
  }
  return isa<IntegerType>(element) && elements.getSplatValue<APInt>().isZero();
}

Value hlo::spmd::perShard(Emitter &e, ArrayRef<Axis> axes, ArrayRef<int64_t> table) {
  if (llvm::all_equal(table)) {
    return e.b().index(table[0]);
  }
  int64_t step = table[1] - table[0];
  bool isAffine = true;
  for (size_t t = 1; t < table.size(); ++t) {
    isAffine &= table[t] - table[t - 1] == step;
  }
  if (isAffine) {
    Value offset = e.shardOffset(axes, step);
    return table[0] == 0 ? offset : e.b().add(offset, e.b().index(table[0]));
  }
  SmallVector<int64_t> values;
  for (int64_t position = 0; position < e.mesh.partitions(); ++position) {
    values.push_back(table[e.mesh.shardAt(position, axes)]);
  }
  return e.perPosition(values);
}

/// A pred of this shape: whether the index in dimension `dim` plus start[t] lies in spans[t]; null
/// if it always does.
static Value insideSpans(Emitter &e, ArrayRef<int64_t> shape, int64_t dim, ArrayRef<Axis> axes,
                         ArrayRef<int64_t> start, ArrayRef<Span> spans) {
  int64_t length = shape[dim];
  // Bounds as indices of the array. One that never cuts is not compared.
  SmallVector<int64_t> low, high;
  bool cutsLow = false, cutsHigh = false, sameSpans = true;
  for (auto [first, span] : llvm::zip(start, spans)) {
    low.push_back(span.begin - first);
    high.push_back(std::max(span.begin, span.end) - first);
    cutsLow |= low.back() > 0;
    cutsHigh |= high.back() < length;
    sameSpans &= span.begin == spans.front().begin && span.end == spans.front().end;
  }
  if (!cutsLow && !cutsHigh) {
    return {};
  }
  HloBuilder b = e.b();
  auto element = IntegerType::get(e.builder.getContext(), 32, IntegerType::Signed);
  Value index = b.iota(RankedTensorType::get({length}, element), 0);
  if (sameSpans) {
    index = b.add(index, b.broadcastScalar(perShard(e, axes, start), {length}));
    low.assign(low.size(), spans.front().begin);
    high.assign(high.size(), std::max(spans.front().begin, spans.front().end));
  }
  auto compare = [&](ArrayRef<int64_t> table, StringRef direction) {
    return b.compare(index, b.broadcastScalar(perShard(e, axes, table), {length}), direction);
  };
  Value inside = cutsLow ? compare(low, "GE") : Value();
  if (cutsHigh) {
    Value below = compare(high, "LT");
    inside = inside ? b.binary<AndOp>(inside, below) : below;
  }
  return b.broadcast(inside, shape, {dim});
}

Value hlo::spmd::maskSpans(Emitter &e, Value array, int64_t dim, ArrayRef<Axis> axes,
                           ArrayRef<int64_t> start, ArrayRef<Span> spans, Value fill) {
  ArrayRef<int64_t> shape = HloBuilder::type(array).getShape();
  Value inside = insideSpans(e, shape, dim, axes, start, spans);
  return inside ? e.b().select(inside, array, e.b().broadcastScalar(fill, shape)) : array;
}

/// Pads dimension `dim`, or cuts it where a number is negative.
static Value padDim(Emitter &e, Value array, int64_t dim, int64_t low, int64_t high,
                    int64_t interior, Value fill) {
  auto type = HloBuilder::type(array);
  if (low == 0 && high == 0 && interior == 0) {
    return array;
  }
  if (low <= 0 && high <= 0 && interior == 0) {
    return e.b().sliceDim(array, dim, -low, type.getDimSize(dim) + high);
  }
  SmallVector<int64_t> lows(type.getRank(), 0), highs(lows), interiors(lows);
  lows[dim] = low;
  highs[dim] = high;
  interiors[dim] = interior;
  return e.b().pad(array, fill ? fill : e.zero(type.getElementType()), lows, highs, interiors);
}

Value hlo::spmd::sliceAt(Emitter &e, Value array, int64_t dim, ArrayRef<Axis> axes,
                         ArrayRef<int64_t> start, int64_t size, Value fill) {
  int64_t now = HloBuilder::type(array).getDimSize(dim);
  if (llvm::all_equal(start)) {
    // Nothing of the array remains if the two do not meet: then a part of the padding.
    int64_t first = start[0], low = -first, high = first + size - now;
    if (first >= now || first + size <= 0) {
      Value scalar = fill ? fill : e.zero(HloBuilder::type(array).getElementType());
      SmallVector<int64_t> shape(HloBuilder::type(array).getShape());
      shape[dim] = size;
      return e.b().broadcastScalar(scalar, shape);
    }
    return padDim(e, array, dim, low, high, 0, fill);
  }
  int64_t low = std::max<int64_t>(0, -*llvm::min_element(start));
  int64_t high = std::max<int64_t>(0, *llvm::max_element(start) + size - now);
  array = padDim(e, array, dim, low, high, 0, fill);
  SmallVector<int64_t> shifted;
  for (int64_t first : start) {
    shifted.push_back(first + low);
  }
  return e.dynamicSliceDim(array, dim, perShard(e, axes, shifted), size);
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

namespace {

/// Where the slab of a round begins on each source, and where it lands on each target.
struct Slab {
  const Round *round;
  SmallVector<int64_t> at, dest;  ///< by shard
  SmallVector<const Move *> into; ///< by target; null if it receives nothing
  bool landsEqually = true;       ///< dest is the same wherever something is received
  bool spills = false;            ///< wider than the run somewhere, over what is read
};

class ExchangeEmitter {
public:
  ExchangeEmitter(Emitter &e, Value array, int64_t dim, ArrayRef<Axis> axes, const Exchange &x,
                  Value fill)
      : e(e), array(array), dim(dim), axes(axes), x(x), fill(fill), shards(x.shards()),
        element(HloBuilder::type(array).getElementType()) {}

  Value emit();

private:
  Slab slabOf(const Round &round) const;
  Value send(const Slab &slab);
  Value concatenated(ArrayRef<Slab> slabs);
  Value written(ArrayRef<Slab> slabs);
  Value gathered(Span used);
  Value summed(const Plan &plan);
  Value blank(int64_t size, Value scalar);
  bool holdsFill(ArrayRef<Slab> slabs) const;

  Emitter &e;
  Value array;
  int64_t dim;
  ArrayRef<Axis> axes;
  const Exchange &x;
  Value fill;
  int64_t shards;
  Type element;
};

} // namespace

Value ExchangeEmitter::blank(int64_t size, Value scalar) {
  SmallVector<int64_t> shape(HloBuilder::type(array).getShape());
  shape[dim] = size;
  return e.b().broadcastScalar(scalar ? scalar : e.zero(element), shape);
}

Slab ExchangeEmitter::slabOf(const Round &round) const {
  Slab slab{&round, SmallVector<int64_t>(shards, 0), SmallVector<int64_t>(shards, 0),
            SmallVector<const Move *>(shards, nullptr)};
  // The slab of a move may begin anywhere in [first, last]; the same place for all is best.
  auto first = [&](const Move &move) {
    return std::max<int64_t>(0, move.at + move.width() - round.width);
  };
  auto last = [&](const Move &move) { return std::min(move.at, x.held - round.width); };
  int64_t low = 0, high = x.held;
  for (const Move &move : round.moves) {
    low = std::max(low, first(move));
    high = std::min(high, last(move));
  }
  std::optional<int64_t> common;
  for (const Move &move : round.moves) {
    int64_t at = low <= high ? high : last(move);
    int64_t offset = move.span.begin - (move.at - at); // the element at the slab's index 0
    int64_t dest = offset - x.origin[move.target];
    slab.at[move.source] = at;
    slab.dest[move.target] = dest;
    slab.into[move.target] = &move;
    slab.landsEqually &= !common || *common == dest;
    common = dest;
    Span read = x.reads[move.target] & x.domain;
    slab.spills |= !(Span{offset, move.run.begin} & read).isEmpty() ||
                   !(Span{move.run.end, offset + round.width} & read).isEmpty();
  }
  if (low <= high) {
    slab.at.assign(shards, high);
  }
  if (slab.landsEqually) {
    slab.dest.assign(shards, *common);
  }
  return slab;
}

Value ExchangeEmitter::send(const Slab &slab) {
  Value value = sliceAt(e, array, dim, axes, slab.at, slab.round->width);
  if (slab.round->isLocal) {
    return value;
  }
  // Moves are between shards along `axes`; each group of positions makes the same ones.
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  for (const SmallVector<int64_t> &group : e.mesh.groups(axes)) {
    for (const Move &move : slab.round->moves) {
      pairs.emplace_back(e.mesh.positionOf(group[move.source]),
                         e.mesh.positionOf(group[move.target]));
    }
  }
  return e.permute(value, pairs);
}

/// Whether everything that is read outside the domain holds `fill` in the concatenation: it lies
/// in gaps, or, for a zero, in slabs that the shard does not receive.
bool ExchangeEmitter::holdsFill(ArrayRef<Slab> slabs) const {
  bool fillIsZero = isZero(fill);
  for (int64_t t = 0; t < shards; ++t) {
    for (Span outside : {Span{x.reads[t].begin, std::min(x.reads[t].end, x.domain.begin)},
                         Span{std::max(x.reads[t].begin, x.domain.end), x.reads[t].end}}) {
      for (const Slab &slab : slabs) {
        int64_t first = x.origin[t] + slab.dest[t];
        bool meets = !(outside & Span{first, first + slab.round->width}).isEmpty();
        if (meets && (slab.into[t] || slab.round->isLocal || !fillIsZero)) {
          return false;
        }
      }
    }
  }
  return true;
}

Value ExchangeEmitter::concatenated(ArrayRef<Slab> slabs) {
  SmallVector<Value> pieces;
  int64_t next = 0;
  for (const Slab &slab : slabs) {
    if (slab.dest[0] > next) {
      pieces.push_back(blank(slab.dest[0] - next, fill));
    }
    pieces.push_back(send(slab));
    next = slab.dest[0] + slab.round->width;
  }
  if (next < x.length) {
    pieces.push_back(blank(x.length - next, fill));
  }
  return pieces.size() == 1 ? pieces[0] : e.b().concatenate(pieces, dim);
}

Value ExchangeEmitter::written(ArrayRef<Slab> slabs) {
  // A shard that receives nothing in a round writes the slab to the front margin.
  int64_t front = 0, back = 0;
  for (const Slab &slab : slabs) {
    for (int64_t t = 0; t < shards; ++t) {
      if (slab.into[t]) {
        front = std::max(front, -slab.dest[t]);
        back = std::max(back, slab.dest[t] + slab.round->width - x.length);
      } else if (!slab.spills) {
        front = std::max(front, slab.round->width);
      }
    }
  }
  Value buffer = blank(front + x.length + back, fill);
  for (const Slab &slab : slabs) {
    Value value = send(slab);
    SmallVector<int64_t> dest(shards, 0);
    SmallVector<Span> spans(shards);
    for (int64_t t = 0; t < shards; ++t) {
      if (slab.into[t]) {
        dest[t] = front + slab.dest[t];
        spans[t] = {slab.into[t]->span.begin - x.origin[t] + front,
                    slab.into[t]->span.end - x.origin[t] + front};
      }
    }
    Value start = perShard(e, axes, dest);
    if (slab.spills) {
      ArrayRef<int64_t> shape = HloBuilder::type(value).getShape();
      if (Value inside = insideSpans(e, shape, dim, axes, dest, spans)) {
        Value old = e.dynamicSliceDim(buffer, dim, start, slab.round->width);
        value = e.b().select(inside, value, old);
      }
    }
    buffer = e.dynamicUpdateDim(buffer, value, dim, start);
  }
  return padDim(e, buffer, dim, -front, -back, 0, {});
}

Value ExchangeEmitter::gathered(Span used) {
  int64_t width = used.end - used.begin;
  Value all = e.allGather(e.b().sliceDim(array, dim, used.begin, used.end), dim, axes);
  Span read{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  for (Span span : x.reads) {
    span = span & x.domain;
    if (!span.isEmpty()) {
      read = {std::min(read.begin, span.begin), std::max(read.end, span.end)};
    }
  }
  // The runs in the order of the dimension, as runs of the gathered array.
  struct Segment {
    Span span;
    int64_t at;
  };
  SmallVector<Segment> segments;
  for (const Run &run : x.runs) {
    int64_t shift = run.at - run.span.begin; // from elements to indices
    Span span = run.span & Span{used.begin - shift, used.end - shift} & read;
    if (!span.isEmpty()) {
      segments.push_back({span, run.shard * width + span.begin + shift - used.begin});
    }
  }
  llvm::sort(segments, [](const Segment &a, const Segment &b) {
    return std::tie(a.span.begin, a.at) < std::tie(b.span.begin, b.at);
  });
  SmallVector<Value> pieces;
  int64_t next = read.begin;
  for (size_t i = 0; i < segments.size();) {
    Segment merged = segments[i++];
    if (merged.span.begin < next) {
      continue; // another copy
    }
    while (i < segments.size() && segments[i].span.begin == merged.span.end &&
           segments[i].at == merged.at + (merged.span.end - merged.span.begin)) {
      merged.span.end = segments[i++].span.end;
    }
    if (merged.span.begin > next) {
      pieces.push_back(blank(merged.span.begin - next, {}));
    }
    int64_t size = merged.span.end - merged.span.begin;
    pieces.push_back(e.b().sliceDim(all, dim, merged.at, merged.at + size));
    next = merged.span.end;
  }
  Value whole = pieces.size() == 1 ? pieces[0] : e.b().concatenate(pieces, dim);
  SmallVector<int64_t> start;
  for (auto [origin, span] : llvm::zip(x.origin, x.reads)) {
    // Shards that read nothing may take anything.
    start.push_back((span & x.domain).isEmpty() ? 0 : origin - read.begin);
  }
  return sliceAt(e, whole, dim, axes, start, x.length);
}

Value ExchangeEmitter::summed(const Plan &plan) {
  SmallVector<int64_t> start(shards, 0);
  SmallVector<Span> spans(shards, Span{x.origin[0], x.origin[0]});
  for (const Round &round : plan.rounds) {
    for (const Move &move : round.moves) {
      start[move.target] = move.at + x.origin[0] - move.span.begin;
      spans[move.target] = move.span;
    }
  }
  Value own = sliceAt(e, array, dim, axes, start, x.length);
  own = maskSpans(e, own, dim, axes, x.origin, spans, e.zero(element));
  return e.allReduce(own, axes, isPred(element) ? SumKind::Or : SumKind::Add);
}

Value ExchangeEmitter::emit() {
  Plan plan = Planner(x).plan();
  Value buffer;
  bool isFilled = false;
  if (plan.kind == Plan::Kind::Gather) {
    buffer = gathered(plan.used);
  } else if (plan.kind == Plan::Kind::Sum) {
    buffer = summed(plan);
  } else {
    SmallVector<Slab> slabs;
    for (const Round &round : plan.rounds) {
      slabs.push_back(slabOf(round));
    }
    SmallVector<Slab> sorted(slabs);
    llvm::sort(sorted, [](const Slab &a, const Slab &b) { return a.dest[0] < b.dest[0]; });
    int64_t next = 0;
    bool isConcatenation = true;
    for (const Slab &slab : sorted) {
      isConcatenation &= slab.landsEqually && !slab.spills && slab.dest[0] >= next;
      next = slab.dest[0] + slab.round->width;
    }
    isConcatenation &= next <= x.length;
    buffer = isConcatenation ? concatenated(sorted) : written(slabs);
    isFilled = isConcatenation && fill && holdsFill(sorted);
  }
  if (fill && !isFilled && x.readsOutside()) {
    SmallVector<Span> inside(shards, x.domain);
    buffer = maskSpans(e, buffer, dim, axes, x.origin, inside, fill);
  }
  return buffer;
}

Value hlo::spmd::exchange(Emitter &e, Value array, int64_t dim, ArrayRef<Axis> axes,
                          const Exchange &x, Value fill) {
  return ExchangeEmitter(e, array, dim, axes, x, fill).emit();
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

WindowDim hlo::spmd::windowDim(WindowAttr window, int64_t dim) {
  return {window.getSize()[dim],          window.getStrides()[dim],
          window.getPadLow()[dim],        window.getPadHigh()[dim],
          window.getBaseDilations()[dim], window.getWindowDilations()[dim],
          window.getReversal()[dim] != 0};
}

WindowAttr hlo::spmd::withDim(WindowAttr window, int64_t dim, const WindowDim &value) {
  SmallVector<int64_t> size(window.getSize()), strides(window.getStrides()),
      low(window.getPadLow()), high(window.getPadHigh()), base(window.getBaseDilations()),
      dilations(window.getWindowDilations()), reversal(window.getReversal());
  size[dim] = value.size;
  strides[dim] = value.stride;
  low[dim] = value.low;
  high[dim] = value.high;
  base[dim] = value.baseDilation;
  dilations[dim] = value.windowDilation;
  reversal[dim] = value.isReversed;
  return WindowAttr::get(window.getContext(), size, strides, low, high, base, dilations, reversal);
}

/// `start` and `reads` are positions of the dilated operand, of which each shard gets `length`.
static WindowHalo makeHalo(const WindowDim &window, int64_t size, ArrayRef<int64_t> start,
                           int64_t length, ArrayRef<Span> reads) {
  WindowHalo halo;
  halo.local = window;
  halo.local.low = halo.local.high = 0;
  Exchange &x = halo.exchange;
  x.domain = {0, size};
  x.held = shardSize(size, start.size());
  int64_t dilation = window.baseDilation;
  if (dilation == 1) {
    x.origin.assign(start.begin(), start.end());
    x.reads.assign(reads.begin(), reads.end());
    x.length = length;
    x.addShards(size);
    return halo;
  }
  SmallVector<int64_t> phases;
  x.length = 1;
  for (auto [first, span] : llvm::zip(start, reads)) {
    x.origin.push_back(llvm::divideCeilSigned(first, dilation));
    phases.push_back(x.origin.back() * dilation - first);
    if (phases.back() < length) {
      x.length = std::max(x.length, (length - 1 - phases.back()) / dilation + 1);
    }
    x.reads.push_back(span.isEmpty() ? Span()
                                     : Span{llvm::divideCeilSigned(span.begin, dilation),
                                            llvm::divideFloorSigned(span.end - 1, dilation) + 1});
  }
  x.addShards(size);
  int64_t dilated = (x.length - 1) * dilation + 1;
  if (llvm::all_equal(phases)) {
    halo.local.low = phases[0];
    halo.local.high = length - phases[0] - dilated;
    return halo;
  }
  halo.isDilatedBefore = true;
  halo.dilation = dilation;
  halo.dilatedLength = length;
  halo.local.baseDilation = 1;
  for (int64_t phase : phases) {
    halo.skip.push_back(-phase);
  }
  return halo;
}

WindowHalo hlo::spmd::haloOfResults(const WindowDim &window, int64_t size, int64_t results,
                                    int64_t shards, bool allResults) {
  int64_t local = allResults ? results : shardSize(results, shards);
  SmallVector<int64_t> start;
  SmallVector<Span> reads;
  for (int64_t t = 0; t < shards; ++t) {
    int64_t first = allResults ? 0 : t * local;
    start.push_back(first * window.stride - window.low);
    int64_t valid = std::min(local, results - first);
    reads.push_back(valid <= 0 ? Span()
                               : Span{start.back(), start.back() + (valid - 1) * window.stride +
                                                        window.extent()});
  }
  return makeHalo(window, size, start, (local - 1) * window.stride + window.extent(), reads);
}

WindowHalo hlo::spmd::haloOfTaps(const WindowDim &window, int64_t size, int64_t results,
                                 int64_t shards) {
  int64_t local = shardSize(window.size, shards);
  SmallVector<int64_t> start;
  SmallVector<Span> reads;
  for (int64_t t = 0; t < shards; ++t) {
    // A reversed window's last element is its first tap.
    int64_t first = window.isReversed ? window.size - (t + 1) * local : t * local;
    Span taps = Span{first, first + local} & Span{0, window.size};
    start.push_back(first * window.windowDilation - window.low);
    reads.push_back(taps.isEmpty() ? Span()
                                   : Span{taps.begin * window.windowDilation - window.low,
                                          (taps.end - 1) * window.windowDilation - window.low +
                                              (results - 1) * window.stride + 1});
  }
  WindowDim part = window;
  part.size = local;
  return makeHalo(part, size, start, (results - 1) * window.stride + part.extent(), reads);
}

ClampedHalo hlo::spmd::clampedHalo(const WindowDim &window, int64_t size, int64_t results,
                                   ArrayRef<Span> needed) {
  ClampedHalo halo;
  int64_t stride = window.stride;
  // Results of which a shard does not need the first ones of its local op are not at the front, so
  // their windows read no padding there: `front` windows do.
  int64_t front = window.low > 0 ? llvm::divideCeilSigned(window.low, stride) : 0;
  int64_t most = 0;
  for (Span span : needed) {
    most = std::max(most, span.end - span.begin);
  }
  Exchange &x = halo.exchange;
  x.held = shardSize(size, needed.size());
  x.domain = {0, size};
  // Buffers start at multiples of the stride; those at the end of the operand end with it.
  int64_t length = std::max<int64_t>(1, (front + most - 1) * stride - window.low + window.extent());
  if (length < size) {
    length += (size - length) % stride;
  }
  x.length = std::min(length, size);
  for (Span span : needed) {
    int64_t start = std::clamp<int64_t>((span.begin - front) * stride, 0, size - x.length);
    x.origin.push_back(start);
    halo.first.push_back(start / stride);
    if (!span.isEmpty()) {
      halo.results = std::max(halo.results, span.end - halo.first.back());
    }
    Span valid = span & Span{0, results};
    if (valid.isEmpty()) {
      x.reads.push_back({});
      continue;
    }
    Span read{valid.begin * stride - window.low,
              (valid.end - 1) * stride - window.low + window.extent()};
    x.reads.push_back(read & x.domain);
  }
  x.addShards(size);
  halo.local = window;
  halo.local.high = (halo.results - 1) * stride + window.extent() - window.low - x.length;
  return halo;
}

Value hlo::spmd::exchangeHalo(Emitter &e, Value array, int64_t dim, ArrayRef<Axis> axes,
                              const WindowHalo &halo, Value fill, bool masks) {
  const Exchange &x = halo.exchange;
  Value buffer = exchange(e, array, dim, axes, x, masks ? Value() : fill);
  if (masks) {
    SmallVector<Span> spans;
    for (Span span : x.reads) {
      spans.push_back(span & x.domain);
    }
    buffer = maskSpans(e, buffer, dim, axes, x.origin, spans, fill);
  }
  if (!halo.isDilatedBefore) {
    return buffer;
  }
  buffer = padDim(e, buffer, dim, 0, 0, halo.dilation - 1, fill);
  return sliceAt(e, buffer, dim, axes, halo.skip, halo.dilatedLength, fill);
}
