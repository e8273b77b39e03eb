//===- Convolution.cpp - convolution --------------------------------------===//
//
//   batch            lhs, result           passes through
//   output features  rhs, result           pass through
//   input features   lhs, rhs              added up
//   groups           features (or batch)   split in whole groups: the local op has fewer
//   spatial          lhs, result           each shard gets the edges that its results read
//                    lhs, rhs              or that its part of the kernel reads; added up
//
// A spatial dimension is of the second kind if the kernel is longer than the result: so JAX writes
// the gradient of the kernel, with the result's gradient as kernel. Edges are exchanged (Halo.h),
// and padding, holes of the lhs included, is filled with zeros where shards differ in it.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/spmd/HaloWindow.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

namespace {

enum class Spatial : uint8_t {
  Whole,
  Pass,    ///< a window of one element at each place
  Results, ///< each shard computes a part of the results
  Taps,    ///< each shard adds up a part of the kernel
};

struct Convolution {
  mutable ConvolutionOp op; // accessors of ops are not const
  ConvDimsAttr dims;
  int64_t featureGroups, batchGroups;
  ArrayRef<int64_t> lhs, rhs, result;

  explicit Convolution(Operation *operation)
      : op(cast<ConvolutionOp>(operation)), dims(op.getDimLabels()),
        featureGroups(op.getFeatureGroupCount().value_or(1)),
        batchGroups(op.getBatchGroupCount().value_or(1)), lhs(shapeOf(op.getLhs())),
        rhs(shapeOf(op.getRhs())), result(shapeOf(op.getResult())) {}

  int64_t rank() const { return dims.getInputSpatial().size(); }
  WindowDim window(int64_t d) const { return windowDim(op.getWindowAttr(), d); }
  int64_t size(int64_t d) const { return lhs[dims.getInputSpatial()[d]]; }
  int64_t results(int64_t d) const { return result[dims.getOutputSpatial()[d]]; }

  /// Whether partial results may be added up, in the type of the result: products of padding must
  /// be zero, and sums of floats of 8 bits would be rounded too often.
  bool isSummable() const {
    auto hasZero = [](Value v) { return !isa<Float8E8M0FNUType>(elementTypeOf(v)); };
    auto floating = dyn_cast<FloatType>(elementTypeOf(op.getResult()));
    return hasZero(op.getLhs()) && hasZero(op.getRhs()) && (!floating || floating.getWidth() >= 16);
  }

  Spatial spatial(int64_t d) const {
    WindowDim w = window(d);
    if (size(d) == 0 || results(d) == 0 || w.size == 0 ||
        isa<Float8E8M0FNUType>(elementTypeOf(op.getLhs()))) {
      return Spatial::Whole;
    }
    if (w.isTrivial() && size(d) == results(d)) {
      return size(d) > 1 ? Spatial::Pass : Spatial::Whole;
    }
    if (!hasSmallPositions(w, size(d))) {
      return Spatial::Whole;
    }
    if (w.size > results(d)) {
      return isSummable() ? Spatial::Taps : Spatial::Whole;
    }
    return results(d) > 1 ? Spatial::Results : Spatial::Whole;
  }

  /// What a split spatial dimension exchanges.
  WindowHalo halo(int64_t d, const Rule &rule, int64_t shards) const {
    WindowHalo halo = spatial(d) == Spatial::Taps
                          ? haloOfTaps(window(d), size(d), results(d), shards)
                          : haloOfResults(window(d), size(d), results(d), shards);
    if (rule.operands[0][dims.getInputSpatial()[d]].empty()) {
      halo.exchange.holdWhole(size(d));
    }
    return halo;
  }
};

Rule convolutionRule(Operation *op) {
  Rule rule = Rule::of(op);
  Convolution conv(op);
  ConvDimsAttr dims = conv.dims;
  DimFactors &lhs = rule.operands[0], &rhs = rule.operands[1], &result = rule.results[0];
  auto factorOf = [&](int64_t size, FactorKind kind) {
    return size > 1 ? FactorList{rule.addFactor(size, kind)} : FactorList();
  };
  // Dimensions of several groups list the groups first; the parts of a group stay whole.
  auto grouped = [&](FactorList groups, int64_t groupSize) {
    llvm::append_range(groups, factorOf(groupSize, FactorKind::Whole));
    return groups;
  };
  int64_t groups = std::max(conv.featureGroups, conv.batchGroups);
  FactorList group = factorOf(groups, FactorKind::Special);
  int64_t batch = conv.lhs[dims.getInputBatch()];
  if (conv.batchGroups == 1) {
    lhs[dims.getInputBatch()] = result[dims.getOutputBatch()] = factorOf(batch, FactorKind::Pass);
  } else {
    lhs[dims.getInputBatch()] = grouped(group, batch / groups);
  }
  int64_t features = conv.rhs[dims.getKernelInputFeature()];
  if (conv.featureGroups == 1) {
    FactorKind kind = conv.isSummable() ? FactorKind::Sum : FactorKind::Whole;
    lhs[dims.getInputFeature()] = rhs[dims.getKernelInputFeature()] = factorOf(features, kind);
  } else {
    lhs[dims.getInputFeature()] = grouped(group, features);
  }
  int64_t outputs = conv.rhs[dims.getKernelOutputFeature()];
  if (groups == 1) {
    rhs[dims.getKernelOutputFeature()] = result[dims.getOutputFeature()] =
        factorOf(outputs, FactorKind::Pass);
  } else {
    rhs[dims.getKernelOutputFeature()] = result[dims.getOutputFeature()] =
        grouped(group, outputs / groups);
  }
  for (int64_t d = 0; d < conv.rank(); ++d) {
    FactorList &input = lhs[dims.getInputSpatial()[d]], &kernel = rhs[dims.getKernelSpatial()[d]],
               &output = result[dims.getOutputSpatial()[d]];
    Spatial spatial = conv.spatial(d);
    if (spatial == Spatial::Whole) {
      continue;
    }
    bool isTaps = spatial == Spatial::Taps;
    FactorList factor = factorOf(isTaps ? conv.window(d).size : conv.results(d),
                                 spatial == Spatial::Pass ? FactorKind::Pass
                                 : isTaps                 ? FactorKind::Sum
                                                          : FactorKind::Special);
    if (conv.size(d) > 1) {
      input = factor;
    }
    (isTaps ? kernel : output) = factor;
  }
  return rule;
}

/// The axes of the groups; empty if there is one group.
AxisList groupAxes(const Convolution &conv, const Rule &rule, const FactorAxes &axes) {
  const FactorList &factors = rule.results[0][conv.dims.getOutputFeature()];
  bool isGrouped = conv.featureGroups > 1 || conv.batchGroups > 1;
  return isGrouped && !factors.empty() ? axes[factors.front()] : AxisList();
}

/// Calls `visit` for each spatial dimension that exchanges edges.
void forEachHalo(const Convolution &conv, const Rule &rule, const FactorAxes &axes,
                 const Mesh &mesh,
                 llvm::function_ref<void(int64_t, ArrayRef<Axis>, const WindowHalo &)> visit) {
  for (int64_t d = 0; d < conv.rank(); ++d) {
    Spatial spatial = conv.spatial(d);
    if (spatial != Spatial::Results && spatial != Spatial::Taps) {
      continue;
    }
    const FactorList &factor = spatial == Spatial::Taps
                                   ? rule.operands[1][conv.dims.getKernelSpatial()[d]]
                                   : rule.results[0][conv.dims.getOutputSpatial()[d]];
    if (ArrayRef<Axis> split = axes[factor[0]]; !split.empty()) {
      visit(d, split, conv.halo(d, rule, mesh.count(split)));
    }
  }
}

FailureOr<SmallVector<Value>> emitConvolution(Site &site) {
  Convolution conv(site.op);
  Emitter &e = site.e;
  Value lhs = site.operands[0], rhs = site.operands[1];
  Value lhsZero = e.zero(elementTypeOf(lhs)), rhsZero = e.zero(elementTypeOf(rhs));
  // Padding of input features would be added up.
  if (conv.featureGroups == 1) {
    int64_t dim = conv.dims.getInputFeature(), kernelDim = conv.dims.getKernelInputFeature();
    AxisList axes = site.operandSharding(0).dims[dim];
    lhs = e.maskPadding(lhs, dim, axes, conv.lhs[dim], lhsZero);
    rhs = e.maskPadding(rhs, kernelDim, axes, conv.rhs[kernelDim], rhsZero);
  }
  WindowAttr window = conv.op.getWindowAttr();
  forEachHalo(conv, site.rule, site.axes, e.mesh,
              [&](int64_t d, ArrayRef<Axis> axes, const WindowHalo &halo) {
                bool isTaps = conv.spatial(d) == Spatial::Taps;
                int64_t taps = conv.window(d).size;
                bool masks = isTaps && taps % e.mesh.count(axes) != 0;
                lhs = exchangeHalo(e, lhs, conv.dims.getInputSpatial()[d], axes, halo, lhsZero,
                                   masks);
                if (isTaps) {
                  rhs = e.maskPadding(rhs, conv.dims.getKernelSpatial()[d], axes, taps, rhsZero);
                }
                window = withDim(window, d, halo.local);
              });
  int64_t groups = e.mesh.count(groupAxes(conv, site.rule, site.axes));
  auto countOf = [&](int64_t count) {
    return count == 1 ? IntegerAttr() : e.builder.getI64IntegerAttr(shardSize(count, groups));
  };
  Value result =
      ConvolutionOp::create(e.builder, e.loc, site.localResultType(0), lhs, rhs, window, conv.dims,
                            countOf(conv.featureGroups), countOf(conv.batchGroups),
                            conv.op.getOperandPrecisionAttr(), conv.op.getConvolutionKindAttr(),
                            conv.op.getSparsityConfigAttr(), conv.op.getAlgorithmAttr());
  return SmallVector<Value>{result};
}

/// Whether shards of groups are shards of the dimensions that list them.
bool acceptsConvolution(Operation *op, const Rule &rule, const FactorAxes &axes, const Mesh &mesh) {
  Convolution conv(op);
  int64_t groups = std::max(conv.featureGroups, conv.batchGroups);
  int64_t shards = mesh.count(groupAxes(conv, rule, axes)), local = shardSize(groups, shards);
  ConvDimsAttr dims = conv.dims;
  auto isAligned = [&](int64_t size) { return shardSize(size, shards) == local * (size / groups); };
  return shards == 1 || (isAligned(conv.rhs[dims.getKernelOutputFeature()]) &&
                         isAligned(conv.featureGroups > 1 ? conv.lhs[dims.getInputFeature()]
                                                          : conv.lhs[dims.getInputBatch()]));
}

int64_t convolutionBytes(Operation *op, const Rule &rule, const FactorAxes &axes,
                         const Mesh &mesh) {
  Convolution conv(op);
  SentBytes bytes(arrayType(conv.op.getLhs()), shardingOf(rule.operands[0], axes), mesh);
  forEachHalo(conv, rule, axes, mesh, [&](int64_t d, ArrayRef<Axis>, const WindowHalo &halo) {
    int64_t dim = conv.dims.getInputSpatial()[d];
    bytes.add(dim, halo.exchange);
    bytes.resize(dim, halo.isDilatedBefore ? halo.dilatedLength : halo.exchange.length);
  });
  return bytes.total();
}

} // namespace

void hlo::spmd::registerConvolution(PartitionerTable &table) {
  table["hlo.convolution"] = {.rule = convolutionRule,
                              .emit = emitConvolution,
                              .accepts = acceptsConvolution,
                              .bytes = convolutionBytes};
}
