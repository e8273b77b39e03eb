//===- EntryAttributes.h - Entry attributes from the module's header ------===//
//
// Reads the header attributes that the parser keeps on the module.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_ANALYSIS_ENTRY_ENTRYATTRIBUTES_H
#define COMPILER_ANALYSIS_ENTRY_ENTRYATTRIBUTES_H

#include "dialect/hlo/Dialect.h"

namespace hlo {

/// `entry_computation_layout`, `input_output_alias`, `buffer_donor`.
struct EntryAttributes {
  struct Alias {
    llvm::SmallVector<int64_t> output;
    int64_t parameter;
    llvm::SmallVector<int64_t> index;
  };
  struct Donor {
    int64_t parameter;
    llvm::SmallVector<int64_t> index;
  };

  /// Declared parameter types; empty if the header has none.
  llvm::SmallVector<mlir::Type> parameters;
  /// Declared result type; null if the header has none.
  mlir::Type result;
  llvm::SmallVector<Alias> aliases;
  llvm::SmallVector<Donor> donors;

  /// Reads the attributes; an error at the module if one is malformed.
  static mlir::FailureOr<EntryAttributes> get(mlir::ModuleOp module);
};

} // namespace hlo

#endif
