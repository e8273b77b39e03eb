//===- SpmdPartitioner.cpp - hlo-spmd-partitioner -------------------------===//
//
// Walks the computations that run at top level and writes the program of one partition next to the
// ops of the whole program, which are erased at the end. What each op needs is in Partitioner.h;
// control flow, manual regions and the entry are here.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/analysis/entry/EntryLayout.h"
#include "compiler/transforms/spmd/MergeMovement.h"
#include "compiler/transforms/spmd/Partitioner.h"
#include "compiler/transforms/spmd/Program.h"
#include "compiler/transforms/spmd/Recompute.h"
#include "compiler/transforms/spmd/Spmd.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

//===----------------------------------------------------------------------===//
// Site
//===----------------------------------------------------------------------===//

Operation *Site::clone() const { return cloneWith({}); }

Operation *Site::cloneWith(ArrayRef<NamedAttribute> changed) const {
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    state.addTypes(shardType(op->getResult(i).getType(), resultSharding(i), e.mesh));
  }
  NamedAttrList attributes(op->getAttrs());
  attributes.erase(kAnnotation);
  for (const NamedAttribute &attribute : changed) {
    attributes.set(attribute.getName(), attribute.getValue());
  }
  state.addAttributes(attributes);
  return e.builder.create(state);
}

namespace {

/// How partial results become the sharding that is wanted.
struct Combination {
  struct Scatter {
    int64_t dim;
    AxisList axes;
  };
  std::vector<Scatter> scatters; ///< reduce-scatters first
  AxisList rest;                 ///< then an all-reduce over these
  Sharding after;
  int64_t bytes = 0;
};

class SpmdPartitioner {
public:
  SpmdPartitioner(Program &program, Emitter &e, PartitionReport *report)
      : program(program), mesh(program.mesh), e(e), report(report), recompute(program, e, local) {}

  LogicalResult run();

private:
  struct Erased {
    ComputationOp computation;
    SmallVector<Operation *> ops; ///< of the whole program
    unsigned arguments;
  };

  /// `returned`: the shardings that its results must have; empty: their own.
  LogicalResult partition(ComputationOp computation, ArrayRef<Sharding> returned);
  LogicalResult partition(Operation *op);
  LogicalResult partitionLoop(WhileOp loop);
  LogicalResult partitionConditional(ConditionalOp op);
  LogicalResult partitionMarker(Operation *op, StringRef marker);
  void copy(Operation *op);

  FactorAxes choose(Operation *op, const Rule &rule, const OpPartitioner *row);
  void normalize(Operation *op, const Rule &rule, const OpPartitioner *row, FactorAxes &axes);
  double costOf(Operation *op, const Rule &rule, const OpPartitioner *row, const FactorAxes &axes);
  Combination combine(RankedTensorType global, const Sharding &partial, AxisSet sums,
                      const Sharding &wanted) const;
  AxisSet sumAxes(const Rule &rule, const FactorAxes &axes) const;

  /// The shard of a value of the whole program, in its own sharding or another one.
  Value localOf(Value value) { return local.lookup(value); }
  Value localAs(Value value, const Sharding &sharding);
  void bind(Value value, Value shard) { local[value] = shard; }
  /// The value's sharding once a border's manual axes are added.
  static Sharding joined(const Annotation &border, const Sharding &inside);
  Sharding nested(const Annotation &border, const Sharding &inside, ArrayRef<int64_t> shape) const;
  LogicalResult finishEntry();
  void fillReport();
  Attribute leafAttr(Type global, const Sharding &sharding, ArrayRef<int64_t> partitionAt);
  Value permuteOrder(Value value, ArrayRef<int64_t> partitionAt, bool fromCaller);

  Program &program;
  const Mesh &mesh;
  Emitter &e;
  PartitionReport *report;
  DenseMap<Value, Value> local;
  Recompute recompute;
  SmallVector<Attribute> params, results;
  std::vector<Erased> erased; ///< the entry is the last
};

int64_t rankOf(Value value) {
  auto array = dyn_cast<RankedTensorType>(value.getType());
  return array ? array.getRank() : 0;
}

AxisSet SpmdPartitioner::sumAxes(const Rule &rule, const FactorAxes &axes) const {
  AxisSet set = 0;
  for (auto [factor, list] : llvm::zip(rule.factors, axes)) {
    if (factor.kind == FactorKind::Sum) {
      set |= setOf(list);
    }
  }
  return set;
}

Combination SpmdPartitioner::combine(RankedTensorType global, const Sharding &partial, AxisSet sums,
                                     const Sharding &wanted) const {
  Combination result;
  result.after = partial;
  for (int64_t dim = 0; dim < partial.rank(); ++dim) {
    AxisList &now = result.after.dims[dim];
    const AxisList &goal = wanted.dims[dim];
    if (goal.size() <= now.size() || !std::equal(now.begin(), now.end(), goal.begin())) {
      continue;
    }
    AxisList more;
    int64_t size = shardSize(global.getDimSize(dim), mesh.count(now));
    for (size_t i = now.size(); i < goal.size() && (sums >> goal[i] & 1); ++i) {
      more.push_back(goal[i]);
    }
    // Only parts of equal size; padding would be added up for nothing.
    while (!more.empty() && size % mesh.count(more) != 0) {
      more.pop_back();
    }
    if (more.empty()) {
      continue;
    }
    int64_t parts = mesh.count(more);
    result.bytes += (parts - 1) * shardBytes(global, result.after, mesh) / parts;
    llvm::append_range(now, more);
    sums &= ~setOf(more);
    result.scatters.push_back({dim, more});
  }
  result.rest = mesh.listOf(sums);
  int64_t parts = mesh.count(result.rest);
  result.bytes += 2 * (parts - 1) * shardBytes(global, result.after, mesh) / parts;
  return result;
}

Value SpmdPartitioner::localAs(Value value, const Sharding &sharding) {
  return recompute.shard(value, sharding);
}

//===----------------------------------------------------------------------===//
// The axes of an op's factors
//===----------------------------------------------------------------------===//

/// Makes axes that the op can be split by: no axis twice, none that is manual, what dimensions of
/// several factors and the op's own code allow.
void SpmdPartitioner::normalize(Operation *op, const Rule &rule, const OpPartitioner *row,
                                FactorAxes &axes) {
  AxisSet used = program.manualAround(op);
  for (auto [factor, list] : llvm::zip(rule.factors, axes)) {
    if (factor.kind == FactorKind::Whole) {
      list.clear();
    }
    size_t kept = 0;
    while (kept < list.size() && !(used >> list[kept] & 1)) {
      used |= AxisSet(1) << list[kept++];
    }
    list.truncate(kept);
  }
  auto restrict = [&](const DimFactors &dims) {
    for (const FactorList &factors : dims) {
      if (factors.size() < 2) {
        continue;
      }
      bool isFull = true;
      for (unsigned factor : factors) {
        AxisList &list = axes[factor];
        if (!isFull) {
          list.clear();
        }
        while (!list.empty() && rule.factors[factor].size % mesh.count(list) != 0) {
          list.pop_back();
        }
        isFull &= mesh.count(list) == rule.factors[factor].size;
      }
    }
  };
  // One array's restriction may break another's, so until nothing changes.
  for (FactorAxes before; before != axes;) {
    before = axes;
    llvm::for_each(rule.operands, restrict);
    llvm::for_each(rule.results, restrict);
  }
  if (row && row->accepts && !row->accepts(op, rule, axes, mesh)) {
    // Without the Special factors one by one, then without all of them.
    for (unsigned factor = 0; factor < axes.size(); ++factor) {
      if (rule.factors[factor].kind != FactorKind::Special || axes[factor].empty()) {
        continue;
      }
      FactorAxes fewer = axes;
      fewer[factor].clear();
      if (row->accepts(op, rule, fewer, mesh)) {
        axes = fewer;
        return;
      }
    }
    for (auto [factor, list] : llvm::zip(rule.factors, axes)) {
      if (factor.kind == FactorKind::Special) {
        list.clear();
      }
    }
    if (!row->accepts(op, rule, axes, mesh)) {
      axes.assign(axes.size(), {});
    }
  }
}

/// Bytes that a partition sends, and what it computes and holds in the same measure.
double SpmdPartitioner::costOf(Operation *op, const Rule &rule, const OpPartitioner *row,
                               const FactorAxes &axes) {
  double cost = 0, work = 0;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (auto array = dyn_cast<RankedTensorType>(operand.getType())) {
      Sharding wanted = shardingOf(rule.operands[i], axes);
      cost += static_cast<double>(recompute.bytes(operand, wanted));
      work += static_cast<double>(shardBytes(array, wanted, mesh));
    }
  }
  AxisSet sums = sumAxes(rule, axes);
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    if (auto array = dyn_cast<RankedTensorType>(result.getType())) {
      Sharding made = shardingOf(rule.results[i], axes);
      const Sharding &wanted = program.shardingOf(result);
      work += static_cast<double>(shardBytes(array, made, mesh));
      Combination combination = combine(array, made, sums, wanted);
      cost += static_cast<double>(combination.bytes);
      cost += static_cast<double>(e.reshardBytes(array, combination.after, wanted));
    }
  }
  if (row && row->bytes) {
    cost += static_cast<double>(row->bytes(op, rule, axes, mesh));
  }
  // Multiply-adds of a partition: an op with sums does one for each index of its factors.
  double products = 0;
  if (llvm::any_of(rule.factors,
                   [](const Factor &factor) { return factor.kind == FactorKind::Sum; })) {
    products = 1;
    for (auto [factor, list] : llvm::zip(rule.factors, axes)) {
      products *= static_cast<double>(shardSize(factor.size, mesh.count(list)));
    }
  }
  // What a rank reads or writes, and multiplies, in the time in which it sends a byte: 64 bytes and
  // 32 products, as cores with some 100 GB/s and 50 GFLOP/s on a network of a few GB/s do.
  constexpr double memoryPerSent = 1.0 / 64, productsPerSent = 1.0 / 32;
  return cost + work * memoryPerSent + products * productsPerSent;
}

FactorAxes SpmdPartitioner::choose(Operation *op, const Rule &rule, const OpPartitioner *row) {
  size_t operands = op->getNumOperands(), arrays = operands + op->getNumResults();
  std::vector<FactorAxes> projected;
  for (size_t i = 0; i < arrays; ++i) {
    bool isOperand = i < operands;
    FactorAxes axes(rule.factors.size());
    const DimFactors &dims = isOperand ? rule.operands[i] : rule.results[i - operands];
    Value value = isOperand ? op->getOperand(i) : op->getResult(i - operands);
    if (isa<RankedTensorType>(value.getType())) {
      projectFactors(rule, dims, program.shardingOf(value), mesh, axes);
    }
    projected.push_back(std::move(axes));
  }
  // Each array's axes first, then what others add; and each array's alone.
  std::vector<FactorAxes> candidates;
  auto add = [&](FactorAxes axes) {
    normalize(op, rule, row, axes);
    if (!llvm::is_contained(candidates, axes)) {
      candidates.push_back(std::move(axes));
    }
  };
  auto merge = [&](FactorAxes &into, const FactorAxes &from) {
    AxisSet used = 0;
    for (const AxisList &list : into) {
      used |= setOf(list);
    }
    for (auto [list, more] : llvm::zip(into, from)) {
      bool extends =
          more.size() > list.size() && std::equal(list.begin(), list.end(), more.begin());
      for (size_t i = list.size(); extends && i < more.size() && !(used >> more[i] & 1); ++i) {
        used |= AxisSet(1) << more[i];
        list.push_back(more[i]);
      }
    }
  };
  // Results first: their shardings are wanted. At most so many arrays, since tuples of thousands of
  // operands (a concatenate) all look alike.
  constexpr size_t mostTried = 6;
  SmallVector<size_t> order;
  for (size_t i = operands; i < arrays; ++i) {
    order.push_back(i);
  }
  for (size_t i = 0; i < operands; ++i) {
    order.push_back(i);
  }
  for (size_t k = 0; k < std::min(order.size(), mostTried); ++k) {
    FactorAxes axes = projected[order[k]];
    add(axes);
    for (size_t i : order) {
      merge(axes, projected[i]);
    }
    add(axes);
    // The same without sums.
    for (auto [factor, list] : llvm::zip(rule.factors, axes)) {
      if (factor.kind == FactorKind::Sum) {
        list.clear();
      }
    }
    add(axes);
  }
  add(FactorAxes(rule.factors.size()));
  if (candidates.size() == 1) {
    return candidates.front();
  }
  SmallVector<double> costs;
  for (const FactorAxes &axes : candidates) {
    costs.push_back(costOf(op, rule, row, axes));
  }
  return candidates[llvm::min_element(costs) - costs.begin()];
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// An op whose types are local already, or that has no arrays.
void SpmdPartitioner::copy(Operation *op) {
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    mapping.map(operand, localAs(operand, Sharding(rankOf(operand))));
  }
  Operation *copied = e.builder.clone(*op, mapping);
  copied->removeAttr(kAnnotation);
  for (auto [result, shard] : llvm::zip(op->getResults(), copied->getResults())) {
    auto array = dyn_cast<RankedTensorType>(result.getType());
    bind(result,
         array ? e.reshard(shard, array, Sharding(array.getRank()), program.shardingOf(result))
               : shard);
  }
}

LogicalResult SpmdPartitioner::partition(Operation *op) {
  e.builder.setInsertionPoint(op);
  e.loc = op->getLoc();
  e.why = hloOpcode(op->getName().getStringRef());
  if (StringRef marker = markerOf(op); !marker.empty()) {
    return partitionMarker(op, marker);
  }
  if (auto loop = dyn_cast<WhileOp>(op)) {
    return partitionLoop(loop);
  }
  if (auto conditional = dyn_cast<ConditionalOp>(op)) {
    return partitionConditional(conditional);
  }
  AxisSet manual = program.manualAround(op);
  if (manual == mesh.all()) {
    copy(op);
    return success();
  }
  auto found = partitionerTable().find(op->getName().getStringRef());
  const OpPartitioner *row = found == partitionerTable().end() ? nullptr : &found->second;
  Rule rule = ruleOf(op);
  if (manual && isa<AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp, CollectivePermuteOp,
                    CollectiveBroadcastOp, PartitionIdOp, ReplicaIdOp>(op)) {
    // Its groups are of partitions that differ along manual axes alone: the other axes may split
    // whatever dimension it does not move.
    rule = Rule::of(op);
    row = nullptr;
    auto moved = op->getAttrOfType<IntegerAttr>("dimension");
    if (op->getNumOperands() == 1 && op->getNumResults() == 1) {
      for (int64_t dim = 0; dim < rankOf(op->getOperand(0)); ++dim) {
        if (!moved || moved.getInt() != dim) {
          unsigned factor = rule.addFactor(shapeOf(op->getOperand(0))[dim]);
          rule.operands[0][dim] = {factor};
          rule.results[0][dim] = {factor};
        }
      }
    }
  }
  FactorAxes axes = choose(op, rule, row);
  Site site{op, rule, axes, {}, e};
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    e.why = "operand " + std::to_string(i) + " of " + hloOpcode(op->getName().getStringRef());
    if (isa<RankedTensorType>(operand.getType())) {
      Sharding wanted = site.operandSharding(i);
      e.why += " as " + toString(wanted, mesh);
      site.operands.push_back(localAs(operand, wanted));
    } else {
      site.operands.push_back(localOf(operand));
    }
  }
  if (report && rule.replicated[0] != '\0' && llvm::any_of(op->getOperands(), [&](Value value) {
        return isa<RankedTensorType>(value.getType()) && !program.shardingOf(value).isReplicated();
      })) {
    std::string line;
    llvm::raw_string_ostream os(line);
    if (auto place = op->getLoc()->findInstanceOf<FileLineColLoc>()) {
      os << place.getFilename().getValue() << ':' << place.getLine() << ": ";
    }
    os << hloOpcode(op->getName().getStringRef()) << " is computed whole: " << rule.replicated;
    report->replicated.push_back(line);
  }
  e.why = "the work of " + hloOpcode(op->getName().getStringRef());
  SmallVector<Value> shards;
  if (row && row->emit) {
    FailureOr<SmallVector<Value>> emitted = row->emit(site);
    if (failed(emitted)) {
      return failure();
    }
    shards = *emitted;
  } else {
    llvm::append_range(shards, site.clone()->getResults());
  }
  AxisSet sums = sumAxes(rule, axes);
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    auto array = dyn_cast<RankedTensorType>(result.getType());
    if (!array) {
      bind(result, shards[i]);
      continue;
    }
    Sharding made = site.resultSharding(i);
    if (shards[i].getType() != shardType(array, made, mesh)) {
      return op->emitError("internal error: partitioning gives ")
             << hloText(shards[i].getType()) << " where the shard is "
             << hloText(shardType(array, made, mesh));
    }
    const Sharding &wanted = program.shardingOf(result);
    if (sums) {
      e.why = "partial sums of " + hloOpcode(op->getName().getStringRef());
      Combination combination = combine(array, made, sums, wanted);
      FlatSymbolRefAttr computation =
          row && row->sum ? row->sum(site) : e.sumComputation(SumKind::Add, array.getElementType());
      for (const Combination::Scatter &scatter : combination.scatters) {
        shards[i] = e.reduceScatter(shards[i], scatter.dim, scatter.axes, computation);
      }
      shards[i] = e.allReduce(shards[i], combination.rest, computation);
      made = combination.after;
    }
    e.why =
        "result of " + hloOpcode(op->getName().getStringRef()) + " as " + toString(wanted, mesh);
    bind(result, e.reshard(shards[i], array, made, wanted));
  }
  return success();
}

Sharding SpmdPartitioner::joined(const Annotation &border, const Sharding &inside) {
  Sharding result(inside.rank());
  for (int64_t dim = 0; dim < inside.rank(); ++dim) {
    for (Axis axis : border.sharding.dims[dim]) {
      if (border.manual >> axis & 1) {
        result.dims[dim].push_back(axis);
      }
    }
    llvm::append_range(result.dims[dim], inside.dims[dim]);
  }
  return result;
}

/// The part of an array's sharding inside of a region with which shards of its shards are shards of
/// the whole array: none is padded, unless no manual axis splits the dimension.
Sharding SpmdPartitioner::nested(const Annotation &border, const Sharding &inside,
                                 ArrayRef<int64_t> shape) const {
  Sharding result = inside;
  for (int64_t dim = 0; dim < inside.rank(); ++dim) {
    AxisList &axes = result.dims[dim];
    bool isSplit = (setOf(border.sharding.dims[dim]) & border.manual) != 0;
    while (isSplit && !axes.empty() && shape[dim] % mesh.count(axes) != 0) {
      axes.pop_back();
    }
  }
  return result;
}

LogicalResult SpmdPartitioner::partitionMarker(Operation *op, StringRef marker) {
  Value operand = op->getOperand(0), result = op->getResult(0);
  auto array = cast<RankedTensorType>(operand.getType());
  const Sharding &wanted = program.shardingOf(result);
  if (marker == kMarkEnter || marker == kMarkExit) {
    Annotation border = *annotationOf(op);
    auto resultType = cast<RankedTensorType>(result.getType());
    if (marker == kMarkEnter) {
      e.why = "array of a manual region";
      Sharding inside = nested(border, wanted, resultType.getShape());
      Value entered = localAs(operand, joined(border, inside));
      bind(result, e.reshard(entered, resultType, inside, wanted));
    } else {
      e.why = "result of a manual region as " + toString(wanted, mesh);
      const Sharding &own = program.shardingOf(operand);
      Sharding inside = nested(border, own, array.getShape());
      Value left = e.reshard(localOf(operand), array, own, inside);
      bind(result, e.reshard(left, resultType, joined(border, inside), wanted));
    }
    return success();
  }
  e.why = "sharding constraint " + toString(wanted, mesh);
  bind(result, localAs(operand, wanted));
  return success();
}

LogicalResult SpmdPartitioner::partitionLoop(WhileOp loop) {
  ComputationOp body = program.computation(loop.getBodyAttr());
  ComputationOp condition = program.computation(loop.getConditionAttr());
  OperationState state(loop.getLoc(), loop->getName());
  for (auto [i, operand] : llvm::enumerate(loop->getOperands())) {
    const Sharding &wanted = program.shardingOf(loop->getResult(i));
    e.why = "initial value " + std::to_string(i) + " of while as " + toString(wanted, mesh);
    Value shard = localAs(operand, wanted);
    state.addOperands(shard);
    state.addTypes(shard.getType());
  }
  state.addAttributes(loop->getAttrs());
  state.attributes.erase(kAnnotation);
  Operation *copied = e.builder.create(state);
  for (auto [result, shard] : llvm::zip(loop->getResults(), copied->getResults())) {
    bind(result, shard);
  }
  std::vector<Sharding> carries;
  for (Value result : loop->getResults()) {
    carries.push_back(program.shardingOf(result));
  }
  return failed(partition(condition, Sharding())) || failed(partition(body, carries)) ? failure()
                                                                                      : success();
}

LogicalResult SpmdPartitioner::partitionConditional(ConditionalOp op) {
  OperationState state(op.getLoc(), op->getName());
  Value selector = op->getOperand(0);
  state.addOperands(localAs(selector, Sharding(rankOf(selector))));
  size_t next = 1;
  for (Attribute name : op.getBranchComputations()) {
    ComputationOp branch = program.computation(cast<FlatSymbolRefAttr>(name));
    for (BlockArgument argument : branch.getBody().getArguments()) {
      const Sharding &wanted = program.shardingOf(argument);
      e.why = "operand " + std::to_string(next) + " of conditional as " + toString(wanted, mesh);
      state.addOperands(localAs(op->getOperand(next++), wanted));
    }
  }
  for (Value result : op->getResults()) {
    state.addTypes(shardType(result.getType(), program.shardingOf(result), mesh));
  }
  state.addAttributes(op->getAttrs());
  state.attributes.erase(kAnnotation);
  Operation *copied = e.builder.create(state);
  for (auto [result, shard] : llvm::zip(op->getResults(), copied->getResults())) {
    bind(result, shard);
  }
  std::vector<Sharding> wanted;
  for (Value result : op->getResults()) {
    wanted.push_back(program.shardingOf(result));
  }
  for (Attribute name : op.getBranchComputations()) {
    if (failed(partition(program.computation(cast<FlatSymbolRefAttr>(name)), wanted))) {
      return failure();
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Computations
//===----------------------------------------------------------------------===//

/// The caller's shards lie on other partitions than the mesh's: `partitionAt[p]` has what position
/// p must have, or gets what it has.
Value SpmdPartitioner::permuteOrder(Value value, ArrayRef<int64_t> partitionAt, bool fromCaller) {
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  for (auto [position, partition] : llvm::enumerate(partitionAt)) {
    int64_t there = mesh.positionOf(partition), here = static_cast<int64_t>(position);
    pairs.emplace_back(fromCaller ? there : here, fromCaller ? here : there);
  }
  return e.permute(value, pairs);
}

Attribute SpmdPartitioner::leafAttr(Type global, const Sharding &sharding,
                                    ArrayRef<int64_t> partitionAt) {
  OpBuilder &b = e.builder;
  auto array = dyn_cast<RankedTensorType>(global);
  if (!array || sharding.isReplicated()) {
    return b.getUnitAttr();
  }
  SmallVector<Attribute> axes;
  for (const AxisList &list : sharding.dims) {
    axes.push_back(b.getDenseI64ArrayAttr(SmallVector<int64_t>(list.begin(), list.end())));
  }
  SmallVector<NamedAttribute> entries{
      b.getNamedAttr("global", b.getDenseI64ArrayAttr(array.getShape())),
      b.getNamedAttr("axes", b.getArrayAttr(axes))};
  SmallVector<int64_t> devices(partitionAt);
  if (devices.empty() && !mesh.hasDefaultOrder()) {
    for (int64_t position = 0; position < mesh.partitions(); ++position) {
      devices.push_back(mesh.partitionAt(position));
    }
  }
  if (!devices.empty()) {
    entries.push_back(b.getNamedAttr("devices", b.getDenseI64ArrayAttr(devices)));
  }
  return b.getDictionaryAttr(entries);
}

LogicalResult SpmdPartitioner::partition(ComputationOp computation, ArrayRef<Sharding> returned) {
  // A loop is partitioned where it stands: what the block around it has made stays known there.
  Emitter::BlockState outer = e.enterBlock();
  OpBuilder::InsertionGuard guard(e.builder);
  Block &block = computation.getBody().front();
  SmallVector<Operation *> whole;
  for (Operation &op : block) {
    whole.push_back(&op);
  }
  unsigned arguments = block.getNumArguments();
  SmallVector<Type> parameterTypes, resultTypes;
  for (unsigned i = 0; i < arguments; ++i) {
    BlockArgument old = block.getArgument(i);
    const Sharding &sharding = program.shardingOf(old);
    Type type = shardType(old.getType(), sharding, mesh);
    parameterTypes.push_back(type);
    Value shard = block.addArgument(type, old.getLoc());
    if (computation.getEntry()) {
      ArrayRef<int64_t> order;
      if (program.parameters[i]) {
        order = program.parameters[i]->partitionAt;
      }
      params.push_back(leafAttr(old.getType(), sharding, order));
      if (!order.empty() && !sharding.isReplicated()) {
        e.builder.setInsertionPoint(whole.front());
        e.loc = old.getLoc();
        e.why = "order of devices of parameter " + std::to_string(i);
        shard = permuteOrder(shard, order, /*fromCaller=*/true);
      }
    }
    bind(old, shard);
  }
  for (Operation *op : whole) {
    if (!isa<ReturnOp>(op)) {
      if (failed(partition(op))) {
        return failure();
      }
      continue;
    }
    e.builder.setInsertionPoint(op);
    e.loc = op->getLoc();
    SmallVector<Value> shards;
    for (auto [i, value] : llvm::enumerate(op->getOperands())) {
      Sharding wanted = returned.empty() ? program.shardingOf(value) : returned[i];
      e.why = "result " + std::to_string(i) + " of the body as " + toString(wanted, mesh);
      Value shard = localAs(value, wanted);
      if (computation.getEntry()) {
        SmallVector<int64_t> order;
        if (Operation *producer = value.getDefiningOp()) {
          if (std::optional<Annotation> annotation = annotationOf(producer)) {
            order = annotation->partitionAt;
          }
        }
        if (!order.empty() && !wanted.isReplicated()) {
          e.why = "order of devices of result " + std::to_string(i);
          shard = permuteOrder(shard, order, /*fromCaller=*/false);
        }
        results.push_back(leafAttr(value.getType(), wanted, order));
      }
      shards.push_back(shard);
      resultTypes.push_back(shard.getType());
    }
    ReturnOp::create(e.builder, op->getLoc(), shards);
  }
  computation.setFunctionType(e.builder.getFunctionType(parameterTypes, resultTypes));
  computation->removeAttr("arg_attrs");
  computation->removeAttr("res_attrs");
  erased.push_back({computation, std::move(whole), arguments});
  e.leaveBlock(std::move(outer));
  return success();
}

/// The entry's arrays are shards from here on.
LogicalResult SpmdPartitioner::finishEntry() {
  ModuleOp module = program.module;
  FailureOr<EntryLayout> layout = EntryLayout::get(module);
  if (failed(layout)) {
    return failure();
  }
  Block &block = program.entry.getBody().front();
  auto change = [&](SmallVectorImpl<EntryLeaf> &leaves, TypeRange types, TypeRange whole,
                    SmallVectorImpl<Attribute> &attributes) -> LogicalResult {
    size_t arrays = 0;
    for (auto [leaf, type, before] : llvm::zip(leaves, types, whole)) {
      arrays += leaf.sizeOf < 0;
      if (type == before) {
        continue;
      }
      auto shard = cast<RankedTensorType>(type), array = cast<RankedTensorType>(before);
      if (layoutOf(leaf.type) && !hasDefaultLayout(leaf.type)) {
        return mlir::emitError(program.entry.getLoc())
               << "sharding: " << leaf.name << " has the layout of " << hloText(leaf.type)
               << "; layouts of sharded arrays are not supported, use --entry-layout=row-major";
      }
      for (int64_t dim : boundedDimensions(leaf.type)) {
        if (shard.getDimSize(dim) != array.getDimSize(dim)) {
          return mlir::emitError(program.entry.getLoc())
                 << "sharding: " << leaf.name << " is " << hloText(leaf.type)
                 << ", and a bounded dimension, " << dim << ", cannot be split";
        }
      }
      leaf.type = hlo::arrayType(shard.getShape(), shard.getElementType(), {},
                                 boundedDimensions(leaf.type));
    }
    attributes.truncate(std::min<size_t>(attributes.size(), arrays));
    return success();
  };
  unsigned count = params.size();
  Operation *before = nullptr, *after = block.getTerminator();
  for (Operation *op : erased.back().ops) {
    before = isa<ReturnOp>(op) ? op : before;
  }
  after = before->getPrevNode(); // the new one stands before the old one
  SmallVector<Type> oldTypes, newTypes;
  for (unsigned i = 0; i < count; ++i) {
    oldTypes.push_back(block.getArgument(i).getType());
    newTypes.push_back(block.getArgument(count + i).getType());
  }
  if (failed(change(layout->inputs, newTypes, oldTypes, params)) ||
      failed(
          change(layout->outputs, after->getOperandTypes(), before->getOperandTypes(), results))) {
    return failure();
  }
  llvm::erase_if(layout->aliases, [&](const LeafAlias &alias) {
    return entryBytes(layout->inputs[alias.input].type) !=
           entryBytes(layout->outputs[alias.output].type);
  });
  layout->set(module);
  OpBuilder &b = e.builder;
  SmallVector<int64_t> sizes;
  SmallVector<std::string> names;
  for (unsigned axis = 0; axis < mesh.axes(); ++axis) {
    sizes.push_back(mesh.size(axis));
    names.push_back(mesh.nameOf(axis));
  }
  SmallVector<StringRef> nameRefs(names.begin(), names.end());
  module->setAttr("hlo.entry_shards",
                  b.getDictionaryAttr({b.getNamedAttr("mesh_sizes", b.getDenseI64ArrayAttr(sizes)),
                                       b.getNamedAttr("mesh_names", b.getStrArrayAttr(nameRefs)),
                                       b.getNamedAttr("params", b.getArrayAttr(params)),
                                       b.getNamedAttr("results", b.getArrayAttr(results))}));
  module->removeAttr(kMesh);
  module->removeAttr(kParameters);
  return success();
}

LogicalResult SpmdPartitioner::run() {
  if (failed(partition(program.entry, {})) || failed(finishEntry())) {
    return failure();
  }
  if (report) {
    fillReport();
  }
  for (Erased &each : erased) {
    for (Operation *op : llvm::reverse(each.ops)) {
      op->erase();
    }
    each.computation.getBody().front().eraseArguments(0, each.arguments);
  }
  return success();
}

void SpmdPartitioner::fillReport() {
  report->partitions = mesh.partitions();
  for (const Mesh::Named &each : mesh.named) {
    int64_t size = 1;
    for (Axis axis = each.first; axis < each.first + each.count; ++axis) {
      size *= mesh.size(axis);
    }
    report->mesh += (report->mesh.empty() ? "" : ", ") + each.name + "=" + std::to_string(size);
  }
  Block &block = program.entry.getBody().front();
  for (unsigned i = 0; i < params.size(); ++i) {
    report->parameters.push_back(toString(program.shardingOf(block.getArgument(i)), mesh));
  }
  for (Operation *op : erased.back().ops) {
    for (Value value : isa<ReturnOp>(op) ? op->getOperands() : OperandRange(nullptr, 0)) {
      report->results.push_back(toString(program.shardingOf(value), mesh));
    }
  }
}

/// Executes collectives of the text that begin and end apart at their start, because resharding
/// may come between the two parts.
void joinPairs(ModuleOp module) {
  module.walk([](CollectiveDoneOp done) {
    done->getOperand(0).getDefiningOp()->removeAttr(kAsyncAttr);
    done->replaceAllUsesWith(done->getOperands().take_front(done->getNumResults()));
    done->erase();
  });
}

/// Indices in the partitioned program are s32.
LogicalResult checkSizes(ModuleOp module) {
  auto check = [](ValueRange values) -> LogicalResult {
    constexpr int64_t most = std::numeric_limits<int32_t>::max();
    for (Value value : values) {
      auto array = dyn_cast<RankedTensorType>(value.getType());
      if (array && llvm::any_of(array.getShape(), [](int64_t size) { return size > most; })) {
        return emitError(value.getLoc(), "partitioning: ")
               << hloText(array) << " has a dimension of 2^31 elements or more";
      }
    }
    return success();
  };
  for (auto computation : module.getOps<ComputationOp>()) {
    Block &block = computation.getBody().front();
    if (failed(check(block.getArguments()))) {
      return failure();
    }
    for (Operation &op : block) {
      if (failed(check(op.getResults()))) {
        return failure();
      }
    }
  }
  return success();
}

class SpmdPartitionerPass : public PassWrapper<SpmdPartitionerPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SpmdPartitionerPass)
  SpmdPartitionerPass() = default;
  explicit SpmdPartitionerPass(PartitionReport *report) : report(report) {}
  StringRef getArgument() const final { return "hlo-spmd-partitioner"; }
  StringRef getDescription() const final {
    return "Make the program of one partition from an annotated one";
  }
  void runOnOperation() final {
    ModuleOp module = getOperation();
    Attribute attribute = module->getAttr(kMesh);
    if (!attribute) {
      return markAllAnalysesPreserved();
    }
    joinPairs(module);
    if (failed(checkSizes(module))) {
      return signalPassFailure();
    }
    mergeMovement(module);
    Mesh mesh = decodeMesh(attribute);
    Program program(module, mesh);
    if (failed(program.build())) {
      return signalPassFailure();
    }
    program.propagate();
    auto replicas = module->getAttrOfType<IntegerAttr>("hlo.replica_count");
    Emitter emitter(module, mesh, replicas ? std::max<int64_t>(replicas.getInt(), 1) : 1);
    if (failed(SpmdPartitioner(program, emitter, report).run())) {
      signalPassFailure();
    }
  }

private:
  PartitionReport *report = nullptr;
};

} // namespace

std::unique_ptr<Pass> hlo::createSpmdPartitionerPass(PartitionReport *report) {
  return std::make_unique<SpmdPartitionerPass>(report);
}

void hlo::registerSpmdPasses() {
  registerPass([] { return createImportShardingsPass(); });
  registerPass([] { return createSpmdPartitionerPass(); });
}
