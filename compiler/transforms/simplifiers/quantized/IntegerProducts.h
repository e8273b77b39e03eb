//===- IntegerProducts.h - Products of scaled bytes as integers -----------===//
//
// A product of two operands that are scaled bytes, and what it becomes: ../IntegerProducts.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_SIMPLIFIERS_QUANTIZED_INTEGERPRODUCTS_H
#define COMPILER_TRANSFORMS_SIMPLIFIERS_QUANTIZED_INTEGERPRODUCTS_H

#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/expanders/OpExpander.h"
#include "compiler/transforms/simplifiers/quantized/Dequantized.h"

namespace hlo {

/// An array of the parts of `x` that has `shape`, whose dimension `dims[i]` is dimension i of `x`;
/// those of -1 have size 1.
mlir::Value spread(HloBuilder &b, mlir::Value x, llvm::ArrayRef<int64_t> dims,
                   llvm::ArrayRef<int64_t> shape);

/// The sums of `x`, converted to `type`, over some of its dimensions.
mlir::Value sumOver(HloBuilder &b, ScalarComputations &scalars, mlir::Value x, mlir::Type type,
                    llvm::ArrayRef<int64_t> dims);

/// The two operands of a product.
struct Sides {
  std::optional<Dequantized> of[2];
  llvm::SmallVector<int64_t> places[2]; ///< of each dimension of a side in the result
  uint64_t terms = 1;                   ///< of each sum

  /// `sums` in f32, times the scales of both sides; NaN where a zero is.
  mlir::Value scaled(HloBuilder &b, mlir::Value sums) const;
  /// A value that has the dimensions `dims` of one side, in the result's shape.
  mlir::Value spreadOf(HloBuilder &b, int i, mlir::Value value, llvm::ArrayRef<int64_t> dims,
                       llvm::ArrayRef<int64_t> shape) const;
};

/// A dot on its way.
struct IntegerDot {
  DotOp dot;
  llvm::ArrayRef<int64_t> batch[2], contracting[2];
  Sides sides;

  explicit IntegerDot(DotOp dot);
  mlir::Value emit(HloBuilder &b, ScalarComputations &scalars);

private:
  /// The sums of an array like one side over the contracted dimensions, in the result's shape.
  mlir::Value sumsOf(HloBuilder &b, ScalarComputations &scalars, int i, mlir::Value operand,
                     mlir::Type type);
  std::optional<int64_t> fewRows();
};

/// A convolution on its way.
struct IntegerConvolution {
  ConvolutionOp conv;
  ConvDimsAttr dims;
  WindowAttr window;
  Sides sides;

  explicit IntegerConvolution(ConvolutionOp conv);
  bool canEmit();
  mlir::Value emit(HloBuilder &b, ScalarComputations &scalars);

private:
  bool isPadded() const;
  mlir::Value padded(HloBuilder &b, mlir::Value bytes) const;
  mlir::Value convolve(HloBuilder &b, mlir::Value input, mlir::Value kernel, WindowAttr window,
                       mlir::Type type, bool oneFeature);
  mlir::Value kernelSums(HloBuilder &b, mlir::Value kernel) const;
  mlir::Value notNumbers(HloBuilder &b, ScalarComputations &scalars, int i);
};

} // namespace hlo

#endif
