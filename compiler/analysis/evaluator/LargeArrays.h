//===- LargeArrays.h - Ops on weights, as bytes ---------------------------===//
//
// Evaluator.h holds each element as a number of any width, which is enough for small constants.
// Here arrays are bytes as MLIR stores them, so that weights of 100 MB are laid out anew in tenths
// of a second. What is supported has the same bits wherever it is computed: elements that are
// moved, integers, conversions, and the operations on f32 and f64 that IEEE 754 defines.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_ANALYSIS_EVALUATOR_LARGEARRAYS_H
#define COMPILER_ANALYSIS_EVALUATOR_LARGEARRAYS_H

#include "dialect/hlo/Dialect.h"

namespace hlo {

/// True if the op can be evaluated, given its operands: also constants, and kernels of such ops.
bool canEvaluateLarge(mlir::Operation *op);

/// The value of an array that supported ops compute from constants alone, a dense array that is
/// not splat; null if an op is not supported, or if all elements are equal. All arrays on the way
/// together may take `budget` bytes, which is reduced by what they took; null if they take more.
mlir::DenseElementsAttr evaluateLarge(mlir::Value value, int64_t &budget);

} // namespace hlo

#endif
