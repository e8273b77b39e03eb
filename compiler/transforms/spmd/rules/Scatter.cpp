//===- Scatter.cpp - Scatters on shards -----------------------------------===//
//
// The dimensions of a scatter's operands and results may be split in four ways:
//
//   a window covers the whole dimension    each partition updates with its part of the windows
//   it is a batching dimension             with the dimension of the indices and of the updates
//   its indices count a dimension of the   the same: row i of the updates goes to row i of the
//   indices (an iota)                      operand
//   any other with indices                 each partition applies the updates that lie in its shard
//
// No partition sends anything in these. If instead a dimension of the indices is split together
// with that of the updates, each partition applies its updates, and the results are combined. That
// needs a combiner such as a sum; the operand counts once.
//
// A window outside of the operand is dropped, so a partition drops a window by the index -1.
// Whether a window is inside is decided by the whole operand before its start becomes relative to
// the shard. Windows that may cross the border of two shards are applied to a shard that is
// extended on both sides, where the extensions are cut off afterwards.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/spmd/rules/Indexed.h"

#include "compiler/analysis/Reduction.h"
#include "compiler/analysis/Shapes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

//===----------------------------------------------------------------------===//
// The combiner
//===----------------------------------------------------------------------===//

/// The op that combines each operand with its update, if it is the same associative op for all of
/// them; else null. `op` has N operands and the computation returns
///
///   combine(old 0, update 0), ..., combine(old N-1, update N-1)
static Operation *combinerOf(ScatterOp op) {
  auto module = op->getParentOfType<ModuleOp>();
  auto computation = module.lookupSymbol<ComputationOp>(op.getToApplyAttr());
  if (!computation) {
    return nullptr;
  }
  unsigned count = op->getNumOperands() / 2;
  if (count == 1) {
    return associativeOp(computation);
  }
  Operation *first = nullptr, *end = computation.getReturn();
  if (computation.getNumArguments() != 2 * count || end->getNumOperands() != count) {
    return nullptr;
  }
  for (unsigned i = 0; i < count; ++i) {
    Operation *combine = end->getOperand(i).getDefiningOp();
    if (!isa_and_nonnull<AddOp, MultiplyOp, MaximumOp, MinimumOp, AndOp, OrOp>(combine) ||
        (first && (combine->getName() != first->getName() ||
                   combine->getResultTypes() != first->getResultTypes()))) {
      return nullptr;
    }
    Value x = combine->getOperand(0), y = combine->getOperand(1);
    Value old = computation.getArgument(i), update = computation.getArgument(count + i);
    if (!((x == old && y == update) || (x == update && y == old))) {
      return nullptr;
    }
    first = combine;
  }
  return first;
}

/// Whether partial results can be combined by a collective.
static bool canCombine(ScatterOp op) {
  if (op->getNumOperands() < 3 || !isSummable(elementTypeOf(op->getOperand(0)))) {
    return false;
  }
  Operation *combine = combinerOf(op);
  return combine && identityOf(combine, elementTypeOf(op->getOperand(0)));
}

static FlatSymbolRefAttr sumOfScatter(Site &site) {
  auto op = cast<ScatterOp>(site.op);
  if (op->getNumOperands() == 3) {
    return op.getToApplyAttr();
  }
  SumKind kind = llvm::TypeSwitch<Operation *, SumKind>(combinerOf(op))
                     .Case([](MultiplyOp) { return SumKind::Multiply; })
                     .Case([](MaximumOp) { return SumKind::Maximum; })
                     .Case([](MinimumOp) { return SumKind::Minimum; })
                     .Case([](AndOp) { return SumKind::And; })
                     .Case([](OrOp) { return SumKind::Or; })
                     .Default(SumKind::Add);
  return site.e.sumComputation(kind, elementTypeOf(op->getOperand(0)));
}

//===----------------------------------------------------------------------===//
// The rule
//===----------------------------------------------------------------------===//

static Rule scatterRule(Operation *op) {
  auto scatter = cast<ScatterOp>(op);
  Rule rule = Rule::of(op);
  unsigned count = op->getNumOperands() / 2;
  IndexedDims dims = IndexedDims::of(scatter);
  DimFactors &indices = rule.operands[count];
  auto setOperands = [&](int64_t dim, unsigned factor) {
    for (unsigned i = 0; i < count; ++i) {
      rule.operands[i][dim] = rule.results[i][dim] = {factor};
    }
  };
  auto setUpdates = [&](int64_t dim, unsigned factor) {
    for (unsigned i = 0; i < count; ++i) {
      rule.operands[count + 1 + i][dim] = {factor};
    }
  };
  for (auto [dim, size] : llvm::enumerate(dims.sizes)) {
    if (!isSplittable(size)) {
      continue;
    }
    int64_t k = dims.component[dim];
    auto [counted, kind] = dims.countedAlong(dim, op->getOperand(count));
    if (counted >= 0 && dims.indexSizes[counted] == size && indices[counted].empty()) {
      unsigned factor = rule.addFactor(size, kind);
      setOperands(dim, factor);
      setUpdates(dims.positionDim[counted], factor);
      indices[counted] = {factor};
    } else if (dims.window[dim] == size && dims.windowDim[dim] >= 0) {
      unsigned factor = rule.addFactor(size);
      setOperands(dim, factor);
      setUpdates(dims.windowDim[dim], factor);
    } else if (k >= 0 && dims.window[dim] > 0) {
      setOperands(dim, rule.addFactor(size, FactorKind::Special));
    }
  }
  // Padding of the positions is dropped by means of the index, so there must be one.
  if (dims.components == 0 || !canCombine(scatter)) {
    return rule;
  }
  for (auto [dim, size] : llvm::enumerate(dims.indexSizes)) {
    if (isSplittable(size) && dims.positionDim[dim] >= 0 && indices[dim].empty()) {
      unsigned factor = rule.addFactor(size, FactorKind::Sum);
      indices[dim] = {factor};
      setUpdates(dims.positionDim[dim], factor);
    }
  }
  return rule;
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

namespace {

class ScatterEmission {
public:
  explicit ScatterEmission(Site &site)
      : site(site), op(cast<ScatterOp>(site.op)), b(site.e.b()), dims(IndexedDims::of(op)),
        count(site.op->getNumOperands() / 2) {}

  SmallVector<Value> run();

private:
  /// Component k of the index vectors, to be changed.
  Value &component(int64_t k);
  void placeAlong(int64_t dim, ArrayRef<Axis> axes);
  void dropPadding(int64_t dim, ArrayRef<Axis> axes);
  void countOperandsOnce();

  Site &site;
  ScatterOp op;
  HloBuilder b;
  IndexedDims dims;
  unsigned count;
  SmallVector<Value> components;
  Value isKept; ///< of each position of the indices: whether the partition applies its update
  SmallVector<std::pair<int64_t, int64_t>> extended; ///< dimensions, and by how much
};

} // namespace

Value &ScatterEmission::component(int64_t k) {
  if (components.empty()) {
    Value numbers = asSigned(b, site.operands[count]);
    for (int64_t i = 0; i < dims.components; ++i) {
      components.push_back(componentOf(b, numbers, dims, i));
    }
  }
  return components[k];
}

/// Makes the starts in dimension `dim` of the operand relative to the shard.
void ScatterEmission::placeAlong(int64_t dim, ArrayRef<Axis> axes) {
  int64_t window = dims.window[dim], local = shapeOf(site.operands[0])[dim];
  Value &start = component(dims.component[dim]);
  isKept = both(b, isKept, isBelow(b, start, dims.sizes[dim] - window + 1));
  // A window that touches the shard starts at -window + 1 ... local - 1. All starts grow by the
  // extension, window - 1.
  int64_t extension = window - 1;
  start = relativeTo(b, start, site.e.shardOffset(axes, local), extension);
  isKept = both(b, isKept, isBelow(b, start, local + extension));
  if (extension) {
    extended.emplace_back(dim, extension);
  }
}

/// Drops the updates at positions beyond the size of dimension `dim` of the indices.
void ScatterEmission::dropPadding(int64_t dim, ArrayRef<Axis> axes) {
  int64_t local = shapeOf(site.operands[count])[dim];
  if (local * site.e.mesh.count(axes) == dims.indexSizes[dim]) {
    return;
  }
  RankedTensorType type = HloBuilder::type(component(0));
  int64_t at = dim > dims.indexVectorDim ? dim - 1 : dim;
  Type s32 = b.b.getIntegerType(32, /*isSigned=*/true);
  Value index = b.iota(HloBuilder::array(type.getShape(), s32), at);
  index = b.add(index, b.broadcastScalar(site.e.shardOffset(axes, local), type.getShape()));
  isKept = both(b, isKept, isBelow(b, index, dims.indexSizes[dim]));
}

static bool isSplat(Value value, DenseElementsAttr element) {
  if (auto broadcast = value.getDefiningOp<BroadcastOp>()) {
    value = broadcast.getOperand();
  }
  auto constant = value.getDefiningOp<ConstantOp>();
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  if (!dense || !dense.isSplat() || dense.getElementType() != element.getElementType()) {
    return false;
  }
  return dense.resizeSplat(cast<ShapedType>(element.getType())) == element;
}

/// Where several partitions apply updates to one operand, replaces it by the identity in all but
/// one of them, unless the combiner absorbs what it has seen before.
void ScatterEmission::countOperandsOnce() {
  AxisList axes;
  for (auto [factor, list] : llvm::zip(site.rule.factors, site.axes)) {
    if (factor.kind == FactorKind::Sum) {
      llvm::append_range(axes, list);
    }
  }
  if (axes.empty()) {
    return;
  }
  Operation *combine = combinerOf(op);
  if (isa<MaximumOp, MinimumOp, AndOp, OrOp>(combine)) {
    return;
  }
  Value isFirst;
  for (unsigned i = 0; i < count; ++i) {
    Value &operand = site.operands[i];
    Type element = elementTypeOf(operand);
    DenseElementsAttr identity = identityOf(combine, element);
    auto zero = HloBuilder::splatAttr(RankedTensorType::get({}, element), 0);
    if (isSplat(op->getOperand(i), identity) ||
        (isa<AddOp>(combine) && isSplat(op->getOperand(i), zero))) {
      continue;
    }
    if (!isFirst) {
      isFirst = b.compare(site.e.shardIndex(axes), b.index(0), "EQ");
    }
    ArrayRef<int64_t> shape = shapeOf(operand);
    operand = b.select(b.broadcastScalar(isFirst, shape), operand,
                       b.broadcastScalar(b.constant(identity), shape));
  }
}

SmallVector<Value> ScatterEmission::run() {
  Sharding operands = site.operandSharding(0), indices = site.operandSharding(count);
  for (auto [dim, axes] : llvm::enumerate(operands.dims)) {
    bool isWhole = dims.window[dim] == dims.sizes[dim];
    if (!axes.empty() && dims.batching[dim] < 0 && !isWhole) {
      placeAlong(dim, axes);
    }
  }
  for (auto [dim, axes] : llvm::enumerate(indices.dims)) {
    if (!axes.empty() && !llvm::is_contained(dims.batching, static_cast<int64_t>(dim))) {
      dropPadding(dim, axes);
    }
  }
  countOperandsOnce();
  SmallVector<NamedAttribute> changed;
  if (isKept) {
    Value none = b.splat(HloBuilder::type(components.front()), -1);
    for (Value &component : components) {
      component = b.select(isKept, component, none);
    }
    site.operands[count] = indexVectors(b, components, dims);
    if (op.getIndicesAreSorted()) {
      changed.push_back(b.b.getNamedAttr("indices_are_sorted", b.b.getBoolAttr(false)));
    }
  }
  SmallVector<Type> types;
  for (Value &operand : MutableArrayRef(site.operands).take_front(count)) {
    for (auto [dim, amount] : extended) {
      operand = padBothEnds(b, operand, dim, amount, site.e.zero(elementTypeOf(operand)));
    }
    types.push_back(operand.getType());
  }
  SmallVector<Value> results(rebuild(site, types, changed)->getResults());
  for (Value &result : results) {
    for (auto [dim, amount] : extended) {
      result = b.sliceDim(result, dim, amount, shapeOf(result)[dim] - amount);
    }
  }
  return results;
}

static FailureOr<SmallVector<Value>> emitScatter(Site &site) { return ScatterEmission(site).run(); }

void hlo::spmd::registerScatter(PartitionerTable &table) {
  table["hlo.scatter"] = {.rule = scatterRule, .emit = emitScatter, .sum = sumOfScatter};
}
