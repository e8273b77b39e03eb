//===- Reduction.cpp - Rules of reduce, map, sort -------------------------===//
#include "compiler/stablehlo/Rules.h"
#include "dialect/stablehlo/Dialect.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::stable;

static LogicalResult convertReduce(Converter &c, stablehlo::ReduceOp op) {
  Computation body = c.computation(op.getBody());
  if (failed(body)) {
    return failure();
  }
  return c.bind(op,
                c.create("hlo.reduce", c.joined(op->getResultTypes()), c.get(op->getOperands()),
                         {c.dims("dimensions", op.getDimensions()), c.named("to_apply", *body)}));
}

static LogicalResult convertMap(Converter &c, stablehlo::MapOp op) {
  Computation body = c.computation(op.getComputation());
  if (failed(body)) {
    return failure();
  }
  return c.bind(op,
                c.create("hlo.map", c.array(op.getResult()), c.get(op.getInputs()),
                         {c.dims("dimensions", op.getDimensions()), c.named("to_apply", *body)}));
}

static LogicalResult convertSort(Converter &c, stablehlo::SortOp op) {
  Computation comparator = c.computation(op.getComparator());
  if (failed(comparator)) {
    return failure();
  }
  int64_t rank = c.array(op.getInputs().front()).getRank();
  int64_t dimension = static_cast<int64_t>(op.getDimension());
  SmallVector<NamedAttribute> attributes{
      c.integer("dimension", dimension < 0 ? dimension + rank : dimension),
      c.named("to_apply", *comparator)};
  if (op.getIsStable()) {
    attributes.push_back(c.flag("is_stable", true));
  }
  return c.bind(
      op, c.create("hlo.sort", c.joined(op->getResultTypes()), c.get(op.getInputs()), attributes));
}

void hlo::stable::addReductionRules(Rules &rules) {
  rules.add<stablehlo::MapOp, convertMap>();
  rules.add<stablehlo::ReduceOp, convertReduce>();
  rules.add<stablehlo::SortOp, convertSort>();
}
