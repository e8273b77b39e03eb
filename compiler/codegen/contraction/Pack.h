//===- Pack.h - Copies and transposes of operands -------------------------===//
#ifndef COMPILER_CODEGEN_CONTRACTION_PACK_H
#define COMPILER_CODEGEN_CONTRACTION_PACK_H

#include "compiler/codegen/contraction/Buffers.h"
#include "compiler/codegen/contraction/Operand.h"

namespace hlo::codegen {

/// The columns of a square of as many vectors as each has lanes: one with lane i of each vector.
llvm::SmallVector<Elem> transposed(Emission &e, llvm::ArrayRef<Elem> square);
/// The same for vectors read(0), read(1), ..., with as many lanes as there are.
llvm::SmallVector<Elem> transposed(Emission &e, int64_t lanes,
                                   llvm::function_ref<Elem(int64_t i)> read);

/// The vectors read(0), ..., read(count - 1) of a computed operand, whose code is emitted once, in
/// a loop that writes them to a buffer.
llvm::SmallVector<Elem> readByLoop(const Buffers &buffers, int64_t lanes, int64_t count,
                                   llvm::function_ref<Elem(mlir::Value i)> read);

/// Copies `length` elements that are contiguous in memory, from `offset` on, to part `at` of a
/// buffer, in vectors of `lanes`. Reads nothing behind the last element; the last vector is written
/// whole.
void copyRun(const Buffers &buffers, Operand &from, mlir::Value offset, mlir::Value length,
             int64_t lanes, mlir::Value buffer, mlir::Value at);

} // namespace hlo::codegen

#endif
