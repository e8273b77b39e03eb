//===- Columns.h - Transforms of the columns of a matrix ------------------===//
#ifndef COMPILER_CODEGEN_FFT_COLUMNS_H
#define COMPILER_CODEGEN_FFT_COLUMNS_H

#include "compiler/codegen/Kernel.h"
#include "compiler/codegen/fft/Butterfly.h"

namespace hlo::codegen {

/// Reads element (row, vector) of a block of columns; `vector` is the number of the vector in its
/// row.
using ReadColumns = llvm::function_ref<Elem(mlir::Value row, mlir::Value vector)>;
using WriteColumns =
    llvm::function_ref<void(mlir::Value row, mlir::Value vector, const Elem &value)>;

/// Transforms element (row, vector) of a result before it is stored.
using AdjustColumns =
    llvm::function_ref<Elem(mlir::Value row, mlir::Value vector, const Elem &value)>;

/// Rows of vectors in scratch memory: a vector of real parts, a vector of imaginary parts, and so
/// on.
struct RowBuffer {
  mlir::Value base;
  int64_t vectors = 1; ///< per row
};

/// A tile of columns (or rows): whole vectors, or the remainder under a mask.
struct ColumnBlock {
  mlir::Value first; ///< its first column
  int64_t lanes, vectors;
  int64_t least;       ///< number of columns that are always valid
  mlir::Value isWhole; ///< true: all lanes are columns; null: exactly the first `least` lanes are
  mlir::Value mask;    ///< lanes that are columns; null: all
  /// Number of columns in the tile.
  mlir::Value count(Emission &e) const;
  /// Column i of the first vector, clamped to the last column.
  mlir::Value at(Emission &e, int64_t i) const;
  /// Runs body(i) for each column of a vector.
  void forEach(Emission &e, llvm::function_ref<void(int64_t i)> body) const;
};
/// Emits the body for block `number` of `size` columns. With `oneBody`, full and partial vectors
/// share one code, always masked: half of the compile time, for cases in which masks cost next to
/// nothing.
void emitColumnBlock(Emission &e, int64_t size, int64_t lanes, int64_t vectors, mlir::Value number,
                     llvm::function_ref<void(const ColumnBlock &)> body, bool oneBody = true);
/// Number of blocks.
inline int64_t countColumnBlocks(int64_t size, int64_t lanes, int64_t vectors) {
  return size / lanes / vectors + (size % lanes != 0);
}

/// Transforms the columns of a block, a few vectors wide.
class ColumnTransforms {
public:
  ColumnTransforms(Emission &e, mlir::Type real, bool inverse);

  /// y = DFT of x of length n, column by column, without the factor 1/n of an inverse. `x` and `y`
  /// may be the same memory, element by element. The buffers have n rows, or Bluestein's length.
  void transform(int64_t n, int64_t lanes, int64_t vectors, ReadColumns read, WriteColumns write,
                 mlir::Value bufferA, mlir::Value bufferB);
  /// The same, but y stays in one of the buffers, which is returned. `x` may be buffer A itself.
  RowBuffer transformToBuffer(int64_t n, int64_t lanes, int64_t vectors, ReadColumns read,
                              mlir::Value bufferA, mlir::Value bufferB, bool fromA = false,
                              AdjustColumns adjust = nullptr);

  Elem load(const RowBuffer &buffer, mlir::Value row, mlir::Value vector, int64_t lanes);
  void store(const RowBuffer &buffer, mlir::Value row, mlir::Value vector, const Elem &value);

  /// The pair (re, im) at `index` of a table of complex numbers: splat, or as consecutive lanes
  /// (all re, then all im).
  Elem splatRoot(mlir::Value table, mlir::Value index, int64_t lanes);
  /// Bluestein's factors exp(-+pi i j^2 / n), j < n, as pairs.
  mlir::Value chirpTable(int64_t n);
  /// The transform of the conjugate factors, divided by m, as pairs; with lanes > 1, in blocks of
  /// `lanes` re, then im.
  mlir::Value chirpSpectrum(int64_t n, int64_t m, int64_t lanes);

  Emission &e;
  ComplexMath math;
  bool inverse;

private:
  struct Pass {
    int64_t n, radix, stride; ///< `stride`: product of the previous radices
  };
  llvm::SmallVector<int64_t> radices(int64_t n);
  void pass(const Pass &pass, int64_t lanes, int64_t vectors, bool inverse, ReadColumns read,
            WriteColumns write);
  mlir::Value twiddleTable(const Pass &pass, bool inverse);
  RowBuffer smooth(int64_t n, int64_t lanes, int64_t vectors, bool inverse, ReadColumns read,
                   WriteColumns *write, mlir::Value bufferA, mlir::Value bufferB, bool fromA);
  RowBuffer chirp(int64_t n, int64_t lanes, int64_t vectors, ReadColumns read, mlir::Value bufferA,
                  mlir::Value bufferB);
};

} // namespace hlo::codegen

#endif
