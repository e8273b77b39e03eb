//===- FfiAttributes.h - Attributes of typed custom calls -----------------===//
#ifndef COMPILER_TARGET_CALLS_FFIATTRIBUTES_H
#define COMPILER_TARGET_CALLS_FFIATTRIBUTES_H

#include "compiler/target/StaticData.h"
#include "mlir/IR/Location.h"

namespace hlo {

/// The attributes that a handler of the typed FFI gets, as a pointer to a constant XLA_FFI_Attrs;
/// null for an empty text. `text` is a dictionary as MLIR writes it, e.g. `{gain = 2.0 : f32}`.
mlir::FailureOr<llvm::Constant *> makeFfiAttributes(llvm::StringRef text, mlir::Location location,
                                                    StaticData &data, llvm::Module &module);

} // namespace hlo

#endif
