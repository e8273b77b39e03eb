//===- Collective.cpp - Rules of collectives ------------------------------===//
//
//   replica_groups = dense<[[0, 1], [2, -1]]>    {{0,1},{2}}
//   channel_handle = <handle = 1, type = 1>      channel_id=1; 0 means none
//   all_to_all that splits dimension s and       all-to-all of the array in s, then s is cut in n and
//   concatenates in dimension c                  the parts go before c
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/MeshGroups.h"
#include "compiler/stablehlo/Rules.h"
#include "compiler/stablehlo/Text.h"
#include "dialect/stablehlo/Dialect.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::stable;

using Attributes = SmallVector<NamedAttribute>;

/// What most collectives have: groups, channel, kind of ids.
template <typename Op> static FailureOr<Attributes> groupAttributes(Converter &c, Op op) {
  Attributes attributes;
  FailureOr<std::string> text = failure();
  if (auto lists = dyn_cast<DenseIntElementsAttr>(op.getReplicaGroups())) {
    text = listsText(lists);
  } else {
    text = meshGroupsText(op, cast<stablehlo::ReplicaGroupMeshAxesAttr>(op.getReplicaGroups()));
  }
  if (failed(text)) {
    return failure();
  }
  if (*text != "{}") {
    attributes.push_back(c.text("replica_groups", *text));
  }
  addChannel(c, op.getChannelHandleAttr(), attributes);
  return attributes;
}

template <typename Op> static void addGlobalIds(Converter &c, Op op, Attributes &attributes) {
  if (op.getUseGlobalDeviceIds()) {
    attributes.push_back(c.flag("use_global_device_ids", true));
  }
}

static LogicalResult convertAllReduce(Converter &c, stablehlo::AllReduceOp op) {
  FailureOr<Attributes> attributes = groupAttributes(c, op);
  Computation body = failed(attributes) ? Computation() : c.computation(op.getComputation());
  if (failed(body)) {
    return failure();
  }
  addGlobalIds(c, op, *attributes);
  attributes->push_back(c.named("to_apply", *body));
  return c.bind(op, c.create("hlo.all_reduce", c.joined(op->getResultTypes()),
                             c.get(op->getOperands()), *attributes));
}

static LogicalResult convertReduceScatter(Converter &c, stablehlo::ReduceScatterOp op) {
  FailureOr<Attributes> attributes = groupAttributes(c, op);
  Computation body = failed(attributes) ? Computation() : c.computation(op.getComputation());
  if (failed(body)) {
    return failure();
  }
  addGlobalIds(c, op, *attributes);
  attributes->push_back(c.integer("dimension", op.getScatterDimension()));
  attributes->push_back(c.named("to_apply", *body));
  return c.bind(op, c.create("hlo.reduce_scatter", c.joined(op->getResultTypes()),
                             c.get(op->getOperands()), *attributes));
}

static LogicalResult convertAllGather(Converter &c, stablehlo::AllGatherOp op) {
  FailureOr<Attributes> attributes = groupAttributes(c, op);
  if (failed(attributes)) {
    return failure();
  }
  addGlobalIds(c, op, *attributes);
  attributes->push_back(c.integer("dimension", op.getAllGatherDim()));
  return c.bind(op, c.create("hlo.all_gather", c.joined(op->getResultTypes()),
                             c.get(op->getOperands()), *attributes));
}

static LogicalResult convertAllToAll(Converter &c, stablehlo::AllToAllOp op) {
  FailureOr<Attributes> attributes = groupAttributes(c, op);
  if (failed(attributes)) {
    return failure();
  }
  int64_t split = op.getSplitDimension(), concat = op.getConcatDimension();
  int64_t count = op.getSplitCount();
  attributes->push_back(c.integer("dimension", split));
  Values results;
  for (auto [source, result] : llvm::zip_equal(op->getOperands(), op->getResults())) {
    Value operand = c.get(source);
    Value sent = c.create("hlo.all_to_all", operand.getType(), operand, *attributes);
    if (split != concat) {
      SmallVector<int64_t> cut(HloBuilder::type(sent).getShape());
      cut[split] /= count;
      cut.insert(cut.begin() + split, count);
      sent = c.hlo().reshape(sent, cut);
      // The parts, dimension `split`, go right before the dimension to concatenate in.
      int64_t target = concat < split ? concat : concat + 1;
      SmallVector<int64_t> order;
      for (int64_t dim = 0; dim < static_cast<int64_t>(cut.size()); ++dim) {
        if (dim == target) {
          order.push_back(split);
        }
        if (dim != split) {
          order.push_back(dim);
        }
      }
      sent = c.hlo().transpose(sent, order);
      sent = c.hlo().reshape(sent, c.array(result).getShape());
    }
    results.push_back(sent);
  }
  return c.bind(op, ValueRange(results));
}

static LogicalResult convertBroadcast(Converter &c, stablehlo::CollectiveBroadcastOp op) {
  FailureOr<Attributes> attributes = groupAttributes(c, op);
  if (failed(attributes)) {
    return failure();
  }
  if (!op.getHasDynamicRoot()) {
    return c.bind(op, c.create("hlo.collective_broadcast", c.joined(op->getResultTypes()),
                               c.get(op->getOperands()), *attributes));
  }
  // An element of the last operand is the root of an array: each array is sent on its own.
  attributes->push_back(c.flag("has_dynamic_root", true));
  Value roots = c.get(op->getOperands().back());
  SmallVector<Value> results;
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    int64_t at = static_cast<int64_t>(i);
    Value root = op->getNumResults() == 1 ? roots : c.hlo().slice(roots, {at}, {at + 1});
    results.push_back(c.create("hlo.collective_broadcast", c.array(result),
                               {c.get(op->getOperand(i)), root}, *attributes));
  }
  return c.bind(op, ValueRange(results));
}

static LogicalResult convertPermute(Converter &c, stablehlo::CollectivePermuteOp op) {
  Attributes attributes{c.text("source_target_pairs", listsText(op.getSourceTargetPairs()))};
  addChannel(c, op.getChannelHandleAttr(), attributes);
  return c.bind(op, c.create("hlo.collective_permute", c.array(op.getResult()),
                             c.get(op->getOperands()), attributes));
}

/// The ops inside run where they start: what an asynchronous op computes does not depend on when.
static LogicalResult convertAsyncStart(Converter &c, stablehlo::AsyncStartOp op) {
  FailureOr<Values> results = c.inlineBlock(op.getBody().front(), c.get(op->getOperands()));
  if (failed(results)) {
    return failure();
  }
  return c.bind(op, c.packed(*results));
}

static LogicalResult convertAsyncDone(Converter &c, stablehlo::AsyncDoneOp op) {
  return c.bind(op, c.get(op->getOperand(0)));
}

void hlo::stable::addCollectiveRules(Rules &rules) {
  rules.add<stablehlo::AllGatherOp, convertAllGather>();
  rules.add<stablehlo::AllReduceOp, convertAllReduce>();
  rules.add<stablehlo::AllToAllOp, convertAllToAll>();
  rules.add<stablehlo::AsyncDoneOp, convertAsyncDone>();
  rules.add<stablehlo::AsyncStartOp, convertAsyncStart>();
  rules.add<stablehlo::CollectiveBroadcastOp, convertBroadcast>();
  rules.add<stablehlo::CollectivePermuteOp, convertPermute>();
  rules.add<stablehlo::ReduceScatterOp, convertReduceScatter>();
  rules.add("stablehlo.partition_id", convertSame);
  rules.add("stablehlo.replica_id", convertSame);
}
