//===- Sharding.cpp - Rules of Shardy's ops -------------------------------===//
//
// Shardy's ops become the custom calls and frontend attributes of XLA's export, which are what
// compiler/transforms/spmd imports:
//
//   sdy.sharding_constraint, reshard    Sharding, with xla.sdy.sharding
//   sdy.manual_computation              xla.sdy.GlobalToLocalShape, a call, xla.sdy.LocalToGlobalShape
//   sdy.sharding_group                  xla.sdy.ShardingGroup
//   sdy.propagation_barrier             xla.sdy.PropagationBarrier
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/Annotations.h"
#include "compiler/stablehlo/Rules.h"
#include "dialect/stablehlo/sdy/Dialect.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::stable;

using Frontend = SmallVector<std::pair<std::string, std::string>>;

/// A custom call with frontend attributes.
static FailureOr<Value> annotationCall(Converter &c, Operation *op, StringRef target, Type result,
                                       ValueRange operands, Frontend frontend, bool hasEffect) {
  FailureOr<NamedAttrList> annotations =
      annotationsOf(DictionaryAttr::get(c.context), frontend, op->getLoc());
  if (failed(annotations)) {
    return failure();
  }
  SmallVector<NamedAttribute> attributes(annotations->begin(), annotations->end());
  attributes.push_back(c.text("custom_call_target", target));
  if (hasEffect) {
    attributes.push_back(c.flag("custom_call_has_side_effect", true));
  }
  return c.create("hlo.custom_call", result, operands, attributes);
}

template <typename Op> static LogicalResult convertConstraint(Converter &c, Op op) {
  Value operand = c.get(op.getInput());
  FailureOr<Value> call =
      annotationCall(c, op, "Sharding", operand.getType(), operand,
                     {{"xla.sdy.sharding", perValue(op.getShardingAttr())}}, false);
  return failed(call) ? failure() : c.bind(op, *call);
}

static LogicalResult convertManual(Converter &c, sdy::ManualComputationOp op) {
  Computation body = c.computation(op.getBody(), "xla.sdy.manual_computation_body");
  if (failed(body)) {
    return failure();
  }
  std::pair<std::string, std::string> axes("xla.sdy.manual_axes", textOf(op.getManualAxesAttr()));
  Values operands = c.get(op->getOperands());
  Values inner;
  if (!operands.empty()) {
    FailureOr<Value> entered = annotationCall(
        c, op, "xla.sdy.GlobalToLocalShape", c.joined(op.getBody().getArgumentTypes()), operands,
        {axes, {"xla.sdy.in_shardings", textOf(op.getInShardingsAttr())}}, true);
    if (failed(entered)) {
      return failure();
    }
    inner = c.unpacked(*entered, operands.size());
  }
  Operation *yield = op.getBody().front().getTerminator();
  Value call = c.create(
      "hlo.call", c.joined(yield->getOperandTypes()), inner,
      {c.named("to_apply", *body), c.text("hlo.frontend_attributes", "{inlineable=\"false\"}")});
  if (op->getNumResults() == 0) {
    return success();
  }
  FailureOr<Value> left =
      annotationCall(c, op, "xla.sdy.LocalToGlobalShape", c.joined(op->getResultTypes()),
                     c.unpacked(call, op->getNumResults()),
                     {axes, {"xla.sdy.out_shardings", textOf(op.getOutShardingsAttr())}}, true);
  return failed(left) ? failure() : c.bind(op, *left);
}

static LogicalResult convertGroup(Converter &c, sdy::ShardingGroupOp op) {
  std::string id = std::to_string(op.getGroupId()) + " : i64";
  return success(
      succeeded(annotationCall(c, op, "xla.sdy.ShardingGroup", TupleType::get(c.context, {}),
                               c.get(op.getInput()), {{"xla.sdy.sharding_group_id", id}}, true)));
}

static LogicalResult convertPropagationBarrier(Converter &c, sdy::PropagationBarrierOp op) {
  Value operand = c.get(op.getInput());
  std::string direction = std::to_string(static_cast<int64_t>(op.getAllowedDirection()));
  FailureOr<Value> call =
      annotationCall(c, op, "xla.sdy.PropagationBarrier", operand.getType(), operand,
                     {{"xla.sdy.allowed_direction", direction + " : i64"}}, true);
  return failed(call) ? failure() : c.bind(op, *call);
}

static LogicalResult convertNamedComputation(Converter &c, sdy::NamedComputationOp op) {
  Computation body = c.computation(op.getBody(), op.getName());
  if (failed(body)) {
    return failure();
  }
  return c.bind(op, c.create("hlo.call", c.joined(op->getResultTypes()), c.get(op->getOperands()),
                             c.named("to_apply", *body)));
}

void hlo::stable::addShardingRules(Rules &rules) {
  rules.add<sdy::ManualComputationOp, convertManual>();
  rules.add<sdy::NamedComputationOp, convertNamedComputation>();
  rules.add<sdy::PropagationBarrierOp, convertPropagationBarrier>();
  rules.add<sdy::ReshardOp, convertConstraint<sdy::ReshardOp>>();
  rules.add<sdy::ShardingConstraintOp, convertConstraint<sdy::ShardingConstraintOp>>();
  rules.add<sdy::ShardingGroupOp, convertGroup>();
}
