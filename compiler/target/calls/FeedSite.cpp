//===- FeedSite.cpp - Descriptions of feeds and host transfers ------------===//
//
// In: the cpurt.call of an infeed, an outfeed, or a send or recv between the program and the host.
// Out: an hlo_feed_site (runtime/abi/hlo/sites.h).
//
//===----------------------------------------------------------------------===//
#include "compiler/target/calls/RuntimeCall.h"
#include "runtime/abi/hlo/sites.h"

using namespace hlo;

mlir::FailureOr<RuntimeCall> hlo::describeFeed(const RuntimeCallContext &context) {
  cpurt::CallOp call = context.op;
  StaticData &data = context.data;
  llvm::StringRef kind = call.getKind();
  bool incoming = kind == "infeed" || kind == "recv";
  bool transfer = kind == "send" || kind == "recv";
  if (auto host = context.get<mlir::BoolAttr>("is_host_transfer");
      transfer && (!host || !host.getValue())) {
    return call.emitError() << kind << " between devices is not supported yet";
  }
  mlir::FailureOr<llvm::Constant *> header = context.header(sizeof(hlo_feed_site));
  if (mlir::failed(header)) {
    return mlir::failure();
  }
  mlir::ArrayAttr types = incoming ? call.getResultTypes() : call.getOperandTypes();
  llvm::SmallVector<int64_t> bytes;
  for (mlir::Type type : types.getAsValueRange<mlir::TypeAttr>()) {
    mlir::FailureOr<Leaf> leaf = describeLeaf(mlir::cast<mlir::RankedTensorType>(type), "");
    if (mlir::failed(leaf)) {
      return mlir::failure();
    }
    bytes.push_back(leaf->bytes);
  }
  auto config = context.get<mlir::StringAttr>((kind + "_config").str());
  auto channel = context.get<mlir::IntegerAttr>("channel_id");
  int32_t number = kind == "infeed"    ? HLO_SITE_INFEED
                   : kind == "outfeed" ? HLO_SITE_OUTFEED
                   : kind == "send"    ? HLO_SITE_SEND
                                       : HLO_SITE_RECV;
  llvm::Constant *site = data.global(data.record(
      {*header, data.string(config ? config.getValue() : ""), data.numbers(bytes),
       data.i64(channel ? channel.getInt() : 0), data.i32(number), data.i32(bytes.size())}));
  return RuntimeCall{"hlo_rt_feed", site};
}
