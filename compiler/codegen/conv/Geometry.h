//===- Geometry.h - The parameters of a convolution -----------------------===//
#ifndef COMPILER_CODEGEN_CONV_GEOMETRY_H
#define COMPILER_CODEGEN_CONV_GEOMETRY_H

#include "compiler/codegen/dot/Contraction.h"

namespace hlo::codegen {

/// One spatial dimension.
struct SpatialDim {
  int64_t input, kernel, output; ///< sizes, without dilation and padding
  int64_t stride = 1, padLow = 0, inputDilation = 1, kernelDilation = 1;
  bool reversed = false;
  int64_t inputDim, kernelDim, outputDim; ///< which dimension of each array

  /// Whether every tap of every output element lies inside the input.
  bool isInside() const;
  /// Whether there is a single tap and no padding or dilation: out[i] = in[i * stride] * kernel.
  bool isPointwise() const {
    return kernel == 1 && inputDilation == 1 && padLow == 0 && isInside();
  }
};

/// A convolution with all defaults filled in.
struct ConvGeometry {
  explicit ConvGeometry(ConvolutionOp op);

  llvm::SmallVector<SpatialDim> spatial;
  int64_t inputBatch, inputFeatures, outputBatch, outputFeatures;
  int64_t kernelInputFeatures;
  int64_t featureGroups, batchGroups;
  int64_t inputBatchDim, inputFeatureDim, kernelInputDim, kernelOutputDim, outputBatchDim,
      outputFeatureDim;

  /// Feature or batch groups; at most one of the two is more than 1.
  int64_t groups() const { return std::max(featureGroups, batchGroups); }
  /// Output features of one group.
  int64_t groupFeatures() const { return outputFeatures / groups(); }
};

/// Where the input is read for one output position and one tap.
struct InputPosition {
  Index index;
  mlir::Value inside; ///< i1 or vector of i1; null if always inside
};
InputPosition inputPosition(Emission &e, const SpatialDim &dim, const Index &output,
                            const Index &tap, int64_t lanes);

} // namespace hlo::codegen

#endif
