//===- Conv.cpp - Rules of convolutions -----------------------------------===//
#include "dialect/stablehlo/rules/Window.h"

using namespace mlir;
using namespace stablehlo;

namespace {
/// What convolution and dynamic_conv have in common.
struct Conv {
  RankedTensorType lhs, rhs, result;
  ConvDimensionNumbersAttr dims;
  int64_t featureGroups, batchGroups;
  int64_t spatialRank;
};
} // namespace

/// One array's dimensions: each of [0, rank) has one role.
static bool checkRoles(Check &check, StringRef sizeLabel, StringRef label, StringRef what,
                       int64_t first, ArrayRef<int64_t> spatial, int64_t last, int64_t rank) {
  SmallVector<int64_t> all = llvm::to_vector(spatial);
  all.push_back(first);
  all.push_back(last);
  return check.hasSize(sizeLabel, what, spatial.size(), rank - 2) &&
         check.unique(label, what, all) && check.inRange(label, what, all, rank);
}

static bool checkDimensions(Check &check, const Conv &c) {
  int64_t rank = c.lhs.getRank();
  bool valid =
      check.require(rank >= 2 && c.rhs.getRank() == rank, "c1", "lhs is ", c.lhs, ", rhs ", c.rhs);
  valid &= check.require(c.result.getRank() == rank, "c26", "the result is ", c.result,
                         ", expected rank ", rank);
  if (!valid) {
    return false;
  }
  valid &= checkRoles(check, "c12", "c13", "the list of the input's dimensions",
                      c.dims.getInputBatchDimension(), c.dims.getInputSpatialDimensions(),
                      c.dims.getInputFeatureDimension(), rank);
  valid &= checkRoles(check, "c17", "c18", "the list of the kernel's dimensions",
                      c.dims.getKernelInputFeatureDimension(), c.dims.getKernelSpatialDimensions(),
                      c.dims.getKernelOutputFeatureDimension(), rank);
  valid &= checkRoles(check, "c19", "c20", "the list of the output's dimensions",
                      c.dims.getOutputBatchDimension(), c.dims.getOutputSpatialDimensions(),
                      c.dims.getOutputFeatureDimension(), rank);
  valid &= check.require(c.featureGroups > 0, "c21", "feature_group_count is ", c.featureGroups);
  valid &= check.require(c.batchGroups > 0, "c22", "batch_group_count is ", c.batchGroups);
  return check.require(c.featureGroups == 1 || c.batchGroups == 1, "c23", "feature_group_count is ",
                       c.featureGroups, " and batch_group_count ", c.batchGroups,
                       ", one of them must be 1") &&
         valid;
}

static void checkGroups(Check &check, const Conv &c) {
  auto divides = [&](StringRef label, StringRef what, int64_t size, int64_t groups) {
    check.require(ShapedType::isDynamic(size) || size % groups == 0, label, what, " has size ",
                  size, ", which ", groups, " groups do not divide");
  };
  int64_t inputFeatures = c.lhs.getDimSize(c.dims.getInputFeatureDimension());
  int64_t kernelFeatures = c.rhs.getDimSize(c.dims.getKernelInputFeatureDimension());
  int64_t outputs = c.rhs.getDimSize(c.dims.getKernelOutputFeatureDimension());
  divides("c10", "the batch", c.lhs.getDimSize(c.dims.getInputBatchDimension()), c.batchGroups);
  divides("c11", "the input's feature dimension", inputFeatures, c.featureGroups);
  divides("c15", "the kernel's output dimension", outputs, c.batchGroups);
  divides("c16", "the kernel's output dimension", outputs, c.featureGroups);
  check.require(ShapedType::isDynamic(inputFeatures) ||
                    sizesAgree(kernelFeatures, inputFeatures / c.featureGroups),
                "c14", "the kernel has ", kernelFeatures, " input features, the input ",
                inputFeatures, " in ", c.featureGroups, " groups");
}

/// c27 to c34 of convolution.
static void checkElements(Check &check, const Conv &c) {
  ProductLabels labels = {"c27", "c28", "c31", "c32", "c33", "c34"};
  if (!checkProductElements(check, labels, c.lhs, c.rhs, c.result)) {
    return;
  }
  Type rhs = c.rhs.getElementType(), result = c.result.getElementType();
  auto axis = dyn_cast<quant::UniformQuantizedPerAxisType>(rhs);
  auto resultAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(result);
  check.require(!axis || axis.getQuantizedDimension() == c.dims.getKernelOutputFeatureDimension(),
                "c29", "rhs is quantized along another dimension than its output features: ", rhs);
  check.require(
      !resultAxis || resultAxis.getQuantizedDimension() == c.dims.getOutputFeatureDimension(),
      "c30", "the result is quantized along another dimension than its features: ", result);
}

template <typename OpT> static Conv convOf(OpT op) {
  RankedTensorType lhs = op.getLhs().getType();
  return {lhs,
          op.getRhs().getType(),
          op.getResult().getType(),
          op.getDimensionNumbers(),
          static_cast<int64_t>(op.getFeatureGroupCount()),
          static_cast<int64_t>(op.getBatchGroupCount()),
          lhs.getRank() - 2};
}

/// All but the padding and what follows from it; none if the window is not valid.
template <typename OpT>
static std::optional<Window> checkConv(Check &check, OpT op, const Conv &c,
                                       DenseIntElementsAttr padding) {
  if (std::optional<ArrayAttr> config = op.getPrecisionConfig()) {
    check.require(config->size() <= 2, "c24", "precision_config has ", config->size(),
                  " entries, expected at most one for each operand");
  }
  if (!checkDimensions(check, c)) {
    return std::nullopt;
  }
  checkGroups(check, c);
  checkElements(check, c);
  if (op.getWindowReversal() && !op.getWindowReversal()->empty()) {
    check.hasSize("c9", "window_reversal", op.getWindowReversal()->size(), c.spatialRank);
  }
  SmallVector<int64_t> sizes;
  for (int64_t dim : c.dims.getKernelSpatialDimensions()) {
    sizes.push_back(c.rhs.getDimSize(dim));
  }
  WindowLabels labels = {"c2", "c3", "c4", "c5", "c6", "c7", "c8"};
  return readWindow(check, labels, c.spatialRank, sizes, op.getWindowStrides(), padding,
                    op.getLhsDilation(), op.getRhsDilation());
}

static void checkShape(Check &check, const Conv &c, const Window &window) {
  int64_t batch = c.lhs.getDimSize(c.dims.getInputBatchDimension());
  SmallVector<int64_t> expected(c.lhs.getRank());
  expected[c.dims.getOutputBatchDimension()] =
      ShapedType::isDynamic(batch) ? batch : batch / c.batchGroups;
  expected[c.dims.getOutputFeatureDimension()] =
      c.rhs.getDimSize(c.dims.getKernelOutputFeatureDimension());
  for (auto [i, dims] : llvm::enumerate(llvm::zip_equal(c.dims.getInputSpatialDimensions(),
                                                        c.dims.getOutputSpatialDimensions()))) {
    auto [inputDim, outputDim] = dims;
    std::optional<int64_t> count = window.count(i, c.lhs.getDimSize(inputDim));
    if (!check.require(count.has_value(), "c25", "the window along dimension ", inputDim,
                       " is too large")) {
      return;
    }
    expected[outputDim] = *count;
  }
  check.resultShape("c25", expected);
}

static void convolution(Check &check) {
  auto op = cast<ConvolutionOp>(check.getOp());
  Conv c = convOf(op);
  std::optional<Window> window = checkConv(check, op, c, op.getPaddingAttr());
  if (window) {
    checkShape(check, c, *window);
  }
}

static void dynamicConv(Check &check) {
  auto op = cast<DynamicConvOp>(check.getOp());
  Conv c = convOf(op);
  RankedTensorType padding = op.getPadding().getType();
  bool isTable = padding.getRank() == 2 && padding.hasStaticShape();
  if (!check.require(isTable, "i3", "padding is ", padding, ", expected a table of known shape")) {
    return;
  }
  std::optional<Window> window = checkConv(check, op, c, {});
  if (!window || !check.require(padding.getShape() == ArrayRef<int64_t>({c.spatialRank, 2}), "c4",
                                "padding is ", padding, ", expected ", c.spatialRank, " pairs")) {
    return;
  }
  std::optional<SmallVector<int64_t>> values = constantIntegers(op.getPadding());
  if (values) {
    for (auto [i, value] : llvm::enumerate(*values)) {
      (i % 2 ? window->high : window->low)[i / 2] = value;
    }
    checkShape(check, c, *window);
  }
}

ArrayRef<Row> stablehlo::convRows() {
  static constexpr unsigned operands[] = {Any, AnyQuant};
  static constexpr unsigned padded[] = {Any, Any, Int};
  static const Row rows[] = {
      {"convolution", operands, AnyQuant, convolution},
      {"dynamic_conv", padded, Any, dynamicConv},
  };
  return rows;
}
