//===- ConvOperands.h - Sizes and operands of a convolution ---------------===//
#ifndef COMPILER_CODEGEN_CONV_CONVOPERANDS_H
#define COMPILER_CODEGEN_CONV_CONVOPERANDS_H

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

/// The operands of a convolution.
struct ConvOperands {
  ConvGeometry g;
  mlir::Type element; ///< the HLO type in which products are summed
  std::shared_ptr<Operand> input, kernel;
  /// If not None: a word of input and kernel holds a group of adjacent channels, and `g` counts
  /// groups as channels.
  KGroup group = KGroup::None;
  const Product *product = nullptr; ///< the instruction that multiplies groups; null without groups
  /// For a product of one unsigned and one signed side: whether the kernel is the unsigned one, and
  /// whether the upper bit of each byte of the input is flipped, which makes signed bytes unsigned.
  bool kernelUnsigned = false, flipsInput = false;
  /// If the product takes integers of any sign: those of the input. kernelUnsigned is then as well
  /// the kernel's.
  bool inputUnsigned = false;
  /// The kernel is stored as panels, or may be (PanelRequest): packing it is free.
  bool storesPanels = false;

  /// The input at an output position and a tap (one index per spatial dimension), zero in the
  /// padding. Spatial dimensions whose bit in `inside` is set are known to be inside the input.
  Elem readInput(Emission &e, const Index &batch, const Index &feature,
                 llvm::ArrayRef<Index> output, llvm::ArrayRef<Index> tap, int64_t lanes,
                 mlir::Value mask, uint64_t inside = 0) const;
  /// The kernel at a tap.
  Elem readKernel(Emission &e, const Index &inputFeature, const Index &outputFeature,
                  llvm::ArrayRef<Index> tap, int64_t lanes, mlir::Value mask) const;
};

/// Depthwise forms: multiply-adds per task. At 16 to 32 a cycle they are some microseconds, so that
/// the dispatch is a small part of a task.
inline constexpr int64_t kDepthwisePerTask = 1 << 17;
/// Whether each output feature reads one input feature, and emitDepthwise takes the convolution.
bool isDepthwise(const ConvGeometry &g);
/// Emits a depthwise convolution, which has a form of its own rather than a contraction.
void emitDepthwise(KernelBuilder &kernel, ConvolutionOp op, const ConvOperands &operands,
                   Epilogue &epilogue);
/// Emits one whose last position is innermost from copies of the images, if that form takes it.
bool emitDepthwisePlanes(KernelBuilder &kernel, const ConvOperands &operands, Epilogue &epilogue);

} // namespace hlo::codegen

#endif
