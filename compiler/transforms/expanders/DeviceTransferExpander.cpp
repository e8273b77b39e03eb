//===- DeviceTransferExpander.cpp - send and recv between ranks -----------===//
//
// All ranks run one program, so a send and a recv with the same channel and the same source-target
// pairs are the two ends of one permutation:
//
//   send(data...), recv()   of channel c, pairs P, in one computation
//   data... = recv-done(...)      collective-permute(data...), source_target_pairs=P
//   send-done(...)                gone
//
// The pairs are the frontend attribute `_xla_send_recv_source_target_pairs`. The permutation
// replaces recv-done. A recv whose done precedes the data of its send stays, and so do ends in
// different computations. Assumes flat tuples.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/transforms/expanders/Expanders.h"
#include "dialect/hlo/Builder.h"

using namespace mlir;
using namespace hlo;

namespace {

class DeviceTransferExpanderPass
    : public PassWrapper<DeviceTransferExpanderPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DeviceTransferExpanderPass)
  StringRef getArgument() const final { return "hlo-device-transfer-expander"; }
  StringRef getDescription() const final {
    return "Replace a send and a recv between ranks by a permutation";
  }

  void runOnOperation() final {
    if (!getAnalysis<OpsPresent>().has<SendOp, RecvOp, SendDoneOp, RecvDoneOp>()) {
      return markAllAnalysesPreserved();
    }
    auto partitions = getOperation()->getAttrOfType<IntegerAttr>("hlo.num_partitions");
    manyPartitions = partitions && partitions.getInt() > 1;
    for (auto computation : getOperation().getOps<ComputationOp>()) {
      expand(computation.getBody().front());
    }
  }

private:
  void expand(Block &block);
  void replacePair(SendOp send, RecvOp recv, RecvDoneOp done, StringRef pairs);

  bool manyPartitions = false;
};

/// The text of the pairs; empty for a transfer with the host.
StringRef pairsOf(Operation *op) {
  auto attributes = op->getAttrOfType<StringAttr>("hlo.frontend_attributes");
  StringRef text = attributes ? attributes.getValue() : StringRef();
  StringRef key = "_xla_send_recv_source_target_pairs=";
  size_t at = text.find(key);
  if (at == StringRef::npos) {
    return StringRef();
  }
  text = text.drop_front(at + key.size()).ltrim('"');
  size_t depth = 0, end = 0;
  for (; end < text.size(); ++end) {
    depth += text[end] == '{';
    if (text[end] == '}' && --depth == 0) {
      return text.take_front(end + 1);
    }
  }
  return StringRef();
}

/// The -done op of a start: the only user of the start's context, which is its last result.
template <typename DoneOp> DoneOp doneOf(Operation *start) {
  if (!start->getNumResults()) {
    return DoneOp();
  }
  Value context = start->getResults().back();
  return context.hasOneUse() ? dyn_cast<DoneOp>(*context.user_begin()) : DoneOp();
}

} // namespace

void DeviceTransferExpanderPass::expand(Block &block) {
  SmallVector<SendOp> sends;
  SmallVector<RecvOp> recvs;
  for (Operation &op : block) {
    if (auto send = dyn_cast<SendOp>(op)) {
      sends.push_back(send);
    } else if (auto recv = dyn_cast<RecvOp>(op)) {
      recvs.push_back(recv);
    }
  }
  // Those of a pair list and a channel, the next one last.
  auto keyOf = [](auto op) {
    return std::pair(pairsOf(op), op.getChannelId().value_or(std::numeric_limits<int64_t>::min()));
  };
  DenseMap<std::pair<StringRef, int64_t>, SmallVector<SendOp>> sendsOf;
  for (SendOp send : llvm::reverse(sends)) {
    sendsOf[keyOf(send)].push_back(send);
  }
  for (RecvOp recv : recvs) {
    StringRef pairs = pairsOf(recv);
    auto done = doneOf<RecvDoneOp>(recv);
    auto found = sendsOf.find(keyOf(recv));
    if (pairs.empty() || !done || found == sendsOf.end() || found->second.empty()) {
      continue;
    }
    SendOp match = found->second.back();
    auto isThere = [&](Value value) {
      Operation *producer = value.getDefiningOp();
      return !producer || producer->isBeforeInBlock(done);
    };
    if (done->getBlock() == &block && llvm::all_of(match->getOperands(), isThere) &&
        llvm::equal(match->getOperandTypes(), done->getResultTypes())) {
      found->second.pop_back();
      replacePair(match, recv, done, pairs);
    }
  }
}

void DeviceTransferExpanderPass::replacePair(SendOp send, RecvOp recv, RecvDoneOp done,
                                             StringRef pairs) {
  OpBuilder builder(done);
  // As in collective-permute, a channel means partitions if the module has several.
  std::optional<int64_t> channel = recv.getChannelId();
  IntegerAttr channelAttr = manyPartitions && channel && *channel > 0
                                ? builder.getI64IntegerAttr(*channel)
                                : IntegerAttr();
  auto permute = CollectivePermuteOp::create(builder, done.getLoc(), done->getResultTypes(),
                                             send->getOperands(), builder.getStringAttr(pairs),
                                             channelAttr, StringAttr());
  done->replaceAllUsesWith(permute->getResults());
  done.erase();
  recv.erase();
  if (auto sendDone = doneOf<SendDoneOp>(send)) {
    sendDone.erase();
  }
  send.erase();
}

std::unique_ptr<Pass> hlo::createDeviceTransferExpanderPass() {
  return std::make_unique<DeviceTransferExpanderPass>();
}
