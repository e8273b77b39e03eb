//===- ScaledOperand.h - Narrow integers, scaled in groups ----------------===//
//
// Low-bit weights as programs write them: integers of 2 to 8 bits in memory, converted, and then
// multiplied by scales and moved by zero points that several neighbours share. Each element is
//
//   scale * stored + offset
//
// so that a sum of products over elements that share both is
//
//   scale * (sum of x * stored) + offset * (sum of x).
//
// An operand of a product of integers is its integers alone.
//
// Narrow floats that the program has on the way from the integer to the element are not rounded to
// their types: the result is nearer to the exact one.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_CONTRACTION_SCALEDOPERAND_H
#define COMPILER_CODEGEN_CONTRACTION_SCALEDOPERAND_H

#include "compiler/codegen/contraction/View.h"

#include <memory>

namespace hlo::codegen {

class ScaledOperand {
public:
  /// The value of a fusion's region as scaled integers; null if it is none.
  static std::shared_ptr<ScaledOperand> create(KernelBuilder &kernel, mlir::Value value);

  /// The address of element {0, ..., 0}, the first of its byte.
  mlir::Value pointer() const { return base; }
  int64_t bits() const { return width; } ///< 2, 4 or 8
  bool isSigned() const { return signedness; }
  /// Of each dimension, in stored elements.
  llvm::ArrayRef<int64_t> strides() const { return view.strides; }
  /// Of each dimension: scale and offset are equal in aligned runs of so many elements; 0: in all.
  llvm::ArrayRef<int64_t> runs() const { return dimRuns; }
  /// Whether an element is not just its integer.
  bool hasScale() const { return scales; }
  bool hasOffset() const { return offsets; }

  /// In f32. Null: a scale of 1, an offset of 0.
  struct Coefficients {
    Elem scale, offset;
  };
  Coefficients at(llvm::ArrayRef<Index> index, int64_t lanes);

private:
  /// An op on the way from the integers to the value, and its operand on that way.
  struct Step {
    mlir::Operation *op;
    unsigned operand;
  };
  /// The least and the largest value of an integer.
  struct Range {
    int64_t low, high;
  };

  ScaledOperand(KernelBuilder &kernel, mlir::Value value) : kernel(&kernel), value(value) {}
  bool analyze();
  int64_t storedBehind(mlir::Value v, int depth = 0);
  bool findPath();
  bool checkStep(const Step &step, std::optional<Range> &range);
  int64_t runAlong(mlir::Value v, int64_t dim);
  int64_t runOfReshape(mlir::Value source, llvm::ArrayRef<int64_t> to, int64_t dim);

  KernelBuilder *kernel;
  mlir::Value value, leaf, base;
  View view;
  int64_t width = 0;
  bool signedness = false, scales = false, offsets = false;
  llvm::SmallVector<Step> path; ///< from the value to the leaf
  llvm::SmallVector<int64_t> dimRuns;
  llvm::DenseMap<mlir::Value, int64_t> knownStored;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, int64_t> knownRuns;
};

} // namespace hlo::codegen

#endif
