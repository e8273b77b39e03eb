//===- Geometry.h - The parameters of a convolution -----------------------===//
#ifndef COMPILER_CODEGEN_CONV_GEOMETRY_H
#define COMPILER_CODEGEN_CONV_GEOMETRY_H

#include "compiler/codegen/dot/Contraction.h"

namespace hlo::codegen {

/// One spatial dimension.
struct SpatialDim {
  int64_t input, kernel, output; ///< sizes of the arrays, before dilation and padding
  int64_t stride = 1, padLow = 0, inputDilation = 1, kernelDilation = 1;
  bool reversed = false;
  int64_t inputDim, kernelDim, outputDim; ///< the dimension's number in each array

  /// Whether no tap of any output position reads the padding.
  bool isInside() const;
  /// Whether out[i] = in[i * stride] * kernel: one tap, no padding, no dilation.
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

  /// Feature groups or batch groups: HLO allows only one of the two counts to exceed 1.
  int64_t groups() const { return std::max(featureGroups, batchGroups); }
  /// Output features of one group.
  int64_t groupFeatures() const { return outputFeatures / groups(); }
};

/// The input position that one output position reads at one tap.
struct InputPosition {
  Index index;        ///< valid if `inside`
  mlir::Value inside; ///< false in the padding and in holes of a dilated input: i1 or vector of i1;
                      ///< null if always true
};
InputPosition inputPosition(Emission &e, const SpatialDim &dim, const Index &output,
                            const Index &tap, int64_t lanes);

/// Steps of size `step` from 0 that stay below `extent`, which may be negative.
mlir::Value stepsBelow(Emission &e, mlir::Value extent, int64_t step);

} // namespace hlo::codegen

#endif
