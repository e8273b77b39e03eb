//===- Columns.h - Short rows in memory, their columns in vectors ---------===//
#ifndef COMPILER_CODEGEN_LOOPS_COLUMNS_H
#define COMPILER_CODEGEN_LOOPS_COLUMNS_H

#include "compiler/codegen/Element.h"

namespace hlo::codegen {

/// Interleaves vectors of one column each into the vectors that hold their rows in memory.
llvm::SmallVector<mlir::Value> interleaveColumns(Emission &e, llvm::ArrayRef<mlir::Value> columns);

/// Column c of the rows row, row + 1, ... (one for each lane that is set in `mask`) of an array
/// [.., columns]; reads all elements of these rows.
Elem loadColumn(Emission &e, mlir::Type element, mlir::Value base, mlir::Value row, int64_t columns,
                int64_t c, int64_t lanes, mlir::Value mask = {});

/// Writes the rows row, row + 1, ... of an array with as many columns.
void storeColumns(Emission &e, mlir::Type element, llvm::ArrayRef<Elem> columns, mlir::Value base,
                  mlir::Value row, mlir::Value mask = {});

} // namespace hlo::codegen

#endif
