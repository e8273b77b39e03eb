//===- Emitter.cpp - Ops of the program of one partition ------------------===//
#include "compiler/transforms/spmd/Emitter.h"
#include "compiler/transforms/spmd/Reshard.h"
#include "dialect/hlo/Shapes.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

Emitter::Emitter(ModuleOp module, const Mesh &mesh, int64_t replicas)
    : mesh(mesh), module(module), builder(module.getContext()), loc(module.getLoc()),
      replicas(replicas), plans(std::make_unique<ReshardPlans>(mesh)) {
  module.walk([&](Operation *op) {
    if (auto channel = op->getAttrOfType<IntegerAttr>("channel_id")) {
      channels = std::max(channels, channel.getInt());
    }
  });
}

Emitter::~Emitter() = default;

static std::string keyOf(StringRef what, ArrayRef<Axis> axes) {
  std::string key = what.str();
  for (Axis axis : axes) {
    key += ',' + std::to_string(axis);
  }
  return key;
}

//===----------------------------------------------------------------------===//
// Where this partition is
//===----------------------------------------------------------------------===//

Value Emitter::perPosition(ArrayRef<int64_t> values) {
  HloBuilder b(builder, loc);
  if (llvm::all_equal(values)) {
    return b.index(values.front());
  }
  std::string key = "table";
  for (int64_t value : values) {
    key += ',' + std::to_string(value);
  }
  Value &known = block.made[{nullptr, key}];
  if (known) {
    return known;
  }
  SmallVector<APInt> elements(values.size(), APInt(32, 0));
  for (int64_t position = 0; position < mesh.partitions(); ++position) {
    elements[mesh.partitionAt(position)] = APInt(32, values[position], /*isSigned=*/true);
  }
  auto element = IntegerType::get(builder.getContext(), 32, IntegerType::Signed);
  auto type = RankedTensorType::get({mesh.partitions()}, element);
  Value table = b.constant(DenseElementsAttr::get(type, elements));
  auto scalar =
      RankedTensorType::get({}, IntegerType::get(builder.getContext(), 32, IntegerType::Unsigned));
  Value partition =
      PartitionIdOp::create(builder, loc, TypeRange(scalar), ValueRange()).getResult(0);
  Value at = DynamicSliceOp::create(builder, loc, RankedTensorType::get({1}, element), table,
                                    ValueRange(b.convert(partition, element)),
                                    builder.getDenseI64ArrayAttr({1}));
  return known = b.reshape(at, {});
}

Value Emitter::shardIndex(ArrayRef<Axis> axes) {
  HloBuilder b(builder, loc);
  if (mesh.count(axes) == 1) {
    return b.index(0);
  }
  std::string key = keyOf("shard", axes);
  if (auto known = block.made.find({nullptr, key}); known != block.made.end()) {
    return known->second;
  }
  Value result;
  if (mesh.hasDefaultOrder()) {
    if (!block.position) {
      auto type = RankedTensorType::get(
          {}, IntegerType::get(builder.getContext(), 32, IntegerType::Unsigned));
      Value partition =
          PartitionIdOp::create(builder, loc, TypeRange(type), ValueRange()).getResult(0);
      block.position =
          b.convert(partition, IntegerType::get(builder.getContext(), 32, IntegerType::Signed));
    }
    // Runs of axes that are neighbours in the mesh too are one number in the position.
    for (size_t i = 0; i < axes.size();) {
      size_t end = i + 1;
      while (end < axes.size() && axes[end] == axes[end - 1] + 1) {
        ++end;
      }
      int64_t count = mesh.count(axes.slice(i, end - i)), stride = mesh.stride(axes[end - 1]);
      Value part = block.position;
      if (stride > 1) {
        part = b.div(part, b.index(stride));
      }
      if (stride * count < mesh.partitions()) {
        part = b.binary<RemainderOp>(part, b.index(count));
      }
      result = result ? b.add(b.mul(result, b.index(count)), part) : part;
      i = end;
    }
  } else {
    SmallVector<int64_t> table;
    for (int64_t position = 0; position < mesh.partitions(); ++position) {
      table.push_back(mesh.shardAt(position, axes));
    }
    result = perPosition(table);
  }
  return block.made[{nullptr, key}] = result;
}

Value Emitter::shardOffset(ArrayRef<Axis> axes, int64_t step) {
  Value index = shardIndex(axes);
  if (step == 1 || mesh.count(axes) == 1) {
    return index;
  }
  std::string key = keyOf("offset" + std::to_string(step), axes);
  Value &known = block.made[{nullptr, key}];
  return known ? known : known = b().mul(index, b().index(step));
}

//===----------------------------------------------------------------------===//
// Local data movement
//===----------------------------------------------------------------------===//

Value Emitter::dynamicSliceDim(Value array, int64_t dim, Value start, int64_t size) {
  auto type = HloBuilder::type(array);
  SmallVector<int64_t> sizes(type.getShape());
  if (sizes[dim] == size) {
    return array;
  }
  sizes[dim] = size;
  SmallVector<Value> starts(sizes.size(), b().index(0));
  starts[dim] = start;
  return DynamicSliceOp::create(builder, loc, RankedTensorType::get(sizes, type.getElementType()),
                                array, starts, builder.getDenseI64ArrayAttr(sizes));
}

Value Emitter::dynamicUpdateDim(Value array, Value update, int64_t dim, Value start) {
  SmallVector<Value> starts(HloBuilder::type(array).getRank(), b().index(0));
  starts[dim] = start;
  return DynamicUpdateSliceOp::create(builder, loc, array.getType(), array, update, starts);
}

Value Emitter::resizeDim(Value array, int64_t dim, int64_t size, Value fill) {
  auto type = HloBuilder::type(array);
  int64_t now = type.getDimSize(dim);
  if (now == size) {
    return array;
  }
  if (now > size) {
    return b().sliceDim(array, dim, 0, size);
  }
  SmallVector<int64_t> none(type.getRank(), 0), high(type.getRank(), 0);
  high[dim] = size - now;
  return b().pad(array, fill ? fill : zero(type.getElementType()), none, high, none);
}

Value Emitter::maskPadding(Value array, int64_t dim, ArrayRef<Axis> axes, int64_t size,
                           Value fill) {
  int64_t local = HloBuilder::type(array).getDimSize(dim);
  if (local * mesh.count(axes) == size) {
    return array;
  }
  return maskRange(array, dim, shardOffset(axes, local), 0, size, fill);
}

Value Emitter::maskRange(Value array, int64_t dim, Value start, int64_t low, int64_t high,
                         Value fill) {
  HloBuilder b(builder, loc);
  auto type = HloBuilder::type(array);
  auto element = IntegerType::get(builder.getContext(), 32, IntegerType::Signed);
  auto indexType = RankedTensorType::get(type.getShape(), element);
  Value index = b.add(b.iota(indexType, dim), b.broadcastScalar(start, type.getShape()));
  Value inside = b.compare(index, b.splat(indexType, high), "LT");
  if (low != 0) {
    Value above = b.compare(index, b.splat(indexType, low), "GE");
    inside = b.binary<AndOp>(inside, above);
  }
  return b.select(inside, array, b.broadcastScalar(fill, type.getShape()));
}

Value Emitter::identity(SumKind kind, Type element) {
  HloBuilder b(builder, loc);
  auto scalar = RankedTensorType::get({}, element);
  switch (kind) {
  case SumKind::Add:
  case SumKind::Or:
    if (kind == SumKind::Add || isPred(element)) {
      return b.scalar(element, 0);
    }
    return b.constant(DenseElementsAttr::get(scalar, APInt(element.getIntOrFloatBitWidth(), 0)));
  case SumKind::Multiply: return b.scalar(element, 1);
  case SumKind::And:
    return b.constant(
        DenseElementsAttr::get(scalar, APInt::getAllOnes(element.getIntOrFloatBitWidth())));
  case SumKind::Minimum:
  case SumKind::Maximum: break;
  }
  bool isMaximum = kind == SumKind::Maximum;
  if (auto floating = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = floating.getFloatSemantics();
    bool hasInfinity =
        APFloat::semanticsHasInf(semantics) && APFloat::semanticsHasSignedRepr(semantics);
    APFloat value = hasInfinity ? APFloat::getInf(semantics, isMaximum)
                                : APFloat::getLargest(semantics, isMaximum);
    return b.constant(DenseElementsAttr::get(scalar, value));
  }
  unsigned width = element.getIntOrFloatBitWidth();
  APInt value =
      isSigned(element)
          ? (isMaximum ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width))
          : (isMaximum ? APInt::getMinValue(width) : APInt::getMaxValue(width));
  return b.constant(DenseElementsAttr::get(scalar, value));
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

FlatSymbolRefAttr Emitter::sumComputation(SumKind kind, Type element) {
  constexpr StringRef names[] = {"add", "multiply", "minimum", "maximum", "and", "or"};
  std::string name = ("spmd." + names[static_cast<int>(kind)] + ".").str();
  llvm::raw_string_ostream(name) << element;
  for (char &c : name) {
    c = c == '<' || c == '>' ? '_' : c;
  }
  FlatSymbolRefAttr &known = sums[name];
  if (known) {
    return known;
  }
  std::string unique = name;
  for (int suffix = 1; SymbolTable::lookupSymbolIn(module, unique); ++suffix) {
    unique = name + "." + std::to_string(suffix);
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  Location place = NameLoc::get(builder.getStringAttr(unique));
  auto scalar = RankedTensorType::get({}, element);
  auto computation = ComputationOp::create(builder, place, unique,
                                           builder.getFunctionType({scalar, scalar}, {scalar}));
  Block &block = computation.getBody().emplaceBlock();
  block.addArguments({scalar, scalar}, {place, place});
  builder.setInsertionPointToStart(&block);
  HloBuilder b(builder, place);
  Value x = block.getArgument(0), y = block.getArgument(1), sum;
  switch (kind) {
  case SumKind::Add: sum = b.add(x, y); break;
  case SumKind::Multiply: sum = b.mul(x, y); break;
  case SumKind::Minimum: sum = b.binary<MinimumOp>(x, y); break;
  case SumKind::Maximum: sum = b.binary<MaximumOp>(x, y); break;
  case SumKind::And: sum = b.binary<AndOp>(x, y); break;
  case SumKind::Or: sum = b.binary<OrOp>(x, y); break;
  }
  ReturnOp::create(builder, place, sum);
  return known = FlatSymbolRefAttr::get(builder.getContext(), unique);
}

StringAttr Emitter::groupsAttr(ArrayRef<Axis> axes) {
  std::string text = "{";
  for (int64_t replica = 0; replica < replicas; ++replica) {
    for (const SmallVector<int64_t> &group : mesh.groups(axes)) {
      text += text.size() > 1 ? ",{" : "{";
      for (auto [i, partition] : llvm::enumerate(group)) {
        text += (i ? "," : "") + std::to_string(replica * mesh.partitions() + partition);
      }
      text += "}";
    }
  }
  return builder.getStringAttr(text + "}");
}

IntegerAttr Emitter::nextChannel() { return builder.getI64IntegerAttr(++channels); }

void Emitter::note(Operation *op, int64_t bytes) {
  op->setAttr(kWhy, builder.getStringAttr(why));
  op->setAttr(kBytes, builder.getI64IntegerAttr(bytes));
}

Value Emitter::allReduce(Value value, ArrayRef<Axis> axes, FlatSymbolRefAttr computation) {
  int64_t parts = mesh.count(axes);
  if (parts == 1) {
    return value;
  }
  Operation *op = AllReduceOp::create(builder, loc, TypeRange(value.getType()), ValueRange(value),
                                      groupsAttr(axes), nextChannel(), builder.getBoolAttr(true),
                                      BoolAttr(), computation);
  note(op, 2 * (parts - 1) * byteSize(value.getType()).value_or(0) / parts);
  return op->getResult(0);
}

Value Emitter::allReduce(Value value, ArrayRef<Axis> axes, SumKind kind) {
  return allReduce(value, axes, sumComputation(kind, HloBuilder::type(value).getElementType()));
}

Value Emitter::reduceScatter(Value value, int64_t dim, ArrayRef<Axis> axes,
                             FlatSymbolRefAttr computation) {
  int64_t parts = mesh.count(axes);
  if (parts == 1) {
    return value;
  }
  auto type = HloBuilder::type(value);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= parts;
  Operation *op = ReduceScatterOp::create(
      builder, loc, TypeRange(RankedTensorType::get(shape, type.getElementType())),
      ValueRange(value), builder.getI64IntegerAttr(dim), groupsAttr(axes), nextChannel(),
      builder.getBoolAttr(true), BoolAttr(), computation);
  note(op, (parts - 1) * byteSize(type).value_or(0) / parts);
  return op->getResult(0);
}

Value Emitter::allGather(Value value, int64_t dim, ArrayRef<Axis> axes) {
  int64_t parts = mesh.count(axes);
  if (parts == 1) {
    return value;
  }
  auto type = HloBuilder::type(value);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] *= parts;
  Operation *op = AllGatherOp::create(
      builder, loc, TypeRange(RankedTensorType::get(shape, type.getElementType())),
      ValueRange(value), builder.getI64IntegerAttr(dim), groupsAttr(axes), nextChannel(),
      builder.getBoolAttr(true), BoolAttr());
  note(op, (parts - 1) * byteSize(type).value_or(0));
  return op->getResult(0);
}

Value Emitter::allToAll(Value value, int64_t split, int64_t concat, ArrayRef<Axis> axes) {
  int64_t parts = mesh.count(axes);
  if (parts == 1) {
    return value;
  }
  // Groups of this op are of partitions: it has no use_global_device_ids.
  std::string groups = "{";
  for (const SmallVector<int64_t> &group : mesh.groups(axes)) {
    groups += groups.size() > 1 ? ",{" : "{";
    for (auto [i, partition] : llvm::enumerate(group)) {
      groups += (i ? "," : "") + std::to_string(partition);
    }
    groups += "}";
  }
  auto type = HloBuilder::type(value);
  Operation *op = AllToAllOp::create(builder, loc, TypeRange(type), ValueRange(value),
                                     builder.getStringAttr(groups + "}"), nextChannel(),
                                     builder.getI64IntegerAttr(split), BoolAttr());
  note(op, (parts - 1) * byteSize(type).value_or(0) / parts);
  if (split == concat) {
    return op->getResult(0);
  }
  // The parts lie along `split`; they are moved before `concat`.
  HloBuilder b(builder, loc);
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<int64_t> cut(shape);
  cut[split] /= parts;
  cut.insert(cut.begin() + split, parts);
  Value result = b.reshape(op->getResult(0), cut);
  int64_t target = concat < split ? concat : concat + 1; // of `concat` in `cut`
  SmallVector<int64_t> permutation;
  for (int64_t dim = 0; dim < static_cast<int64_t>(cut.size()); ++dim) {
    if (dim == target) {
      permutation.push_back(split);
    }
    if (dim != split) {
      permutation.push_back(dim);
    }
  }
  result = b.transpose(result, permutation);
  shape[split] /= parts;
  shape[concat] *= parts;
  return b.reshape(result, shape);
}

Value Emitter::permute(Value value, ArrayRef<std::pair<int64_t, int64_t>> sourceTargets) {
  std::string pairs = "{";
  bool moves = false;
  for (auto [source, target] : sourceTargets) {
    moves |= source != target;
    pairs += (pairs.size() > 1 ? ",{" : "{") + std::to_string(mesh.partitionAt(source)) + "," +
             std::to_string(mesh.partitionAt(target)) + "}";
  }
  if (sourceTargets.empty()) {
    return b().splat(HloBuilder::type(value), 0);
  }
  if (!moves && static_cast<int64_t>(sourceTargets.size()) == mesh.partitions()) {
    return value;
  }
  Operation *op =
      CollectivePermuteOp::create(builder, loc, TypeRange(value.getType()), ValueRange(value),
                                  builder.getStringAttr(pairs + "}"), nextChannel(), StringAttr());
  note(op, byteSize(value.getType()).value_or(0));
  return op->getResult(0);
}

Value Emitter::shift(Value value, ArrayRef<Axis> axes, int64_t distance, bool wraps) {
  int64_t parts = mesh.count(axes);
  if (distance == 0 || (wraps && distance % parts == 0)) {
    return value;
  }
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  SmallVector<SmallVector<int64_t>> groups = mesh.groups(axes);
  for (const SmallVector<int64_t> &group : groups) {
    for (int64_t target = 0; target < parts; ++target) {
      int64_t source = target + distance;
      if (wraps) {
        source = ((source % parts) + parts) % parts;
      }
      if (source >= 0 && source < parts) {
        pairs.emplace_back(mesh.positionOf(group[source]), mesh.positionOf(group[target]));
      }
    }
  }
  return permute(value, pairs);
}

//===----------------------------------------------------------------------===//
// Sharding
//===----------------------------------------------------------------------===//

/// The `size` elements of dimension `dim` of the shards along `axes`: each partition puts its shard
/// among zeros, and all are added up as integers, which changes no bit.
static Value sumOfShards(Emitter &e, Value value, int64_t dim, ArrayRef<Axis> axes, int64_t size) {
  HloBuilder b = e.b();
  auto type = HloBuilder::type(value);
  Type element = type.getElementType();
  unsigned width = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  if (width != 1 && (width < 8 || !llvm::isPowerOf2_32(width))) {
    return e.resizeDim(e.allGather(value, dim, axes), dim, size);
  }
  Type bits =
      isa<FloatType>(element) || width == 1
          ? IntegerType::get(e.builder.getContext(), std::max(width, 8U), IntegerType::Unsigned)
          : element;
  SmallVector<int64_t> shape(type.getShape());
  if (width == 1) {
    value = b.convert(value, bits);
  } else if (bits != element) {
    value = b.bitcastConvert(value, HloBuilder::array(shape, bits));
  }
  int64_t local = shape[dim];
  // Starts beyond the end become `size`: shards of padding alone are cut off.
  shape[dim] = size + local;
  Value zeros = b.splat(HloBuilder::array(shape, bits), 0);
  value = e.dynamicUpdateDim(zeros, value, dim, e.shardOffset(axes, local));
  value = e.allReduce(e.resizeDim(value, dim, size), axes);
  shape[dim] = size;
  return width == 1        ? b.convert(value, element)
         : bits != element ? b.bitcastConvert(value, HloBuilder::array(shape, element))
                           : value;
}

Value Emitter::applyStep(Value value, ArrayRef<int64_t> shape, const Step &step) {
  auto localSize = [&](const Sharding &sharding, int64_t dim) {
    return shardSize(shape[dim], mesh.count(sharding.dims[dim]));
  };
  switch (step.kind) {
  case Step::Kind::Slice: {
    int64_t size = localSize(step.after, step.to);
    value = resizeDim(value, step.to, size * mesh.count(step.axes));
    return dynamicSliceDim(value, step.to, shardOffset(step.axes, size), size);
  }
  case Step::Kind::Gather:
    return resizeDim(allGather(value, step.from, step.axes), step.from,
                     localSize(step.after, step.from));
  case Step::Kind::Sum:
    return sumOfShards(*this, value, step.from, step.axes, localSize(step.after, step.from));
  case Step::Kind::Exchange:
    value = resizeDim(value, step.to, localSize(step.after, step.to) * mesh.count(step.axes));
    return resizeDim(allToAll(value, step.to, step.from, step.axes), step.from,
                     localSize(step.after, step.from));
  case Step::Kind::Permute: break;
  }
  // Each position takes its shard from a position that has it: itself if it can, else the one that
  // agrees with it along the axes that neither sharding uses.
  AxisList before, after;
  for (auto [old, now] : llvm::zip(step.before.dims, step.after.dims)) {
    llvm::append_range(before, old);
    llvm::append_range(after, now);
  }
  // Shards are numbered over all dimensions at once; counts per dimension are equal.
  AxisList rest = mesh.listOf(mesh.all() & ~setOf(before)), others;
  llvm::copy_if(rest, std::back_inserter(others),
                [&](Axis axis) { return !(setOf(after) >> axis & 1); });
  SmallVector<SmallVector<int64_t>> holders(mesh.count(before));
  for (int64_t position = 0; position < mesh.partitions(); ++position) {
    holders[mesh.shardAt(position, before)].push_back(position);
  }
  SmallVector<int64_t> taken(mesh.partitions(), 0);
  SmallVector<int64_t> sourceOf(mesh.partitions(), -1);
  for (int64_t position = 0; position < mesh.partitions(); ++position) {
    if (mesh.shardAt(position, before) == mesh.shardAt(position, after)) {
      sourceOf[position] = position;
      taken[position] = 1;
    }
  }
  // A source may send once in a collective-permute, so each position gets a holder of its own.
  for (int64_t position = 0; position < mesh.partitions(); ++position) {
    if (sourceOf[position] >= 0) {
      continue;
    }
    for (int64_t holder : holders[mesh.shardAt(position, after)]) {
      if (!taken[holder]) {
        sourceOf[position] = holder;
        taken[holder] = 1;
        break;
      }
    }
  }
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  for (auto [target, source] : llvm::enumerate(sourceOf)) {
    pairs.emplace_back(source, static_cast<int64_t>(target));
  }
  return permute(value, pairs);
}

Value Emitter::reshard(Value value, RankedTensorType global, const Sharding &from,
                       const Sharding &to) {
  if (from == to) {
    return value;
  }
  const ReshardPlans::Plan &plan =
      plans->find(global.getShape(), elementBytes(global.getElementType()), from, to);
  for (const Step &step : plan.steps) {
    // One value may be the shard of arrays of several shapes and shardings: a reshape of the whole
    // array is none of a shard that has the same shape.
    std::string change = toString(step.before, mesh) + toString(step.after, mesh);
    for (int64_t size : global.getShape()) {
      change += "," + std::to_string(size);
    }
    Value &known = block.made[{value.getAsOpaquePointer(), change}];
    value = known ? known : known = applyStep(value, global.getShape(), step);
  }
  return value;
}

int64_t Emitter::reshardBytes(RankedTensorType global, const Sharding &from, const Sharding &to) {
  return from == to
             ? 0
             : plans->find(global.getShape(), elementBytes(global.getElementType()), from, to)
                   .bytes;
}
