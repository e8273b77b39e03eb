//===- Windows.cpp - Windows over arrays of bounded size ------------------===//
//
// reduce-window, select-and-scatter and convolution: elements beyond the true size n are masked
// like padding, so a window that reaches beyond n sees more padding. With windows of w elements
// (dilation d), stride s, padding and base dilation e, there are
//
//   m = (n-1)*e + 1 elements (0 if n = 0),  (m + low + high - ((w-1)*d + 1)) / s + 1 windows
//
// rounded down, and none if that is negative.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Reduction.h"
#include "compiler/transforms/expanders/dynamic/Padder.h"

using namespace mlir;
using namespace hlo;

namespace {

/// One dimension of a window, with defaults filled in.
struct Window {
  int64_t size, stride, low, high, base, dilation;
  bool reversed;

  Window(WindowAttr attr, size_t dim) {
    auto value = [&](ArrayRef<int64_t> list, int64_t absent) {
      return dim < list.size() ? list[dim] : absent;
    };
    size = attr ? value(attr.getSize(), 1) : 1;
    stride = attr ? value(attr.getStrides(), 1) : 1;
    low = attr ? value(attr.getPadLow(), 0) : 0;
    high = attr ? value(attr.getPadHigh(), 0) : 0;
    base = attr ? value(attr.getBaseDilations(), 1) : 1;
    dilation = attr ? value(attr.getWindowDilations(), 1) : 1;
    reversed = attr && value(attr.getReversal(), 0);
  }
  bool isTrivial() const { return size == 1 && stride == 1 && !low && !high && base == 1; }

  /// Number of windows over n elements.
  Value count(HloBuilder &b, Value n) const {
    if (isTrivial()) {
      return n;
    }
    Value zero = b.index(0);
    if (base != 1) {
      Value gaps = b.mul(b.sub(n, b.index(1)), b.index(base));
      n = b.binary<MaximumOp>(b.add(gaps, b.index(1)), zero);
    }
    Value room = b.add(n, b.index(low + high - ((size - 1) * dilation + 1) + stride));
    return b.div(b.binary<MaximumOp>(room, zero), b.index(stride));
  }
};

} // namespace

LogicalResult DynamicPadder::visitReduceWindow(ReduceWindowOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  unsigned count = op->getNumOperands() / 2;
  DynamicSizes own(rankOf(op->getOperand(0)));
  for (auto [dim, windows] : llvm::enumerate(own)) {
    Window window(op.getWindowAttr(), dim);
    Value size = firstSizeOf(op.getInputs().take_front(count), dim);
    if (!size) {
      continue;
    }
    windows = window.count(b, size);
    if (!window.isTrivial()) {
      maskInputs(b, op, count, dim, size, op.getToApplyAttr());
    }
  }
  for (OpResult result : op->getResults()) {
    bind(result, own);
  }
  return success();
}

LogicalResult DynamicPadder::visitSelectAndScatter(SelectAndScatterOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  // A value that `select` never prefers to an element.
  ComputationOp select = context.lookup(op.getSelectAttr());
  auto compare = select.getReturn()->getOperand(0).getDefiningOp<CompareOp>();
  auto left = compare ? dyn_cast<BlockArgument>(compare.getLhs()) : BlockArgument();
  auto right = compare ? dyn_cast<BlockArgument>(compare.getRhs()) : BlockArgument();
  if (!left || !right || left == right || compare.getDirection() == "EQ" ||
      compare.getDirection() == "NE") {
    return refuse(op, "its selection is not by GE, GT, LE or LT of the elements");
  }
  bool takesGreatest = compare.getDirection().starts_with("G") == (left.getArgNumber() == 0);
  Value operand = op.getOperand(), source = op.getSource();
  DynamicSizes own = sizesOf(operand);
  for (auto [dim, size] : llvm::enumerate(own)) {
    Window window(op.getWindowAttr(), dim);
    if (window.isTrivial()) {
      continue;
    }
    Value windows = sizeOf(source, dim);
    if (size) {
      Value fill = b.constant(extremeOf(elementTypeOf(operand), takesGreatest));
      operand = maskedBeyond(b, operand, dim, size, fill);
    }
    if (windows) {
      source = maskedBeyond(b, source, dim, windows, op.getInitValue());
    }
  }
  op->setOperand(0, operand);
  op->setOperand(1, source);
  for (OpResult result : op->getResults()) {
    bind(result, own);
  }
  return success();
}

LogicalResult DynamicPadder::visitConvolution(ConvolutionOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  ConvDimsAttr dims = op.getDimLabels();
  Value input = op.getLhs(), kernel = op.getRhs();
  bool batchGroups = op.getBatchGroupCount().value_or(1) != 1;
  bool featureGroups = op.getFeatureGroupCount().value_or(1) != 1;
  DynamicSizes own(rankOf(op.getResult()));
  // With zeros beyond its size, a kernel that fits the input in as many places for all sizes, as in
  // the gradient of a kernel, gives their sums.
  for (auto [i, dim] : llvm::enumerate(dims.getKernelSpatial())) {
    Value size = sizeOf(kernel, dim);
    if (!size) {
      continue;
    }
    Window window(op.getWindowAttr(), i);
    if (isDynamicDim(op.getResult().getType(), dims.getOutputSpatial()[i]) || window.reversed ||
        !sizeOf(input, dims.getInputSpatial()[i])) {
      return refuse(op, "dimension " + Twine(dim) + " of the kernel is spatial");
    }
    kernel = maskedBeyond(b, kernel, dim, size, b.scalar(elementTypeOf(kernel), 0));
  }
  own[dims.getOutputBatch()] = sizeOf(input, dims.getInputBatch());
  own[dims.getOutputFeature()] = sizeOf(kernel, dims.getKernelOutputFeature());
  if ((own[dims.getOutputBatch()] && batchGroups) ||
      (own[dims.getOutputFeature()] && (batchGroups || featureGroups))) {
    return refuse(op, "a dimension that is divided into groups");
  }
  Value features = sizeOf(input, dims.getInputFeature());
  Value kernelFeatures = sizeOf(kernel, dims.getKernelInputFeature());
  if (!featureGroups) {
    features = features ? features : kernelFeatures;
    kernelFeatures = kernelFeatures ? kernelFeatures : features;
  }
  // Both sides are masked: zero times an arbitrary element (infinity, NaN) need not be zero.
  auto zero = [&](Value x) { return b.scalar(elementTypeOf(x), 0); };
  if (features) {
    input = maskedBeyond(b, input, dims.getInputFeature(), features, zero(input));
  }
  if (kernelFeatures) {
    kernel = maskedBeyond(b, kernel, dims.getKernelInputFeature(), kernelFeatures, zero(kernel));
  }
  for (auto [i, dim] : llvm::enumerate(dims.getInputSpatial())) {
    Value size = sizeOf(op.getLhs(), dim);
    Window window(op.getWindowAttr(), i);
    if (!size) {
      continue;
    }
    bool isSizedKernel = bool(sizeOf(op.getRhs(), dims.getKernelSpatial()[i]));
    if (!isSizedKernel) {
      own[dims.getOutputSpatial()[i]] = window.count(b, size);
    }
    if (isSizedKernel || !window.isTrivial()) {
      input = maskedBeyond(b, input, dim, size, zero(input));
    }
  }
  op->setOperand(0, input);
  op->setOperand(1, kernel);
  bind(op.getResult(), own);
  return success();
}
