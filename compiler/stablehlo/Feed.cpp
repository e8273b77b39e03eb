//===- Feed.cpp - Rules of infeed, outfeed, send, recv --------------------===//
//
//   infeed(token)            HLO: (data, token), where data is a tuple unless it is one array
//   outfeed(a, b, token)     HLO: outfeed((a, b), token)
//   send(a, token)           HLO: a pair of ops, send and send-done
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/Rules.h"
#include "dialect/stablehlo/Dialect.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::stable;

static LogicalResult convertInfeed(Converter &c, stablehlo::InfeedOp op) {
  Type data = c.joined(op->getResults().drop_back().getTypes());
  Type token = c.type(op->getResults().back().getType());
  SmallVector<NamedAttribute> attributes;
  if (StringRef config = op.getInfeedConfig(); !config.empty()) {
    attributes.push_back(c.text("infeed_config", config));
  }
  Value both = c.create("hlo.infeed", TupleType::get(c.context, {data, token}),
                        c.get(op.getToken()), attributes);
  Values results;
  Value items = c.element(both, 0);
  unsigned count = op->getNumResults() - 1;
  for (unsigned i = 0; i < count; ++i) {
    results.push_back(count == 1 ? items : c.element(items, i));
  }
  results.push_back(c.element(both, 1));
  return c.bind(op, ValueRange(results));
}

static LogicalResult convertOutfeed(Converter &c, stablehlo::OutfeedOp op) {
  Values items = c.get(op.getInputs());
  Value data = items.size() == 1 ? items.front() : c.tuple(items);
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

static SmallVector<NamedAttribute> transferAttributes(Converter &c, int64_t channel, bool isHost) {
  SmallVector<NamedAttribute> attributes;
  if (channel != 0) {
    attributes.push_back(c.integer("channel_id", channel));
  }
  if (isHost) {
    attributes.push_back(c.flag("is_host_transfer", true));
  }
  return attributes;
}

static LogicalResult convertSend(Converter &c, stablehlo::SendOp op) {
  Values items = c.get(op.getInputs());
  Value data = items.size() == 1 ? items.front() : c.tuple(items);
  auto attributes =
      transferAttributes(c, op.getChannelHandle().getHandle(), op.getIsHostTransfer());
  Value state = c.create("hlo.send", transferState(c, data.getType()), {data, c.get(op.getToken())},
                         attributes);
  return c.bind(op, c.create("hlo.send_done", c.type(op.getResult().getType()), state, attributes));
}

static LogicalResult convertRecv(Converter &c, stablehlo::RecvOp op) {
  Type data = c.joined(op->getResults().drop_back().getTypes());
  Type token = c.type(op->getResults().back().getType());
  auto attributes =
      transferAttributes(c, op.getChannelHandle().getHandle(), op.getIsHostTransfer());
  Value state = c.create("hlo.recv", transferState(c, data), c.get(op.getToken()), attributes);
  Value both =
      c.create("hlo.recv_done", TupleType::get(c.context, {data, token}), state, attributes);
  Values results;
  Value items = c.element(both, 0);
  unsigned count = op->getNumResults() - 1;
  for (unsigned i = 0; i < count; ++i) {
    results.push_back(count == 1 ? items : c.element(items, i));
  }
  results.push_back(c.element(both, 1));
  return c.bind(op, ValueRange(results));
}

void hlo::stable::addFeedRules(Rules &rules) {
  rules.add<stablehlo::InfeedOp, convertInfeed>();
  rules.add<stablehlo::OutfeedOp, convertOutfeed>();
  rules.add<stablehlo::RecvOp, convertRecv>();
  rules.add<stablehlo::SendOp, convertSend>();
}
