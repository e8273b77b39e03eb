//===- Evaluator.h - Ops on constants, exactly ----------------------------===//
//
// Evaluates only ops whose result does not depend on the machine that runs the compiler: no
// transcendental functions, and only float operations that IEEE 754 defines to the last bit.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_ANALYSIS_EVALUATOR_EVALUATOR_H
#define COMPILER_ANALYSIS_EVALUATOR_EVALUATOR_H

#include "dialect/hlo/Dialect.h"

namespace hlo {

/// The value of `op` (one result, static shape) for these operands; null if the op or its element
/// type is not supported. Takes time proportional to the elements of the result and the operands.
mlir::DenseElementsAttr evaluate(mlir::Operation *op,
                                 llvm::ArrayRef<mlir::DenseElementsAttr> operands);

/// The elements of an array as bits, in row-major order: integers, and floats of up to 64 bits.
/// Returns nothing for complex arrays.
std::optional<llvm::SmallVector<llvm::APInt>> elementBits(mlir::DenseElementsAttr value);
/// The inverse of elementBits.
mlir::DenseElementsAttr fromElementBits(mlir::RankedTensorType type,
                                        llvm::ArrayRef<llvm::APInt> bits);

/// The value of a scalar integer or pred constant: sign-extended, or zero-extended if unsigned.
std::optional<int64_t> constantInteger(mlir::Value value);
/// The elements of an integer constant of any shape, extended in the same way.
std::optional<llvm::SmallVector<int64_t>> constantIntegers(mlir::Value value);

} // namespace hlo

#endif
