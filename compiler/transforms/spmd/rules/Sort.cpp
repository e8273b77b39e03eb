//===- Sort.cpp - Sorts and topk on shards --------------------------------===//
//
// All dimensions but the sorted one are split like those of an element-wise op. A sort along a
// split dimension brings whole rows together, sorts them, and returns to the sharding that it came
// from:
//
//   [16,4] over x along 0, sorted along 0
//     -> all-to-all to [16,4] over x along 1   (or all-gather, if no other dimension is long enough)
//     -> sort
//     -> all-to-all back                       (or each partition keeps its part)
//
// That is the order of the whole array, so stable sorts stay stable. An operand that counts a
// dimension (the positions of an argsort) is made anew instead of sent.
//
// A topk along a split dimension takes the k first elements of each shard, gathers them, and takes
// the k first of these. Equal elements are ordered by position: shards are gathered in order, and
// within a shard the first topk has kept the order. Padding is the last element of the order, and
// stands behind its equals. If whole rows are less to send than that, it gathers those.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Shapes.h"
#include "compiler/analysis/SortOrder.h"
#include "compiler/transforms/spmd/Annotation.h"
#include "compiler/transforms/spmd/Reshard.h"
#include "compiler/transforms/spmd/rules/Indexed.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

//===----------------------------------------------------------------------===//
// Sort
//===----------------------------------------------------------------------===//

static Rule sortRule(Operation *op) {
  int64_t sorted = cast<SortOp>(op).getDimension();
  Rule rule = Rule::of(op);
  for (auto [dim, size] : llvm::enumerate(shapeOf(op->getOperand(0)))) {
    if (size <= 1) {
      continue;
    }
    bool isSorted = static_cast<int64_t>(dim) == sorted;
    unsigned factor = rule.addFactor(size, isSorted ? FactorKind::Special : FactorKind::Pass);
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      rule.operands[i][dim] = rule.results[i][dim] = {factor};
    }
  }
  return rule;
}

/// The dimension that an operand counts; -1: the operand is sent.
static int64_t madeDim(Value operand) {
  int64_t dim = countedDim(operand);
  return dim >= 0 && (shapeOf(operand)[dim] == 1 || isSplittable(shapeOf(operand)[dim])) ? dim : -1;
}

namespace {

/// Which arrays a sort with a split dimension sends.
struct Traffic {
  SmallVector<int64_t> there, back; ///< the size of an element of each array
  ArrayRef<int64_t> shape;

  explicit Traffic(Operation *op) : shape(shapeOf(op->getOperand(0))) {
    for (auto [operand, result] : llvm::zip(op->getOperands(), op->getResults())) {
      int64_t bytes = elementBytes(elementTypeOf(operand));
      if (madeDim(operand) < 0) {
        there.push_back(bytes);
      }
      if (!result.use_empty()) {
        back.push_back(bytes);
      }
    }
  }
  int64_t bytes(ReshardPlans &plans, const Sharding &outside, const Sharding &inside) const {
    int64_t sum = 0;
    for (int64_t element : there) {
      sum += plans.find(shape, element, outside, inside).bytes;
    }
    for (int64_t element : back) {
      sum += plans.find(shape, element, inside, outside).bytes;
    }
    return sum;
  }
};

struct Choice {
  Sharding inside; ///< while rows are sorted
  int64_t bytes = 0;
};

} // namespace

/// Dimensions that a choice tries; each costs a search per number of axes.
constexpr size_t kMostTargets = 4;

/// The sharding for the sort: the sorted dimension's axes are moved to others, or dropped, such
/// that the fewest bytes are sent.
static Choice chooseInside(Operation *op, const Sharding &outside, const Mesh &mesh) {
  int64_t sorted = cast<SortOp>(op).getDimension();
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
  ReshardPlans plans(mesh);
  Traffic traffic(op);
  const AxisList &axes = outside.dims[sorted];
  Choice best;
  auto consider = [&](const Sharding &inside) {
    int64_t bytes = traffic.bytes(plans, outside, inside);
    if (best.inside.rank() == 0 || bytes < best.bytes) {
      best = {inside, bytes};
    }
  };
  Sharding dropped = outside;
  dropped.dims[sorted].clear();
  // To one of the dimensions with the longest shards: as many of the last axes as it has elements
  // for.
  SmallVector<std::pair<int64_t, int64_t>> targets;
  for (int64_t dim = 0; dim < outside.rank(); ++dim) {
    if (dim != sorted) {
      targets.emplace_back(-(shape[dim] / mesh.count(outside.dims[dim])), dim);
    }
  }
  llvm::sort(targets);
  targets.truncate(std::min(targets.size(), kMostTargets));
  for (auto [length, dim] : targets) {
    for (size_t moved = 1; moved <= axes.size(); ++moved) {
      Sharding inside = dropped;
      inside.dims[dim].append(axes.end() - moved, axes.end());
      if (mesh.count(inside.dims[dim]) <= shape[dim]) {
        consider(inside);
      }
    }
  }
  // Axis by axis to the dimension with the longest shards.
  Sharding spread = dropped;
  for (Axis axis : llvm::reverse(axes)) {
    int64_t target = -1, longest = 0;
    for (int64_t dim = 0; dim < outside.rank(); ++dim) {
      int64_t length = shape[dim] / mesh.count(spread.dims[dim]);
      if (dim != sorted && length >= mesh.size(axis) && length > longest) {
        target = dim;
        longest = length;
      }
    }
    if (target >= 0) {
      spread.dims[target].push_back(axis);
    }
  }
  consider(spread);
  consider(dropped);
  return best;
}

/// An array of shards that count dimension `dim`.
static Value makeCounted(Emitter &e, RankedTensorType global, int64_t dim,
                         const Sharding &sharding) {
  HloBuilder b = e.b();
  auto type = cast<RankedTensorType>(shardType(global, sharding, e.mesh));
  ArrayRef<Axis> axes = sharding.dims[dim];
  if (axes.empty()) {
    return b.iota(type, dim);
  }
  // Padding counts on past the end, which a narrow type may not hold.
  Type s32 = b.b.getIntegerType(32, /*isSigned=*/true);
  Value offset = e.shardOffset(axes, type.getDimSize(dim));
  Value index = b.add(b.iota(HloBuilder::array(type.getShape(), s32), dim),
                      b.broadcastScalar(offset, type.getShape()));
  return b.convert(index, type.getElementType());
}

static FailureOr<SmallVector<Value>> emitSort(Site &site) {
  auto op = cast<SortOp>(site.op);
  int64_t sorted = op.getDimension();
  Sharding outside = site.operandSharding(0);
  if (outside.dims[sorted].empty()) {
    return SmallVector<Value>(site.clone()->getResults());
  }
  Sharding inside = chooseInside(op, outside, site.e.mesh).inside;
  SmallVector<Type> types;
  for (auto [i, operand] : llvm::enumerate(site.operands)) {
    RankedTensorType global = site.operandType(i);
    int64_t made = madeDim(op->getOperand(i));
    operand = made >= 0 ? makeCounted(site.e, global, made, inside)
                        : site.e.reshard(operand, global, outside, inside);
    types.push_back(operand.getType());
  }
  SmallVector<Value> results(rebuild(site, types, {})->getResults());
  for (auto [i, result] : llvm::enumerate(results)) {
    if (op->getResult(i).use_empty()) {
      RankedTensorType local = site.localResultType(i);
      result = site.e.b().broadcastScalar(site.e.zero(local.getElementType()), local.getShape());
      continue;
    }
    result = site.e.reshard(result, site.resultType(i), inside, outside);
  }
  return results;
}

static int64_t sortBytes(Operation *op, const Rule &rule, const FactorAxes &axes,
                         const Mesh &mesh) {
  Sharding outside = shardingOf(rule.operands[0], axes);
  return outside.dims[cast<SortOp>(op).getDimension()].empty()
             ? 0
             : chooseInside(op, outside, mesh).bytes;
}

//===----------------------------------------------------------------------===//
// Topk
//===----------------------------------------------------------------------===//

/// The element that a topk orders behind all others. Null where there is none of whole bytes.
static DenseElementsAttr lastOf(TopkOp op) {
  Type element = elementTypeOf(op.getOperand());
  bool inBytes = element.isIntOrFloat() && element.getIntOrFloatBitWidth() >= 8;
  return inBytes ? lastInOrder(element, /*descending=*/op.getLargest().value_or(true))
                 : DenseElementsAttr();
}

static Rule topkRule(Operation *op) {
  auto topk = cast<TopkOp>(op);
  Rule rule = Rule::of(op);
  ArrayRef<int64_t> shape = shapeOf(topk.getOperand());
  int64_t last = shape.size() - 1;
  if (last < 0 || op->getNumResults() != 2) {
    return rule;
  }
  for (int64_t dim = 0; dim < last; ++dim) {
    if (shape[dim] > 1) {
      rule.operands[0][dim] = rule.results[0][dim] =
          rule.results[1][dim] = {rule.addFactor(shape[dim])};
    }
  }
  Type index = elementTypeOf(op->getResult(1));
  if (isSplittable(shape[last]) && topk.getK() > 0 && index.isInteger(32) && lastOf(topk)) {
    rule.operands[0][last] = {rule.addFactor(shape[last], FactorKind::Special)};
  }
  return rule;
}

/// The two results of a topk of `operand`.
static Operation *makeTopk(Site &site, Value operand, int64_t k) {
  HloBuilder b = site.e.b();
  SmallVector<int64_t> shape(shapeOf(operand));
  shape.back() = k;
  SmallVector<Type> types;
  for (Value result : site.op->getResults()) {
    types.push_back(HloBuilder::array(shape, elementTypeOf(result)));
  }
  OperationState state(site.e.loc, TopkOp::getOperationName(), operand, types, site.op->getAttrs());
  state.attributes.set("k", b.b.getI64IntegerAttr(k));
  return b.b.create(state);
}

/// array[..., at[..., i]] for arrays that agree in all dimensions but the last.
static Value takeAlongLast(HloBuilder b, Value array, Value at) {
  int64_t rank = rankOf(array);
  SmallVector<int64_t> batch;
  for (int64_t dim = 0; dim + 1 < rank; ++dim) {
    batch.push_back(dim);
  }
  DenseI64ArrayAttr batching = rank > 1 ? b.b.getDenseI64ArrayAttr(batch) : DenseI64ArrayAttr();
  return GatherOp::create(b.b, b.loc, HloBuilder::array(at, elementTypeOf(array)), array, at,
                          b.b.getDenseI64ArrayAttr({}), b.b.getDenseI64ArrayAttr({rank - 1}),
                          b.b.getDenseI64ArrayAttr({rank - 1}), b.b.getI64IntegerAttr(rank),
                          b.b.getDenseI64ArrayAttr(SmallVector<int64_t>(rank, 1)), batching,
                          batching, BoolAttr());
}

namespace {

/// How a topk along a split dimension is done.
struct TopkPlan {
  int64_t own = 0;         ///< elements that each shard selects
  bool gathersAll = false; ///< whether whole rows are gathered, since that sends less
  int64_t bytes = 0;

  TopkPlan(TopkOp op, const Sharding &sharding, const Mesh &mesh) {
    if (sharding.rank() == 0 || sharding.dims.back().empty()) {
      return;
    }
    SmallVector<int64_t> shape = shardShape(shapeOf(op.getOperand()), sharding, mesh);
    auto bytesOf = [&](Value value) {
      return byteSize(HloBuilder::array(shape, elementTypeOf(value))).value_or(0);
    };
    int64_t all = bytesOf(op.getOperand()), selected = 0;
    own = shape.back() = std::min<int64_t>(op.getK(), shape.back());
    for (Value result : op->getResults()) {
      selected += bytesOf(result);
    }
    gathersAll = all <= selected;
    bytes = (mesh.count(sharding.dims.back()) - 1) * std::min(all, selected);
  }
};

} // namespace

static FailureOr<SmallVector<Value>> emitTopk(Site &site) {
  auto op = cast<TopkOp>(site.op);
  HloBuilder b = site.e.b();
  Value &operand = site.operands[0];
  Sharding sharding = site.operandSharding(0);
  TopkPlan plan(op, sharding, site.e.mesh);
  int64_t last = rankOf(operand) - 1, size = last < 0 ? 1 : shapeOf(op.getOperand())[last];
  if (plan.own == 0) {
    return SmallVector<Value>(site.clone()->getResults());
  }
  const AxisList &axes = sharding.dims[last];
  if (plan.gathersAll) {
    operand = site.e.resizeDim(site.e.allGather(operand, last, axes), last, size);
    return SmallVector<Value>(site.clone()->getResults());
  }
  int64_t local = shapeOf(operand)[last];
  DenseElementsAttr padding = lastOf(op);
  operand = site.e.maskPadding(operand, last, axes, size, b.constant(padding));
  Operation *own = makeTopk(site, operand, plan.own);
  Value index = own->getResult(1);
  Value offset = b.convert(site.e.shardOffset(axes, local), elementTypeOf(index));
  index = b.add(index, b.broadcastScalar(offset, shapeOf(index)));
  Value values = site.e.allGather(own->getResult(0), last, axes);
  Value indices = site.e.allGather(index, last, axes);
  Operation *merged = makeTopk(site, values, op.getK());
  return SmallVector<Value>{merged->getResult(0), takeAlongLast(b, indices, merged->getResult(1))};
}

static int64_t topkBytes(Operation *op, const Rule &rule, const FactorAxes &axes,
                         const Mesh &mesh) {
  return TopkPlan(cast<TopkOp>(op), shardingOf(rule.operands[0], axes), mesh).bytes;
}

void hlo::spmd::registerSort(PartitionerTable &table) {
  table["hlo.sort"] = {.rule = sortRule, .emit = emitSort, .bytes = sortBytes};
  table["hlo.topk"] = {.rule = topkRule, .emit = emitTopk, .bytes = topkBytes};
}
