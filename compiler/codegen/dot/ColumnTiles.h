//===- ColumnTiles.h - Few rows, tiles of columns whose sums are kept -----===//
//
// What the forms share that walk over tiles of columns of a rhs of scaled integers: the last tile
// ends with the columns, sums of the tiles of a part rest in a buffer, tile by tile and row by row,
// and rows that are not ordinary are multiplied as the program says.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_DOT_COLUMNTILES_H
#define COMPILER_CODEGEN_DOT_COLUMNTILES_H

#include "compiler/codegen/contraction/Buffers.h"
#include "compiler/codegen/dot/Contraction.h"

namespace hlo::codegen {

class ColumnTiles {
public:
  using Indices = llvm::ArrayRef<Index>;
  /// One tile, and where its sums are.
  struct Tile {
    mlir::Value start; ///< its first column
    mlir::Value slot;  ///< its number among those of the part
  };

  /// Tiles of `span` columns, a number of vectors of `lanes` lanes.
  ColumnTiles(Contraction &c, Epilogue &epilogue, int64_t span, int64_t lanes);
  /// The buffer of sums; once, before all else.
  void allocate();

  Tile tileAt(mlir::Value number, mlir::Value first) const;
  llvm::SmallVector<Index> columns(const Tile &tile, mlir::Value vector) const;
  mlir::Value sumAt(const Tile &tile, int64_t row, mlir::Value vector) const;
  mlir::Value sumAt(const Tile &tile, int64_t row, int64_t vector) const {
    return sumAt(tile, row, constI64(e, vector));
  }
  /// Scale and offset of the columns of a tile, vector by vector.
  llvm::SmallVector<ScaledOperand::Coefficients> coefficients(Indices batch, const Tile &tile,
                                                              mlir::Value k) const;

  /// The kernel. `copyRows` prepares the rows and says (i1) whether they are ordinary; null: they
  /// always are. `addTiles` adds the products of the tiles from one number to another to their
  /// sums, which are zero; `element` is element k of a row as it was. `tileBytes`: of the rhs.
  void emit(int64_t tileBytes, llvm::function_ref<mlir::Value(Indices batch)> copyRows,
            llvm::function_ref<void(Indices batch, mlir::Value from, mlir::Value to)> addTiles,
            llvm::function_ref<Elem(mlir::Value k, int64_t row)> element);

private:
  void addPlainly(Indices batch, mlir::Value from, mlir::Value to,
                  llvm::function_ref<Elem(mlir::Value k, int64_t row)> element);
  void store(Indices batch, mlir::Value from, mlir::Value to);

  Contraction &c;
  Epilogue &epilogue;
  Emission &e;
  Buffers buffers;
  int64_t m, lanes, span, vectors, tiles;
  int64_t mostTiles; ///< tiles whose sums are kept at a time
  mlir::Value sums;
};

} // namespace hlo::codegen

#endif
