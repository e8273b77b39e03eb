//===- Halo.cpp - Exchange of parts of a dimension between shards ---------===//
//
// In: the plan of an exchange (HaloPlan.h). Each round's slab is sliced, sent and placed in the
// buffer. If each slab lands at the same index on all shards, they are concatenated; otherwise they
// are written one after the other into a buffer with margins. A slab that is wider than a move
// holds more elements of the same run, which are right wherever they land; only where it exceeds
// the run is the rest masked.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/spmd/Halo.h"

#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/spmd/HaloPlan.h"

#include <optional>

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

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

Value hlo::spmd::padDim(Emitter &e, Value array, int64_t dim, int64_t low, int64_t high,
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
  bool holdsFill(ArrayRef<Slab> slabs, bool isConcatenation) const;

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

/// Whether everything that is read outside the domain holds `fill`: no slab lands there, or, in a
/// concatenation, one that the shard does not receive, which is zeros.
bool ExchangeEmitter::holdsFill(ArrayRef<Slab> slabs, bool isConcatenation) const {
  bool fillIsZero = isZero(fill);
  for (int64_t t = 0; t < shards; ++t) {
    for (Span outside : {Span{x.reads[t].begin, std::min(x.reads[t].end, x.domain.begin)},
                         Span{std::max(x.reads[t].begin, x.domain.end), x.reads[t].end}}) {
      for (const Slab &slab : slabs) {
        if (!slab.into[t] && !isConcatenation) {
          continue; // it goes to the margin
        }
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
  Value buffer;
  for (const Slab &slab : slabs) {
    Value value = send(slab);
    bool isEverywhere = slab.landsEqually && !llvm::is_contained(slab.into, nullptr);
    if (!buffer && isEverywhere && !slab.spills) {
      int64_t low = front + slab.dest[0];
      int64_t high = front + x.length + back - low - slab.round->width;
      buffer = padDim(e, value, dim, low, high, 0, fill);
      continue;
    }
    buffer = buffer ? buffer : blank(front + x.length + back, fill);
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
  if (!buffer) {
    return blank(x.length, fill);
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
  Plan plan = planExchange(x);
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
    isFilled = fill && holdsFill(sorted, isConcatenation);
  }
  if (fill && !isFilled && x.readsOutside()) {
    SmallVector<Span> inside(shards, x.domain);
    buffer = maskSpans(e, buffer, dim, axes, x.origin, inside, fill);
  }
  return buffer;
}

Value hlo::spmd::exchange(Emitter &e, Value array, int64_t dim, ArrayRef<Axis> axes,
                          const Exchange &x, Value fill) {
  std::string why = e.why + ": parts of other shards along dimension " + std::to_string(dim);
  std::swap(e.why, why);
  Value buffer = ExchangeEmitter(e, array, dim, axes, x, fill).emit();
  std::swap(e.why, why);
  return buffer;
}
