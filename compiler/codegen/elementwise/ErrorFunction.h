//===- ErrorFunction.h - 1 - erf(x) as programs write it ------------------===//
#ifndef COMPILER_CODEGEN_ELEMENTWISE_ERRORFUNCTION_H
#define COMPILER_CODEGEN_ELEMENTWISE_ERRORFUNCTION_H

#include "compiler/codegen/Element.h"

namespace hlo::codegen {

/// The x of which the f32 select `op` is 1 - erf(x), with the ops before it; null if it is not, or
/// not in the form that XLA's exports have.
mlir::Value complementOfErfAt(mlir::Operation *op);

/// 1 - erf(x).
Elem emitComplementOfErf(Emission &e, const Elem &x);

} // namespace hlo::codegen

#endif
