//===- InferCollective.cpp - Rules of collectives -------------------------===//
//
// Replica groups determine how many devices take part; without them only the module knows. A
// gathered or scattered size must be a multiple of that number. The asynchronous `-start`/`-done`
// forms are here, too.
//
//===----------------------------------------------------------------------===//
#include "dialect/hlo/TextAttrs.h"
#include "dialect/hlo/rules/Rule.h"

#include "llvm/ADT/StringSwitch.h"

#include <set>

using namespace mlir;

namespace hlo {

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// Whether groups must have one size, and whether they must contain every device.
enum class Groups { equal, all, some };

/// Checks the replica groups; returns the size of each, 0 if one group contains all devices or
/// sizes differ.
static FailureOr<int64_t> groupSize(RuleContext &context, Groups kind) {
  StringRef text = context.text("replica_groups");
  if (text.empty()) {
    return 0;
  }
  FailureOr<IntegerLists> groups = parseReplicaGroups(text);
  if (failed(groups)) {
    return context.fail("c1", "replica_groups are malformed: ", text);
  }
  std::set<int64_t> seen;
  int64_t size = groups->empty() ? 0 : groups->front().size();
  for (auto [i, group] : llvm::enumerate(*groups)) {
    if (group.empty()) {
      context.fail("c1", "replica group ", i, " is empty");
    }
    if (static_cast<int64_t>(group.size()) != size) {
      if (kind == Groups::equal) {
        context.fail("c1", "replica groups differ in size: group 0 has ", groups->front().size(),
                     " devices, group ", i, " has ", group.size());
      }
      size = 0;
    }
    for (int64_t device : group) {
      if (device < 0) {
        context.fail("c1", "replica group ", i, " holds ", device);
      } else if (!seen.insert(device).second) {
        context.fail("c1", "replica groups hold ", device, " twice");
      }
    }
  }
  // Ids are 0 to n-1, each once.
  for (int64_t device = 0, n = seen.size(); device < n && !context.hasFailed(); ++device) {
    if (kind != Groups::some && !seen.contains(device)) {
      context.fail("c1", "replica groups hold ", n, " devices, but not device ", device);
    }
  }
  if (context.hasFailed()) {
    return failure();
  }
  return size;
}

static void checkChannel(RuleContext &context) {
  std::optional<int64_t> channel = context.integer("channel_id");
  if (channel && *channel <= 0) {
    context.fail("c2", "channel_id is ", *channel, ", must be positive");
  }
  if (!channel && context.flag("use_global_device_ids")) {
    context.fail("c2", "use_global_device_ids needs a channel_id");
  }
}

/// True if each replica in the groups stands for all its partitions.
static bool groupsSpanPartitions(RuleContext &context) {
  return context.get<IntegerAttr>("channel_id") && !context.flag("use_global_device_ids");
}

/// The reducer must take two scalars of the operands' type and return one.
static void checkReducer(RuleContext &context, ArrayRef<RankedTensorType> operands) {
  auto reducer = context.computation("to_apply");
  if (failed(reducer)) {
    return;
  }
  Type element = operands.front().getElementType();
  (void)checkScalarComputation(context, "c3", "to_apply", *reducer, {element, element}, {element},
                               Precision::exact);
}

static Type tupleOf(RuleContext &context, ArrayRef<Type> types) {
  return TupleType::get(context.mlirContext(), types);
}

//===----------------------------------------------------------------------===//
// All-reduce
//===----------------------------------------------------------------------===//

static FailureOr<Type> allReduce(RuleContext &context) {
  if (failed(context.expectAtLeast(1))) {
    return failure();
  }
  auto operands = context.arrays();
  if (failed(operands) || failed(groupSize(context, Groups::all))) {
    return failure();
  }
  checkChannel(context);
  checkReducer(context, *operands);
  return context.result(tupleUnlessSingle(SmallVector<Type>(context.all().getTypes())));
}

static FailureOr<Type> forward(RuleContext &context) {
  if (failed(context.expectOperands(1))) {
    return failure();
  }
  return context.type(0);
}

/// Element 1 of a start's `(operands, results, ...)`.
static FailureOr<Type> secondElement(RuleContext &context) {
  if (failed(context.expectOperands(1))) {
    return failure();
  }
  auto state = dyn_cast<TupleType>(context.type(0));
  if (!state || state.size() < 2) {
    return context.failAt({0}, "c1", "the operand must be (operands, results, ...), is ",
                          context.type(0));
  }
  return state.getType(1);
}

//===----------------------------------------------------------------------===//
// Gather, scatter along a dimension
//===----------------------------------------------------------------------===//

/// Checks that `whole` is `part` times the number of devices in dimension `dim`, and equal in the
/// others.
static LogicalResult checkShards(RuleContext &context, int64_t i, RankedTensorType part,
                                 RankedTensorType whole, int64_t dim, int64_t group,
                                 StringRef partName, StringRef wholeName) {
  if (failed(checkDimensions(context, "c4", "dimensions", {dim}, part.getRank()))) {
    return failure();
  }
  if (part.getRank() != whole.getRank()) {
    return context.failAt({i}, "c5", "ranks differ: ", partName, " is ", part, ", ", wholeName,
                          " is ", whole);
  }
  for (int64_t d = 0; d < part.getRank(); ++d) {
    int64_t partSize = part.getDimSize(d), wholeSize = whole.getDimSize(d);
    if (ShapedType::isDynamic(partSize) || ShapedType::isDynamic(wholeSize)) {
      continue;
    }
    if (d != dim) {
      if (partSize != wholeSize) {
        (void)context.failAt({i}, "c5", "sizes of dim ", d, " differ: ", partName, " has ",
                             partSize, ", ", wholeName, " has ", wholeSize);
      }
      continue;
    }
    bool divides = partSize == 0 ? wholeSize == 0 : wholeSize % partSize == 0;
    int64_t shards = divides && partSize != 0 ? wholeSize / partSize : 0;
    bool fits =
        divides && (partSize == 0 || group == 0 ||
                    (groupsSpanPartitions(context) ? shards % group == 0 : shards == group));
    if (!fits) {
      (void)context.failAt({i}, "c6", "dim ", d, " of ", wholeName, " is ", wholeSize, ", of ",
                           partName, " ", partSize, ", groups have ", group, " devices");
    }
  }
  return success(!context.hasFailed());
}

/// The written results of a collective with one result per operand.
static FailureOr<SmallVector<RankedTensorType>> resultArrays(RuleContext &context, Type type) {
  SmallVector<RankedTensorType> arrays;
  for (Type leaf : leafTypes(type)) {
    arrays.push_back(asArray(leaf));
  }
  if (static_cast<int64_t>(arrays.size()) != context.size() ||
      llvm::is_contained(arrays, RankedTensorType())) {
    return context.fail("c7", "has ", context.size(), " operands, the result is ", type);
  }
  return arrays;
}

/// All-gather enlarges the dimension, reduce-scatter shrinks it. `results` is the type that holds
/// one array per operand.
static FailureOr<Type> gatherOrScatter(RuleContext &context, Type results, bool gathers) {
  if (failed(context.expectAtLeast(1))) {
    return failure();
  }
  auto operands = context.arrays();
  auto dimension = context.requiredInteger("dimension");
  auto group = groupSize(context, Groups::equal);
  if (failed(operands) || failed(dimension) || failed(group)) {
    return failure();
  }
  checkChannel(context);
  auto arrays = resultArrays(context, results);
  if (failed(arrays)) {
    return failure();
  }
  SmallVector<Type> types;
  for (int64_t i = 0; i < context.size(); ++i) {
    RankedTensorType operand = (*operands)[i], result = (*arrays)[i];
    (void)checkShards(context, i, gathers ? operand : result, gathers ? result : operand,
                      *dimension, *group, gathers ? "the operand" : "the result",
                      gathers ? "the result" : "the operand");
    types.push_back(withElement(result, operand.getElementType()));
  }
  if (!gathers) {
    checkReducer(context, *operands);
  }
  return context.result(tupleUnlessSingle(types));
}

static FailureOr<Type> allGather(RuleContext &context) {
  FailureOr<Type> written = context.requiredWritten();
  return failed(written) ? written : gatherOrScatter(context, *written, /*gathers=*/true);
}

static FailureOr<Type> reduceScatter(RuleContext &context) {
  FailureOr<Type> written = context.requiredWritten();
  return failed(written) ? written : gatherOrScatter(context, *written, /*gathers=*/false);
}

static FailureOr<Type> allGatherStart(RuleContext &context) {
  FailureOr<Type> written = context.requiredWritten();
  if (failed(written) || failed(context.expectAtLeast(1))) {
    return failure();
  }
  auto state = dyn_cast<TupleType>(*written);
  if (!state || state.size() < 2) {
    return context.fail("c8", "the result must be (operands, results), is ", *written);
  }
  FailureOr<Type> gathered = gatherOrScatter(context, state.getType(1), /*gathers=*/true);
  if (failed(gathered)) {
    return failure();
  }
  return tupleOf(context,
                 {tupleUnlessSingle(SmallVector<Type>(context.all().getTypes())), *gathered});
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

static FailureOr<Type> allToAll(RuleContext &context) {
  if (failed(context.expectAtLeast(1))) {
    return failure();
  }
  auto operands = context.arrays();
  auto group = groupSize(context, Groups::equal);
  if (failed(operands) || failed(group)) {
    return failure();
  }
  checkChannel(context);
  if (std::optional<int64_t> dim = context.integer("dimension")) {
    RankedTensorType operand = operands->front();
    if (context.size() != 1) {
      return context.fail("c4", "expects 1 operand with 'dimensions', has ", context.size());
    }
    if (failed(checkDimensions(context, "c4", "dimensions", {*dim}, operand.getRank()))) {
      return failure();
    }
    int64_t size = operand.getDimSize(*dim);
    if (!ShapedType::isDynamic(size) && *group != 0 && size % *group != 0) {
      return context.failAt({0}, "c5", "dim ", *dim, " is ", size,
                            ", must be divisible by the group size, ", *group);
    }
    return context.result(operand);
  }
  for (auto [i, operand] : llvm::enumerate(*operands)) {
    if (!sameShape(operand, operands->front(), Precision::anyFloat)) {
      (void)context.failAt({0, static_cast<int64_t>(i)}, "c6", "shapes differ: operand 0 is ",
                           operands->front(), ", operand ", i, " is ", operand);
    }
  }
  if (*group != 0 && *group != context.size() && !groupsSpanPartitions(context)) {
    context.fail("c7", "has ", context.size(), " operands, groups have ", *group, " devices");
  }
  SmallVector<Type> types(context.all().getTypes());
  bool single = types.size() == 1 && !isa_and_present<TupleType>(context.writtenType());
  return context.result(single ? types.front() : tupleOf(context, types));
}

static FailureOr<Type> raggedAllToAll(RuleContext &context) {
  if (failed(context.expectOperands(6))) {
    return failure();
  }
  auto operands = context.arrays();
  FailureOr<int64_t> group = groupSize(context, Groups::equal);
  if (failed(operands) || failed(group)) {
    return failure();
  }
  RankedTensorType input = (*operands)[0], output = (*operands)[1];
  if (!sameUpToPrecision(input.getElementType(), output.getElementType())) {
    (void)context.failAt({0, 1}, "c3", "element types differ: input is ", input, ", output is ",
                         output);
  }
  bool sameRows = input.getRank() == output.getRank() && input.getRank() > 0;
  for (int64_t dim = 1; sameRows && dim < input.getRank(); ++dim) {
    sameRows = sizesAgree(input.getDimSize(dim), output.getDimSize(dim));
  }
  if (!sameRows) {
    (void)context.failAt({0, 1}, "c6", "rows differ: input is ", input, ", output is ", output);
  }
  for (int64_t i = 2; i < 6; ++i) {
    if (!isInteger((*operands)[i].getElementType()) || !sameDims((*operands)[i], (*operands)[2])) {
      (void)context.failAt({i}, "c4", "operand ", i, " must hold integers and have the sizes of ",
                           (*operands)[2], ", is ", (*operands)[i]);
    }
  }
  RankedTensorType offsets = (*operands)[2];
  int64_t peers = offsets.getRank() == 1 ? offsets.getDimSize(0) : 0;
  if (*group != 0 && !ShapedType::isDynamic(peers) && peers % *group != 0) {
    (void)context.failAt({2}, "c5", "operand 2 is ", offsets, ", groups have ", *group, " devices");
  }
  return context.result(output);
}

static FailureOr<Type> collectiveBroadcast(RuleContext &context) {
  if (failed(context.expectAtLeast(1)) || failed(groupSize(context, Groups::some))) {
    return failure();
  }
  SmallVector<Type> types(context.all().getTypes());
  if (context.flag("has_dynamic_root") && types.size() > 1) {
    types.pop_back();
  }
  return context.result(tupleUnlessSingle(types));
}

/// Checks the pairs: sources are unique, and so are targets.
static LogicalResult checkPairs(RuleContext &context) {
  StringRef text = context.text("source_target_pairs");
  FailureOr<IntegerLists> pairs = parseIntegerLists(text.empty() ? "{}" : text);
  if (failed(pairs)) {
    return context.fail("c1", "source_target_pairs are malformed: ", text);
  }
  std::set<int64_t> sources, targets;
  for (auto [i, pair] : llvm::enumerate(*pairs)) {
    if (pair.size() != 2 || pair[0] < 0 || pair[1] < 0) {
      context.fail("c1", "source_target_pairs entry ", i, " must be a source and a target, is ",
                   ArrayRef<int64_t>(pair));
      continue;
    }
    if (!sources.insert(pair[0]).second) {
      context.fail("c1", "source_target_pairs hold source ", pair[0], " twice");
    }
    if (!targets.insert(pair[1]).second) {
      context.fail("c1", "source_target_pairs hold target ", pair[1], " twice");
    }
  }
  return success(!context.hasFailed());
}

/// With slice sizes: input, output, and the start indices of both. After tuples are flattened,
/// there are as many inputs as outputs, which become the results, and the indices are scalars.
static FailureOr<Type> updatedInPlace(RuleContext &context) {
  int64_t results = context.isWritten() ? leafTypes(context.writtenType()).size() : 1;
  bool isFlat = context.isWritten() && !context.passesTuples() && context.size() > 2 * results;
  if (!isFlat) {
    return failed(context.expectOperands(4)) ? FailureOr<Type>(failure())
                                             : FailureOr<Type>(context.type(1));
  }
  for (int64_t i = 2 * results; i < context.size(); ++i) {
    RankedTensorType start = context.array(i);
    if (start && (start.getRank() != 0 || !isInteger(start.getElementType()))) {
      (void)context.failAt({i}, "c3", "start index ", i - 2 * results,
                           " must be an integer scalar, is ", start);
    }
  }
  SmallVector<Type> outputs(context.all().slice(results, results).getTypes());
  return context.result(tupleUnlessSingle(outputs));
}

static FailureOr<Type> collectivePermute(RuleContext &context) {
  if (failed(context.expectAtLeast(1)) || failed(checkPairs(context))) {
    return failure();
  }
  if (!context.text("slice_sizes").empty()) {
    return updatedInPlace(context);
  }
  if (failed(context.arrays())) {
    return failure();
  }
  return tupleUnlessSingle(SmallVector<Type>(context.all().getTypes()));
}

static FailureOr<Type> collectivePermuteStart(RuleContext &context) {
  FailureOr<Type> moved = collectivePermute(context);
  FailureOr<Type> written = context.requiredWritten();
  if (failed(moved) || failed(written)) {
    return failure();
  }
  auto state = dyn_cast<TupleType>(*written);
  if (!state || state.size() < 2) {
    return context.fail("c2", "the result must be (operands, results, ...), is ", *written);
  }
  SmallVector<Type> elements(state.getTypes());
  bool inPlace = !context.text("slice_sizes").empty();
  elements[0] =
      inPlace ? context.type(0) : tupleUnlessSingle(SmallVector<Type>(context.all().getTypes()));
  elements[1] = *moved;
  return context.result(tupleOf(context, elements));
}

Rule collectiveRule(StringRef opName) {
  return llvm::StringSwitch<Rule>(opName)
      .Cases({"hlo.all_reduce", "hlo.all_reduce_start"}, allReduce)
      .Case("hlo.all_reduce_done", forward)
      .Case("hlo.all_gather", allGather)
      .Case("hlo.all_gather_start", allGatherStart)
      .Cases({"hlo.all_gather_done", "hlo.collective_permute_done"}, secondElement)
      .Case("hlo.reduce_scatter", reduceScatter)
      .Case("hlo.all_to_all", allToAll)
      .Case("hlo.ragged_all_to_all", raggedAllToAll)
      .Case("hlo.collective_broadcast", collectiveBroadcast)
      .Case("hlo.collective_permute", collectivePermute)
      .Case("hlo.collective_permute_start", collectivePermuteStart)
      .Default(nullptr);
}

} // namespace hlo
