//===- Elementwise.h - One HLO op on values -------------------------------===//
//
// The semantics of every element-wise opcode on every element type, for scalars and vectors alike.
// Implemented in elementwise/, one file per family.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_ELEMENTWISE_H
#define COMPILER_CODEGEN_ELEMENTWISE_H

#include "compiler/codegen/Element.h"

namespace hlo::codegen {

/// True if `op` is element-wise, so that emitElementwise supports it.
bool isElementwise(mlir::Operation *op);

/// The value of element-wise op `op` (any op of ElementwiseOps.td; bitcast_convert only between
/// types of one width) on the values of its operands; all have the same number of lanes. The result
/// of a narrow float op is rounded to its type. Null (after emitError at op) if unsupported.
Elem emitElementwise(Emission &e, mlir::Operation *op, llvm::ArrayRef<Elem> operands);

/// Whether the bf16 or f16 result of `op` may keep the precision of f32 until it is stored.
bool readersTakeWide(mlir::Operation *op);

/// The same by name ("add", "tanh") and types, for emitters without an op. `attrs` as on the op.
Elem emitNamed(Emission &e, llvm::StringRef opcode, mlir::Type operandElement,
               mlir::Type resultElement, llvm::ArrayRef<Elem> operands,
               mlir::DictionaryAttr attrs = {});

/// Value conversion between HLO element types (`hlo.convert`).
Elem emitConvert(Emission &e, mlir::Type from, mlir::Type to, const Elem &value);

/// Storage bits (i8 or i16, or vectors of them) of a narrow float -> f32 value.
mlir::Value decodeNarrow(Emission &e, mlir::Type element, mlir::Value bits);
/// f32 -> storage bits, round to nearest even with the type's own overflow and NaN rules.
mlir::Value encodeNarrow(Emission &e, mlir::Type element, mlir::Value value,
                         LowerHalf lower = LowerHalf::Any);
/// A value that is stored next: rounded by the machine's conversion to the element type, with a
/// branch for what that treats otherwise; as it is where there is none for such vectors.
Elem roundedForStore(Emission &e, mlir::Type element, const Elem &value);
/// f32 -> the nearest f32 that is representable in the narrow type.
mlir::Value roundNarrow(Emission &e, mlir::Type element, mlir::Value value,
                        LowerHalf lower = LowerHalf::Any);

/// Inlines a scalar computation (`to_apply`, a comparator, ...) on `args`: one Elem per parameter,
/// lanes alike; returns one Elem per result. Every op in it must be element-wise, constant,
/// tuple-free plumbing (reshape/broadcast/bitcast/copy of scalars), or, with one lane, a loop or
/// branch. Null vector after emitError.
llvm::SmallVector<Elem> inlineComputation(Emission &e, hlo::ComputationOp computation,
                                          llvm::ArrayRef<Elem> args);

} // namespace hlo::codegen

#endif
