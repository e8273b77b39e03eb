//===- Kernel.h - The register kernel -------------------------------------===//
//
// A tile of R rows x V vectors of sums stays in registers while loops over k, over taps and over
// channels add products to it:
//
//   Sums sums = zeroSums(e, element, R * V, lanes);
//   carrySums(e, lo, hi, 1, sums, [&](Value i, Sums &sums) {
//     multiplyStep(e, multiply, R, V, row(i), column(i), sums);
//   });
//
// What a step multiplies comes from two callbacks, so that packed panels, operands read in place,
// windows of an input and unknowns of a triangular system share the kernel. Sums are row by row:
// sums[r * V + v].
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_CONTRACTION_KERNEL_H
#define COMPILER_CODEGEN_CONTRACTION_KERNEL_H

#include "compiler/codegen/contraction/Arithmetic.h"

namespace hlo::codegen {

/// The sums of a tile. All have the lanes of their column; the last column may have fewer.
using Sums = llvm::SmallVector<Elem>;

Sums zeroSums(Emission &e, mlir::Type element, int64_t count, int64_t lanes);

/// sum + row * column, for elements of an HLO type or groups of narrow neighbours along k.
struct Multiplier {
  Emission &e;
  mlir::Type element;
  const Product *product = nullptr; ///< multiplies groups
  /// Whether the rhs (the column) is the unsigned side of a product that takes one.
  bool rhsUnsigned = false;
  Elem operator()(const Elem &sum, const Elem &row, const Elem &column) const;
};
using Multiply = llvm::function_ref<Elem(const Elem &sum, const Elem &row, const Elem &column)>;

/// One step along k: sums[r * vectors + v] += row(r) * column(v). Reads all columns, then row by
/// row. A row that is a scalar is broadcast to the lanes of the columns.
void multiplyStep(Emission &e, Multiply multiply, int64_t rows, int64_t vectors,
                  llvm::function_ref<Elem(int64_t r)> row,
                  llvm::function_ref<Elem(int64_t v)> column, Sums &sums);

/// `count` steps along k: row(r) is a vector of a row's elements in these steps, column(j, v) a
/// vector of the columns in step j. For machines whose multiply-adds take one lane of a register
/// (Vectors::laneOperands).
void multiplySteps(Emission &e, Multiply multiply, int64_t count, int64_t rows, int64_t vectors,
                   llvm::function_ref<Elem(int64_t r)> row,
                   llvm::function_ref<Elem(int64_t j, int64_t v)> column, Sums &sums);

/// for (i = lo; i < hi; i += step) body(i, sums), with the sums in registers. Without sums, a plain
/// loop.
void carrySums(Emission &e, mlir::Value lo, mlir::Value hi, int64_t step, Sums &sums,
               llvm::function_ref<void(mlir::Value i, Sums &sums)> body);
/// body(at, mask, sums) for the vectors that cover [0, size). The mask is null but for a last
/// vector that is not full, which has code of its own.
void carryVectors(Emission &e, int64_t size, int64_t lanes, Sums &sums,
                  llvm::function_ref<void(mlir::Value at, mlir::Value mask, Sums &sums)> body);
/// body(index, linear, sums) for every index of dimensions of these sizes: a nest of loops.
void carryNest(
    Emission &e, llvm::ArrayRef<int64_t> sizes, Sums &sums,
    llvm::function_ref<void(llvm::ArrayRef<Index> index, mlir::Value linear, Sums &sums)> body);

/// then(sums) if `condition` (i1) holds, else otherwise(sums), each from `sums` on.
Sums chooseSums(Emission &e, mlir::Value condition, const Sums &sums,
                llvm::function_ref<void(Sums &sums)> then,
                llvm::function_ref<void(Sums &sums)> otherwise);

/// Adds, if `isLater` (i1), the sums of earlier pieces: load(i) for sum i.
void addEarlier(Emission &e, mlir::Type element, mlir::Value isLater, Sums &sums,
                llvm::function_ref<Elem(int64_t i)> load);

} // namespace hlo::codegen

#endif
