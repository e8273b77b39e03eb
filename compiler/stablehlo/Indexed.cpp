//===- Indexed.cpp - Rules of gather and scatter --------------------------===//
#include "compiler/stablehlo/Rules.h"
#include "compiler/stablehlo/Text.h"
#include "dialect/stablehlo/Dialect.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::stable;

static LogicalResult convertGather(Converter &c, stablehlo::GatherOp op) {
  stablehlo::GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
  SmallVector<NamedAttribute> attributes{
      c.dims("offset_dims", numbers.getOffsetDims()),
      c.dims("collapsed_slice_dims", numbers.getCollapsedSliceDims()),
      c.dims("start_index_map", numbers.getStartIndexMap()),
      c.integer("index_vector_dim", numbers.getIndexVectorDim()),
      c.dims("slice_sizes", op.getSliceSizes())};
  addDims(c, "operand_batching_dims", numbers.getOperandBatchingDims(), attributes);
  addDims(c, "start_indices_batching_dims", numbers.getStartIndicesBatchingDims(), attributes);
  if (op.getIndicesAreSorted()) {
    attributes.push_back(c.flag("indices_are_sorted", true));
  }
  return c.bind(op, c.create("hlo.gather", c.array(op.getResult()),
                             {c.get(op.getOperand()), c.get(op.getStartIndices())}, attributes));
}

static LogicalResult convertScatter(Converter &c, stablehlo::ScatterOp op) {
  Computation body = c.computation(op.getUpdateComputation());
  if (failed(body)) {
    return failure();
  }
  stablehlo::ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
  SmallVector<NamedAttribute> attributes{
      c.dims("update_window_dims", numbers.getUpdateWindowDims()),
      c.dims("inserted_window_dims", numbers.getInsertedWindowDims()),
      c.dims("scatter_dims_to_operand_dims", numbers.getScatterDimsToOperandDims()),
      c.integer("index_vector_dim", numbers.getIndexVectorDim()), c.named("to_apply", *body)};
  addDims(c, "input_batching_dims", numbers.getInputBatchingDims(), attributes);
  addDims(c, "scatter_indices_batching_dims", numbers.getScatterIndicesBatchingDims(), attributes);
  if (op.getIndicesAreSorted()) {
    attributes.push_back(c.flag("indices_are_sorted", true));
  }
  if (op.getUniqueIndices()) {
    attributes.push_back(c.flag("unique_indices", true));
  }
  return c.bind(op, c.create("hlo.scatter", c.joined(op->getResultTypes()),
                             c.get(op->getOperands()), attributes));
}

void hlo::stable::addIndexedRules(Rules &rules) {
  rules.add<stablehlo::GatherOp, convertGather>();
  rules.add<stablehlo::ScatterOp, convertScatter>();
}
