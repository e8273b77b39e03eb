//===- Elementwise.cpp - Element-wise ops, broadcast, iota, constants -----===//
//
// Element-wise ops and broadcasts are computed on shards as they are. The elements of iota and of
// constants depend on the shard:
//
//   iota      the iota of one shard + the shard's offset along the iota dimension
//   constant  a part of the whole literal, cut out at the shard's offsets; a splat is a splat of
//             the shard's shape
//
// No op here mixes elements, so padding stays padding.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/spmd/Partitioner.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

/// One factor per dimension of the result. Operands have the dimensions of the result or, as the
/// predicate of select and the bounds of clamp may, none.
static Rule elementwiseRule(Operation *op) {
  Rule rule = Rule::of(op);
  rule.passesThrough = true;
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!result) {
    return rule;
  }
  for (auto [dim, size] : llvm::enumerate(result.getShape())) {
    if (size <= 1) {
      continue;
    }
    unsigned factor = rule.addFactor(size);
    rule.results[0][dim] = {factor};
    for (DimFactors &operand : rule.operands) {
      if (static_cast<int64_t>(operand.size()) == result.getRank()) {
        operand[dim] = {factor};
      }
    }
  }
  return rule;
}

/// One factor per dimension of the result, which the operand's dimensions share.
static Rule broadcastRule(Operation *op) {
  Rule rule = Rule::of(op);
  rule.passesThrough = true;
  auto broadcast = cast<BroadcastOp>(op);
  for (auto [dim, size] : llvm::enumerate(cast<RankedTensorType>(broadcast.getType()).getShape())) {
    if (size > 1) {
      rule.results[0][dim] = {rule.addFactor(size)};
    }
  }
  for (auto [from, to] : llvm::enumerate(broadcast.getDimensions())) {
    rule.operands[0][from] = rule.results[0][to];
  }
  return rule;
}

//===----------------------------------------------------------------------===//
// Iota
//===----------------------------------------------------------------------===//

/// One factor per dimension, all of which may be split for nothing.
static Rule freeRule(Operation *op, FactorKind kindOf(Operation *op, int64_t dim)) {
  Rule rule = Rule::of(op);
  rule.isFree = true;
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  for (auto [dim, size] : llvm::enumerate(result ? result.getShape() : ArrayRef<int64_t>())) {
    if (size > 1) {
      rule.results[0][dim] = {rule.addFactor(size, kindOf(op, dim))};
    }
  }
  return rule;
}

static Rule iotaRule(Operation *op) {
  return freeRule(op, [](Operation *op, int64_t dim) {
    return static_cast<int64_t>(cast<IotaOp>(op).getIotaDimension()) == dim ? FactorKind::Special
                                                                            : FactorKind::Pass;
  });
}

/// An iota whose element is index + offset, rounded once: as integers of `result`'s element type,
/// whose arithmetic wraps like the conversion of an index to it, else as s32 or s64.
static FailureOr<SmallVector<Value>> emitIota(Site &site) {
  auto op = cast<IotaOp>(site.op);
  RankedTensorType result = site.localResultType(0);
  int64_t dim = op.getIotaDimension();
  HloBuilder b = site.e.b();
  Sharding sharding = site.resultSharding(0);
  ArrayRef<Axis> axes = sharding.dims[dim];
  if (axes.empty()) {
    return SmallVector<Value>{b.iota(result, dim)};
  }
  // The padding of the last shard counts on past the end.
  int64_t step = result.getDimSize(dim), end = step * site.e.mesh.count(axes);
  bool fits = end <= std::numeric_limits<int32_t>::max();
  Type element = result.getElementType();
  Type counter = isa<IntegerType>(element) ? element : b.b.getIntegerType(fits ? 32 : 64, true);
  Value offset;
  if (fits) {
    offset = b.convert(site.e.shardOffset(axes, step), counter);
  } else {
    auto wide = b.b.getIntegerType(64, true);
    Value start = b.constant(DenseElementsAttr::get(RankedTensorType::get({}, wide),
                                                    APInt(64, static_cast<uint64_t>(step))));
    offset = b.convert(b.mul(b.convert(site.e.shardIndex(axes), wide), start), counter);
  }
  Value indices = b.iota(HloBuilder::array(result.getShape(), counter), dim);
  Value shifted = b.add(indices, b.broadcastScalar(offset, result.getShape()));
  return SmallVector<Value>{b.convert(shifted, element)};
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static DenseElementsAttr splatOf(Operation *op) {
  auto dense = dyn_cast<DenseElementsAttr>(cast<ConstantOp>(op).getValue());
  return dense && dense.isSplat() ? dense : DenseElementsAttr();
}

static Rule constantRule(Operation *op) {
  return freeRule(op, [](Operation *op, int64_t) {
    return splatOf(op) ? FactorKind::Pass : FactorKind::Special;
  });
}

static FailureOr<SmallVector<Value>> emitConstant(Site &site) {
  HloBuilder b = site.e.b();
  if (!isa<RankedTensorType>(site.op->getResult(0).getType())) {
    return SmallVector<Value>{site.clone()->getResult(0)};
  }
  if (DenseElementsAttr splat = splatOf(site.op)) {
    return SmallVector<Value>{b.constant(splat.resizeSplat(site.localResultType(0)))};
  }
  RankedTensorType local = site.localResultType(0);
  Value value =
      ConstantOp::create(b.b, b.loc, site.resultType(0), cast<ConstantOp>(site.op).getValue());
  Sharding sharding = site.resultSharding(0);
  for (auto [dim, axes] : llvm::enumerate(sharding.dims)) {
    if (!axes.empty()) {
      int64_t size = local.getDimSize(dim);
      value = site.e.resizeDim(value, dim, size * site.e.mesh.count(axes));
      value = site.e.dynamicSliceDim(value, dim, site.e.shardOffset(axes, size), size);
    }
  }
  return SmallVector<Value>{value};
}

void hlo::spmd::registerElementwise(PartitionerTable &table) {
  constexpr StringLiteral elementwise[] = {"abs",
                                           "acos",
                                           "acosh",
                                           "add",
                                           "and",
                                           "asin",
                                           "asinh",
                                           "atan2",
                                           "atanh",
                                           "cbrt",
                                           "ceil",
                                           "clamp",
                                           "compare",
                                           "complex",
                                           "convert",
                                           "copy",
                                           "cosh",
                                           "cosine",
                                           "count_leading_zeros",
                                           "divide",
                                           "erf",
                                           "exponential",
                                           "exponential_minus_one",
                                           "floor",
                                           "imag",
                                           "is_finite",
                                           "log",
                                           "log_plus_one",
                                           "logistic",
                                           "maximum",
                                           "minimum",
                                           "mulhi",
                                           "multiply",
                                           "negate",
                                           "not",
                                           "or",
                                           "popcnt",
                                           "power",
                                           "real",
                                           "reduce_precision",
                                           "remainder",
                                           "round_nearest_afz",
                                           "round_nearest_even",
                                           "rsqrt",
                                           "select",
                                           "shift_left",
                                           "shift_right_arithmetic",
                                           "shift_right_logical",
                                           "sign",
                                           "sine",
                                           "sinh",
                                           "sqrt",
                                           "stochastic_convert",
                                           "subtract",
                                           "tan",
                                           "tanh",
                                           "xor"};
  for (StringRef name : elementwise) {
    table[("hlo." + name).str()].rule = elementwiseRule;
  }
  table["hlo.broadcast"].rule = broadcastRule;
  table["hlo.iota"] = {.rule = iotaRule, .emit = emitIota};
  table["hlo.constant"] = {.rule = constantRule, .emit = emitConstant};
}
