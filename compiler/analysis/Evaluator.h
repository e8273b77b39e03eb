//===- Evaluator.h - Ops on constants, exactly ----------------------------===//
//
// What a compiler may compute for its user: results that do not depend on the
// machine the compiler runs on. So no transcendental functions, and every
// float operation is one that IEEE defines to the last bit.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_ANALYSIS_EVALUATOR_H
#define COMPILER_ANALYSIS_EVALUATOR_H

#include "dialect/hlo/Dialect.h"

namespace hlo {

/// The value of `op` (one result, static shape) for these operands, or null if
/// the op or its element type is none that is evaluated. Costs time in
/// proportion to the elements of the result and operands.
mlir::DenseElementsAttr evaluate(mlir::Operation *op,
                                 llvm::ArrayRef<mlir::DenseElementsAttr> operands);

/// The elements of an array as bits: integers and floats of up to 64 bits in
/// row-major order; nothing for complex arrays.
std::optional<llvm::SmallVector<llvm::APInt>> elementBits(mlir::DenseElementsAttr value);
/// The inverse.
mlir::DenseElementsAttr fromElementBits(mlir::RankedTensorType type,
                                        llvm::ArrayRef<llvm::APInt> bits);

/// The value of a scalar integer or pred constant, sign-extended (unsigned types: zero-extended).
std::optional<int64_t> constantInteger(mlir::Value value);
/// The elements of an integer constant, of any shape, in the same way.
std::optional<llvm::SmallVector<int64_t>> constantIntegers(mlir::Value value);

} // namespace hlo

#endif
