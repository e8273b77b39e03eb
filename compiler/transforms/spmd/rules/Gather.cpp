//===- Gather.cpp - Gathers on shards -------------------------------------===//
//
// The dimensions of a gather's operand may be split in four ways:
//
//   a window covers the whole dimension    each partition gathers its part of the windows
//   it is a batching dimension             with the dimension of the indices and of the result
//   its indices count a dimension of the   the same: row i of the indices reads row i of the operand
//   indices (an iota)
//   any other with indices                 each partition gathers what lies in its shard, and -0 for
//                                          the rest; the parts are added up
//
// and any dimension of the indices but that of the index vectors may be split together with the
// result's. Starts are clamped by the size of the whole dimension before they become relative to
// the shard. Windows that may cross the border of two shards are read from a shard that is extended
// by the identity on both sides.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/spmd/rules/Indexed.h"

#include "compiler/analysis/Shapes.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

static Rule gatherRule(Operation *op) {
  auto gather = cast<GatherOp>(op);
  Rule rule = Rule::of(op);
  IndexedDims dims = IndexedDims::of(gather);
  DimFactors &operand = rule.operands[0], &indices = rule.operands[1], &result = rule.results[0];
  bool isEmpty = llvm::is_contained(shapeOf(gather.getResult()), 0);
  bool sums = isSummable(elementTypeOf(gather.getOperand())) && !isEmpty;
  for (auto [dim, size] : llvm::enumerate(dims.sizes)) {
    if (!isSplittable(size)) {
      continue;
    }
    int64_t k = dims.component[dim];
    auto [counted, kind] = dims.countedAlong(dim, gather.getStartIndices());
    if (counted >= 0 && dims.indexSizes[counted] == size && indices[counted].empty()) {
      unsigned factor = rule.addFactor(size, kind);
      operand[dim] = indices[counted] = result[dims.positionDim[counted]] = {factor};
    } else if (dims.window[dim] == size && dims.windowDim[dim] >= 0) {
      operand[dim] = result[dims.windowDim[dim]] = {rule.addFactor(size)};
    } else if (k >= 0 && sums) {
      operand[dim] = {rule.addFactor(size, FactorKind::Sum)};
    }
  }
  for (auto [dim, size] : llvm::enumerate(dims.indexSizes)) {
    if (size > 1 && dims.positionDim[dim] >= 0 && indices[dim].empty()) {
      indices[dim] = result[dims.positionDim[dim]] = {rule.addFactor(size)};
    }
  }
  return rule;
}

static FailureOr<SmallVector<Value>> emitGather(Site &site) {
  auto op = cast<GatherOp>(site.op);
  HloBuilder b = site.e.b();
  IndexedDims dims = IndexedDims::of(op);
  Value &operand = site.operands[0], &indices = site.operands[1];
  Sharding sharding = site.operandSharding(0);
  Value identity = identityOfParts(b, elementTypeOf(operand));
  SmallVector<int64_t> sliceSizes(op.getSliceSizes());
  SmallVector<Value> components;
  Value isOwn; // of each position of the indices: whether its window lies in the shard
  for (auto [dim, axes] : llvm::enumerate(sharding.dims)) {
    int64_t k = dims.component[dim], window = dims.window[dim], size = dims.sizes[dim];
    if (axes.empty() || dims.batching[dim] >= 0) {
      continue;
    }
    int64_t local = shapeOf(operand)[dim];
    if (window == size) {
      sliceSizes[dim] = local;
      continue;
    }
    if (components.empty()) {
      Value numbers = asSigned(b, indices);
      for (int64_t i = 0; i < dims.components; ++i) {
        components.push_back(componentOf(b, numbers, dims, i));
      }
    }
    Value &start = components[k];
    bool isSum = site.rule.factors[site.rule.operands[0][dim].front()].kind == FactorKind::Sum;
    bool crosses = window > 1;
    start = relativeTo(b, clampTo(b, start, size - window), site.e.shardOffset(axes, local),
                       crosses ? window : 0);
    if (crosses) {
      operand = padBothEnds(b, operand, dim, window, identity);
    } else if (isSum) {
      isOwn = both(b, isOwn, isBelow(b, start, local));
    }
  }
  SmallVector<NamedAttribute> changed{
      b.b.getNamedAttr("slice_sizes", b.b.getDenseI64ArrayAttr(sliceSizes))};
  if (!components.empty()) {
    indices = indexVectors(b, components, dims);
    if (op.getIndicesAreSorted()) {
      changed.push_back(b.b.getNamedAttr("indices_are_sorted", b.b.getBoolAttr(false)));
    }
  }
  Value result = site.cloneWith(changed)->getResult(0);
  if (isOwn) {
    SmallVector<int64_t> positions;
    for (int64_t dim : dims.positionDim) {
      if (dim >= 0) {
        positions.push_back(dim);
      }
    }
    ArrayRef<int64_t> shape = shapeOf(result);
    result =
        b.select(b.broadcast(isOwn, shape, positions), result, b.broadcastScalar(identity, shape));
  }
  return SmallVector<Value>{result};
}

void hlo::spmd::registerGather(PartitionerTable &table) {
  table["hlo.gather"] = {.rule = gatherRule, .emit = emitGather, .sum = sumOfParts};
}
