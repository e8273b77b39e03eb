//===- Other.cpp - Ops that pass arrays on, maps, scans, sizes ---------------===//
//
// Families of a file each are in Other.h; here is the rest.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/spmd/rules/Other.h"
#include "compiler/analysis/Shapes.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

Rule hlo::spmd::forwardingRule(Operation *op) {
  Rule rule = Rule::of(op);
  unsigned count = std::min(op->getNumOperands(), op->getNumResults());
  for (unsigned i = 0; i < count; ++i) {
    RankedTensorType from = arrayType(op->getOperand(i)), to = arrayType(op->getResult(i));
    if (!from || !to || from.getRank() != to.getRank()) {
      continue;
    }
    for (auto [dim, size] : llvm::enumerate(from.getShape())) {
      if (size > 1 && to.getDimSize(dim) == size) {
        rule.operands[i][dim] = rule.results[i][dim] = {rule.addFactor(size)};
      }
    }
  }
  return rule;
}

namespace {

Rule barrierRule(Operation *op) {
  Rule rule = forwardingRule(op);
  rule.passesThrough = true;
  return rule;
}

/// Element-wise: all arrays have one shape.
Rule mapRule(Operation *op) {
  Rule rule = Rule::of(op);
  rule.passesThrough = true;
  for (auto [dim, size] : llvm::enumerate(shapeOf(op->getResult(0)))) {
    if (size <= 1) {
      continue;
    }
    unsigned factor = rule.addFactor(size);
    for (auto *lists : {&rule.operands, &rule.results}) {
      for (DimFactors &dims : *lists) {
        dims[dim] = {factor};
      }
    }
  }
  return rule;
}

//===----------------------------------------------------------------------===//
// Sizes of dimensions
//===----------------------------------------------------------------------===//

/// The size is a constant of the program, so that any shards of the operand will do.
Rule getSizeRule(Operation *op) {
  Rule rule = Rule::of(op);
  RankedTensorType operand = arrayType(op->getOperand(0));
  for (auto [dim, size] : llvm::enumerate(operand.getShape())) {
    if (size > 1) {
      rule.operands[0][dim] = {rule.addFactor(size, FactorKind::Special)};
    }
  }
  return rule;
}

FailureOr<SmallVector<Value>> emitGetSize(Site &site) {
  auto op = cast<GetDimensionSizeOp>(site.op);
  return SmallVector<Value>{site.e.b().scalar(site.resultType(0).getElementType(),
                                              site.operandType(0).getDimSize(op.getDimension()))};
}

Rule setSizeRule(Operation *op) {
  Rule rule = Rule::of(op);
  rule.replicated = "bounded dimensions are not split";
  return rule;
}

/// Ops that exist only before partitioning.
Rule goneRule(Operation *op) {
  Rule rule = Rule::of(op);
  rule.replicated = "it is replaced before partitioning";
  return rule;
}

} // namespace

void hlo::spmd::registerOther(PartitionerTable &table) {
  registerBatchNorm(table);
  registerCommunication(table);
  registerCustomCall(table);
  registerRandom(table);
  for (StringRef name : {"hlo.opt_barrier", "hlo.domain", "hlo.add_dependency"}) {
    table[name].rule = barrierRule;
  }
  table["hlo.map"].rule = mapRule;
  table["hlo.get_dimension_size"] = {.rule = getSizeRule, .emit = emitGetSize};
  table["hlo.set_dimension_size"].rule = setSizeRule;
  for (StringRef name :
       {"hlo.after_all", "hlo.copy_start", "hlo.copy_done", "hlo.async_start", "hlo.async_update",
        "hlo.async_done", "hlo.call", "hlo.fusion", "hlo.tuple", "hlo.get_tuple_element"}) {
    if (!table.contains(name)) {
      table[name].rule = goneRule;
    }
  }
}
