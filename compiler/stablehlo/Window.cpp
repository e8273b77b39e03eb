//===- Window.cpp - Rules of ops with a window ----------------------------===//
#include "compiler/stablehlo/Rules.h"
#include "compiler/stablehlo/Text.h"
#include "dialect/stablehlo/Dialect.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::stable;

static LogicalResult convertReduceWindow(Converter &c, stablehlo::ReduceWindowOp op) {
  Computation body = c.computation(op.getBody());
  if (failed(body)) {
    return failure();
  }
  WindowSizes window{op.getWindowDimensions()};
  window.strides = op.getWindowStrides();
  window.baseDilations = op.getBaseDilations();
  window.windowDilations = op.getWindowDilations();
  window.padding = op.getPadding();
  return c.bind(
      op, c.create("hlo.reduce_window", c.joined(op->getResultTypes()), c.get(op->getOperands()),
                   {c.named("window", windowAttr(c.context, window)), c.named("to_apply", *body)}));
}

static LogicalResult convertSelectAndScatter(Converter &c, stablehlo::SelectAndScatterOp op) {
  Computation select = c.computation(op.getSelect());
  Computation scatter = failed(select) ? Computation() : c.computation(op.getScatter());
  if (failed(scatter)) {
    return failure();
  }
  // The window's sizes may be left out: 1 in each dimension.
  SmallVector<int64_t> ones(c.array(op.getOperand()).getRank(), 1);
  WindowSizes window{op.getWindowDimensions().value_or(ones)};
  window.strides = op.getWindowStrides();
  window.padding = op.getPadding();
  return c.bind(op, c.create("hlo.select_and_scatter", c.array(op.getResult()),
                             c.get(op->getOperands()),
                             {c.named("window", windowAttr(c.context, window)),
                              c.named("select", *select), c.named("scatter", *scatter)}));
}

static LogicalResult convertConvolution(Converter &c, stablehlo::ConvolutionOp op) {
  stablehlo::ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  RankedTensorType kernel = c.array(op.getRhs());
  SmallVector<int64_t> sizes;
  for (int64_t dim : numbers.getKernelSpatialDimensions()) {
    sizes.push_back(kernel.getDimSize(dim));
  }
  WindowSizes window{sizes};
  window.strides = op.getWindowStrides();
  window.baseDilations = op.getLhsDilation();
  window.windowDilations = op.getRhsDilation();
  window.padding = op.getPadding();
  window.reversal = op.getWindowReversal();
  auto labels = ConvDimsAttr::get(
      c.context, numbers.getInputBatchDimension(), numbers.getInputFeatureDimension(),
      numbers.getInputSpatialDimensions(), numbers.getKernelInputFeatureDimension(),
      numbers.getKernelOutputFeatureDimension(), numbers.getKernelSpatialDimensions(),
      numbers.getOutputBatchDimension(), numbers.getOutputFeatureDimension(),
      numbers.getOutputSpatialDimensions());
  SmallVector<NamedAttribute> attributes{c.named("dim_labels", labels)};
  if (!sizes.empty()) {
    attributes.push_back(c.named("window", windowAttr(c.context, window)));
  }
  if (op.getFeatureGroupCount() != 1) {
    attributes.push_back(c.integer("feature_group_count", op.getFeatureGroupCount()));
  }
  if (op.getBatchGroupCount() != 1) {
    attributes.push_back(c.integer("batch_group_count", op.getBatchGroupCount()));
  }
  addPrecision(c, op.getPrecisionConfig(), attributes);
  return c.bind(op, c.create("hlo.convolution", c.array(op.getResult()),
                             {c.get(op.getLhs()), c.get(op.getRhs())}, attributes));
}

void hlo::stable::addWindowRules(Rules &rules) {
  rules.add<stablehlo::ConvolutionOp, convertConvolution>();
  rules.add<stablehlo::ReduceWindowOp, convertReduceWindow>();
  rules.add<stablehlo::SelectAndScatterOp, convertSelectAndScatter>();
}
