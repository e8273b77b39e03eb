//===- Quantize.h - Rounding floats to narrow integers --------------------===//
#ifndef COMPILER_CODEGEN_ELEMENTWISE_QUANTIZE_H
#define COMPILER_CODEGEN_ELEMENTWISE_QUANTIZE_H

#include "compiler/codegen/Element.h"

namespace hlo::codegen {

/// An integer of at most 16 bits, of type `type`: the f32 `input`, rounded to the nearest (even)
/// integer, plus `zero`, between `low` and `high`; 0 if the input is NaN.
struct Quantization {
  mlir::Value input;
  int32_t low, high, zero;
  mlir::Type type;
};

/// What a convert does together with the clamp, addition and rounding before it; nothing if these
/// do not have the form that the algebraic simplifier leaves.
std::optional<Quantization> quantizationOf(mlir::Operation *op);

/// The result for the value of the input.
Elem emitQuantize(Emission &e, const Quantization &quantization, const Elem &value);

/// An integer that f32 holds exactly, as an integer of type `type`, which holds it too.
Elem exactInteger(Emission &e, mlir::Type type, const Elem &value);

} // namespace hlo::codegen

#endif
