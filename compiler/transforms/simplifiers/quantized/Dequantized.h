//===- Dequantized.h - Operands that are scaled bytes ---------------------===//
//
// A value of floats each of whose elements is
//
//   (integer - zero) * scale
//
// with integers of at most 8 bits, and zeros and scales that do not vary along the dimensions over
// which a product sums. Narrow floats between the integers and the value are not rounded to their
// types: what is computed from the parts is nearer to the exact result.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_SIMPLIFIERS_QUANTIZED_DEQUANTIZED_H
#define COMPILER_TRANSFORMS_SIMPLIFIERS_QUANTIZED_DEQUANTIZED_H

#include "compiler/transforms/simplifiers/quantized/IntegerValues.h"
#include "dialect/hlo/Builder.h"

namespace hlo {

/// What an array shares along some of its dimensions: `value` has the others, `dims` of the array.
struct SharedValue {
  mlir::Value value;
  llvm::SmallVector<int64_t> dims; ///< of the array, for each dimension of `value`; -1: of size 1
  bool inverted = false;           ///< a scale is divided by; a zero is added
};

class Dequantized {
public:
  /// Nothing is made yet. `sums`: whether the product sums over a dimension. `whole`: integers that
  /// are bytes after their zero is subtracted too are taken without one.
  static std::optional<Dequantized> of(mlir::Value value, llvm::ArrayRef<bool> sums, bool whole);

  /// Of the integers, before the zero is subtracted.
  IntegerRange range() const { return bytes; }
  /// Largest absolute value of integer - zero.
  int64_t most() const { return largest; }
  llvm::ArrayRef<SharedValue> scales() const { return factors; }
  bool hasZero() const { return offset && zeros != IntegerRange{0, 0}; }
  /// Only if there is one. In s32, with dimensions of its own.
  mlir::Value zero(HloBuilder &b) const;
  /// Of the same shape, in f32: NaN where the zero is, else 0.
  mlir::Value zeroNan(HloBuilder &b) const;
  /// The dimensions of the value that the zero's dimensions are; -1: of size 1.
  llvm::ArrayRef<int64_t> zeroDims() const { return offset->dims; }
  /// The bounds of the zero.
  IntegerRange zeroRange() const { return zeros; }

  /// The integers as an array of bytes, in the value's shape.
  mlir::Value integers(HloBuilder &b) const;
  /// From then on, integers and zero are less by 128: the integers are signed.
  void makeSigned();
  /// Of the value's shape, in f32: NaN where the integers are floats that are NaN, else 0.
  mlir::Value integersNan(HloBuilder &b) const;

private:
  bool findZero(mlir::Operation *op);
  std::optional<SharedValue> shared(mlir::Value value) const;
  mlir::Value relabelled(HloBuilder &b, mlir::Value value) const;

  llvm::SmallVector<bool> summed;
  /// The dimension of the value that each dimension of the op at hand is; -1 behind a reshape.
  llvm::SmallVector<int64_t> places;
  mlir::Value core;
  llvm::SmallVector<mlir::Operation *> relabels; ///< from the value inwards
  llvm::SmallVector<SharedValue> factors;
  std::optional<SharedValue> offset;
  IntegerRange bytes{0, 0}, zeros{0, 0};
  int64_t largest = 0;
  bool shifted = false;
};

} // namespace hlo

#endif
