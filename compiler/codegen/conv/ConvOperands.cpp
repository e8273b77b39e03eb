//===- ConvOperands.cpp - Sizes and operands of a convolution -------------===//
//
// The parameters of an hlo.convolution with defaults filled in, and the elements of input and
// kernel that an output position and a tap multiply. The position in the input is
//
//   p = output * stride + tap * kernelDilation - padLow
//   input index = p / inputDilation, if p is in range and divisible; else padding
//
// A reversed window changes only the kernel's index, which is size - 1 - tap. If all lanes share a
// position that may be in the padding, index 0 is read instead and the value replaced by zero,
// which is cheaper than a masked load. If lanes have positions of their own, the load is masked.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/conv/ConvOperands.h"

using namespace mlir;

namespace hlo::codegen {

bool SpatialDim::isInside() const {
  int64_t lowest = -padLow;
  int64_t highest = (output - 1) * stride + (kernel - 1) * kernelDilation - padLow;
  return lowest >= 0 && highest <= (input - 1) * inputDilation;
}

ConvGeometry::ConvGeometry(ConvolutionOp op) {
  auto shape = [](Value v) { return cast<RankedTensorType>(v.getType()).getShape(); };
  auto input = shape(op.getLhs()), kernel = shape(op.getRhs()), output = shape(op.getResult());
  ConvDimsAttr dims = op.getDimLabels();
  inputBatchDim = dims.getInputBatch();
  inputFeatureDim = dims.getInputFeature();
  kernelInputDim = dims.getKernelInputFeature();
  kernelOutputDim = dims.getKernelOutputFeature();
  outputBatchDim = dims.getOutputBatch();
  outputFeatureDim = dims.getOutputFeature();
  inputBatch = input[inputBatchDim];
  inputFeatures = input[inputFeatureDim];
  outputBatch = output[outputBatchDim];
  outputFeatures = output[outputFeatureDim];
  kernelInputFeatures = kernel[kernelInputDim];
  featureGroups = op.getFeatureGroupCount().value_or(1);
  batchGroups = op.getBatchGroupCount().value_or(1);

  WindowAttr window = op.getWindow().value_or(WindowAttr());
  auto entry = [&](ArrayRef<int64_t> list, size_t i, int64_t otherwise) {
    return i < list.size() ? list[i] : otherwise;
  };
  for (size_t i = 0; i < dims.getInputSpatial().size(); ++i) {
    SpatialDim dim;
    dim.inputDim = dims.getInputSpatial()[i];
    dim.kernelDim = dims.getKernelSpatial()[i];
    dim.outputDim = dims.getOutputSpatial()[i];
    dim.input = input[dim.inputDim];
    dim.kernel = kernel[dim.kernelDim];
    dim.output = output[dim.outputDim];
    if (window) {
      dim.stride = entry(window.getStrides(), i, 1);
      dim.padLow = entry(window.getPadLow(), i, 0);
      dim.inputDilation = entry(window.getBaseDilations(), i, 1);
      dim.kernelDilation = entry(window.getWindowDilations(), i, 1);
      dim.reversed = entry(window.getReversal(), i, 0) != 0;
    }
    spatial.push_back(dim);
  }
}

InputPosition inputPosition(Emission &e, const SpatialDim &dim, const Index &output,
                            const Index &tap, int64_t lanes) {
  Index position =
      addIndex(e, mulIndex(e, output, dim.stride), mulIndex(e, tap, dim.kernelDilation), lanes);
  position = addIndex(e, position, -dim.padLow);
  InputPosition result{position, {}};
  int64_t limit = (dim.input - 1) * dim.inputDilation;
  auto require = [&](Value condition) { result.inside = andMask(e, result.inside, condition); };
  auto laneForm = [&](const Index &index) {
    return index.isUniform() ? index.base : laneIndices(e, index, lanes);
  };
  if (!dim.isInside()) {
    // As unsigned numbers, positions below 0 exceed the limit too.
    require(compareI(e, arith::CmpIPredicate::ule, laneForm(position), limit));
    if (limit < 0) {
      result.inside = constI64(e, 0);
      result.inside = compareI(e, arith::CmpIPredicate::ne, result.inside, 0);
    }
  }
  if (dim.inputDilation > 1) {
    auto [quotient, remainder] = divRemIndex(e, position, dim.inputDilation, lanes);
    require(compareI(e, arith::CmpIPredicate::eq, laneForm(remainder), 0));
    result.index = quotient;
  }
  return result;
}

Value stepsBelow(Emission &e, Value extent, int64_t step) {
  Value rounded = addI(e, maxI(e, extent, 0), step - 1);
  return step == 1 ? rounded : divI(e, rounded, step);
}

Elem ConvOperands::readInput(Emission &e, const Index &batch, const Index &feature,
                             ArrayRef<Index> output, ArrayRef<Index> tap, int64_t lanes, Value mask,
                             uint64_t inside) const {
  SmallVector<Index> full(g.spatial.size() + 2);
  full[g.inputBatchDim] = batch;
  full[g.inputFeatureDim] = feature;
  Value uniform, perLane;
  for (auto [d, dim] : llvm::enumerate(g.spatial)) {
    InputPosition position = inputPosition(e, dim, output[d], tap[d], lanes);
    full[dim.inputDim] = position.index;
    if (!position.inside || (inside >> d & 1) != 0) {
      continue;
    }
    if (lanesOf(position.inside) > 1) {
      perLane = andMask(e, perLane, position.inside);
      continue;
    }
    Index &index = full[dim.inputDim];
    index.base = arith::SelectOp::create(e.b, e.loc, position.inside, index.base, constI64(e, 0));
    index.known = {};
    uniform = andMask(e, uniform, position.inside);
  }
  Elem value = input->at(full, lanes, andMask(e, mask, perLane));
  Value all = andMask(e, uniform, perLane);
  if (all && lanes > 1 && lanesOf(all) != lanes) {
    all = splat(e, all, lanes).re;
  }
  return zeroUnless(e, element, all, value);
}

Elem ConvOperands::readKernel(Emission &e, const Index &inputFeature, const Index &outputFeature,
                              ArrayRef<Index> tap, int64_t lanes, Value mask) const {
  SmallVector<Index> full(g.spatial.size() + 2);
  full[g.kernelInputDim] = inputFeature;
  full[g.kernelOutputDim] = outputFeature;
  for (auto [d, dim] : llvm::enumerate(g.spatial)) {
    full[dim.kernelDim] =
        dim.reversed ? addIndex(e, mulIndex(e, tap[d], -1), dim.kernel - 1) : tap[d];
  }
  return kernel->at(full, lanes, mask);
}

} // namespace hlo::codegen
