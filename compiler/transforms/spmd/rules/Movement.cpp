//===- Movement.cpp - slice, pad, reverse, concatenate ---------------------===//
//
// Dimensions that an op leaves alone pass through. A dimension that it moves is split in operand
// and result alike, both in parts of ceil(size / shards) elements; the parts of the result are put
// together from those of the operand by an exchange (Halo.h):
//
//   slice        strided shards are thinned out first, so that only elements of the result are sent
//   pad          as a window of one element; interior padding is added after the exchange
//   reverse      shards are reversed first
//   concatenate  one exchange of the operands' shards, which lie one after the other; parts of
//                operands that slices were merged to are taken from there
//
// Where only one element remains, the result is whole on each partition.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/spmd/HaloWindow.h"
#include "compiler/transforms/spmd/MergeMovement.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

namespace {

using Results = FailureOr<SmallVector<Value>>;

/// The axes of a dimension.
AxisList axesOf(const DimFactors &dims, int64_t dim, const FactorAxes &axes) {
  return shardingOf(dims, axes).dims[dim];
}

/// The axes of a dimension of an op with one operand and one result.
AxisList splitOf(const Rule &rule, int64_t dim, const FactorAxes &axes) {
  AxisList split = axesOf(rule.operands[0], dim, axes);
  return split.empty() ? axesOf(rule.results[0], dim, axes) : split;
}

/// Adds the factor of a dimension whose size changes. A dimension of one element is never split.
void addMoved(Rule &rule, int64_t dim, int64_t from, int64_t to) {
  if (from == 0 || to == 0 || (from == 1 && to == 1)) {
    return;
  }
  unsigned factor = rule.addFactor(to > 1 ? to : from, FactorKind::Special);
  if (from > 1) {
    rule.operands[0][dim] = {factor};
  }
  if (to > 1) {
    rule.results[0][dim] = {factor};
  }
}

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

bool isSliced(SliceOp op, int64_t dim) {
  return op.getStartIndices()[dim] != 0 || op.getStrides()[dim] != 1 ||
         shapeOf(op.getOperand())[dim] != shapeOf(op.getResult())[dim];
}

Rule sliceRule(Operation *op) {
  Rule rule = Rule::of(op);
  auto slice = cast<SliceOp>(op);
  ArrayRef<int64_t> from = shapeOf(slice.getOperand()), to = shapeOf(slice.getResult());
  for (auto [dim, size] : llvm::enumerate(from)) {
    if (isSliced(slice, dim)) {
      addMoved(rule, dim, size, to[dim]);
    } else if (size > 1) {
      rule.operands[0][dim] = rule.results[0][dim] = {rule.addFactor(size)};
    }
  }
  return rule;
}

/// A slice along a dimension that is split. Elements of the exchange are those of the result.
struct SlicedDim {
  Exchange x;
  /// The shards' elements at first[s] + i * stride, i < x.held, are exchanged; with a stride of 1
  /// the shards themselves.
  SmallVector<int64_t> first;
  int64_t stride;

  SlicedDim(SliceOp op, int64_t dim, int64_t shards, bool isWhole) {
    int64_t size = shapeOf(op.getOperand())[dim], results = shapeOf(op.getResult())[dim];
    int64_t start = op.getStartIndices()[dim], local = shardSize(size, shards);
    stride = op.getStrides()[dim];
    x.domain = {0, results};
    x.length = isWhole ? results : shardSize(results, shards);
    x.held = stride == 1 ? local : 1;
    for (int64_t shard = 0; shard < shards; ++shard) {
      int64_t begin = isWhole ? 0 : shard * x.length;
      x.origin.push_back(begin);
      x.reads.push_back(Span{begin, begin + x.length} & x.domain);
      int64_t low = shard * local, high = std::min(low + local, size);
      Span span = Span{llvm::divideCeilSigned(low - start, stride),
                       llvm::divideCeilSigned(high - start, stride)} &
                  x.domain;
      int64_t at = start + span.begin * stride - low;
      first.push_back(span.isEmpty() ? 0 : at);
      if (span.isEmpty()) {
        continue;
      }
      x.runs.push_back({shard, span, stride == 1 ? at : 0});
      if (stride != 1) {
        x.held = std::max(x.held, span.end - span.begin);
      }
    }
  }
};

/// Calls `visit` for each split dimension that is sliced.
void forEachSliced(SliceOp op, const Rule &rule, const FactorAxes &axes, const Mesh &mesh,
                   llvm::function_ref<void(int64_t, ArrayRef<Axis>, const SlicedDim &)> visit) {
  for (int64_t dim = 0; dim < rankOf(op.getOperand()); ++dim) {
    AxisList split = splitOf(rule, dim, axes);
    if (!split.empty() && isSliced(op, dim)) {
      bool isWhole = rule.results[0][dim].empty();
      visit(dim, split, SlicedDim(op, dim, mesh.count(split), isWhole));
    }
  }
}

/// The elements of a shard that are part of the result, and perhaps others at the end.
Value thinnedOut(Emitter &e, Value value, int64_t dim, ArrayRef<Axis> axes,
                 const SlicedDim &sliced) {
  int64_t extent = (sliced.x.held - 1) * sliced.stride + 1, first = sliced.first[0];
  if (!llvm::all_equal(sliced.first) || first + extent > shapeOf(value)[dim]) {
    value = sliceAt(e, value, dim, axes, sliced.first, extent);
    first = 0;
  }
  SmallVector<int64_t> starts(rankOf(value), 0), limits(shapeOf(value)), steps(rankOf(value), 1);
  starts[dim] = first;
  limits[dim] = first + extent;
  steps[dim] = sliced.stride;
  return e.b().slice(value, starts, limits, steps);
}

Results emitSlice(Site &site) {
  auto op = cast<SliceOp>(site.op);
  Emitter &e = site.e;
  // The slices of whole dimensions come first: less is exchanged.
  Value value = site.operands[0];
  SmallVector<int64_t> starts(rankOf(value), 0), limits(shapeOf(value)), strides(starts.size(), 1);
  bool isCut = false;
  for (int64_t dim = 0; dim < rankOf(value); ++dim) {
    if (splitOf(site.rule, dim, site.axes).empty() && isSliced(op, dim)) {
      starts[dim] = op.getStartIndices()[dim];
      limits[dim] = op.getLimitIndices()[dim];
      strides[dim] = op.getStrides()[dim];
      isCut = true;
    }
  }
  if (isCut) {
    value = e.b().slice(value, starts, limits, strides);
  }
  forEachSliced(op, site.rule, site.axes, e.mesh,
                [&](int64_t dim, ArrayRef<Axis> axes, const SlicedDim &sliced) {
                  if (sliced.stride != 1) {
                    value = thinnedOut(e, value, dim, axes, sliced);
                  }
                  value = exchange(e, value, dim, axes, sliced.x);
                });
  return SmallVector<Value>{value};
}

int64_t sliceBytes(Operation *op, const Rule &rule, const FactorAxes &axes, const Mesh &mesh) {
  auto slice = cast<SliceOp>(op);
  SentBytes bytes(arrayType(slice.getOperand()), shardingOf(rule.operands[0], axes), mesh);
  for (int64_t dim = 0; dim < rankOf(slice.getOperand()); ++dim) {
    if (splitOf(rule, dim, axes).empty()) {
      bytes.resize(dim, shapeOf(slice.getResult())[dim]);
    }
  }
  forEachSliced(slice, rule, axes, mesh, [&](int64_t dim, ArrayRef<Axis>, const SlicedDim &sliced) {
    bytes.add(dim, sliced.x);
  });
  return bytes.total();
}

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

/// Padding as a window of one element.
WindowDim windowOf(PadOp op, int64_t dim) {
  return {.low = op.getPaddingLow()[dim],
          .high = op.getPaddingHigh()[dim],
          .baseDilation = op.getPaddingInterior()[dim] + 1};
}

Rule padRule(Operation *op) {
  Rule rule = Rule::of(op);
  auto pad = cast<PadOp>(op);
  ArrayRef<int64_t> from = shapeOf(pad.getOperand()), to = shapeOf(pad.getResult());
  for (auto [dim, size] : llvm::enumerate(from)) {
    WindowDim window = windowOf(pad, dim);
    if (!window.isTrivial()) {
      if (hasSmallPositions(window, size)) {
        addMoved(rule, dim, size, to[dim]);
      }
    } else if (size > 1) {
      rule.operands[0][dim] = rule.results[0][dim] = {rule.addFactor(size)};
    }
  }
  return rule;
}

/// Calls `visit` for each split dimension that is padded.
void forEachPadded(PadOp op, const Rule &rule, const FactorAxes &axes, const Mesh &mesh,
                   llvm::function_ref<void(int64_t, ArrayRef<Axis>, const WindowHalo &)> visit) {
  for (int64_t dim = 0; dim < rankOf(op.getOperand()); ++dim) {
    AxisList split = splitOf(rule, dim, axes);
    WindowDim window = windowOf(op, dim);
    if (split.empty() || window.isTrivial()) {
      continue;
    }
    int64_t size = shapeOf(op.getOperand())[dim];
    WindowHalo halo = haloOfResults(window, size, shapeOf(op.getResult())[dim], mesh.count(split),
                                    rule.results[0][dim].empty());
    if (rule.operands[0][dim].empty()) {
      halo.exchange.holdWhole(size);
    }
    visit(dim, split, halo);
  }
}

Results emitPad(Site &site) {
  auto op = cast<PadOp>(site.op);
  Emitter &e = site.e;
  Value value = site.operands[0], fill = site.operands[1];
  SmallVector<int64_t> low(op.getPaddingLow()), high(op.getPaddingHigh()),
      interior(op.getPaddingInterior());
  forEachPadded(op, site.rule, site.axes, e.mesh,
                [&](int64_t dim, ArrayRef<Axis> axes, const WindowHalo &halo) {
                  value = exchangeHalo(e, value, dim, axes, halo, fill);
                  low[dim] = halo.local.low;
                  high[dim] = halo.local.high;
                  interior[dim] = halo.local.baseDilation - 1;
                });
  auto isZeros = [](ArrayRef<int64_t> list) {
    return llvm::all_of(list, [](int64_t number) { return number == 0; });
  };
  if (!isZeros(low) || !isZeros(high) || !isZeros(interior)) {
    value = e.b().pad(value, fill, low, high, interior);
  }
  return SmallVector<Value>{value};
}

int64_t padBytes(Operation *op, const Rule &rule, const FactorAxes &axes, const Mesh &mesh) {
  auto pad = cast<PadOp>(op);
  SentBytes bytes(arrayType(pad.getOperand()), shardingOf(rule.operands[0], axes), mesh);
  forEachPadded(pad, rule, axes, mesh, [&](int64_t dim, ArrayRef<Axis>, const WindowHalo &halo) {
    bytes.add(dim, halo.exchange);
    bytes.resize(dim, halo.isDilatedBefore ? halo.dilatedLength : halo.exchange.length);
  });
  return bytes.total();
}

//===----------------------------------------------------------------------===//
// Reverse
//===----------------------------------------------------------------------===//

Rule reverseRule(Operation *op) {
  Rule rule = Rule::of(op);
  auto reverse = cast<ReverseOp>(op);
  for (auto [dim, size] : llvm::enumerate(shapeOf(reverse.getOperand()))) {
    if (size > 1) {
      bool isReversed = llvm::is_contained(reverse.getDimensions(), dim);
      unsigned factor = rule.addFactor(size, isReversed ? FactorKind::Special : FactorKind::Pass);
      rule.operands[0][dim] = rule.results[0][dim] = {factor};
    }
  }
  return rule;
}

/// The exchange of reversed shards: index i of shard s is element size - (s + 1) * local + i.
Exchange reversal(int64_t size, int64_t shards) {
  Exchange x;
  x.domain = {0, size};
  x.held = x.length = shardSize(size, shards);
  for (int64_t shard = 0; shard < shards; ++shard) {
    x.origin.push_back(shard * x.length);
    x.reads.push_back(Span{shard * x.length, (shard + 1) * x.length} & x.domain);
    int64_t first = size - (shard + 1) * x.held;
    Span span = Span{first, first + x.held} & x.domain;
    if (!span.isEmpty()) {
      x.runs.push_back({shard, span, span.begin - first});
    }
  }
  return x;
}

Results emitReverse(Site &site) {
  auto op = cast<ReverseOp>(site.op);
  Value value = site.clone()->getResult(0);
  for (int64_t dim : op.getDimensions()) {
    if (AxisList axes = splitOf(site.rule, dim, site.axes); !axes.empty()) {
      Exchange x = reversal(shapeOf(op.getOperand())[dim], site.e.mesh.count(axes));
      value = exchange(site.e, value, dim, axes, x);
    }
  }
  return SmallVector<Value>{value};
}

int64_t reverseBytes(Operation *op, const Rule &rule, const FactorAxes &axes, const Mesh &mesh) {
  auto reverse = cast<ReverseOp>(op);
  SentBytes bytes(arrayType(reverse.getOperand()), shardingOf(rule.operands[0], axes), mesh);
  for (int64_t dim : reverse.getDimensions()) {
    if (AxisList split = splitOf(rule, dim, axes); !split.empty()) {
      bytes.add(dim, reversal(shapeOf(reverse.getOperand())[dim], mesh.count(split)));
    }
  }
  return bytes.total();
}

//===----------------------------------------------------------------------===//
// Concatenate
//===----------------------------------------------------------------------===//

Rule concatenateRule(Operation *op) {
  Rule rule = Rule::of(op);
  auto concatenate = cast<ConcatenateOp>(op);
  int64_t dimension = concatenate.getDimension();
  for (auto [dim, size] : llvm::enumerate(shapeOf(concatenate.getResult()))) {
    if (size <= 1) {
      continue;
    }
    bool isJoined = static_cast<int64_t>(dim) == dimension;
    unsigned factor = rule.addFactor(size, isJoined ? FactorKind::Special : FactorKind::Pass);
    rule.results[0][dim] = {factor};
    for (auto [operand, dims] : llvm::zip(op->getOperands(), rule.operands)) {
      if (shapeOf(operand)[dim] > 1) {
        dims[dim] = {factor};
      }
    }
  }
  return rule;
}

/// A part of the result: `size` elements of an operand from `start` on.
struct Segment {
  int64_t operand, start, size;
};

SmallVector<Segment> segmentsOf(ConcatenateOp op) {
  SmallVector<Segment> segments;
  if (auto parts = op->getAttrOfType<DenseI64ArrayAttr>(kSegments)) {
    for (ArrayRef<int64_t> rest = parts; !rest.empty(); rest = rest.drop_front(3)) {
      segments.push_back({rest[0], rest[1], rest[2]});
    }
    return segments;
  }
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    segments.push_back({static_cast<int64_t>(i), 0, shapeOf(operand)[op.getDimension()]});
  }
  return segments;
}

/// The exchange of the operands' shards, one after the other.
Exchange joining(ConcatenateOp op, const Rule &rule, int64_t shards) {
  int64_t dim = op.getDimension(), size = shapeOf(op.getResult())[dim], first = 0;
  Exchange x;
  x.domain = {0, size};
  x.length = shardSize(size, shards);
  for (int64_t shard = 0; shard < shards; ++shard) {
    x.origin.push_back(shard * x.length);
    x.reads.push_back(Span{shard * x.length, (shard + 1) * x.length} & x.domain);
  }
  // Where each operand's shard starts, and how many elements it has.
  SmallVector<int64_t> at, local;
  for (auto [operand, dims] : llvm::zip(op->getOperands(), rule.operands)) {
    at.push_back(x.held);
    local.push_back(dims[dim].empty() ? shapeOf(operand)[dim]
                                      : shardSize(shapeOf(operand)[dim], shards));
    x.held += local.back();
  }
  for (auto [part, segment] : llvm::enumerate(segmentsOf(op))) {
    bool isWhole = rule.operands[segment.operand][dim].empty();
    int64_t shift = first - segment.start; // from elements of the operand to those of the result
    for (int64_t shard = 0; shard < shards; ++shard) {
      int64_t begin = isWhole ? 0 : shard * local[segment.operand];
      Span span = Span{begin, begin + local[segment.operand]} &
                  Span{segment.start, segment.start + segment.size};
      if (!span.isEmpty()) {
        x.runs.push_back({shard,
                          {span.begin + shift, span.end + shift},
                          at[segment.operand] + span.begin - begin,
                          static_cast<int64_t>(part)});
      }
    }
    first += segment.size;
  }
  return x;
}

Results emitConcatenate(Site &site) {
  auto op = cast<ConcatenateOp>(site.op);
  HloBuilder b = site.e.b();
  int64_t dim = op.getDimension();
  AxisList axes = axesOf(site.rule.results[0], dim, site.axes);
  auto join = [&](ArrayRef<Value> parts) {
    return parts.size() == 1 ? parts[0] : b.concatenate(parts, dim);
  };
  if (!axes.empty()) {
    Exchange x = joining(op, site.rule, site.e.mesh.count(axes));
    return SmallVector<Value>{exchange(site.e, join(site.operands), dim, axes, x)};
  }
  SmallVector<Value> parts;
  for (const Segment &segment : segmentsOf(op)) {
    Value operand = site.operands[segment.operand];
    bool isWhole = segment.size == shapeOf(operand)[dim];
    parts.push_back(
        isWhole ? operand : b.sliceDim(operand, dim, segment.start, segment.start + segment.size));
  }
  return SmallVector<Value>{join(parts)};
}

int64_t concatenateBytes(Operation *op, const Rule &rule, const FactorAxes &axes,
                         const Mesh &mesh) {
  auto concatenate = cast<ConcatenateOp>(op);
  int64_t dim = concatenate.getDimension();
  AxisList split = axesOf(rule.results[0], dim, axes);
  if (split.empty()) {
    return 0;
  }
  SentBytes bytes(arrayType(concatenate.getResult()), shardingOf(rule.results[0], axes), mesh);
  bytes.add(dim, joining(concatenate, rule, mesh.count(split)));
  return bytes.total();
}

} // namespace

void hlo::spmd::registerMovement(PartitionerTable &table) {
  table["hlo.slice"] = {.rule = sliceRule, .emit = emitSlice, .bytes = sliceBytes};
  table["hlo.pad"] = {.rule = padRule, .emit = emitPad, .bytes = padBytes};
  table["hlo.reverse"] = {.rule = reverseRule, .emit = emitReverse, .bytes = reverseBytes};
  table["hlo.concatenate"] = {
      .rule = concatenateRule, .emit = emitConcatenate, .bytes = concatenateBytes};
}
