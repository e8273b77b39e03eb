//===- Coalesce.cpp - Values that share a buffer --------------------------===//
//
// In: a plan in which every value has a place of its own. Out: classes of values that share one,
// and the remaining moves in an order in which they can run one by one.
//
// Two classes merge if they are never live at the same time, with one exception: a launch may read
// an operand for the last time and write a result in the same place if its fusion allows it for
// every such pair (`may_alias`). Pairs joined by a move are tried first, those in inner loops and
// the large ones before others, because moves cost time; then pairs of `may_alias`, which only save
// memory. Inputs and constants never merge, because they must not be written.
//
// A donated input and its output may or may not be one buffer, which is known only at run time. So
// they are two classes here, and a value merged into the output must not be live together with the
// input (except as above).
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/schedule/Plan.h"

using namespace hlo;
using namespace hlo::schedule;

/// Carries up to this size stay in the arena even if they end up in an output. A small loop becomes
/// a function that sees the arena as memory without aliases, so its carries can live in registers;
/// one copy after the loop costs little in comparison.
static constexpr int64_t smallCarry = 128;

namespace {
/// Two values that would rather share a buffer.
struct Affinity {
  ValueId a, b;
  bool isMove;
  unsigned loopDepth;
  int64_t bytes;
  size_t number; ///< tie break: the first one goes first

  auto rank() const { return std::tuple(isMove, loopDepth, bytes, ~number); }
};

class Coalescer {
public:
  explicit Coalescer(Plan &plan) : plan(plan) {}
  void run();

private:
  void collect();
  void merge(const Affinity &affinity);
  bool canMerge(ValueId a, ValueId b, bool isMove) const;
  bool compatible(ValueId a, ValueId b, bool isMove) const;
  bool isExcused(Segment common, ValueId a, ValueId b) const;
  void finishMoves(Step &step);
  /// The buffer, or for a donated input the buffer of its output: values with one location may
  /// share memory at run time.
  ValueId locationOf(ValueId value) const;
  ValueId addTemporary(ValueId like);

  Plan &plan;
  std::vector<const Step *> launchAt; ///< by position
  std::vector<Affinity> affinities;
  std::vector<uint32_t> classSize;
  llvm::DenseMap<uint32_t, ValueId> donatedTo; ///< input value -> output value
};
} // namespace

void Coalescer::collect() {
  launchAt.assign(plan.positions, nullptr);
  for (const Sequence &sequence : plan.sequences) {
    for (const Step &step : sequence.steps) {
      for (const Move &move : step.moves) {
        affinities.push_back({move.source, move.target, true, sequence.loopDepth,
                              plan.values[move.target].bytes, affinities.size()});
      }
      if (step.kind != StepKind::Launch) {
        continue;
      }
      launchAt[step.position] = &step;
      for (AliasPair pair : step.mayAlias) {
        ValueId result = step.results[pair.result];
        affinities.push_back({step.operands[pair.operand], result, false, sequence.loopDepth,
                              plan.values[result].bytes, affinities.size()});
      }
    }
  }
  llvm::sort(affinities, [](const Affinity &a, const Affinity &b) { return a.rank() > b.rank(); });
}

bool Coalescer::compatible(ValueId a, ValueId b, bool isMove) const {
  const PlanValue &x = plan.values[a], &y = plan.values[b];
  auto isFixed = [](Home home) { return home == Home::Input || home == Home::Constant; };
  if (isFixed(x.home) || isFixed(y.home)) {
    return false;
  }
  // A move between arrays of different sizes (hlo.resize) is one of the shorter; the longer's
  // buffer holds both, but an output is no longer than its result.
  if (x.bytes != y.bytes) {
    const PlanValue &shorter = x.bytes < y.bytes ? x : y;
    if (!isMove || shorter.home == Home::Output) {
      return false;
    }
  }
  if (x.home == Home::Arena && y.home == Home::Arena) {
    return true;
  }
  bool isSmallCarry = (x.isCarry || y.isCarry) && x.bytes <= smallCarry;
  return (x.home == Home::Arena || y.home == Home::Arena) && !isSmallCarry;
}

/// True if `common`, the points where both classes are live, is one launch that reads one class for
/// the last time and writes the other, and allows it.
bool Coalescer::isExcused(Segment common, ValueId a, ValueId b) const {
  uint32_t position = common.begin / 2;
  const Step *launch = (common.end - 1) / 2 == position ? launchAt[position] : nullptr;
  if (!launch) {
    return false;
  }
  llvm::SmallVector<unsigned> reads, writes;
  ValueId read = none, written = none;
  for (auto [i, operand] : llvm::enumerate(launch->operands)) {
    ValueId buffer = plan.bufferOf(operand);
    if (buffer == a || buffer == b) {
      reads.push_back(i);
      if (read != none && read != buffer) {
        return false;
      }
      read = buffer;
    }
  }
  for (auto [i, result] : llvm::enumerate(launch->results)) {
    ValueId buffer = plan.bufferOf(result);
    if (buffer == a || buffer == b) {
      writes.push_back(i);
      if (written != none && written != buffer) {
        return false;
      }
      written = buffer;
    }
  }
  if (read == none || written == none || read == written) {
    return false;
  }
  // A result that nobody reads is live only here; the operand must end here all the same.
  if (plan.values[read].range.contains(2 * position + 2)) {
    return false;
  }
  for (unsigned operand : reads) {
    for (unsigned result : writes) {
      if (llvm::none_of(launch->mayAlias, [&](AliasPair pair) {
            return pair.result == result && pair.operand == operand;
          })) {
        return false;
      }
    }
  }
  return true;
}

bool Coalescer::canMerge(ValueId a, ValueId b, bool isMove) const {
  if (!compatible(a, b, isMove)) {
    return false;
  }
  auto disjoint = [&](ValueId x, ValueId y) {
    return plan.values[x].range.forEachOverlap(
        plan.values[y].range, [&](Segment common) { return isExcused(common, x, y); });
  };
  if (!disjoint(a, b)) {
    return false;
  }
  const PlanValue &output = plan.values[a].home == Home::Output ? plan.values[a] : plan.values[b];
  if (output.home == Home::Output) {
    if (const Donation *donation = plan.donationOf(output.number)) {
      ValueId input = plan.inputs[donation->input];
      return disjoint(a, input) && disjoint(b, input);
    }
  }
  return true;
}

void Coalescer::merge(const Affinity &affinity) {
  ValueId a = plan.bufferOf(affinity.a), b = plan.bufferOf(affinity.b);
  if (a == b || !canMerge(a, b, affinity.isMove)) {
    return;
  }
  if (classSize[a] < classSize[b]) {
    std::swap(a, b);
  }
  classSize[a] += classSize[b];
  plan.buffers[b] = a;
  PlanValue &into = plan.values[a], &from = plan.values[b];
  into.range.add(from.range);
  into.isCarry |= from.isCarry;
  into.bytes = std::max(into.bytes, from.bytes);
  from.range = LiveRange();
  if (from.home == Home::Output) {
    into.home = Home::Output;
    into.number = from.number;
    into.align = from.align;
  } else if (into.home != Home::Output) {
    into.align = std::max(into.align, from.align);
  }
}

ValueId Coalescer::locationOf(ValueId value) const {
  auto it = donatedTo.find(value);
  return plan.bufferOf(it == donatedTo.end() ? value : it->second);
}

ValueId Coalescer::addTemporary(ValueId like) {
  ValueId id = plan.values.size();
  plan.values.push_back({.bytes = plan.values[like].bytes,
                         .align = plan.values[like].align,
                         .location = plan.values[like].location});
  plan.buffers.push_back(id);
  classSize.push_back(1);
  return id;
}

/// Drops moves within one buffer and orders the others: a buffer is written after all moves that
/// read it. If only cycles are left, one of the sources about to be overwritten is saved first.
void Coalescer::finishMoves(Step &step) {
  llvm::SmallVector<Move> pending;
  llvm::DenseMap<ValueId, unsigned> readers;
  for (const Move &move : step.moves) {
    if (plan.bufferOf(move.source) != plan.bufferOf(move.target) &&
        plan.values[move.target].bytes > 0) {
      pending.push_back(move);
      ++readers[locationOf(move.source)];
    }
  }
  llvm::SmallVector<Move> done;
  auto isReady = [&](const Move &move) {
    ValueId target = locationOf(move.target);
    return readers.lookup(target) == (locationOf(move.source) == target ? 1u : 0u);
  };
  while (!pending.empty()) {
    llvm::SmallVector<Move> blocked;
    for (const Move &move : pending) {
      if (isReady(move)) {
        --readers[locationOf(move.source)];
        done.push_back(move);
      } else {
        blocked.push_back(move);
      }
    }
    if (blocked.size() == pending.size()) {
      ValueId wanted = locationOf(blocked.front().target);
      ValueId saved = none;
      for (Move &move : blocked) {
        if (locationOf(move.source) == wanted) {
          if (saved == none) {
            saved = addTemporary(move.source);
            done.push_back({move.source, saved, move.most});
          }
          --readers[wanted];
          move.source = saved;
          ++readers[locationOf(saved)];
        }
      }
    }
    pending = std::move(blocked);
  }
  // Executed one after another, the moves' buffers must all stay valid throughout.
  for (const Move &move : done) {
    for (ValueId value : {move.source, move.target}) {
      plan.values[plan.bufferOf(value)].range.add({2 * step.position, 2 * step.position + 2});
    }
  }
  step.moves.assign(done.begin(), done.end());
}

void Coalescer::run() {
  plan.buffers.resize(plan.values.size());
  std::iota(plan.buffers.begin(), plan.buffers.end(), 0u);
  classSize.assign(plan.values.size(), 1);
  for (Donation donation : plan.donations) {
    donatedTo[plan.inputs[donation.input]] = plan.outputs[donation.output];
  }
  // Before values share buffers, whose size is that of the longest.
  for (Sequence &sequence : plan.sequences) {
    for (Step &step : sequence.steps) {
      for (Move &move : step.moves) {
        move.most =
            std::min({move.most, plan.values[move.source].bytes, plan.values[move.target].bytes});
      }
    }
  }
  collect();
  for (const Affinity &affinity : affinities) {
    merge(affinity);
  }
  for (Sequence &sequence : plan.sequences) {
    for (Step &step : sequence.steps) {
      if (step.kind == StepKind::Moves) {
        finishMoves(step);
      }
    }
  }
}

void schedule::coalesce(Plan &plan) { Coalescer(plan).run(); }

/// Bytes copied per iteration and step of the body from which writing the body twice pays: copying
/// fewer bytes costs less than the extra code.
static constexpr int64_t worthDoubling = 16;
/// The same, if the second half must first evaluate the condition.
static constexpr int64_t worthAsking = 128;

LoopSet schedule::loopsToDouble(const Plan &plan) {
  LoopSet loops;
  for (const Sequence &sequence : plan.sequences) {
    for (const Step &step : sequence.steps) {
      if (step.kind != StepKind::Loop) {
        continue;
      }
      const Sequence &body = plan.sequences[step.sequences[1]];
      int64_t bytes = 0;
      if (body.steps.empty()) {
        continue;
      }
      if (body.steps.back().kind == StepKind::Moves) {
        for (const Move &move : body.steps.back().moves) {
          bytes += plan.values[move.target].bytes;
        }
      }
      if (bytes >= worthDoubling * int64_t(body.steps.size()) &&
          (step.tripCount || bytes >= worthAsking)) {
        loops.insert(step.op);
      }
    }
  }
  return loops;
}
