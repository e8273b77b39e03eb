//===- Recompute.cpp - Shards made again instead of sent ------------------===//
#include "compiler/transforms/spmd/Recompute.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

/// Ops that one array may be computed again by. Each is part of a kernel afterwards.
static constexpr unsigned kMostOps = 16;

int64_t Recompute::bytesToSend(Value value, const Sharding &wanted) {
  auto array = dyn_cast<RankedTensorType>(value.getType());
  return array ? e.reshardBytes(array, program.shardingOf(value), wanted) : 0;
}

std::optional<FactorAxes> Recompute::axesFor(Operation *op, const Rule &rule,
                                             const Sharding &wanted) {
  FactorAxes axes(rule.factors.size());
  projectFactors(rule, rule.results[0], wanted, e.mesh, axes);
  for (auto [factor, list] : llvm::zip(rule.factors, axes)) {
    if (factor.kind == FactorKind::Whole && !list.empty()) {
      return std::nullopt;
    }
  }
  auto row = partitionerTable().find(op->getName().getStringRef());
  bool accepted = row != partitionerTable().end() &&
                  (!row->second.accepts || row->second.accepts(op, rule, axes, e.mesh));
  return accepted && shardingOf(rule.results[0], axes) == wanted ? std::optional(axes)
                                                                 : std::nullopt;
}

bool Recompute::canMake(Value value, const Sharding &wanted, unsigned &ops) {
  if (bytesToSend(value, wanted) == 0) {
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (!op || ops == 0) {
    return false;
  }
  --ops;
  if (markerOf(op) == kMarkSharding) {
    return canMake(op->getOperand(0), wanted, ops);
  }
  if (!isPure(op) || op->getNumResults() != 1) {
    return false;
  }
  Rule rule = ruleOf(op);
  if (!rule.passesThrough && !rule.isFree) {
    return false;
  }
  std::optional<FactorAxes> axes = axesFor(op, rule, wanted);
  if (!axes) {
    return false;
  }
  for (auto [operand, dims] : llvm::zip(op->getOperands(), rule.operands)) {
    if (!canMake(operand, shardingOf(dims, *axes), ops)) {
      return false;
    }
  }
  return true;
}

Value Recompute::make(Value value, const Sharding &wanted) {
  if (bytesToSend(value, wanted) == 0) {
    auto array = dyn_cast<RankedTensorType>(value.getType());
    Value shard = local.lookup(value);
    return array ? e.reshard(shard, array, program.shardingOf(value), wanted) : shard;
  }
  Operation *op = value.getDefiningOp();
  if (markerOf(op) == kMarkSharding) {
    return make(op->getOperand(0), wanted);
  }
  std::pair<const void *, std::string> key(value.getAsOpaquePointer(), toString(wanted, e.mesh));
  if (auto known = made.find(key); known != made.end()) {
    return known->second;
  }
  Rule rule = ruleOf(op);
  FactorAxes axes = *axesFor(op, rule, wanted);
  Site site{op, rule, axes, {}, e};
  for (auto [operand, dims] : llvm::zip(op->getOperands(), rule.operands)) {
    site.operands.push_back(make(operand, shardingOf(dims, axes)));
  }
  auto row = partitionerTable().find(op->getName().getStringRef());
  Value shard;
  if (row->second.emit) {
    FailureOr<SmallVector<Value>> emitted = row->second.emit(site);
    shard = succeeded(emitted) ? emitted->front() : Value();
  } else {
    shard = site.clone()->getResult(0);
  }
  if (shard) {
    made[key] = shard;
  }
  return shard;
}

int64_t Recompute::bytes(Value value, const Sharding &wanted) {
  int64_t sent = bytesToSend(value, wanted);
  unsigned ops = kMostOps;
  return sent > 0 && canMake(value, wanted, ops) ? 0 : sent;
}

Value Recompute::shard(Value value, const Sharding &wanted) {
  auto array = dyn_cast<RankedTensorType>(value.getType());
  Value own = local.lookup(value);
  if (!array) {
    return own;
  }
  if (bytesToSend(value, wanted) > 0 && bytes(value, wanted) == 0) {
    if (Value shard = make(value, wanted)) {
      return shard;
    }
  }
  return e.reshard(own, array, program.shardingOf(value), wanted);
}
