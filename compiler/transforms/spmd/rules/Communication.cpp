//===- Communication.cpp - Collectives, feeds and transfers of the text ------===//
//
// A collective without a channel combines replicas, each partition by itself. Its reductions and
// permutations are element-wise; dimensions along which it gathers or scatters stay whole. A
// collective with a channel combines partitions: what it means for the array that the partitions
// hold together is not defined, so each partition executes it on the whole array. (In manual
// regions the partitioner copies such collectives instead.)
//
// Feeds and transfers: each partition has its own queues and passes whole arrays through them.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/spmd/rules/Other.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

namespace {

bool combinesReplicas(Operation *op) {
  auto channel = op->getAttrOfType<IntegerAttr>("channel_id");
  auto global = op->getAttrOfType<BoolAttr>("use_global_device_ids");
  return (!channel || channel.getInt() <= 0) && !(global && global.getValue());
}

Rule wholeRule(Operation *op, const char *reason) {
  Rule rule = Rule::of(op);
  rule.replicated = reason;
  return rule;
}

constexpr const char *kAcrossPartitions = "its groups are of partitions, not of replicas";

/// Collectives whose result `i` has elements of operand `i` at the same place, except along
/// `dimension`.
Rule collectiveRule(Operation *op) {
  if (!combinesReplicas(op)) {
    return wholeRule(op, kAcrossPartitions);
  }
  Rule rule = forwardingRule(op);
  if (auto dimension = op->getAttrOfType<IntegerAttr>("dimension")) {
    for (auto *lists : {&rule.operands, &rule.results}) {
      for (DimFactors &dims : *lists) {
        if (dimension.getInt() >= 0 && dimension.getInt() < static_cast<int64_t>(dims.size())) {
          dims[dimension.getInt()].clear();
        }
      }
    }
  }
  return rule;
}

/// The form without `dimension` sends operand r to replica r: all arrays are split alike.
Rule allToAllRule(Operation *op) {
  if (!combinesReplicas(op)) {
    return wholeRule(op, kAcrossPartitions);
  }
  if (op->hasAttr("dimension")) {
    return collectiveRule(op);
  }
  Rule rule = Rule::of(op);
  RankedTensorType type = arrayType(op->getOperand(0));
  auto isLike = [&](Type other) { return other == type; };
  if (!type || !llvm::all_of(op->getOperandTypes(), isLike) ||
      !llvm::all_of(op->getResultTypes(), isLike)) {
    rule.replicated = "its arrays have different types";
    return rule;
  }
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (size > 1) {
      unsigned factor = rule.addFactor(size);
      for (auto *lists : {&rule.operands, &rule.results}) {
        for (DimFactors &dims : *lists) {
          dims[dim] = {factor};
        }
      }
    }
  }
  return rule;
}

Rule permuteRule(Operation *op) {
  if (op->hasAttr("slice_sizes") || op->getNumOperands() != op->getNumResults()) {
    return wholeRule(op, "it updates parts of a buffer");
  }
  return collectiveRule(op);
}

/// The collective, without its end.
FailureOr<SmallVector<Value>> emitCollective(Site &site) {
  Operation *op = site.clone();
  op->removeAttr("hlo.async");
  return SmallVector<Value>(op->getResults());
}

/// The end of an asynchronous collective, which has ended.
FailureOr<SmallVector<Value>> emitDone(Site &site) {
  site.operands.truncate(site.op->getNumResults());
  return site.operands;
}

} // namespace

void hlo::spmd::registerCommunication(PartitionerTable &table) {
  for (StringRef name :
       {"hlo.all_reduce", "hlo.all_gather", "hlo.reduce_scatter", "hlo.collective_broadcast"}) {
    table[name] = {.rule = collectiveRule, .emit = emitCollective};
  }
  table["hlo.all_to_all"] = {.rule = allToAllRule, .emit = emitCollective};
  table["hlo.collective_permute"] = {.rule = permuteRule, .emit = emitCollective};
  table["hlo.ragged_all_to_all"] = {
      .rule = [](Operation *op) { return wholeRule(op, "the sizes of what it sends are data"); },
      .emit = emitCollective};
  table["hlo.collective_done"] = {.rule = forwardingRule, .emit = emitDone};
  for (StringRef name :
       {"hlo.all_reduce_start", "hlo.all_reduce_done", "hlo.all_gather_start",
        "hlo.all_gather_done", "hlo.collective_permute_start", "hlo.collective_permute_done"}) {
    table[name].rule = [](Operation *op) {
      return wholeRule(op, "a pair becomes one op before partitioning");
    };
  }
  for (StringRef name : {"hlo.partition_id", "hlo.replica_id"}) {
    table[name].rule = [](Operation *op) { return wholeRule(op, "a scalar of each rank"); };
  }
  for (StringRef name : {"hlo.infeed", "hlo.outfeed"}) {
    table[name].rule = [](Operation *op) {
      return wholeRule(op, "each partition feeds the whole array");
    };
  }
  for (StringRef name : {"hlo.send", "hlo.send_done", "hlo.recv", "hlo.recv_done"}) {
    table[name].rule = [](Operation *op) {
      return wholeRule(op, "each partition transfers the whole array");
    };
  }
}
