//===- Arithmetic.h - Products and sums -----------------------------------===//
#ifndef COMPILER_CODEGEN_CONTRACTION_ARITHMETIC_H
#define COMPILER_CODEGEN_CONTRACTION_ARITHMETIC_H

#include "compiler/codegen/IndexMath.h"

namespace hlo::codegen {

/// The HLO type of the parts of a complex type; any other type itself.
mlir::Type partType(mlir::Type element);
/// 2 for complex types, else 1.
int64_t partsOf(mlir::Type element);
/// The HLO element type in which products of `lhs` and `rhs` are summed for a result of type
/// `result`.
mlir::Type accumulationType(mlir::Type lhs, mlir::Type rhs, mlir::Type result);
/// acc + a * b, in the HLO type `element`; pred: acc | (a & b).
Elem multiplyAdd(Emission &e, mlir::Type element, const Elem &acc, const Elem &a, const Elem &b);
/// a + b.
Elem addElems(Emission &e, mlir::Type element, const Elem &a, const Elem &b);
/// One vector whose lane i is the sum of all lanes of vectors[i]; as many lanes as there are
/// vectors, a power of two. The lanes of a sum are added halves first, whatever stands next to it.
/// `element` is not complex.
mlir::Value addLanes(Emission &e, mlir::Type element, llvm::SmallVector<mlir::Value> vectors);
/// A constant in all lanes of f32.
Elem constF32(Emission &e, double value, int64_t lanes);
/// condition ? value : 0; a null condition means true.
Elem zeroUnless(Emission &e, mlir::Type element, mlir::Value condition, const Elem &value);

} // namespace hlo::codegen

#endif
