//===- CollectiveCall.cpp - Descriptions of collectives -------------------===//
//
// In: the cpurt.call of a collective, replica-id or partition-id. Out: an hlo_rt_collective: the
// replica groups of the text and how to read them, the operation and its dimension. Groups keep the
// order of the text, which numbers their members.
//
// A collective in two parts is a call of kind "all-reduce-start" and one of kind "all-reduce-done".
// The first has the description of an all-reduce, the second only the header.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/calls/RuntimeCall.h"
#include "dialect/hlo/TextAttrs.h"
#include "runtime/abi/hlo/generated.h"
#include "llvm/ADT/StringSwitch.h"

using namespace hlo;

static int32_t collectiveKind(llvm::StringRef kind) {
  return llvm::StringSwitch<int32_t>(kind)
      .Case("all-reduce", HLO_ALL_REDUCE)
      .Case("all-gather", HLO_ALL_GATHER)
      .Case("reduce-scatter", HLO_REDUCE_SCATTER)
      .Case("all-to-all", HLO_ALL_TO_ALL)
      .Case("ragged-all-to-all", HLO_RAGGED_ALL_TO_ALL)
      .Case("collective-broadcast", HLO_COLLECTIVE_BROADCAST)
      .Case("collective-permute", HLO_COLLECTIVE_PERMUTE)
      .Case("replica-id", HLO_REPLICA_ID)
      .Default(HLO_PARTITION_ID);
}

/// The meaning of the numbers in the groups: replicas of one partition, replicas with all their
/// partitions, partitions of one replica, or ranks.
static int32_t groupMode(const RuntimeCallContext &context, int32_t kind) {
  auto channel = context.get<mlir::IntegerAttr>("channel_id");
  auto global = context.get<mlir::BoolAttr>("use_global_device_ids");
  if (!channel) {
    return HLO_GROUPS_OF_REPLICAS;
  }
  if (global && global.getValue()) {
    return HLO_GROUPS_OF_RANKS;
  }
  bool gathers = kind == HLO_ALL_REDUCE || kind == HLO_ALL_GATHER || kind == HLO_REDUCE_SCATTER;
  return gathers ? HLO_GROUPS_OF_REPLICAS_AND_PARTITIONS : HLO_GROUPS_OF_PARTITIONS;
}

/// Concatenates lists: each list's length, then its numbers.
static llvm::SmallVector<int64_t> flatten(const IntegerLists &lists) {
  llvm::SmallVector<int64_t> flat;
  for (const IntegerList &list : lists) {
    flat.push_back(list.size());
    llvm::append_range(flat, list);
  }
  return flat;
}

/// Checks the scratch memory of a collective in two parts.
static mlir::LogicalResult checkState(cpurt::CallOp call) {
  auto module = call->getParentOfType<mlir::ModuleOp>();
  auto count = [&](llvm::StringRef name) -> uint64_t {
    auto attr = module->getAttrOfType<mlir::IntegerAttr>(name);
    return attr ? attr.getInt() : 1;
  };
  uint64_t ranks = count("hlo.replica_count") * count("hlo.num_partitions");
  uint64_t least = HLO_COLLECTIVE_STATE_BYTES(ranks, call.getOperandTypes().size());
  if (uint64_t(call.getScratchBytes()) < least) {
    return call.emitError("internal error: ")
           << call.getScratchBytes() << " bytes of scratch memory, needs " << least;
  }
  return mlir::success();
}

mlir::FailureOr<RuntimeCall> hlo::describeCollectiveDone(const RuntimeCallContext &context) {
  mlir::FailureOr<llvm::Constant *> header = context.header(sizeof(hlo_rt_op));
  if (mlir::failed(header)) {
    return mlir::failure();
  }
  return RuntimeCall{"hlo_rt_collective_done", context.data.global(*header)};
}

mlir::FailureOr<RuntimeCall> hlo::describeCollective(const RuntimeCallContext &context) {
  cpurt::CallOp call = context.op;
  StaticData &data = context.data;
  llvm::StringRef opcode = call.getKind();
  bool begins = opcode.consume_back("-start");
  int32_t kind = collectiveKind(opcode);
  if (begins && mlir::failed(checkState(call))) {
    return mlir::failure();
  }
  mlir::FailureOr<llvm::Constant *> header = context.header(sizeof(hlo_rt_collective));
  if (mlir::failed(header)) {
    return mlir::failure();
  }
  auto text = [&](llvm::StringRef name) {
    auto attr = context.get<mlir::StringAttr>(name);
    return attr ? attr.getValue() : llvm::StringRef();
  };
  auto number = [&](llvm::StringRef name, int64_t otherwise) {
    auto attr = context.get<mlir::IntegerAttr>(name);
    return attr ? attr.getInt() : otherwise;
  };
  bool permutes = kind == HLO_COLLECTIVE_PERMUTE;
  llvm::StringRef groupText = text(permutes ? "source_target_pairs" : "replica_groups");
  IntegerLists groups, sizes;
  if (!groupText.empty()) {
    auto parsed = permutes ? parseIntegerLists(groupText) : parseReplicaGroups(groupText);
    if (mlir::failed(parsed)) {
      return call.emitError("groups are malformed: ") << groupText;
    }
    groups = *parsed;
  }
  if (!text("slice_sizes").empty()) {
    auto parsed = parseIntegerLists(text("slice_sizes"));
    if (mlir::failed(parsed)) {
      return call.emitError("slice_sizes are malformed: ") << text("slice_sizes");
    }
    sizes = *parsed;
  }
  llvm::SmallVector<llvm::Constant *> kernels;
  if (mlir::ArrayAttr names = call.getKernelsAttr()) {
    for (auto name : names.getAsRange<mlir::FlatSymbolRefAttr>()) {
      kernels.push_back(context.kernel(name.getValue()));
      if (!kernels.back()) {
        return call.emitError("internal error: kernel ") << name << " was not emitted";
      }
    }
  }
  auto dynamicRoot = context.get<mlir::BoolAttr>("has_dynamic_root");
  llvm::Constant *description = data.global(
      data.record({*header, data.i32(kind), data.i32(groupMode(context, kind)),
                   data.i64(number("channel_id", -1)), data.i64(number("dimension", -1)),
                   data.numbers(flatten(groups)), data.i32(groups.size()),
                   data.i32(dynamicRoot && dynamicRoot.getValue()), data.numbers(flatten(sizes)),
                   data.i64(sizes.size()), data.pointers(kernels)}));
  return RuntimeCall{begins ? "hlo_rt_collective_start" : "hlo_rt_collective_run", description};
}
