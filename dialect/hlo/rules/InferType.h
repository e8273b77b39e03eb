//===- InferType.h - The result shape of an instruction ---------*- C++ -*-===//
//
// One rule per opcode checks operands and attributes and returns the result shape. The parser uses
// it if the text omits the shape; the verifier uses it for every op (see Rule.h and Verify.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef DIALECT_HLO_RULES_INFERTYPE_H
#define DIALECT_HLO_RULES_INFERTYPE_H

#include "dialect/hlo/Dialect.h"

namespace hlo {

/// The shape of the instruction for op `opName` ("hlo.add") with these operands and attributes: an
/// array, token, ... type, or one TupleType for several results. `lookup` finds a computation by
/// name and may return null. Every violated constraint is reported through `emitError`, and so is
/// an opcode whose shape must be written (`requiresWrittenShape`).
mlir::FailureOr<mlir::Type> inferType(llvm::StringRef opName, mlir::ValueRange operands,
                                      mlir::DictionaryAttr attrs,
                                      llvm::function_ref<ComputationOp(llvm::StringRef)> lookup,
                                      llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace hlo

#endif
