//===- ConvOperands.h - Reading input and kernel of a convolution ---------===//
#ifndef COMPILER_CODEGEN_CONV_CONVOPERANDS_H
#define COMPILER_CODEGEN_CONV_CONVOPERANDS_H

#include "compiler/codegen/conv/Geometry.h"

namespace hlo::codegen {

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

  /// The input at an output position and a tap (one index per spatial dimension), zero in the
  /// padding. Spatial dimensions whose bit in `inside` is set are known to be inside the input.
  Elem readInput(Emission &e, const Index &batch, const Index &feature,
                 llvm::ArrayRef<Index> output, llvm::ArrayRef<Index> tap, int64_t lanes,
                 mlir::Value mask, uint64_t inside = 0) const;
  /// The kernel at a tap.
  Elem readKernel(Emission &e, const Index &inputFeature, const Index &outputFeature,
                  llvm::ArrayRef<Index> tap, int64_t lanes, mlir::Value mask) const;
};

/// Whether each output feature reads one input feature, and emitDepthwise takes the convolution.
bool isDepthwise(const ConvGeometry &g);
/// Emits a depthwise convolution, which has a form of its own rather than a contraction.
void emitDepthwise(KernelBuilder &kernel, ConvolutionOp op, const ConvOperands &operands,
                   Epilogue &epilogue);

} // namespace hlo::codegen

#endif
