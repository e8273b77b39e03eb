//===- LargeMoves.h - Elements of large arrays in other places ------------===//
//
// Private to the evaluator.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_ANALYSIS_EVALUATOR_LARGEMOVES_H
#define COMPILER_ANALYSIS_EVALUATOR_LARGEMOVES_H

#include "dialect/hlo/Dialect.h"
#include <memory>
#include <vector>

namespace hlo::large {

/// The elements of an array; one element if all are equal.
struct Array {
  llvm::ArrayRef<char> data;
  bool isSplat = false;
  std::shared_ptr<std::vector<char>> owner; ///< of `data`; none: an attribute
};

/// Writes the result of a transpose, slice, reverse, broadcast, pad or concatenate.
void moveElements(mlir::Operation *op, llvm::ArrayRef<Array> operands, char *to);

} // namespace hlo::large

#endif
