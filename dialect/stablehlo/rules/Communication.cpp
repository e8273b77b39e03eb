//===- Communication.cpp - Rules of collectives, feeds, transfers ---------===//
#include "dialect/stablehlo/rules/Region.h"
#include <limits>

using namespace mlir;
using namespace stablehlo;

//===----------------------------------------------------------------------===//
// Replica groups
//===----------------------------------------------------------------------===//

namespace {
struct GroupLabels {
  StringRef unique, range, channel;
};
} // namespace

/// Processes in a group, where groups are a table; none if that does not say.
static std::optional<int64_t> groupSize(Attribute groups) {
  auto table = dyn_cast<DenseIntElementsAttr>(groups);
  auto type = table ? dyn_cast<RankedTensorType>(table.getType()) : RankedTensorType();
  if (!type || type.getRank() != 2 || type.getDimSize(0) == 0) {
    return std::nullopt;
  }
  return type.getDimSize(1);
}

static void checkAxes(Check &check, ReplicaGroupMeshAxesAttr groups, StringRef label);

/// A table of process numbers, each from 0 on and once. Shorter rows of all-reduces end in -1.
/// All processes are in a group, unless it is enough that `some` are.
static void checkGroups(Check &check, const GroupLabels &labels, Attribute groups, bool mayPad,
                        bool global, ChannelHandleAttr channel, bool some = false) {
  if (auto axes = dyn_cast<ReplicaGroupMeshAxesAttr>(groups)) {
    checkAxes(check, axes, labels.unique);
    return;
  }
  auto table = cast<DenseIntElementsAttr>(groups);
  auto type = dyn_cast<RankedTensorType>(table.getType());
  if (!check.require(type && type.getRank() == 2, labels.unique, "replica_groups is ",
                     table.getType(), ", expected a table")) {
    return;
  }
  if (global) {
    check.require(channel && channel.getHandle() > 0, labels.channel,
                  "use_global_device_ids needs a channel with a positive number");
    check.require(!table.empty(), labels.channel,
                  "use_global_device_ids needs replica_groups that are not empty");
  }
  std::optional<SmallVector<int64_t>> entries = integersOf(table);
  if (!check.require(entries.has_value(), labels.unique, "replica_groups repeats one number")) {
    return;
  }
  SmallVector<int64_t> ids;
  for (int64_t id : *entries) {
    if (id != -1 || !mayPad) {
      ids.push_back(id);
    }
  }
  if (check.unique(labels.unique, "replica_groups", ids)) {
    check.inRange(labels.range, "replica_groups", ids,
                  some ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(ids.size()));
  }
}

static void checkAxes(Check &check, ReplicaGroupMeshAxesAttr groups, StringRef label) {
  if (!check.require((isa<MeshAttr, FlatSymbolRefAttr>(groups.getMesh())), label,
                     "the mesh of replica_groups is neither a mesh nor its symbol")) {
    return;
  }
  auto symbol = dyn_cast<FlatSymbolRefAttr>(groups.getMesh());
  if (!check.require(!symbol || SymbolTable::lookupNearestSymbolFrom(check.getOp(), symbol), label,
                     "there is no mesh '", symbol ? symbol.getValue() : "", "'")) {
    return;
  }
  auto mesh = dyn_cast<MeshAttr>(groups.getMesh());
  size_t count = std::max(groups.getAxes().size(), mesh ? mesh.getAxes().size() : 0);
  if (!check.require(count <= kMostMeshAxes, label, "replica_groups has ", count, " axes, at most ",
                     kMostMeshAxes, " are supported")) {
    return;
  }
  SmallVector<StringRef> names;
  for (Attribute axis : groups.getAxes()) {
    auto ref = dyn_cast<AxisRefAttr>(axis);
    if (!check.require(ref != nullptr, label, "an entry of axes is no reference to an axis")) {
      return;
    }
    const auto *found =
        mesh ? llvm::find_if(mesh.getAxes(),
                             [&](MeshAxisAttr known) { return known.getName() == ref.getName(); })
             : nullptr;
    if (mesh && !check.require(found != mesh.getAxes().end(), label, "the mesh has no axis '",
                               ref.getName(), "'")) {
      return;
    }
    SubAxisInfoAttr part = ref.getSubAxisInfo();
    if (part) {
      bool fits = part.getPreSize() >= 1 && part.getSize() >= 2 &&
                  (!mesh || (found->getSize() / part.getPreSize() >= part.getSize() &&
                             found->getSize() / part.getPreSize() % part.getSize() == 0 &&
                             found->getSize() % part.getPreSize() == 0));
      check.require(fits, label, "axis '", ref.getName(), "' has no part (", part.getPreSize(), ")",
                    part.getSize());
    } else {
      check.require(!llvm::is_contained(names, ref.getName()), label, "axis '", ref.getName(),
                    "' is repeated");
      names.push_back(ref.getName());
    }
  }
}

/// The first `count` operands agree with the results, of which there are as many.
static void samePairs(Check &check, StringRef label, size_t count, bool (*agree)(Type, Type)) {
  if (!check.require(check->getNumResults() == count, label, "there are ", count, " operands and ",
                     check->getNumResults(), " results")) {
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    check.require(agree(check.operandType(i), check.resultType(i)), label, "operand ", i, " is ",
                  check.operandType(i), ", its result ", check.resultType(i));
  }
}
static bool sameShapes(Type a, Type b) { return shapesAgree(arrayOf(a), arrayOf(b)); }

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// size * factor, or `?`; none on overflow.
static std::optional<int64_t> scaled(int64_t size, int64_t factor) {
  if (ShapedType::isDynamic(size)) {
    return size;
  }
  int64_t result;
  return llvm::MulOverflow(size, factor, result) ? std::nullopt : std::optional<int64_t>(result);
}

static void allGather(Check &check) {
  auto op = cast<AllGatherOp>(check.getOp());
  int64_t dim = op.getAllGatherDim();
  checkGroups(check, {"c2", "c4", "c5"}, op.getReplicaGroups(), false, op.getUseGlobalDeviceIds(),
              op.getChannelHandleAttr());
  if (!check.require(check->getNumOperands() == check->getNumResults() &&
                         check->getNumOperands() > 0,
                     "c6", "there are ", check->getNumOperands(), " operands and ",
                     check->getNumResults(), " results")) {
    return;
  }
  for (unsigned i = 0; i < check->getNumOperands(); ++i) {
    RankedTensorType operand = check.operand(i), result = check.result(i);
    check.require(elementsAgree(operand.getElementType(), result.getElementType()), "c6",
                  "operand ", i, " is ", operand, ", its result ", result);
    if (!check.inRange("c1", "all_gather_dim", dim, operand.getRank()) ||
        !check.require(operand.getRank() == result.getRank(), "c6", "operand ", i, " is ", operand,
                       ", its result ", result)) {
      return;
    }
    // How many processes a group has depends on the partitions too: the result is a multiple.
    int64_t from = operand.getDimSize(dim), to = result.getDimSize(dim);
    SmallVector<int64_t> expected = llvm::to_vector(operand.getShape());
    expected[dim] = ShapedType::kDynamic;
    check.resultShape("c6", expected, i);
    check.require(
        ShapedType::isDynamic(from) || ShapedType::isDynamic(to) || (from > 0 && to % from == 0),
        "c6", "dimension ", dim, " has size ", from, " in the operand, ", to, " in the result");
  }
}

static void allReduce(Check &check) {
  auto op = cast<AllReduceOp>(check.getOp());
  checkGroups(check, {"c1", "c3", "c4"}, op.getReplicaGroups(), true, op.getUseGlobalDeviceIds(),
              op.getChannelHandleAttr());
  check.require(check->getNumOperands() > 0, "c6", "there are no operands");
  samePairs(check, "c6", check->getNumOperands(), sameShapes);
}

/// One computation of two scalars for all operands.
static void checkComputation(Check &check, StringRef label, StringRef resultLabel, Region &region,
                             TypeRange operands) {
  for (auto [i, operand] : llvm::enumerate(operands)) {
    checkReducer(check, label, resultLabel, region, "the computation", operand, {}, i);
    if (check.hasFailed()) {
      return;
    }
  }
}
static void allReduceBody(Check &check) {
  auto op = cast<AllReduceOp>(check.getOp());
  checkComputation(check, "c5", "c7", op.getComputation(), op.getOperands().getTypes());
}

static void reduceScatter(Check &check) {
  auto op = cast<ReduceScatterOp>(check.getOp());
  RankedTensorType operand = check.operand(0), result = check.result();
  int64_t dim = op.getScatterDimension();
  std::optional<int64_t> group = groupSize(op.getReplicaGroups());
  checkGroups(check, {"c3", "c5", "c6"}, op.getReplicaGroups(), false, op.getUseGlobalDeviceIds(),
              op.getChannelHandleAttr());
  if (!check.inRange("c2", "scatter_dimension", dim, operand.getRank()) ||
      !check.require(operand.getRank() == result.getRank(), "c8", "the operand is ", operand,
                     ", the result ", result)) {
    return;
  }
  SmallVector<int64_t> expected = llvm::to_vector(operand.getShape());
  int64_t from = expected[dim], to = result.getDimSize(dim);
  expected[dim] = ShapedType::kDynamic;
  if (!ShapedType::isDynamic(from) && group.value_or(0) > 0) {
    if (!check.require(from % *group == 0, "c1", "dimension ", dim, " has size ", from,
                       ", which groups of ", *group, " do not divide")) {
      return;
    }
  }
  check.resultShape("c8", expected);
  check.require(ShapedType::isDynamic(from) || ShapedType::isDynamic(to) ||
                    (from > 0 && to > 0 && from % to == 0),
                "c8", "dimension ", dim, " has size ", from, " in the operand, ", to,
                " in the result");
}
static void reduceScatterBody(Check &check) {
  auto op = cast<ReduceScatterOp>(check.getOp());
  checkComputation(check, "c7", "c9", op.getComputation(), op.getOperand().getType());
}

static void allToAll(Check &check) {
  auto op = cast<AllToAllOp>(check.getOp());
  int64_t split = op.getSplitDimension(), concat = op.getConcatDimension();
  int64_t count = op.getSplitCount();
  checkGroups(check, {"c5", "c7", ""}, op.getReplicaGroups(), false, false, {});
  if (!check.require(count > 0, "c4", "split_count is ", count) ||
      !check.require(check->getNumOperands() == check->getNumResults() &&
                         check->getNumOperands() > 0,
                     "c9", "there are ", check->getNumOperands(), " operands and ",
                     check->getNumResults(), " results")) {
    return;
  }
  if (isa<DenseIntElementsAttr>(op.getReplicaGroups())) {
    std::optional<int64_t> group = groupSize(op.getReplicaGroups());
    check.require(group && *group == count, "c8", "groups have ", group.value_or(0),
                  " processes, split_count is ", count);
  }
  for (unsigned i = 0; i < check->getNumOperands(); ++i) {
    RankedTensorType operand = check.operand(i);
    if (!check.inRange("c1", "split_dimension", split, operand.getRank()) ||
        !check.inRange("c3", "concat_dimension", concat, operand.getRank())) {
      return;
    }
    SmallVector<int64_t> expected = llvm::to_vector(operand.getShape());
    int64_t &parts = expected[split];
    if (!check.require(ShapedType::isDynamic(parts) || parts % count == 0, "c2", "dimension ",
                       split, " has size ", parts, ", which split_count ", count,
                       " does not divide")) {
      return;
    }
    if (split != concat) {
      parts = ShapedType::isDynamic(parts) ? parts : parts / count;
      std::optional<int64_t> size = scaled(expected[concat], count);
      if (!check.require(size.has_value(), "c9", "the result is too large")) {
        return;
      }
      expected[concat] = *size;
    }
    check.require(elementsAgree(operand.getElementType(), check.result(i).getElementType()), "c9",
                  "operand ", i, " is ", operand, ", its result ", check.resultType(i));
    check.resultShape("c9", expected, i);
  }
}

/// Operands without the last one, if that says which process is the root.
static std::optional<size_t> dataOperands(Check &check, bool hasDynamicRoot, StringRef fixed,
                                          StringRef dynamic) {
  size_t count = check->getNumOperands();
  if (!hasDynamicRoot) {
    return check.require(count >= 1, fixed, "there are no operands") ? std::optional<size_t>(count)
                                                                     : std::nullopt;
  }
  if (!check.require(count >= 2, dynamic, "there are ", count,
                     " operands, expected arrays and their roots")) {
    return std::nullopt;
  }
  RankedTensorType roots = check.operand(count - 1);
  int64_t expected = count - 1;
  bool fits = roots.getRank() == 1 && sizesAgree(roots.getDimSize(0), expected) &&
              roots.getElementType().isSignlessInteger(32);
  check.require(fits, dynamic, "the roots are ", roots, ", expected tensor<", expected, "xi32>");
  return expected;
}

static void collectiveBroadcast(Check &check) {
  auto op = cast<CollectiveBroadcastOp>(check.getOp());
  checkGroups(check, {"c1", "c2", ""}, op.getReplicaGroups(), false, false, {}, /*some=*/true);
  if (std::optional<size_t> count = dataOperands(check, op.getHasDynamicRoot(), "c3", "c4")) {
    samePairs(check, check->getNumResults() == *count ? "c3" : "c5", *count, typesAgree);
  }
}

static void collectiveReduce(Check &check) {
  auto op = cast<CollectiveReduceOp>(check.getOp());
  checkGroups(check, {"c1", "c2", "c2"}, op.getReplicaGroups(), true, op.getUseGlobalDeviceIds(),
              op.getChannelHandleAttr(), /*some=*/true);
  if (std::optional<size_t> count = dataOperands(check, op.getHasDynamicRoot(), "c3", "c3")) {
    samePairs(check, "c3", *count, sameShapes);
  }
}
static void collectiveReduceBody(Check &check) {
  auto op = cast<CollectiveReduceOp>(check.getOp());
  TypeRange types = op.getOperands().getTypes();
  checkComputation(check, "c4", "c3", op.getComputation(),
                   types.drop_back(op.getHasDynamicRoot() && !types.empty() ? 1 : 0));
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

/// Pairs of processes: none is twice a source or twice a target.
static void checkPairs(Check &check, DenseIntElementsAttr pairs) {
  if (!pairs) {
    return;
  }
  auto type = dyn_cast<RankedTensorType>(pairs.getType());
  if (!check.require(type && type.getRank() == 2 && type.getDimSize(1) == 2, "c1",
                     "source_target_pairs is ", pairs.getType(), ", expected a table of pairs")) {
    return;
  }
  std::optional<SmallVector<int64_t>> entries = integersOf(pairs);
  if (!check.require(entries.has_value(), "c2", "source_target_pairs repeats one number")) {
    return;
  }
  SmallVector<int64_t> sides[2];
  for (auto [i, id] : llvm::enumerate(*entries)) {
    sides[i % 2].push_back(id);
    check.require(id >= 0, "c4", "source_target_pairs has process ", id);
  }
  check.unique("c2", "the list of sources", sides[0]);
  check.unique("c3", "the list of targets", sides[1]);
}

static void collectivePermute(Check &check) {
  checkPairs(check, cast<CollectivePermuteOp>(check.getOp()).getSourceTargetPairsAttr());
  samePairs(check, "c5", 1, typesAgree);
}
static void crossReplicaSum(Check &check) { samePairs(check, "c1", 1, typesAgree); }

/// The last result is a token.
static void checkToken(Check &check, StringRef some, StringRef arrays, StringRef token) {
  if (!check.require(check->getNumResults() > 0, some, "there are no results")) {
    return;
  }
  TypeRange types = check->getResultTypes();
  check.require(isa<TokenType>(types.back()), token, "the last result is ", types.back(),
                ", expected a token");
  for (Type type : llvm::drop_end(types)) {
    RankedTensorType array = arrayOf(type);
    check.require(array && array.hasStaticShape(), arrays, "a result is ", type,
                  ", expected an array of known sizes");
  }
}

static void infeed(Check &check) {
  auto op = cast<InfeedOp>(check.getOp());
  checkToken(check, "c1", "c2", "c3");
  std::optional<ArrayAttr> layout = op.getLayout();
  if (!layout) {
    return;
  }
  check.require(layout->size() + 1 == check->getNumResults(), "layout", "there are ",
                layout->size(), " layouts of ", check->getNumResults(), " results");
  for (Attribute entry : *layout) {
    auto list = dyn_cast<ArrayAttr>(entry);
    check.require(list && llvm::all_of(list, llvm::IsaPred<IntegerAttr>), "layout",
                  "a layout is no list of integers");
  }
}

/// DEVICE_TO_DEVICE is 1, DEVICE_TO_HOST 2, HOST_TO_DEVICE 3.
static void checkChannel(Check &check, ChannelHandleAttr channel, bool isHost, int64_t hostType) {
  int64_t expected = isHost ? hostType : 1;
  check.require(channel.getType() == expected, "c5", "the channel has type ", channel.getType(),
                ", expected ", expected);
}
static void send(Check &check) {
  auto op = cast<SendOp>(check.getOp());
  checkPairs(check, op.getSourceTargetPairsAttr());
  checkChannel(check, op.getChannelHandleAttr(), op.getIsHostTransfer(), 2);
}
static void recv(Check &check) {
  auto op = cast<RecvOp>(check.getOp());
  checkPairs(check, op.getSourceTargetPairsAttr());
  checkChannel(check, op.getChannelHandleAttr(), op.getIsHostTransfer(), 3);
  checkToken(check, "o1", "o1", "o1");
}

static void processId(Check &check) {
  RankedTensorType result = check.result();
  check.require(result.getRank() == 0 && result.getElementType().isUnsignedInteger(32), "o1",
                "the result is ", result, ", expected tensor<ui32>");
}

ArrayRef<Row> stablehlo::communicationRows() {
  static constexpr unsigned any[] = {Any};
  static constexpr unsigned anyQuant[] = {AnyQuant};
  static const Row rows[] = {
      {"all_gather", any, Any, allGather},
      {"all_reduce", any, Any, allReduce, allReduceBody},
      {"all_to_all", any, Any, allToAll},
      {"collective_broadcast", any, Any, collectiveBroadcast},
      {"collective_permute", any, Any, collectivePermute},
      {"collective_reduce", any, Any, collectiveReduce, collectiveReduceBody},
      {"cross-replica-sum", any, Any, crossReplicaSum},
      {"infeed", {}, AnyQuant, infeed},
      {"outfeed", anyQuant, 0, nullptr},
      {"partition_id", {}, UInt, processId},
      {"recv", {}, AnyQuant, recv},
      {"reduce_scatter", any, Any, reduceScatter, reduceScatterBody},
      {"replica_id", {}, UInt, processId},
      {"send", anyQuant, 0, send},
  };
  return rows;
}
