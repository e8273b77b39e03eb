//===- EvaluatorScalar.h - One element of an element-wise op --------------===//
//
// Elements are bit patterns of the width of their type. Private to the
// evaluator.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_ANALYSIS_EVALUATOR_EVALUATORSCALAR_H
#define COMPILER_ANALYSIS_EVALUATOR_EVALUATORSCALAR_H

#include "dialect/hlo/Dialect.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"

namespace hlo {

/// The integer `value` as an element of type `element`, rounded to nearest for floats; nothing for
/// complex types and for floats other than f16, bf16, f32 and f64.
std::optional<llvm::APInt> bitsOfInteger(mlir::Type element, int64_t value);

/// An element-wise op with its element types looked up once.
class ScalarOp {
public:
  explicit ScalarOp(mlir::Operation *op);
  /// The result for these operand elements; nothing if the op is not supported.
  std::optional<llvm::APInt> apply(llvm::ArrayRef<llvm::APInt> operands) const;

private:
  std::optional<llvm::APInt> applyInteger(llvm::ArrayRef<llvm::APInt> operands) const;
  std::optional<llvm::APInt> applyFloat(llvm::ArrayRef<llvm::APInt> operands) const;
  std::optional<llvm::APInt> applyCompare(const llvm::APInt &lhs, const llvm::APInt &rhs) const;
  std::optional<llvm::APInt> applyConvert(const llvm::APInt &operand) const;

  mlir::Operation *op;
  mlir::Type from; ///< element type of the data operands
  mlir::Type to;   ///< element type of the result
};

} // namespace hlo

#endif
