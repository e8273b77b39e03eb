//===- Geometry.cpp - The parameters of a convolution ---------------------===//
//
// The parameters of an hlo.convolution with defaults filled in, and the input position
// that an output position reads at a tap:
//
//   p = output * stride + tap * kernelDilation - padLow
//   input index = p / inputDilation, if p is in range and divisible; else padding
//
// A reversed window changes only the kernel's index, which is size - 1 - tap.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/conv/Geometry.h"

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

} // namespace hlo::codegen
