//===- Rule.cpp - How the dimensions of an op belong together -------------===//
#include "compiler/transforms/spmd/Rule.h"
#include "compiler/transforms/spmd/Partitioner.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

Rule Rule::of(Operation *op) {
  auto dimsOf = [](Type type) {
    auto array = dyn_cast<RankedTensorType>(type);
    return DimFactors(array ? array.getRank() : 0);
  };
  Rule rule;
  for (Type type : op->getOperandTypes()) {
    rule.operands.push_back(dimsOf(type));
  }
  for (Type type : op->getResultTypes()) {
    rule.results.push_back(dimsOf(type));
  }
  return rule;
}

Sharding hlo::spmd::shardingOf(const DimFactors &dims, const FactorAxes &axes) {
  Sharding sharding(dims.size());
  for (auto [factors, list] : llvm::zip(dims, sharding.dims)) {
    for (unsigned factor : factors) {
      llvm::append_range(list, axes[factor]);
    }
  }
  return sharding;
}

const PartitionerTable &hlo::spmd::partitionerTable() {
  static const PartitionerTable table = [] {
    PartitionerTable rows;
    registerElementwise(rows);
    registerShape(rows);
    registerReduce(rows);
    registerDot(rows);
    registerConvolution(rows);
    registerMovement(rows);
    registerWindow(rows);
    registerIndex(rows);
    registerSort(rows);
    registerLinalg(rows);
    registerOther(rows);
    return rows;
  }();
  return table;
}

Rule hlo::spmd::ruleOf(Operation *op) {
  auto row = partitionerTable().find(op->getName().getStringRef());
  if (row != partitionerTable().end() && row->second.rule) {
    return row->second.rule(op);
  }
  Rule rule = Rule::of(op);
  rule.replicated = "no rule";
  return rule;
}
