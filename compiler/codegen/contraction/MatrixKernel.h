//===- MatrixKernel.h - Sums of products in matrix registers --------------===//
#ifndef COMPILER_CODEGEN_CONTRACTION_MATRIXKERNEL_H
#define COMPILER_CODEGEN_CONTRACTION_MATRIXKERNEL_H

#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/Kernel.h"

#include <functional>

namespace hlo::codegen {

/// The product of tiles that MatrixKernel can use: eight square registers as long as a vector, on a
/// machine with masked vectors to pack them. Null: there is none.
const Product *squareProduct(const Machine &machine, Number lhs, Number rhs, Number sum);

/// Sizes of two registers of rows, two of columns, and the four of their sums. 0: not used.
struct MatrixShape {
  std::array<int64_t, 2> rows, columns;
  int64_t groups; ///< along k
};
/// The configuration of the registers, in memory.
mlir::Value describeShape(Emission &e, const Tiles &tiles, const MatrixShape &shape);

/// Registers of one side in memory; distances in bytes.
struct MatrixSide {
  mlir::Value first;
  int64_t row;  ///< from a row of a register to the next row
  int64_t next; ///< from one of the two registers to the other
  int64_t step; ///< from one step along k to the next
};
/// Registers of sums in memory; distances in bytes.
struct MatrixSums {
  mlir::Value first;
  int64_t row;          ///< from a row of a register to the next row
  int64_t down, across; ///< from a register to those of the next rows, and of the next columns
};

/// Emits the multiplication of up to two registers of rows by up to two of columns.
class MatrixKernel {
public:
  MatrixKernel(Emission &e, const Product &product, bool lhsUnsigned, bool rhsUnsigned,
               int64_t down, int64_t across)
      : e(e), product(product), lhsUnsigned(lhsUnsigned), rhsUnsigned(rhsUnsigned), down(down),
        across(across) {}

  void clear();
  /// Clears the sums, or where `isLater` (null: never) loads them.
  void start(mlir::Value isLater, const MatrixSums &sums);
  void store(const MatrixSums &sums);
  /// The first step of a tile: each register of sums is cleared, or loaded from `sums` where
  /// `isLater` (null: never), right before its first product. Before that `previous`, if there is
  /// one, takes the sums of the tile before, whose last products have ended by then: stores so far
  /// behind the products cost nothing.
  void startStep(const MatrixSide &lhs, const MatrixSide &rhs, mlir::Value isLater,
                 const MatrixSums &sums, const MatrixSums *previous);
  /// Adds the products of `steps` steps along k. `ask`, if any, prefetches at each.
  void multiply(const MatrixSide &lhs, const MatrixSide &rhs, mlir::Value steps,
                const std::function<void(mlir::Value step)> &ask = {});

private:
  void forSums(llvm::function_ref<void(int64_t, int64_t)> body);
  /// Loads the registers at `a` and `b` and multiplies each with each; `before` runs before the
  /// product of rows i and columns j.
  void step(mlir::Value a, mlir::Value b, const MatrixSide &lhs, const MatrixSide &rhs,
            llvm::function_ref<void(int64_t i, int64_t j)> before);

  Emission &e;
  const Product &product;
  bool lhsUnsigned, rhsUnsigned;
  int64_t down, across;
};

} // namespace hlo::codegen

#endif
