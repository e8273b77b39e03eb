//===- SelectAndScatter.cpp - select-and-scatter ---------------------------===//
//
// Each shard computes its part of the result: it runs the windows that touch the part, on the
// elements of the operand and the source that these read. The local op pads as the whole one does,
// and shards at the borders start or end there (clampedHalo), so that any computation may select.
// Windows that do not exist scatter the identity of the sum.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Reduction.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/spmd/HaloWindow.h"
#include "compiler/transforms/spmd/rules/Window.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

namespace {

using Results = FailureOr<SmallVector<Value>>;

/// What each shard computes of a dimension: the windows that touch its part of the result, in a
/// buffer that starts and ends where the operand does if they read padding.
struct ScatteredDim {
  ClampedHalo halo;
  Exchange source;
  SmallVector<int64_t> start; ///< of the shard's part in the local result

  ScatteredDim(SelectAndScatterOp op, int64_t dim, int64_t shards) {
    int64_t size = shapeOf(op.getOperand())[dim], results = shapeOf(op.getSource())[dim];
    int64_t local = shardSize(size, shards);
    WindowDim window = windowDim(op.getWindowAttr(), dim);
    // The first window that may touch the part, and the first one past it; their local op covers
    // the part even where no window does.
    SmallVector<Span> needed;
    for (int64_t t = 0; t < shards; ++t) {
      int64_t begin = t * local + window.low;
      int64_t first = llvm::divideFloorSigned(begin - window.extent() + 1, window.stride);
      int64_t touching = llvm::divideFloorSigned(begin + local - 1, window.stride);
      int64_t covering = llvm::divideCeilSigned(begin + local - window.extent(), window.stride);
      first = std::max<int64_t>(0, first);
      int64_t end = std::max<int64_t>({touching, covering, 0}) + 1;
      needed.push_back({first, t * local < size ? end : first});
    }
    halo = spmd::clampedHalo(window, size, results, needed);
    source.domain = {0, results};
    source.held = shardSize(results, shards);
    source.length = halo.results;
    for (int64_t t = 0; t < shards; ++t) {
      source.origin.push_back(halo.first[t]);
      source.reads.push_back(needed[t]);
      start.push_back(needed[t].isEmpty() ? 0 : t * local - halo.exchange.origin[t]);
    }
    source.addShards(results);
  }
};

Rule selectAndScatterRule(Operation *op) {
  Rule rule = Rule::of(op);
  auto scatter = cast<SelectAndScatterOp>(op);
  ComputationOp add = computationOf(op, "scatter");
  Operation *single = add && op->getNumResults() == 1 ? associativeOp(add) : nullptr;
  bool hasIdentity = single && identityOf(single, elementTypeOf(scatter.getSource()));
  for (int64_t dim = 0; dim < windowRank(scatter.getWindowAttr()); ++dim) {
    int64_t size = shapeOf(scatter.getOperand())[dim], windows = shapeOf(scatter.getSource())[dim];
    WindowDim window = windowDim(scatter.getWindowAttr(), dim);
    bool isPlain = window.isTrivial() && size == windows;
    if (size <= 1 || windows == 0 ||
        (!isPlain &&
         (!hasIdentity || window.baseDilation != 1 || !hasSmallPositions(window, size)))) {
      continue;
    }
    unsigned factor = rule.addFactor(size, isPlain ? FactorKind::Pass : FactorKind::Special);
    rule.operands[0][dim] = rule.results[0][dim] = {factor};
    if (windows > 1) {
      rule.operands[1][dim] = {factor};
    }
  }
  return rule;
}

/// Calls `visit` for each dimension that is split and over which the window slides.
void forEachScattered(
    SelectAndScatterOp op, const Rule &rule, const FactorAxes &axes, const Mesh &mesh,
    llvm::function_ref<void(int64_t, ArrayRef<Axis>, const ScatteredDim &)> visit) {
  Sharding sharding = shardingOf(rule.operands[0], axes);
  for (int64_t dim = 0; dim < windowRank(op.getWindowAttr()); ++dim) {
    int64_t windows = shapeOf(op.getSource())[dim];
    bool isPlain =
        windowDim(op.getWindowAttr(), dim).isTrivial() && shapeOf(op.getOperand())[dim] == windows;
    if (sharding.dims[dim].empty() || isPlain) {
      continue;
    }
    ScatteredDim scattered(op, dim, mesh.count(sharding.dims[dim]));
    if (rule.operands[1][dim].empty()) {
      scattered.source.holdWhole(windows);
    }
    visit(dim, sharding.dims[dim], scattered);
  }
}

Results emitSelectAndScatter(Site &site) {
  auto op = cast<SelectAndScatterOp>(site.op);
  Emitter &e = site.e;
  Value operand = site.operands[0], source = site.operands[1];
  WindowAttr window = op.getWindowAttr();
  // What windows that do not exist scatter.
  Value nothing;
  auto fill = [&] {
    if (!nothing) {
      Operation *single = associativeOp(computationOf(op, "scatter"));
      Type element = elementTypeOf(op.getSource());
      nothing = isa<AddOp>(single) ? e.zero(element) : e.b().constant(identityOf(single, element));
    }
    return nothing;
  };
  struct Cut {
    int64_t dim;
    AxisList axes;
    SmallVector<int64_t> start;
  };
  SmallVector<Cut> cuts;
  forEachScattered(op, site.rule, site.axes, e.mesh,
                   [&](int64_t dim, ArrayRef<Axis> axes, const ScatteredDim &scattered) {
                     operand = exchange(e, operand, dim, axes, scattered.halo.exchange);
                     source = exchange(e, source, dim, axes, scattered.source, fill());
                     window = withDim(window, dim, scattered.halo.local);
                     cuts.push_back({dim, AxisList(axes), scattered.start});
                   });
  Type element = site.resultType(0).getElementType();
  Operation *local = SelectAndScatterOp::create(
      e.builder, e.loc, TypeRange(HloBuilder::array(operand, element)), operand, source,
      site.operands[2], window, op.getSelectAttr(), op.getScatterAttr());
  Value result = local->getResult(0);
  for (const Cut &cut : cuts) {
    int64_t size = site.localResultType(0).getDimSize(cut.dim);
    result = sliceAt(e, result, cut.dim, cut.axes, cut.start, size);
  }
  return SmallVector<Value>{result};
}

int64_t selectAndScatterBytes(Operation *op, const Rule &rule, const FactorAxes &axes,
                              const Mesh &mesh) {
  auto scatter = cast<SelectAndScatterOp>(op);
  SentBytes operand(arrayType(scatter.getOperand()), shardingOf(rule.operands[0], axes), mesh);
  SentBytes source(arrayType(scatter.getSource()), shardingOf(rule.operands[1], axes), mesh);
  forEachScattered(scatter, rule, axes, mesh,
                   [&](int64_t dim, ArrayRef<Axis>, const ScatteredDim &scattered) {
                     operand.add(dim, scattered.halo.exchange);
                     source.add(dim, scattered.source);
                   });
  return operand.total() + source.total();
}

} // namespace

void hlo::spmd::registerSelectAndScatter(PartitionerTable &table) {
  table["hlo.select_and_scatter"] = {
      .rule = selectAndScatterRule, .emit = emitSelectAndScatter, .bytes = selectAndScatterBytes};
}
