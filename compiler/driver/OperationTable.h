//===- OperationTable.h - Operations of a profile -------------------------===//
#ifndef COMPILER_DRIVER_OPERATIONTABLE_H
#define COMPILER_DRIVER_OPERATIONTABLE_H

#include "compiler/target/entry/Entry.h"
#include "mlir/IR/BuiltinOps.h"

namespace hlo {

/// The metadata of a module's instructions by name, kept from the text because later phases drop
/// it.
struct InstructionMetadata {
  llvm::StringMap<mlir::StringAttr> texts;
  mlir::StringAttr stackFrames; ///< the tables at the head of the text; null if it has none
};
InstructionMetadata readMetadata(mlir::ModuleOp module);

/// The rows of hlo_module_desc.ops for the entry: the entry itself, its copies, and each kernel,
/// small loop and runtime call, in the order of their first execution.
OperationTable makeOperationTable(cpurt::EntryOp entry, mlir::ModuleOp planned,
                                  const SmallLoops &loops, const InstructionMetadata &metadata);

} // namespace hlo

#endif
