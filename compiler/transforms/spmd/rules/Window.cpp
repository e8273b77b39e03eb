//===- Window.cpp - reduce-window -------------------------------------------===//
//
// A dimension over which a window slides is split in operand and result alike; each shard gets the
// elements that the windows of its results read (Halo.h). How it is done depends on the op:
//
//   filled      the computation absorbs a fill value (zeros of a sum): what lies outside the operand
//               is filled, and the local op pads nothing
//   clamped     any computation: the local op pads, and shards at the borders start or end there
//   partial     one result for the dimension: each shard reduces its own elements, and an all-reduce
//               adds up
//   cumulative  the window is as long as the operand: each shard scans its elements, and the totals
//               of the shards before it are combined with the result
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/spmd/rules/Window.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Reduction.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/spmd/HaloWindow.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

ComputationOp hlo::spmd::computationOf(Operation *op, StringRef attribute) {
  auto name = op->getAttrOfType<FlatSymbolRefAttr>(attribute);
  return name ? SymbolTable::lookupNearestSymbolFrom<ComputationOp>(op, name) : ComputationOp();
}

int64_t hlo::spmd::windowRank(WindowAttr window) { return window ? window.getSize().size() : 0; }

namespace {

using Results = FailureOr<SmallVector<Value>>;

/// Elements of a shard's part of a dimension of `size` elements.
SmallVector<Span> partsOf(int64_t size, int64_t shards) {
  int64_t local = shardSize(size, shards);
  SmallVector<Span> parts;
  for (int64_t t = 0; t < shards; ++t) {
    parts.push_back({std::min(t * local, size), std::min((t + 1) * local, size)});
  }
  return parts;
}

//===----------------------------------------------------------------------===//
// What is known of a reduce-window
//===----------------------------------------------------------------------===//

enum class Way : uint8_t { None, Filled, Clamped, Partial, Cumulative };

/// Whether every op of the computation is element-wise or a scalar constant, so that it can be
/// applied to arrays.
bool isElementwise(ComputationOp computation) {
  return llvm::all_of(computation.getBody().front().without_terminator(), [](Operation &op) {
    auto constant = dyn_cast<ConstantOp>(op);
    return isElementwiseOp(&op) || (constant && isa<DenseElementsAttr>(constant.getValue()));
  });
}

struct WindowReduction {
  ReduceWindowOp op;
  WindowAttr window;
  unsigned count;
  ComputationOp computation;
  /// The op that the computation is, if it is one.
  Operation *single = nullptr;
  bool isAnyOrder = false; ///< associative and commutative
  bool absorbs = false;    ///< the init values may be used more than once
  bool isFillable = false; ///< absorbs, or has an identity

  explicit WindowReduction(ReduceWindowOp op)
      : op(op), window(op.getWindowAttr()), count(op->getNumOperands() / 2),
        computation(computationOf(op, "to_apply")) {
    if (!computation || count == 0 || computation.getNumArguments() != 2 * count ||
        op->getNumResults() != count) {
      return;
    }
    single = count == 1 ? associativeOp(computation) : nullptr;
    isAnyOrder = single || hlo::isAnyOrder(computation);
    absorbs = isAnyOrder && absorbsItself(computation, op->getOperands().drop_front(count));
    isFillable = absorbs || (single && identityOf(single, elementTypeOf(op->getOperand(0))));
  }

  int64_t size(int64_t dim) const { return shapeOf(op->getOperand(0))[dim]; }
  int64_t results(int64_t dim) const { return shapeOf(op->getResult(0))[dim]; }
  WindowDim at(int64_t dim) const { return windowDim(window, dim); }
  bool isPlain(int64_t dim) const { return at(dim).isTrivial() && size(dim) == results(dim); }

  /// The windows of a cumulative reduction; from the last element to the first if `low` is 0.
  bool isCumulative(int64_t dim) const {
    WindowDim w = at(dim);
    return isFillable && isElementwise(computation) && size(dim) > 1 && w.size == size(dim) &&
           results(dim) == size(dim) && w.stride == 1 && w.baseDilation == 1 &&
           w.windowDilation == 1 && (w.low == 0 || w.low == size(dim) - 1) &&
           llvm::all_of(llvm::seq<int64_t>(0, windowRank(window)),
                        [&](int64_t other) { return other == dim || isPlain(other); });
  }

  /// How a dimension that is no plain one is split.
  Way wayOf(int64_t dim) const {
    WindowDim w = at(dim);
    if (!computation || size(dim) == 0 || results(dim) == 0 || !hasSmallPositions(w, size(dim))) {
      return Way::None;
    }
    if (isCumulative(dim)) {
      return Way::Cumulative;
    }
    if (results(dim) == 1) {
      // Partial results of a narrow float would be rounded more often than in the whole window.
      auto floating = dyn_cast<FloatType>(elementTypeOf(op->getOperand(0)));
      bool isNarrow = floating && floating.getWidth() < 16;
      bool isSum = single && absorbs && !isNarrow && w.baseDilation == 1 && w.windowDilation == 1;
      return isSum && size(dim) > 1 ? Way::Partial : Way::None;
    }
    return isFillable ? Way::Filled : w.baseDilation == 1 ? Way::Clamped : Way::None;
  }
};

Rule reduceWindowRule(Operation *op) {
  Rule rule = Rule::of(op);
  WindowReduction reduction(cast<ReduceWindowOp>(op));
  for (int64_t dim = 0; dim < windowRank(reduction.window); ++dim) {
    int64_t size = reduction.size(dim), results = reduction.results(dim);
    bool isPlain = reduction.isPlain(dim);
    Way way = isPlain ? Way::None : reduction.wayOf(dim);
    if ((isPlain && size <= 1) || (!isPlain && way == Way::None)) {
      continue;
    }
    unsigned factor = rule.addFactor(way == Way::Partial ? size : results,
                                     isPlain               ? FactorKind::Pass
                                     : way == Way::Partial ? FactorKind::Sum
                                                           : FactorKind::Special);
    for (unsigned n = 0; n < reduction.count; ++n) {
      if (size > 1) {
        rule.operands[n][dim] = {factor};
      }
      if (way != Way::Partial) {
        rule.results[n][dim] = {factor};
      }
    }
  }
  return rule;
}

/// The axes of each dimension: those of the operand or, where that has one element, the result.
SmallVector<AxisList> splitsOf(const Rule &rule, const FactorAxes &axes) {
  Sharding operand = shardingOf(rule.operands[0], axes), result = shardingOf(rule.results[0], axes);
  SmallVector<AxisList> splits;
  for (auto [from, to] : llvm::zip(operand.dims, result.dims)) {
    splits.push_back(from.empty() ? to : from);
  }
  return splits;
}

WindowHalo filledHalo(const WindowReduction &reduction, const Rule &rule, int64_t dim,
                      int64_t shards) {
  int64_t size = reduction.size(dim);
  WindowHalo halo = haloOfResults(reduction.at(dim), size, reduction.results(dim), shards);
  if (rule.operands[0][dim].empty()) {
    halo.exchange.holdWhole(size);
  }
  return halo;
}

ClampedHalo clampedHalo(const WindowReduction &reduction, const Rule &rule, int64_t dim,
                        int64_t shards) {
  int64_t size = reduction.size(dim), results = reduction.results(dim);
  ClampedHalo halo = spmd::clampedHalo(reduction.at(dim), size, results, partsOf(results, shards));
  if (rule.operands[0][dim].empty()) {
    halo.exchange.holdWhole(size);
  }
  return halo;
}

//===----------------------------------------------------------------------===//
// Totals of the shards before
//===----------------------------------------------------------------------===//

/// computation(lhs, rhs) for each element of arrays of one shape.
SmallVector<Value> applyToArrays(Emitter &e, ComputationOp computation, ValueRange lhs,
                                 ValueRange rhs) {
  HloBuilder b = e.b();
  ArrayRef<int64_t> shape = shapeOf(lhs[0]);
  IRMapping mapping;
  mapping.map(computation.getBody().getArguments().take_front(lhs.size()), lhs);
  mapping.map(computation.getBody().getArguments().drop_front(lhs.size()), rhs);
  for (Operation &op : computation.getBody().front().without_terminator()) {
    Operation *copy = e.builder.clone(op, mapping);
    copy->setLoc(e.loc);
    if (isa<ConstantOp>(op)) {
      mapping.map(op.getResult(0), b.broadcastScalar(copy->getResult(0), shape));
    } else {
      copy->getResult(0).setType(HloBuilder::array(shape, elementTypeOf(op.getResult(0))));
    }
  }
  SmallVector<Value> results;
  for (Value root : computation.getReturn()->getOperands()) {
    results.push_back(mapping.lookup(root));
  }
  return results;
}

/// The totals of all shards before this one (after it, if reversed), combined: `fills` on the
/// first. In each step the number of shards that are combined doubles.
SmallVector<Value> totalsBefore(Emitter &e, ComputationOp computation, ValueRange totals,
                                ArrayRef<Axis> axes, bool isReversed, ValueRange fills) {
  int64_t shards = e.mesh.count(axes);
  Value index = e.shardIndex(axes);
  // Whether there is a shard `distance` before this one.
  auto hasBefore = [&](int64_t distance, ArrayRef<int64_t> shape) {
    Value there = isReversed ? e.b().compare(index, e.b().index(shards - distance), "LT")
                             : e.b().compare(index, e.b().index(distance), "GE");
    return e.b().broadcastScalar(there, shape);
  };
  auto before = [&](Value value, int64_t distance) {
    return e.shift(value, axes, isReversed ? distance : -distance);
  };
  SmallVector<Value> sums;
  for (auto [total, fill] : llvm::zip(totals, fills)) {
    ArrayRef<int64_t> shape = shapeOf(total);
    sums.push_back(
        e.b().select(hasBefore(1, shape), before(total, 1), e.b().broadcastScalar(fill, shape)));
  }
  for (int64_t distance = 1; distance < shards - 1; distance *= 2) {
    SmallVector<Value> earlier;
    for (Value sum : sums) {
      earlier.push_back(before(sum, distance));
    }
    SmallVector<Value> combined = applyToArrays(e, computation, earlier, sums);
    for (auto [sum, value] : llvm::zip(sums, combined)) {
      sum = e.b().select(hasBefore(distance, shapeOf(sum)), value, sum);
    }
  }
  return sums;
}

/// Permutes of totalsBefore.
int64_t stepsBefore(int64_t shards) {
  int64_t steps = 1;
  for (int64_t distance = 1; distance < shards - 1; distance *= 2) {
    ++steps;
  }
  return steps;
}

//===----------------------------------------------------------------------===//
// reduce-window
//===----------------------------------------------------------------------===//

/// What stands for elements outside the operands: scalars.
SmallVector<Value> fillsOf(Site &site, const WindowReduction &reduction) {
  if (!reduction.isFillable || reduction.absorbs) {
    return SmallVector<Value>(ArrayRef(site.operands).drop_front(reduction.count));
  }
  return {site.e.b().constant(
      identityOf(reduction.single, elementTypeOf(reduction.op->getOperand(0))))};
}

Operation *windowOn(Site &site, ArrayRef<Value> operands, WindowAttr window,
                    ArrayRef<int64_t> shape) {
  SmallVector<Type> types;
  for (Type type : site.op->getResultTypes()) {
    types.push_back(HloBuilder::array(shape, cast<RankedTensorType>(type).getElementType()));
  }
  return ReduceWindowOp::create(site.e.builder, site.e.loc, types, operands, window,
                                cast<ReduceWindowOp>(site.op).getToApplyAttr());
}

SmallVector<Value> emitCumulative(Site &site, const WindowReduction &reduction, int64_t dim,
                                  ArrayRef<Axis> axes) {
  Emitter &e = site.e;
  WindowDim window = reduction.at(dim);
  bool isReversed = window.low == 0;
  SmallVector<Value> operands(site.operands), fills = fillsOf(site, reduction);
  int64_t local = shapeOf(operands[0])[dim];
  if (isReversed) {
    for (unsigned n = 0; n < reduction.count; ++n) {
      operands[n] = e.maskPadding(operands[n], dim, axes, reduction.size(dim), fills[n]);
    }
  }
  // The init values come in on one shard alone, unless they may be used more often.
  SmallVector<Value> inits(ArrayRef(operands).drop_front(reduction.count));
  for (unsigned n = 0; n < reduction.count; ++n) {
    operands[reduction.count + n] = fills[n];
  }
  window.size = local;
  window.low = isReversed ? 0 : local - 1;
  window.high = isReversed ? local - 1 : 0;
  Operation *scan =
      windowOn(site, operands, withDim(reduction.window, dim, window), shapeOf(operands[0]));
  SmallVector<Value> totals;
  int64_t last = isReversed ? 0 : local - 1;
  for (Value part : scan->getResults()) {
    totals.push_back(e.b().sliceDim(part, dim, last, last + 1));
  }
  SmallVector<Value> before =
      totalsBefore(e, reduction.computation, totals, axes, isReversed, fills);
  if (!reduction.absorbs) {
    SmallVector<Value> starts;
    for (Value init : inits) {
      starts.push_back(e.b().broadcastScalar(init, shapeOf(before[0])));
    }
    before = applyToArrays(e, reduction.computation, starts, before);
  }
  ArrayRef<int64_t> shape = shapeOf(scan->getResult(0));
  for (Value &value : before) {
    SmallVector<int64_t> dropped(shapeOf(value)), kept;
    dropped.erase(dropped.begin() + dim);
    for (int64_t other = 0; other < static_cast<int64_t>(shape.size()); ++other) {
      if (other != dim) {
        kept.push_back(other);
      }
    }
    value = e.b().broadcast(e.b().reshape(value, dropped), shape, kept);
  }
  return applyToArrays(e, reduction.computation, before, scan->getResults());
}

/// Emits the local op, one dimension after the other.
class WindowEmitter {
public:
  explicit WindowEmitter(Site &site)
      : site(site), e(site.e), reduction(cast<ReduceWindowOp>(site.op)),
        splits(splitsOf(site.rule, site.axes)), operands(site.operands),
        fills(fillsOf(site, reduction)), window(reduction.window),
        shape(site.localResultType(0).getShape()) {}

  Results emit();

private:
  ArrayRef<Value> inputs() const { return ArrayRef(operands).take_front(reduction.count); }
  int64_t shards(int64_t dim) const { return e.mesh.count(splits[dim]); }
  WindowDim partial(int64_t dim);
  WindowDim filled(int64_t dim);
  WindowDim clamped(int64_t dim);

  /// Results to cut off after the op.
  struct Cut {
    int64_t dim;
    SmallVector<int64_t> start;
  };

  Site &site;
  Emitter &e;
  WindowReduction reduction;
  SmallVector<AxisList> splits;
  SmallVector<Value> operands, fills;
  WindowAttr window;
  SmallVector<int64_t> shape;
  SmallVector<Cut> cuts;
};

/// The elements of the shard that the one window sees.
WindowDim WindowEmitter::partial(int64_t dim) {
  WindowDim whole = reduction.at(dim);
  int64_t size = reduction.size(dim), part = shardSize(size, shards(dim));
  Span seen = Span{-whole.low, whole.size - whole.low} & Span{0, size};
  SmallVector<int64_t> starts;
  for (int64_t t = 0; t < shards(dim); ++t) {
    starts.push_back(t * part);
  }
  SmallVector<Span> spans(starts.size(), seen);
  for (auto [n, input] : llvm::enumerate(inputs())) {
    operands[n] = maskSpans(e, input, dim, splits[dim], starts, spans, fills[n]);
  }
  return {.size = part};
}

WindowDim WindowEmitter::filled(int64_t dim) {
  WindowHalo halo = filledHalo(reduction, site.rule, dim, shards(dim));
  for (auto [n, input] : llvm::enumerate(inputs())) {
    operands[n] = exchangeHalo(e, input, dim, splits[dim], halo, fills[n]);
  }
  return halo.local;
}

WindowDim WindowEmitter::clamped(int64_t dim) {
  ClampedHalo halo = clampedHalo(reduction, site.rule, dim, shards(dim));
  for (auto [n, input] : llvm::enumerate(inputs())) {
    operands[n] = exchange(e, input, dim, splits[dim], halo.exchange);
  }
  Cut cut{dim, {}};
  for (auto [part, first] : llvm::zip(partsOf(reduction.results(dim), shards(dim)), halo.first)) {
    cut.start.push_back(part.isEmpty() ? 0 : part.begin - first);
  }
  cuts.push_back(cut);
  shape[dim] = halo.results;
  return halo.local;
}

Results WindowEmitter::emit() {
  for (int64_t dim = 0; dim < windowRank(window); ++dim) {
    if (splits[dim].empty() || reduction.isPlain(dim)) {
      continue;
    }
    switch (reduction.wayOf(dim)) {
    case Way::None:
      return site.op->emitError("internal error: reduce-window: dimension ") << dim << " is split";
    case Way::Cumulative: return emitCumulative(site, reduction, dim, splits[dim]);
    case Way::Partial: window = withDim(window, dim, partial(dim)); break;
    case Way::Filled: window = withDim(window, dim, filled(dim)); break;
    case Way::Clamped: window = withDim(window, dim, clamped(dim)); break;
    }
  }
  SmallVector<Value> results(windowOn(site, operands, window, shape)->getResults());
  for (const Cut &cut : cuts) {
    int64_t size = site.localResultType(0).getDimSize(cut.dim);
    for (Value &result : results) {
      result = sliceAt(e, result, cut.dim, splits[cut.dim], cut.start, size);
    }
  }
  return results;
}

Results emitReduceWindow(Site &site) { return WindowEmitter(site).emit(); }

FlatSymbolRefAttr sumOf(Site &site) { return cast<ReduceWindowOp>(site.op).getToApplyAttr(); }

int64_t reduceWindowBytes(Operation *op, const Rule &rule, const FactorAxes &axes,
                          const Mesh &mesh) {
  WindowReduction reduction(cast<ReduceWindowOp>(op));
  SmallVector<AxisList> splits = splitsOf(rule, axes);
  int64_t bytes = 0;
  for (unsigned n = 0; n < reduction.count; ++n) {
    auto type = arrayType(op->getOperand(n));
    SentBytes sent(type, shardingOf(rule.operands[n], axes), mesh);
    for (int64_t dim = 0; dim < windowRank(reduction.window); ++dim) {
      if (splits[dim].empty() || reduction.isPlain(dim)) {
        continue;
      }
      int64_t shards = mesh.count(splits[dim]);
      switch (reduction.wayOf(dim)) {
      case Way::None:
      case Way::Partial: break;
      case Way::Filled: {
        WindowHalo halo = filledHalo(reduction, rule, dim, shards);
        sent.add(dim, halo.exchange);
        sent.resize(dim, halo.isDilatedBefore ? halo.dilatedLength : halo.exchange.length);
        break;
      }
      case Way::Clamped: sent.add(dim, clampedHalo(reduction, rule, dim, shards).exchange); break;
      case Way::Cumulative:
        bytes += shardBytes(type, shardingOf(rule.operands[n], axes), mesh) /
                 shardSize(reduction.size(dim), shards) * stepsBefore(shards);
        break;
      }
    }
    bytes += sent.total();
  }
  return bytes;
}

} // namespace

void hlo::spmd::registerWindow(PartitionerTable &table) {
  table["hlo.reduce_window"] = {
      .rule = reduceWindowRule, .emit = emitReduceWindow, .sum = sumOf, .bytes = reduceWindowBytes};
  registerSelectAndScatter(table);
  registerScan(table);
}
