//===- Feed.cpp - Rules of infeed, outfeed, send, recv --------------------===//
//
//   infeed(token)            HLO: (data, token), where data is a tuple unless it is one array
//   outfeed(a, b, token)     HLO: outfeed((a, b), token)
//   send(a, token)           HLO: a pair of ops, send and send-done
//   source_target_pairs      HLO: the frontend attribute _xla_send_recv_source_target_pairs
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/Annotations.h"
#include "compiler/stablehlo/Rules.h"
#include "compiler/stablehlo/Text.h"
#include "dialect/stablehlo/Dialect.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::stable;

/// Binds the results of an op that receives, the last of which is a token, to (data, token).
static LogicalResult bindReceived(Converter &c, Operation *op, Value both) {
  Values results = c.unpacked(c.element(both, 0), op->getNumResults() - 1);
  results.push_back(c.element(both, 1));
  return c.bind(op, ValueRange(results));
}

/// An error unless each layout is the one that arrays have by default, the last dimension minor.
static LogicalResult checkLayouts(stablehlo::InfeedOp op) {
  ArrayAttr layouts = op.getLayoutAttr();
  for (auto [i, layout] : llvm::enumerate(layouts ? layouts.getValue() : ArrayRef<Attribute>())) {
    auto order =
        llvm::map_to_vector(cast<ArrayAttr>(layout).getAsRange<IntegerAttr>(),
                            [](IntegerAttr dim) { return dim.getValue().getLimitedValue(); });
    if (!llvm::equal(llvm::reverse(order), llvm::seq<uint64_t>(0, order.size()))) {
      return op.emitOpError() << "has layout " << layout << " of result " << i
                              << "; only the default, the last dimension minor, is supported";
    }
  }
  return success();
}

static LogicalResult convertInfeed(Converter &c, stablehlo::InfeedOp op) {
  if (failed(checkLayouts(op))) {
    return failure();
  }
  Type data = c.joined(op->getResults().drop_back().getTypes());
  Type token = c.type(op->getResults().back().getType());
  SmallVector<NamedAttribute> attributes;
  if (StringRef config = op.getInfeedConfig(); !config.empty()) {
    attributes.push_back(c.text("infeed_config", config));
  }
  Value both = c.create("hlo.infeed", TupleType::get(c.context, {data, token}),
                        c.get(op.getToken()), attributes);
  return bindReceived(c, op, both);
}

static LogicalResult convertOutfeed(Converter &c, stablehlo::OutfeedOp op) {
  Value data = c.packed(c.get(op.getInputs()));
  SmallVector<NamedAttribute> attributes{c.named("outfeed_shape", TypeAttr::get(data.getType()))};
  if (StringRef config = op.getOutfeedConfig(); !config.empty()) {
    attributes.push_back(c.text("outfeed_config", config));
  }
  return c.bind(op, c.create("hlo.outfeed", c.type(op.getResult().getType()),
                             {data, c.get(op.getToken())}, attributes));
}

/// The state between the two ops of a transfer: the data, a context, the token.
static Type transferState(Converter &c, Type data) {
  Type context = RankedTensorType::get({}, c.builder.getIntegerType(32, /*isSigned=*/false));
  return TupleType::get(c.context, {data, context, TokenType::get(c.context)});
}

/// The attributes of both ops of a transfer.
template <typename Op>
static FailureOr<SmallVector<NamedAttribute>> transferAttributes(Converter &c, Op op) {
  SmallVector<NamedAttribute> attributes;
  addChannel(c, op.getChannelHandleAttr(), attributes);
  if (op.getIsHostTransfer()) {
    attributes.push_back(c.flag("is_host_transfer", true));
  }
  SmallVector<std::pair<std::string, std::string>> frontend;
  if (DenseIntElementsAttr pairs = op.getSourceTargetPairsAttr()) {
    frontend.emplace_back("_xla_send_recv_source_target_pairs", listsText(pairs));
  }
  FailureOr<NamedAttrList> annotations =
      annotationsOf(op->getDiscardableAttrDictionary(), frontend, op->getLoc());
  if (failed(annotations)) {
    return failure();
  }
  if (Attribute text = annotations->get("hlo.frontend_attributes")) {
    attributes.push_back(c.named("hlo.frontend_attributes", text));
  }
  return attributes;
}

static LogicalResult convertSend(Converter &c, stablehlo::SendOp op) {
  FailureOr<SmallVector<NamedAttribute>> attributes = transferAttributes(c, op);
  if (failed(attributes)) {
    return failure();
  }
  Value data = c.packed(c.get(op.getInputs()));
  Value state = c.create("hlo.send", transferState(c, data.getType()), {data, c.get(op.getToken())},
                         *attributes);
  return c.bind(op,
                c.create("hlo.send_done", c.type(op.getResult().getType()), state, *attributes));
}

static LogicalResult convertRecv(Converter &c, stablehlo::RecvOp op) {
  FailureOr<SmallVector<NamedAttribute>> attributes = transferAttributes(c, op);
  if (failed(attributes)) {
    return failure();
  }
  Type data = c.joined(op->getResults().drop_back().getTypes());
  Type token = c.type(op->getResults().back().getType());
  Value state = c.create("hlo.recv", transferState(c, data), c.get(op.getToken()), *attributes);
  Value both =
      c.create("hlo.recv_done", TupleType::get(c.context, {data, token}), state, *attributes);
  return bindReceived(c, op, both);
}

void hlo::stable::addFeedRules(Rules &rules) {
  rules.add<stablehlo::InfeedOp, convertInfeed>();
  rules.add<stablehlo::OutfeedOp, convertOutfeed>();
  rules.add<stablehlo::RecvOp, convertRecv>();
  rules.add<stablehlo::SendOp, convertSend>();
}
