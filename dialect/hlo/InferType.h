//===- InferType.h - The result shape of an instruction ---------*- C++ -*-===//
//
// One rule per opcode checks operands and attributes and gives the result
// shape. The parser asks it when a text omits the shape; the verifier asks it
// for every op (see Rule.h and Verify.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef DIALECT_HLO_INFERTYPE_H
#define DIALECT_HLO_INFERTYPE_H

#include "dialect/hlo/Dialect.h"

namespace hlo {

/// The shape of the instruction that op `opName` ("hlo.add") with these
/// operands and attributes stands for: an array, token, ... type, or one
/// TupleType when it has several results. `lookup` finds a computation by name
/// and may return null. Every violated constraint is reported through
/// `emitError`, and so is an opcode whose shape must be written
/// (`requiresWrittenShape`).
mlir::FailureOr<mlir::Type> inferType(llvm::StringRef opName, mlir::ValueRange operands,
                                      mlir::DictionaryAttr attrs,
                                      llvm::function_ref<ComputationOp(llvm::StringRef)> lookup,
                                      llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace hlo

#endif
