//===- Scaled.h - The forms for few rows and scaled integers --------------===//
//
// What the two forms that multiply a ScaledOperand share: sizes, and which activations the sums are
// exact enough for.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_DOT_SCALED_H
#define COMPILER_CODEGEN_DOT_SCALED_H

#include "compiler/codegen/contraction/Buffers.h"
#include "compiler/codegen/contraction/Kernel.h"
#include "compiler/codegen/contraction/Unpack.h"
#include "compiler/codegen/contraction/UnpackBytes.h"
#include "compiler/codegen/dot/Forms.h"

namespace hlo::codegen {

/// A register tile, and how many steps along k its sums have before they are scaled.
struct ScaledTile {
  int64_t rows;
  int64_t atOnce; ///< stream: vectors of columns (parts of a tile); inner: columns
  int64_t depth;  ///< stream: elements along k; inner: steps of a tile
};
ScaledTile scaledStreamTile(const Contraction &c);
ScaledTile scaledInnerTile(const Contraction &c);
/// Of the forms for rows that may be quantized. atOnce: planes of bytes; columns.
ScaledTile byteStreamTile(const Contraction &c);
ScaledTile byteInnerTile(const Contraction &c);

/// Elements along k with one scale.
int64_t scaledRun(const Contraction &c);

/// Unpacks the rhs, with lanes along its columns or along k. By pairs, if the lhs is exact in bf16.
Unpacker unpackerOf(const Contraction &c, UnitStride along);
/// The same to bytes, for a contraction that can use a form by bytes.
ByteUnpacker byteUnpackerOf(const Contraction &c);
/// Rows of the rhs that a step of the stream form takes.
inline int64_t rowsAtOnce(const Unpacker &unpack) { return unpack.pairs ? 2 : 1; }

/// The address of element (batch, free, k) of the rhs, which begins a byte.
mlir::Value scaledAddress(const Contraction &c, llvm::ArrayRef<Index> batch, mlir::Value free,
                          mlir::Value k);

/// Whether `value` is so small that sums with the factors of an Unpacker stay finite; false for
/// infinities and NaNs.
mlir::Value isOrdinary(Emission &e, mlir::Value value);

/// Copies a row of the lhs in f32, each element to place(k); i1: `ordinary`, and all elements are.
mlir::Value copyRow(Contraction &c, llvm::ArrayRef<Index> batch, int64_t row,
                    llvm::function_ref<mlir::Value(mlir::Value k)> place, mlir::Value ordinary);

/// Some columns of a rhs that is contiguous along k: their indices, and the addresses at k = 0.
/// Columns past the end repeat the last one, and are not stored.
struct ColumnsAlongK {
  llvm::SmallVector<llvm::SmallVector<Index>> n;
  llvm::SmallVector<mlir::Value> addresses;
};
ColumnsAlongK columnsAlongK(const Contraction &c, llvm::ArrayRef<Index> batch, mlir::Value first,
                            int64_t count);
/// The kernel of a form with lanes along k: group(batch, number, what copyRows(batch) gave) for
/// each `columns` columns.
void forEachGroup(
    Contraction &c, int64_t columns,
    llvm::function_ref<mlir::Value(llvm::ArrayRef<Index> batch)> copyRows,
    llvm::function_ref<void(llvm::ArrayRef<Index> batch, mlir::Value number, mlir::Value ordinary)>
        group);
/// Sums with lanes along k for rows that are not ordinary: infinities and NaNs as the program has
/// them, element by element. element(r, at, mask): lanes of row r as they were.
void addPlainLanes(Contraction &c, llvm::ArrayRef<Index> batch, const ColumnsAlongK &columns,
                   int64_t rows, int64_t lanes,
                   llvm::function_ref<Elem(int64_t r, mlir::Value at, mlir::Value mask)> element,
                   Sums &sums);

/// What the two forms have in common.
class ScaledForm {
protected:
  ScaledForm(Contraction &c, Epilogue &epilogue, UnitStride along, const ScaledTile &size);
  Elem multiply(const Elem &sum, const Elem &a, const Elem &b) {
    return multiplyAdd(e, c.element, sum, a, b);
  }

  Contraction &c;
  Epilogue &epilogue;
  Emission &e;
  Buffers buffers;
  Unpacker unpack;
  ScaledTile size;
  int64_t m, lanes, parts, span;
  int64_t run; ///< elements along k with one scale
};

} // namespace hlo::codegen

#endif
