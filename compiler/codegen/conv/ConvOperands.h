//===- ConvOperands.h - Reading input and kernel of a convolution ---------===//
#ifndef COMPILER_CODEGEN_CONV_CONVOPERANDS_H
#define COMPILER_CODEGEN_CONV_CONVOPERANDS_H

#include "compiler/codegen/conv/Geometry.h"

namespace hlo::codegen {

/// The operands of a convolution, and the type in which products are summed.
struct ConvOperands {
  ConvGeometry g;
  mlir::Type element;
  std::shared_ptr<Operand> input, kernel;
  /// So many neighbouring channels are one word of the input and of the kernel, and one channel of
  /// the geometry.
  KGroup group = KGroup::None;
  const Product *product = nullptr; ///< what multiplies the groups
  /// If the product takes one unsigned side: which side that is, and whether the input is read with
  /// the upper bits of its bytes flipped.
  bool kernelUnsigned = false, flipsInput = false;

  /// The input at an output position and a tap (one index per spatial dimension), zero in the
  /// padding. Spatial dimensions whose bit in `inside` is set are known to be inside the input.
  Elem readInput(Emission &e, const Index &batch, const Index &feature,
                 llvm::ArrayRef<Index> output, llvm::ArrayRef<Index> tap, int64_t lanes,
                 mlir::Value mask, uint64_t inside = 0) const;
  /// The kernel at a tap.
  Elem readKernel(Emission &e, const Index &inputFeature, const Index &outputFeature,
                  llvm::ArrayRef<Index> tap, int64_t lanes, mlir::Value mask) const;
};

/// Whether each output feature sees one input feature, and the form for that takes it.
bool isDepthwise(const ConvGeometry &g);
/// Emits a depthwise convolution, without a contraction.
void emitDepthwise(KernelBuilder &kernel, ConvolutionOp op, const ConvOperands &operands,
                   Epilogue &epilogue);

} // namespace hlo::codegen

#endif
