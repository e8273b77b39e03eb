//===- Columns.h - Transforms of the columns of a matrix ------------------===//
#ifndef COMPILER_CODEGEN_FFT_COLUMNS_H
#define COMPILER_CODEGEN_FFT_COLUMNS_H

#include "compiler/codegen/Kernel.h"
#include "compiler/codegen/fft/Butterfly.h"

namespace hlo::codegen {

/// Element (row, vector) of a block of columns; `vector` counts vectors in the block.
using ReadColumns = llvm::function_ref<Elem(mlir::Value row, mlir::Value vector)>;
using WriteColumns =
    llvm::function_ref<void(mlir::Value row, mlir::Value vector, const Elem &value)>;

/// What is done with element (row, vector) of a result before it is kept.
using AdjustColumns =
    llvm::function_ref<Elem(mlir::Value row, mlir::Value vector, const Elem &value)>;

/// Rows of vectors in scratch memory: a vector of real parts, one of imaginary parts, and so on.
struct RowBuffer {
  mlir::Value base;
  int64_t vectors = 1; ///< per row
};

/// A block of columns (or of rows): whole vectors, or what is left after them under a mask.
struct ColumnBlock {
  mlir::Value first; ///< its first column
  int64_t lanes, vectors;
  int64_t least;       ///< columns of a vector
  mlir::Value isWhole; ///< if so, all lanes are columns; null: `least` are in any case
  mlir::Value mask;    ///< of the lanes that are columns; null: all
  /// The columns of a vector.
  mlir::Value count(Emission &e) const;
  /// Column i of the first vector; the last one if there are fewer.
  mlir::Value at(Emission &e, int64_t i) const;
  /// body(i) for the columns of a vector.
  void forEach(Emission &e, llvm::function_ref<void(int64_t i)> body) const;
};
/// Block `number` of `size` columns. Blocks of one vector, whole or not, are the same code if
/// `oneBody`, where masks cost next to nothing; that is half of the compile time.
void emitColumnBlock(Emission &e, int64_t size, int64_t lanes, int64_t vectors, mlir::Value number,
                     llvm::function_ref<void(const ColumnBlock &)> body, bool oneBody = true);
/// How many blocks there are.
inline int64_t countColumnBlocks(int64_t size, int64_t lanes, int64_t vectors) {
  return size / lanes / vectors + (size % lanes != 0);
}

/// Transforms all columns of a block, a few vectors wide, along the rows.
class ColumnTransforms {
public:
  ColumnTransforms(Emission &e, mlir::Type real, bool inverse);

  /// y = DFT of x of length n, column by column, without the factor 1/n of an inverse. `x` and `y`
  /// may be the same memory if each (row, vector) is. The buffers have n rows, or those of the
  /// convolution.
  void transform(int64_t n, int64_t lanes, int64_t vectors, ReadColumns read, WriteColumns write,
                 mlir::Value bufferA, mlir::Value bufferB);
  /// The same, but y stays in one of the buffers; gives that one. `x` may be buffer A itself.
  RowBuffer transformToBuffer(int64_t n, int64_t lanes, int64_t vectors, ReadColumns read,
                              mlir::Value bufferA, mlir::Value bufferB, bool fromA = false,
                              AdjustColumns adjust = nullptr);

  Elem load(const RowBuffer &buffer, mlir::Value row, mlir::Value vector, int64_t lanes);
  void store(const RowBuffer &buffer, mlir::Value row, mlir::Value vector, const Elem &value);

  /// Pairs (re, im) of a table of complex numbers, splat or as consecutive lanes (re of all, then
  /// im of all).
  Elem splatRoot(mlir::Value table, mlir::Value index, int64_t lanes);
  /// Bluestein's factors exp(-+pi i j^2 / n), j < n, as pairs.
  mlir::Value chirpTable(int64_t n);
  /// The transform of the conjugate factors, as pairs, divided by m; in blocks of `lanes` re, then
  /// im, if lanes > 1.
  mlir::Value chirpSpectrum(int64_t n, int64_t m, int64_t lanes);

  Emission &e;
  ComplexMath math;
  bool inverse;

private:
  struct Pass {
    int64_t n, radix, stride; ///< `stride`: product of the radices before
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
