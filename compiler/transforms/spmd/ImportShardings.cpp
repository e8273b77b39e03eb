//===- ImportShardings.cpp - hlo-import-shardings -------------------------===//
//
// Reads both forms of annotation (ShardingText.h) and writes one (Annotation.h). Fixes the mesh:
// its axes are the prime factors of the axes of the text's mesh, in their order; without a mesh, of
// the sizes that the first list of devices is made of. Which partition sits where follows from the
// mesh's device ids, or from the order that most shardings agree with.
//
// Where Shardy's form and HLO's are both there, Shardy's is read: it has open dimensions. A maximal
// sharding (one device has the array) becomes a replicated one: each partition then has what that
// device would have.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Computations.h"
#include "compiler/support/NearestNames.h"
#include "compiler/transforms/spmd/Annotation.h"
#include "compiler/transforms/spmd/ShardingText.h"
#include "compiler/transforms/spmd/Spmd.h"
#include "dialect/hlo/Builder.h"
#include "dialect/hlo/Shapes.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

namespace {

constexpr StringRef kSdySharding = "xla.sdy.sharding";
/// More partitions than any machine has ranks.
constexpr int64_t kMostPartitions = 1 << 20;

StringRef stringOf(Operation *op, StringRef name) {
  auto text = op->getAttrOfType<StringAttr>(name);
  return text ? text.getValue() : StringRef();
}

bool isBorder(StringRef target) {
  return llvm::is_contained({"SPMDFullToShardShape", "SPMDShardToFullShape",
                             "xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape"},
                            target);
}
bool isAnnotationCall(StringRef target) {
  return isBorder(target) || target == "Sharding" || target == "xla.sdy.FuncResultSharding" ||
         target == "xla.sdy.ShardingGroup" || target == "xla.sdy.PropagationBarrier" ||
         target == "ShardBarrierFrom" || target == "ShardBarrierTo";
}

class Importer {
public:
  explicit Importer(ModuleOp module) : module(module) {}
  LogicalResult run();

private:
  LogicalResult fail(Location loc, const Twine &message) {
    mlir::emitError(loc) << "sharding: " << message;
    return failure();
  }
  LogicalResult chooseMesh();
  std::optional<std::vector<AxisList>> axesOf(const TilesText &tiles, const Mesh &mesh) const;
  FailureOr<Annotation> convert(const TilesText &tiles, int64_t rank, Location loc);
  FailureOr<Annotation> convert(const AxesText &axes, int64_t rank, Location loc);
  FailureOr<AxisList> convert(const MeshText &mesh, const AxisText &axis, Location loc);
  FailureOr<const MeshText *> meshOf(const AxesText &axes, Location loc);
  /// Whether a mesh may list its devices so: not at all, or each partition once.
  bool isOrder(ArrayRef<int64_t> devices) const;
  /// The annotations that attributes give for the leaves of `type`; empty if there are none.
  FailureOr<std::vector<std::optional<Annotation>>> read(StringRef sharding, StringRef frontend,
                                                         StringRef key, Type type, Location loc);
  FailureOr<AxisSet> manualAxes(StringRef frontend, StringRef key, Location loc);

  Value mark(OpBuilder &builder, Location loc, StringRef target, Value value, Type result,
             const Annotation &annotation);
  void markUses(Value value, const Annotation &annotation);
  LogicalResult importOp(Operation *op);
  LogicalResult importCall(CustomCallOp op);
  LogicalResult importBorder(CustomCallOp op);
  void annotateTuple(Value tuple, ArrayRef<std::optional<Annotation>> leaves);
  LogicalResult importParameters(ComputationOp computation);
  static void dropAnnotations(ComputationOp computation);

  ModuleOp module;
  int64_t partitions = 1;
  Mesh mesh;
  std::vector<MeshText> meshes;
  /// The manual axes that GSPMD's annotation of a value names.
  DenseMap<Value, AxisSet> manualOf;
};

int64_t rankOf(Type type) {
  auto array = dyn_cast<RankedTensorType>(type);
  return array ? array.getRank() : 0;
}

} // namespace

//===----------------------------------------------------------------------===//
// The mesh
//===----------------------------------------------------------------------===//

/// The axes of each tile dimension, if the list of devices is a permutation of the mesh's axes.
std::optional<std::vector<AxisList>> Importer::axesOf(const TilesText &tiles,
                                                      const Mesh &mesh) const {
  auto at = [&](int64_t tile) { return mesh.positionOf(tiles.devices[tile]); };
  std::vector<AxisList> lists(tiles.tiles.size());
  int64_t stride = 1;
  for (size_t dim = tiles.tiles.size(); dim-- > 0;) {
    for (int64_t inside = 1; inside < tiles.tiles[dim];) {
      int64_t step = at(stride * inside) - at(0);
      std::optional<Axis> found;
      for (unsigned axis = 0; axis < mesh.axes(); ++axis) {
        if (mesh.stride(axis) == step && tiles.tiles[dim] / inside % mesh.size(axis) == 0) {
          found = axis;
        }
      }
      if (!found) {
        return std::nullopt;
      }
      lists[dim].insert(lists[dim].begin(), *found);
      inside *= mesh.size(*found);
    }
    stride *= tiles.tiles[dim];
  }
  AxisList all;
  for (const AxisList &list : lists) {
    llvm::append_range(all, list);
  }
  if (llvm::popcount(setOf(all)) != static_cast<int>(all.size())) {
    return std::nullopt;
  }
  for (int64_t position = 0; position < mesh.partitions(); ++position) {
    if (at(mesh.shardAt(position, all)) != position) {
      return std::nullopt;
    }
  }
  return lists;
}

LogicalResult Importer::chooseMesh() {
  // All distinct lists of devices.
  std::vector<TilesText> lists;
  llvm::StringSet<> seen;
  auto look = [&](StringRef text) {
    if (text.empty() || !seen.insert(text).second) {
      return;
    }
    bool isTuple = false;
    std::string ignored;
    FailureOr<std::vector<ShardingText>> parsed = parseSharding(text, isTuple, ignored);
    for (const ShardingText &each : succeeded(parsed) ? *parsed : std::vector<ShardingText>()) {
      if (!each.tiles || static_cast<int64_t>(each.tiles->devices.size()) != partitions) {
        continue;
      }
      SmallVector<int64_t> sorted(each.tiles->devices);
      llvm::sort(sorted);
      if (llvm::equal(sorted, llvm::seq<int64_t>(0, partitions))) {
        lists.push_back(*each.tiles);
      }
    }
  };
  module->walk([&](Operation *op) { look(stringOf(op, "hlo.sharding")); });
  for (auto computation : module.getOps<ComputationOp>()) {
    for (unsigned i = 0; i < computation.getBody().getNumArguments(); ++i) {
      if (auto text = computation.getArgAttrOfType<StringAttr>(i, "hlo.sharding")) {
        look(text.getValue());
      }
    }
  }
  const MeshText *named = nullptr;
  for (const MeshText &each : meshes) {
    if (!named && each.count() == partitions && !each.axes.empty()) {
      named = &each;
    }
  }
  SmallVector<int64_t> sizes;
  SmallVector<SmallVector<int64_t>> orders(1);
  if (named) {
    for (const auto &[name, size] : named->axes) {
      llvm::append_range(sizes, primeFactors(size));
    }
    orders.front() = named->devices;
  } else {
    auto parts = [](ArrayRef<int64_t> dims) {
      return llvm::count_if(dims, [](int64_t size) { return size > 1; });
    };
    ArrayRef<int64_t> best(partitions);
    for (const TilesText &each : lists) {
      ArrayRef<int64_t> dims = each.iota.size() > 1 ? each.iota : each.tiles;
      best = parts(dims) > parts(best) ? dims : best;
    }
    for (int64_t size : best) {
      llvm::append_range(sizes, primeFactors(size));
    }
  }
  if (sizes.size() > 64) {
    return fail(module.getLoc(), "too many axes");
  }
  for (const TilesText &each : lists) {
    if (each.iota.empty() && !llvm::is_contained(orders, each.devices) && orders.size() < 64) {
      orders.push_back(each.devices);
    }
  }
  int64_t most = -1;
  for (const SmallVector<int64_t> &order : orders) {
    Mesh candidate(sizes, order);
    int64_t fits = llvm::count_if(
        lists, [&](const TilesText &list) { return axesOf(list, candidate).has_value(); });
    if (fits > most) {
      most = fits;
      mesh = candidate;
    }
  }
  if (named) {
    Axis next = 0;
    for (const auto &[name, size] : named->axes) {
      auto count = static_cast<Axis>(primeFactors(size).size());
      mesh.named.push_back({name, next, count});
      next += count;
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// From texts to annotations
//===----------------------------------------------------------------------===//

FailureOr<Annotation> Importer::convert(const TilesText &tiles, int64_t rank, Location loc) {
  using Kind = TilesText::Kind;
  Annotation annotation(rank, tiles.kind == Kind::Unknown);
  if (tiles.kind == Kind::Manual) {
    annotation.manual = mesh.all();
  }
  if (tiles.kind == Kind::Unreduced || llvm::is_contained(tiles.subgroups, Kind::Unreduced)) {
    return fail(loc, "unreduced arrays are not supported");
  }
  if (tiles.kind == Kind::Maximal && !tiles.devices.empty() &&
      (tiles.devices[0] < 0 || tiles.devices[0] >= partitions)) {
    return fail(loc, "device " + Twine(tiles.devices[0]) + " does not exist");
  }
  if (tiles.kind != Kind::Tiled) {
    return annotation;
  }
  int64_t devices = tiles.devices.size();
  if (devices != partitions) {
    return fail(loc, "it is over " + Twine(devices) + " devices, the module has " +
                         Twine(partitions) + " partitions");
  }
  SmallVector<bool> used(partitions, false);
  for (int64_t device : tiles.devices) {
    if (device < 0 || device >= partitions || used[device]) {
      return fail(loc,
                  "device " + Twine(device) +
                      (device < 0 || device >= partitions ? " does not exist" : " is there twice"));
    }
    used[device] = true;
  }
  int64_t dims = static_cast<int64_t>(tiles.tiles.size()) - tiles.subgroups.size();
  if (dims != rank) {
    return fail(loc, "it has " + Twine(dims) + " dimensions, the array has " + Twine(rank));
  }
  std::optional<std::vector<AxisList>> lists = axesOf(tiles, mesh);
  bool isForeign = !lists;
  if (isForeign) {
    // Any axes with these sizes; the caller's shards are permuted.
    lists.emplace(tiles.tiles.size());
    AxisSet free = mesh.all();
    for (auto [size, list] : llvm::zip(tiles.tiles, *lists)) {
      for (int64_t factor : primeFactors(size)) {
        for (unsigned axis = 0; axis < mesh.axes(); ++axis) {
          if ((free >> axis & 1) && mesh.size(axis) == factor) {
            list.push_back(axis);
            free &= ~(AxisSet(1) << axis);
            break;
          }
        }
      }
    }
  }
  for (int64_t dim = 0; dim < rank; ++dim) {
    annotation.sharding.dims[dim] = (*lists)[dim];
  }
  for (auto [i, kind] : llvm::enumerate(tiles.subgroups)) {
    if (kind == Kind::Manual) {
      annotation.manual |= setOf((*lists)[dims + i]);
    }
  }
  if (isForeign) {
    AxisList all;
    for (const AxisList &list : *lists) {
      llvm::append_range(all, list);
    }
    for (int64_t position = 0; position < partitions; ++position) {
      annotation.partitionAt.push_back(tiles.devices[mesh.shardAt(position, all)]);
    }
  }
  return annotation;
}

bool Importer::isOrder(ArrayRef<int64_t> devices) const {
  SmallVector<int64_t> sorted(devices);
  llvm::sort(sorted);
  return devices.empty() || llvm::equal(sorted, llvm::seq<int64_t>(0, partitions));
}

FailureOr<const MeshText *> Importer::meshOf(const AxesText &axes, Location loc) {
  const MeshText *found = axes.inlined ? &*axes.inlined : nullptr;
  SmallVector<StringRef> names;
  for (const MeshText &each : meshes) {
    names.push_back(each.name);
    if (!axes.inlined && each.name == axes.mesh) {
      found = &each;
    }
  }
  if (!found) {
    return fail(loc, "the module has no mesh @" + axes.mesh + nearestNames(axes.mesh, names));
  }
  if (!found->axes.empty() && found->count() != partitions) {
    return fail(loc, "mesh " + (found->name.empty() ? std::string() : "@" + found->name + " ") +
                         "has " + Twine(found->count()) + " devices, the module has " +
                         Twine(partitions) + " partitions");
  }
  if (!found->axes.empty() && !isOrder(found->devices)) {
    return fail(loc, "the device ids of mesh @" + found->name + " are not 0 to " +
                         Twine(partitions - 1) + ", each once");
  }
  return found;
}

/// The mesh's axes that one of the text stands for.
FailureOr<AxisList> Importer::convert(const MeshText &text, const AxisText &axis, Location loc) {
  int64_t stride = 1, size = 0;
  SmallVector<StringRef> names;
  for (const auto &[name, axisSize] : llvm::reverse(text.axes)) {
    names.push_back(name);
    if (name == axis.name) {
      size = axisSize;
    }
    stride *= size ? 1 : axisSize;
  }
  if (!size) {
    return fail(loc, "the mesh has no axis \"" + axis.name + "\"" + nearestNames(axis.name, names));
  }
  int64_t part = axis.size ? axis.size : size, ends = 0;
  if (llvm::MulOverflow(axis.before, part, ends) || size % ends != 0) {
    return fail(loc, "axis \"" + axis.name + "\" has size " + Twine(size) +
                         " and no part of size " + Twine(part) + " after " + Twine(axis.before));
  }
  stride *= size / ends;
  // The run of axes that ends at this stride.
  AxisList list;
  int64_t reached = 1;
  for (size_t i = mesh.axes(); i-- > 0 && reached < part;) {
    if (mesh.stride(i) >= stride) {
      list.insert(list.begin(), i);
      reached *= mesh.size(i);
    }
  }
  if (part > 1 && (reached != part || mesh.stride(list.back()) != stride)) {
    return fail(loc, "axis \"" + axis.name +
                         "\" is no part of the module's first mesh, which is not supported");
  }
  return list;
}

FailureOr<Annotation> Importer::convert(const AxesText &axes, int64_t rank, Location loc) {
  Annotation annotation(rank, false);
  if (axes.isUnreduced) {
    return fail(loc, "unreduced arrays are not supported");
  }
  if (axes.isManual) {
    annotation.manual = mesh.all();
    return annotation;
  }
  FailureOr<const MeshText *> text = meshOf(axes, loc);
  if (failed(text)) {
    return failure();
  }
  if ((*text)->axes.empty() || axes.isReplicated) {
    return annotation; // a maximal mesh
  }
  if (static_cast<int64_t>(axes.dims.size()) != rank) {
    if (axes.dims.empty()) {
      return annotation;
    }
    return fail(loc,
                "it has " + Twine(axes.dims.size()) + " dimensions, the array has " + Twine(rank));
  }
  AxisSet used = 0;
  for (auto [dim, given] : llvm::enumerate(axes.dims)) {
    annotation.open[dim] = given.isOpen;
    annotation.priority[dim] = given.priority;
    for (const AxisText &axis : given.axes) {
      FailureOr<AxisList> list = convert(**text, axis, loc);
      if (failed(list)) {
        return failure();
      }
      if (used & setOf(*list)) {
        return fail(loc, "axis \"" + axis.name + "\" splits two dimensions");
      }
      used |= setOf(*list);
      llvm::append_range(annotation.sharding.dims[dim], *list);
    }
  }
  for (const AxisText &axis : axes.kept) {
    FailureOr<AxisList> list = convert(**text, axis, loc);
    if (failed(list)) {
      return failure();
    }
    if (used & setOf(*list)) {
      return fail(loc, "axis \"" + axis.name + "\" is used twice");
    }
    used |= setOf(*list);
  }
  Mesh own({partitions}, (*text)->devices);
  bool isForeign = false;
  for (int64_t position = 0; position < partitions; ++position) {
    isForeign |= own.partitionAt(position) != mesh.partitionAt(position);
  }
  for (int64_t position = 0; isForeign && position < partitions; ++position) {
    annotation.partitionAt.push_back(own.partitionAt(position));
  }
  return annotation;
}

FailureOr<std::vector<std::optional<Annotation>>>
Importer::read(StringRef sharding, StringRef frontend, StringRef key, Type type, Location loc) {
  SmallVector<Type> leaves = hlo::leafTypes(type);
  std::vector<std::optional<Annotation>> result;
  std::string why, text = frontendAttribute(frontend, key);
  if (!text.empty()) {
    FailureOr<std::vector<AxesText>> list = parseAxes(text, why);
    if (failed(list)) {
      return fail(loc, why + " in " + key);
    }
    if (list->size() != 1 && list->size() != leaves.size()) {
      return fail(loc, Twine(list->size()) + " shardings for " + Twine(leaves.size()) +
                           " values in " + key);
    }
    for (auto [i, leaf] : llvm::enumerate(leaves)) {
      const AxesText &axes = (*list)[list->size() == 1 ? 0 : i];
      FailureOr<Annotation> annotation = convert(axes, rankOf(leaf), loc);
      if (failed(annotation)) {
        return failure();
      }
      result.push_back(*annotation);
    }
    return result;
  }
  if (sharding.empty()) {
    return result;
  }
  bool isTuple = false;
  FailureOr<std::vector<ShardingText>> list = parseSharding(sharding, isTuple, why);
  if (failed(list)) {
    return fail(loc, why);
  }
  if (isTuple && list->size() != leaves.size()) {
    return fail(loc, "it has " + Twine(list->size()) + " entries for " + Twine(leaves.size()) +
                         " arrays");
  }
  for (auto [i, leaf] : llvm::enumerate(leaves)) {
    const ShardingText &one = (*list)[isTuple ? i : 0];
    if (!isa<RankedTensorType>(leaf)) {
      result.push_back(std::nullopt);
      continue;
    }
    FailureOr<Annotation> annotation =
        one.tiles ? convert(*one.tiles, rankOf(leaf), loc) : convert(*one.axes, rankOf(leaf), loc);
    if (failed(annotation)) {
      return failure();
    }
    annotation->group = one.group;
    result.push_back(*annotation);
  }
  return result;
}

FailureOr<AxisSet> Importer::manualAxes(StringRef frontend, StringRef key, Location loc) {
  std::string why, text = frontendAttribute(frontend, key);
  FailureOr<std::vector<AxisText>> axes = parseManualAxes(text, why);
  if (failed(axes)) {
    return fail(loc, why + " in " + key);
  }
  const MeshText *first = nullptr;
  for (const MeshText &each : meshes) {
    first = first || each.count() != partitions ? first : &each;
  }
  AxisSet set = 0;
  for (const AxisText &axis : *axes) {
    if (!first) {
      return fail(loc, "the module has no mesh of " + Twine(partitions) + " devices");
    }
    FailureOr<AxisList> list = convert(*first, axis, loc);
    if (failed(list)) {
      return failure();
    }
    set |= setOf(*list);
  }
  return set;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

Value Importer::mark(OpBuilder &builder, Location loc, StringRef target, Value value, Type result,
                     const Annotation &annotation) {
  // A custom call with a layout would be given its operand in that order; a marker means the array.
  auto plain = [](Type type) {
    auto array = cast<RankedTensorType>(type);
    return hlo::arrayType(array.getShape(), array.getElementType(), {}, boundedDimensions(array));
  };
  HloBuilder b(builder, loc);
  if (plain(value.getType()) != value.getType()) {
    value = b.copy(value, plain(value.getType()));
  }
  OperationState state(loc, CustomCallOp::getOperationName());
  state.addOperands(value);
  state.addTypes(plain(result));
  state.addAttribute("custom_call_target", builder.getStringAttr(target));
  state.addAttribute(kAnnotation, builder.getStringAttr(encode(annotation)));
  Value marked = builder.create(state)->getResult(0);
  return marked.getType() == result ? marked : b.copy(marked, result);
}

/// All uses of an array become uses of a marker after it.
void Importer::markUses(Value value, const Annotation &annotation) {
  OpBuilder builder(module.getContext());
  builder.setInsertionPointAfterValue(value);
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses()) {
    uses.push_back(&use);
  }
  Value marker = mark(builder, value.getLoc(), kMarkSharding, value, value.getType(), annotation);
  for (OpOperand *use : uses) {
    use->set(marker);
  }
}

/// The leaves of a tuple that an op returns are marked where they are taken out.
void Importer::annotateTuple(Value tuple, ArrayRef<std::optional<Annotation>> leaves) {
  auto type = cast<TupleType>(tuple.getType());
  SmallVector<size_t> offsets{0};
  for (Type element : type.getTypes()) {
    offsets.push_back(offsets.back() + hlo::leafTypes(element).size());
  }
  // An op that passes the tuple on, a return, is given one of elements that are taken out.
  auto passesOn = [](OpOperand &use) { return !isa<GetTupleElementOp>(use.getOwner()); };
  if (llvm::any_of(tuple.getUses(), passesOn)) {
    OpBuilder builder(module.getContext());
    builder.setInsertionPointAfterValue(tuple);
    SmallVector<Value> elements;
    for (auto [i, element] : llvm::enumerate(type.getTypes())) {
      elements.push_back(GetTupleElementOp::create(builder, tuple.getLoc(), TypeRange(element),
                                                   tuple, builder.getI64IntegerAttr(i))
                             .getResult(0));
    }
    auto again = TupleOp::create(builder, tuple.getLoc(), TypeRange(type), elements);
    tuple.replaceUsesWithIf(again.getResult(0), passesOn);
  }
  for (Operation *user : llvm::make_early_inc_range(tuple.getUsers())) {
    auto element = dyn_cast<GetTupleElementOp>(user);
    if (!element) {
      continue;
    }
    int64_t index = element.getIndex();
    auto part = leaves.slice(offsets[index], offsets[index + 1] - offsets[index]);
    if (isa<TupleType>(element->getResult(0).getType())) {
      annotateTuple(element->getResult(0), part);
    } else if (!part.empty() && part.front() && !element->hasAttr("hlo.sharding")) {
      markUses(element->getResult(0), *part.front());
    }
  }
}

LogicalResult Importer::importBorder(CustomCallOp op) {
  StringRef target = op.getCustomCallTarget();
  StringRef frontend = stringOf(op, "hlo.frontend_attributes");
  StringRef sharding = stringOf(op, "hlo.sharding");
  OpBuilder builder(op);
  bool isSdy = target.starts_with("xla.sdy.");
  bool enters = target.ends_with("GlobalToLocalShape") || target == "SPMDFullToShardShape";
  SmallVector<Type> types{op->getResult(0).getType()};
  bool isTuple = isa<TupleType>(types[0]);
  if (isTuple) {
    types = llvm::to_vector(cast<TupleType>(types[0]).getTypes());
  }
  if (types.size() != op->getNumOperands() ||
      !llvm::all_of(types, llvm::IsaPred<RankedTensorType>)) {
    return fail(op.getLoc(), target + " has " + Twine(op->getNumOperands()) + " operands and " +
                                 Twine(types.size()) + " results");
  }
  AxisSet manual = mesh.all();
  std::vector<std::optional<Annotation>> whole; // of the arrays outside
  if (isSdy) {
    FailureOr<AxisSet> axes = manualAxes(frontend, "xla.sdy.manual_axes", op.getLoc());
    Type outside = enters ? Type(TupleType::get(op.getContext(), op->getOperandTypes()))
                          : op->getResult(0).getType();
    auto read = this->read("", frontend, enters ? "xla.sdy.in_shardings" : "xla.sdy.out_shardings",
                           outside, op.getLoc());
    if (failed(axes) || failed(read)) {
      return failure();
    }
    manual = *axes;
    whole = *read;
  } else {
    Value inner = enters ? op->getResult(0) : op->getOperand(0);
    auto own = read(sharding, "", "", op->getResult(0).getType(), op.getLoc());
    if (failed(own) || own->empty()) {
      return failed(own) ? failure() : fail(op.getLoc(), target + " has no sharding");
    }
    if (enters) {
      manual = (*own)[0]->manual;
      Operation *producer = op->getOperand(0).getDefiningOp();
      while (isa_and_nonnull<CopyOp>(producer)) {
        producer = producer->getOperand(0).getDefiningOp();
      }
      std::optional<Annotation> outer = producer ? annotationOf(producer) : std::nullopt;
      whole.push_back(outer ? *outer : Annotation(rankOf(op->getOperand(0).getType()), false));
    } else {
      if (auto known = manualOf.find(inner); known != manualOf.end()) {
        manual = known->second;
      }
      whole.push_back((*own)[0]);
    }
  }
  SmallVector<Value> results;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    auto outer = cast<RankedTensorType>(enters ? operand.getType() : types[i]);
    auto inner = cast<RankedTensorType>(enters ? types[i] : operand.getType());
    Annotation annotation =
        i < whole.size() && whole[i] ? *whole[i] : Annotation(outer.getRank(), true);
    annotation.manual = manual;
    // Inside, a dimension is split over its manual axes, which come first.
    for (int64_t dim = 0; dim < outer.getRank(); ++dim) {
      AxisList axes;
      for (Axis axis : annotation.sharding.dims[dim]) {
        if (manual >> axis & 1) {
          axes.push_back(axis);
        }
      }
      int64_t count = mesh.count(axes);
      if (inner.getRank() != outer.getRank() || outer.getDimSize(dim) % count != 0 ||
          inner.getDimSize(dim) != outer.getDimSize(dim) / count) {
        return fail(op.getLoc(), target + " goes between " + hloText(outer) + " and " +
                                     hloText(inner) + ", but the array is split over " +
                                     Twine(count) + " in dimension " + Twine(dim));
      }
    }
    results.push_back(
        mark(builder, op.getLoc(), enters ? kMarkEnter : kMarkExit, operand, types[i], annotation));
  }
  Value result = results.front();
  if (isTuple) {
    result = TupleOp::create(builder, op.getLoc(), TypeRange(op->getResult(0).getType()), results)
                 .getResult(0);
  }
  op->getResult(0).replaceAllUsesWith(result);
  op.erase();
  return success();
}

/// The dimensions in `unspecified_dims=[0,1]`.
static SmallVector<int64_t> unspecifiedDims(StringRef config) {
  SmallVector<int64_t> dims;
  StringRef rest = config.split("unspecified_dims=[").second.split(']').first;
  SmallVector<StringRef> numbers;
  rest.split(numbers, ',', -1, /*KeepEmpty=*/false);
  for (StringRef number : numbers) {
    int64_t dim = 0;
    if (!number.trim().getAsInteger(10, dim)) {
      dims.push_back(dim);
    }
  }
  return dims;
}

LogicalResult Importer::importCall(CustomCallOp op) {
  StringRef target = op.getCustomCallTarget();
  if (isBorder(target)) {
    return importBorder(op);
  }
  OpBuilder builder(op);
  StringRef frontend = stringOf(op, "hlo.frontend_attributes");
  if (target == "xla.sdy.ShardingGroup") {
    std::string id = frontendAttribute(frontend, "xla.sdy.sharding_group_id");
    int64_t group = 0;
    if (StringRef(id).split(' ').first.getAsInteger(10, group) || op->getNumOperands() != 1) {
      return fail(op.getLoc(), "sharding group '" + id + "' is no number");
    }
    if (!isa<RankedTensorType>(op->getOperand(0).getType())) {
      return fail(op.getLoc(), "a sharding group is of arrays");
    }
    Value operand = op->getOperand(0);
    Annotation annotation(rankOf(operand.getType()), true);
    annotation.group = group;
    Type type = op->getResult(0).getType();
    if (!op->use_empty()) {
      if (type == operand.getType()) {
        op->getResult(0).replaceAllUsesWith(operand);
      } else if (auto tuple = dyn_cast<TupleType>(type); tuple && tuple.size() == 0) {
        op->getResult(0).replaceAllUsesWith(
            TupleOp::create(builder, op.getLoc(), TypeRange(type), ValueRange()).getResult(0));
      } else {
        return fail(op.getLoc(), "a sharding group has no result");
      }
    }
    op.erase();
    markUses(operand, annotation);
    return success();
  }
  Type type = op->getResult(0).getType();
  bool isBarrier = target.contains("Barrier");
  std::vector<std::optional<Annotation>> annotations;
  if (!isBarrier) {
    auto given = read(stringOf(op, "hlo.sharding"), frontend, kSdySharding, type, op.getLoc());
    if (failed(given)) {
      return failure();
    }
    annotations = *given;
  }
  SmallVector<Type> leaves = hlo::leafTypes(type);
  if (op->getNumOperands() != leaves.size() ||
      !llvm::equal(op->getOperandTypes(), leaves, [](Type a, Type b) { return sameShape(a, b); })) {
    if (op->getNumOperands() == 1 && op->getOperand(0).getType() == type) {
      op->getResult(0).replaceAllUsesWith(op->getOperand(0)); // a tuple or a token
      op.erase();
      return success();
    }
    return fail(op.getLoc(), target + " must have as many results as operands, of their types");
  }
  SmallVector<int64_t> unspecified = unspecifiedDims(stringOf(op, "hlo.backend_config"));
  SmallVector<Value> results;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    auto array = dyn_cast<RankedTensorType>(operand.getType());
    if (!array) {
      results.push_back(operand);
      continue;
    }
    Annotation annotation = i < annotations.size() && annotations[i]
                                ? *annotations[i]
                                : Annotation(array.getRank(), true);
    for (int64_t dim : unspecified) {
      if (dim < 0 || dim >= array.getRank()) {
        return fail(op.getLoc(), "unspecified dimension " + Twine(dim) + " of " + hloText(array));
      }
      annotation.open[dim] = true;
    }
    results.push_back(mark(builder, op.getLoc(), isBarrier ? kMarkBarrier : kMarkSharding, operand,
                           leaves[i], annotation));
    if (annotation.manual) {
      manualOf[results.back()] = annotation.manual;
    }
  }
  Value result = results.empty() ? Value() : results.front();
  if (isa<TupleType>(type)) {
    result = TupleOp::create(builder, op.getLoc(), TypeRange(type), results).getResult(0);
  }
  op->getResult(0).replaceAllUsesWith(result);
  op.erase();
  return success();
}

LogicalResult Importer::importOp(Operation *op) {
  if (auto call = dyn_cast<CustomCallOp>(op);
      call && isAnnotationCall(call.getCustomCallTarget())) {
    return op->getNumResults() == 1 ? importCall(call) : success();
  }
  StringRef sharding = stringOf(op, "hlo.sharding");
  StringRef frontend = stringOf(op, "hlo.frontend_attributes");
  if (op->getNumResults() != 1 || (sharding.empty() && !frontend.contains(kSdySharding))) {
    return success();
  }
  Value result = op->getResult(0);
  auto annotations = read(sharding, frontend, kSdySharding, result.getType(), op->getLoc());
  if (failed(annotations)) {
    return failure();
  }
  if (annotations->empty()) {
    return success();
  }
  if (auto tuple = dyn_cast<TupleOp>(op)) {
    OpBuilder builder(op);
    size_t leaf = 0;
    for (OpOperand &operand : op->getOpOperands()) {
      size_t count = hlo::leafTypes(operand.get().getType()).size();
      auto array = dyn_cast<RankedTensorType>(operand.get().getType());
      std::optional<Annotation> own = array ? (*annotations)[leaf] : std::nullopt;
      if (own && (!own->manual || own->manual != mesh.all())) {
        operand.set(mark(builder, op->getLoc(), kMarkSharding, operand.get(), array, *own));
      }
      leaf += count;
    }
    return success();
  }
  if (isa<TupleType>(result.getType())) {
    annotateTuple(result, *annotations);
    return success();
  }
  std::optional<Annotation> own = annotations->front();
  if (!own || (own->manual && own->manual == mesh.all())) {
    return success(); // in a manual region shapes are those of shards
  }
  bool disappears = isa<GetTupleElementOp, CallOp, FusionOp, WhileOp, ConditionalOp, AsyncStartOp,
                        AsyncUpdateOp, AsyncDoneOp, CopyOp, BitcastOp, CopyStartOp, CopyDoneOp,
                        OptBarrierOp, DomainOp, AddDependencyOp>(op);
  if (disappears || own->group) {
    markUses(result, *own);
  } else {
    op->setAttr(kAnnotation, StringAttr::get(op->getContext(), encode(*own)));
  }
  return success();
}

LogicalResult Importer::importParameters(ComputationOp computation) {
  SmallVector<Attribute> leaves;
  for (BlockArgument argument : computation.getBody().getArguments()) {
    unsigned number = argument.getArgNumber();
    auto text = [&](StringRef name) {
      auto attribute = computation.getArgAttrOfType<StringAttr>(number, name);
      return attribute ? attribute.getValue() : StringRef();
    };
    auto annotations = read(text("hlo.sharding"), text("hlo.frontend_attributes"), kSdySharding,
                            argument.getType(), argument.getLoc());
    if (failed(annotations)) {
      return failure();
    }
    for (auto [i, leaf] : llvm::enumerate(hlo::leafTypes(argument.getType()))) {
      if (!isa<RankedTensorType>(leaf)) {
        continue;
      }
      bool given = i < annotations->size() && (*annotations)[i] && !(*annotations)[i]->manual;
      leaves.push_back(
          StringAttr::get(module.getContext(), given ? encode(*(*annotations)[i]) : std::string()));
    }
    if (computation.getEntry() || annotations->empty()) {
      continue;
    }
    if (isa<TupleType>(argument.getType())) {
      annotateTuple(argument, *annotations);
    } else if ((*annotations)[0] && !(*annotations)[0]->manual) {
      markUses(argument, *(*annotations)[0]);
    }
  }
  if (computation.getEntry()) {
    module->setAttr(kParameters, ArrayAttr::get(module.getContext(), leaves));
  }
  return success();
}

/// Scalar computations are the same on all partitions.
void Importer::dropAnnotations(ComputationOp computation) {
  for (Operation &op : llvm::make_early_inc_range(computation.getBody().front())) {
    auto call = dyn_cast<CustomCallOp>(op);
    if (call && isAnnotationCall(call.getCustomCallTarget()) && op.getNumOperands() == 1 &&
        op.getNumResults() == 1 && op.getOperand(0).getType() == op.getResult(0).getType()) {
      op.getResult(0).replaceAllUsesWith(op.getOperand(0));
      op.erase();
    }
  }
}

LogicalResult Importer::run() {
  auto count = module->getAttrOfType<IntegerAttr>("hlo.num_partitions");
  partitions = count ? count.getInt() : 1;
  if (partitions > kMostPartitions) {
    return fail(module.getLoc(), Twine(partitions) + " partitions are more than the most, " +
                                     Twine(kMostPartitions));
  }
  std::string why;
  FailureOr<std::vector<MeshText>> texts =
      parseMeshes(stringOf(module, "hlo.frontend_attributes"), why);
  if (failed(texts)) {
    return fail(module.getLoc(), why + " in xla.sdy.meshes");
  }
  meshes = *texts;
  for (const MeshText &each : meshes) {
    if (!each.axes.empty() && each.count() != partitions) {
      return fail(module.getLoc(), "mesh @" + each.name + " has " + Twine(each.count()) +
                                       " devices, the module has " + Twine(partitions) +
                                       " partitions");
    }
    if (!each.axes.empty() && !isOrder(each.devices)) {
      return fail(module.getLoc(), "the device ids of mesh @" + each.name + " are not 0 to " +
                                       Twine(partitions - 1) + ", each once");
    }
  }
  if (failed(chooseMesh())) {
    return failure();
  }
  module->setAttr(kMesh, encodeMesh(mesh, module.getContext()));
  FailureOr<ComputationGraph> graph = ComputationGraph::build(module);
  if (failed(graph)) {
    return failure();
  }
  DenseSet<Operation *> atTop{graph->entry()};
  for (ComputationOp computation : llvm::reverse(graph->postOrder())) {
    if (!atTop.contains(computation)) {
      continue;
    }
    for (Operation &op : computation.getBody().front()) {
      if (callsAtTopLevel(&op) ||
          isa<CallOp, FusionOp, AsyncStartOp, AsyncUpdateOp, AsyncDoneOp>(op)) {
        forEachCallee(&op, [&](FlatSymbolRefAttr name) { atTop.insert(graph->lookup(name)); });
      }
    }
  }
  bool good = true;
  for (ComputationOp computation : graph->postOrder()) {
    if (!atTop.contains(computation)) {
      dropAnnotations(computation);
      continue;
    }
    SmallVector<Operation *> ops;
    for (Operation &op : computation.getBody().front()) {
      ops.push_back(&op);
    }
    good &= succeeded(importParameters(computation));
    for (Operation *op : ops) {
      good &= succeeded(importOp(op));
    }
  }
  return success(good);
}

/// Whether an annotation in this text splits an array.
static bool splits(StringRef sharding, StringRef frontend) {
  return sharding.contains("devices=") || sharding.contains("mesh[") ||
         sharding.contains("maximal") || frontend.contains(kSdySharding);
}

bool hlo::needsPartitioning(ModuleOp module) {
  auto count = module->getAttrOfType<IntegerAttr>("hlo.num_partitions");
  if (!count || count.getInt() < 2 || module->hasAttr("hlo.is_scheduled") ||
      module->hasAttr("hlo.entry_shards")) {
    return false;
  }
  bool isAnnotated = false, isPartitioned = false;
  module->walk([&](Operation *op) {
    if (op == module.getOperation()) {
      return;
    }
    auto call = dyn_cast<CustomCallOp>(op);
    isAnnotated |= (call && isAnnotationCall(call.getCustomCallTarget())) ||
                   splits(stringOf(op, "hlo.sharding"), stringOf(op, "hlo.frontend_attributes"));
    // A result that differs between partitions, as in a partitioned program.
    isPartitioned |= isa<PartitionIdOp>(op) || (op->hasAttr("channel_id") &&
                                                !isa<SendOp, SendDoneOp, RecvOp, RecvDoneOp>(op));
  });
  if (isAnnotated || isPartitioned) {
    return isAnnotated;
  }
  for (auto computation : module.getOps<ComputationOp>()) {
    for (unsigned i = 0; i < computation.getBody().getNumArguments(); ++i) {
      auto text = [&](StringRef name) {
        auto attribute = computation.getArgAttrOfType<StringAttr>(i, name);
        return attribute ? attribute.getValue() : StringRef();
      };
      if (splits(text("hlo.sharding"), text("hlo.frontend_attributes"))) {
        return true;
      }
    }
  }
  return false;
}

int64_t hlo::impliedPartitions(ModuleOp module) {
  auto count = module->getAttrOfType<IntegerAttr>("hlo.num_partitions");
  int64_t found = 0;
  if (count && count.getInt() > 1) {
    return 0;
  }
  module->walk([&](CustomCallOp call) {
    if (!isBorder(call.getCustomCallTarget()) || found) {
      return;
    }
    std::string why;
    FailureOr<std::vector<MeshText>> meshes =
        parseMeshes(stringOf(module, "hlo.frontend_attributes"), why);
    for (const MeshText &each : succeeded(meshes) ? *meshes : std::vector<MeshText>()) {
      found = found ? found : each.axes.empty() ? 0 : each.count();
    }
  });
  if (found) {
    return found > 1 ? found : 0;
  }
  module->walk([&](CustomCallOp call) {
    bool isTuple = false;
    std::string why;
    if (!isBorder(call.getCustomCallTarget()) && call.getCustomCallTarget() != "Sharding") {
      return;
    }
    bool borders = isBorder(call.getCustomCallTarget());
    Operation *source = borders ? call->getOperand(0).getDefiningOp() : nullptr;
    for (Operation *op : {call.getOperation(), source}) {
      FailureOr<std::vector<ShardingText>> list =
          op && borders ? parseSharding(stringOf(op, "hlo.sharding"), isTuple, why)
                        : FailureOr<std::vector<ShardingText>>(failure());
      if (succeeded(list) && list->front().tiles && !found) {
        found = list->front().tiles->devices.size();
      }
    }
  });
  return found > 1 ? found : 0;
}

namespace {
class ImportShardingsPass : public PassWrapper<ImportShardingsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ImportShardingsPass)
  StringRef getArgument() const final { return "hlo-import-shardings"; }
  StringRef getDescription() const final {
    return "Turn both forms of sharding annotations into one";
  }
  void runOnOperation() final {
    if (needsPartitioning(getOperation()) && failed(Importer(getOperation()).run())) {
      signalPassFailure();
    }
  }
};
} // namespace

std::unique_ptr<Pass> hlo::createImportShardingsPass() {
  return std::make_unique<ImportShardingsPass>();
}
