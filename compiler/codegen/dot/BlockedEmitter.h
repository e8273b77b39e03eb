//===- BlockedEmitter.h - Loops, packing and register tiles ---------------===//
#ifndef COMPILER_CODEGEN_DOT_BLOCKEDEMITTER_H
#define COMPILER_CODEGEN_DOT_BLOCKEDEMITTER_H

#include "compiler/codegen/contraction/Buffers.h"
#include "compiler/codegen/contraction/Kernel.h"
#include "compiler/codegen/contraction/MatrixKernel.h"
#include "compiler/codegen/dot/BlockPlan.h"

namespace hlo::codegen {

/// The byte offset of linear index `index` in a strided side.
mlir::Value strideBytes(Emission &e, const ContractionSide &side, mlir::Value index,
                        int64_t stride);
/// The address of a batch index of a strided side.
mlir::Value batchAddress(Emission &e, const ContractionSide &side, llvm::ArrayRef<Index> batch);

/// Emits the blocked form of one contraction.
class BlockedEmitter {
public:
  BlockedEmitter(Contraction &c, Epilogue &epilogue);
  void emit();

private:
  /// A piece of k: dimensions before plan.kDim are fixed, kDim runs over [start, end).
  struct KBlock {
    llvm::SmallVector<Index> outer;
    mlir::Value start, end;
    mlir::Value first;  ///< linear index of its first element
    mlir::Value length; ///< elements
    mlir::Value number; ///< the piece's number, from 0
  };
  /// The part of the result that a task computes for one batch index.
  struct Block {
    llvm::SmallVector<Index> batch;
    mlir::Value batchNumber, m0, m1, n0, n1;
    mlir::Value packed0; ///< the first row in the lhs's buffer
  };
  /// A panel of columns.
  struct Panel {
    mlir::Value n;
    int64_t vectors;
    bool tail; ///< the last vector may be partly outside
    /// The tile reads the rhs in place and leaves the packed panel for the tiles after it.
    bool packs = false;
  };
  using KBody = llvm::function_ref<void(llvm::ArrayRef<Index>, mlir::Value, mlir::Value)>;

  void emitTask(mlir::Value task);
  /// Joins the tasks [first, last) to as few blocks as possible.
  void emitJoined();
  /// Rows [m0, m1) and columns [n0, n1) of some batch indices.
  void emitPart(mlir::Value batchBlock, mlir::Value m0, mlir::Value m1, mlir::Value n0,
                mlir::Value n1);
  void emitBlock(const Block &block);
  KBlock kBlockAt(mlir::Value number);
  /// Calls body(index, linear index in the block, mask) for every `step` elements of a piece of k.
  /// `peeled`: the masked vector at the end of a row gets code of its own, if its place is known.
  void forEachK(const KBlock &k, int64_t step, KBody body, bool peeled = false);
  void forEachPanel(const Block &block, llvm::function_ref<void(const Panel &)> body);
  /// Calls body for the tiles of rows [from, block.m1); `number` counts from 0.
  void forEachTile(const Block &block, mlir::Value from,
                   llvm::function_ref<void(mlir::Value m, mlir::Value number, int64_t rows)> body);

  // Packing.cpp
  /// Rows [from, to), to the start of the buffer.
  void packLhs(const Block &block, const KBlock &k, mlir::Value from, mlir::Value to);
  void packLhsRows(const Block &block, const KBlock &k, mlir::Value from, mlir::Value to);
  void packLhsPanels(const Block &block, const KBlock &k, mlir::Value from, mlir::Value to);
  void packRhs(const Block &block, const KBlock &k);
  void packRhsRow(const Block &block, llvm::ArrayRef<Index> k, mlir::Value local,
                  const Panel &panel);
  void packRhsTransposed(const Block &block, const KBlock &k, const Panel &panel);
  llvm::SmallVector<Index> columnIndex(mlir::Value n, int64_t vector);
  /// The start of a panel in the buffer, in parts.
  mlir::Value panelStart(const Block &block, const Panel &panel);
  /// The mask of the lanes of vector `vector` that exist in the packed panel; null if all do.
  mlir::Value columnMask(const Panel &panel, int64_t vector);

  // Matrix.cpp
  /// Configures the matrix registers; releaseTiles at the end of the kernel's call.
  void configureTiles();
  void releaseTiles();
  /// Whether a remainder needs tiles of its exact shape.
  bool needsMatrixShape(int64_t rows, int64_t columns) const;
  /// The number of existing columns of the panel.
  int64_t columnsOf(const Panel &panel) const;
  MatrixKernel kernelOf(int64_t rows, int64_t columns);
  /// The rows at m, in memory or in the buffer.
  MatrixSide matrixRowsAt(const Block &block, const KBlock &k, mlir::Value m);
  /// emitTile with matrix registers.
  void emitMatrixTile(const Block &block, const KBlock &k, const Panel &panel, mlir::Value m,
                      mlir::Value number, int64_t rows);
  /// Bytes of the sums that rest between runs and pieces of k, at least those of one tile.
  int64_t matrixSumBytes() const;
  /// Multiplies rows [m, m + rows) of the lhs with all panels of the block, and finishes the sums
  /// after the last piece of k.
  void emitMatrixRows(const Block &block, const KBlock &k, mlir::Value m, int64_t rows);
  /// What the tiles of a run along k have in common.
  struct MatrixRun;
  /// The tiles of a run with all whole panels, and with the panel of the last columns.
  void emitWholePanels(const MatrixRun &run);
  void emitLastPanel(const MatrixRun &run);
  /// The panel's columns, and its tile's sums, in the buffers.
  MatrixSide columnsAt(const MatrixRun &run, const Panel &panel);
  MatrixSums sumsAt(const MatrixRun &run, mlir::Value n);
  /// Passes the sums of the panel's tile to the epilogue, if the run is the last one.
  void finishPanel(const MatrixRun &run, const Panel &panel);
  /// Rows [from, to) of a lhs that is contiguous along them.
  void packMatrixRows(const Block &block, const KBlock &k, mlir::Value from, mlir::Value to);
  /// A vector of groups along k of any rhs that is contiguous along k.
  mlir::Value readColumnGroups(const Block &block, llvm::ArrayRef<Index> column,
                               llvm::ArrayRef<Index> k, mlir::Value mask);
  /// Writes zeros to the groups after the end of a piece of k, in the buffer's first `rows` rows
  /// and in the panels.
  void fillRowEnds(const KBlock &k, mlir::Value rows);
  void fillPanelEnds(const Block &block, const KBlock &k);

  // Groups.cpp: neighbours along k as one 32-bit lane (pairs of bf16 held as f32).
  /// Multiplies elements, or groups.
  Multiplier multiplier() const {
    return {e, c.element, plan.group != KGroup::None ? plan.product : nullptr, plan.rhsUnsigned};
  }
  /// Reads groups of elements k, k + 1, ..., with lanes along a free dimension; zeros after the end
  /// of k.
  Elem readGroup(const ContractionSide &side, const Block &block, llvm::ArrayRef<Index> free,
                 llvm::ArrayRef<Index> k, int64_t lanes, mlir::Value mask, bool flip);
  /// A vector of groups along k of a rhs that has them in memory.
  mlir::Value loadColumnGroups(const Block &block, llvm::ArrayRef<Index> column,
                               llvm::ArrayRef<Index> k);
  /// Computes the initial sums of each column for a flipped lhs: the last row of each panel.
  void sumColumns(const Block &block, const KBlock &k);
  mlir::Value correctionAddress(const Block &block, const Panel &panel, int64_t v);
  /// The number of groups in `length` elements along k.
  mlir::Value groupsOf(mlir::Value length);

  // Tile.cpp
  /// The lanes of a vector of sums, and the mask of those that exist; null if all do.
  int64_t tileLanes(const Panel &panel, int64_t vector);
  mlir::Value tileMask(const Panel &panel, int64_t vector);
  void emitTile(const Block &block, const KBlock &k, const Panel &panel, mlir::Value m,
                mlir::Value number, int64_t rows);
  /// Adds the products of a piece of k to the sums of a tile.
  void multiplyTile(const Block &block, const KBlock &k, const Panel &panel, mlir::Value m,
                    mlir::Value number, int64_t rows, Sums &sums);
  /// `count` elements or groups from step i on of a row; if rows are packed as panels, those of
  /// step i of so many rows.
  using LhsReader = std::function<Elem(mlir::Value i, int64_t row, int64_t count)>;
  /// A vector of the columns, at step i.
  using RhsReader = std::function<Elem(mlir::Value i, int64_t vector)>;
  LhsReader lhsReader(const Block &block, const KBlock &k, mlir::Value m, mlir::Value number);
  RhsReader rhsReader(const Block &block, const KBlock &k, const Panel &panel);
  /// Whether a row's steps are neighbours in memory.
  bool readsAlongK() const;
  /// The steps of multiplyTile by lanes, or by pairs (RowOperands); return how many they did, as a
  /// multiple of what they take at once.
  mlir::Value multiplyByLanes(const LhsReader &lhs, const RhsReader &rhs, int64_t rows,
                              int64_t vectors, mlir::Value groups, Sums &sums);
  mlir::Value multiplyByPairs(const LhsReader &lhs, const RhsReader &rhs, int64_t rows,
                              int64_t vectors, mlir::Value groups, Sums &sums);
  /// The address, in stored panels, of the panel's first column at the start of the piece of k.
  mlir::Value storedPanel(const Block &block, const KBlock &k, const Panel &panel);
  /// Bytes from a row of a panel to the next, in the buffer or in memory.
  int64_t panelRowBytes() const;
  /// The address, in a strided rhs, of the panel's first column at the start of the piece of k.
  mlir::Value rhsAddress(const Block &block, const KBlock &k, const Panel &panel);

  /// How the lines of the part of the rhs that is packed next are prefetched: lines per row of the
  /// block, prefetches per step, and 2^shift steps share one.
  struct NextLines {
    int64_t perRow, asks;
    int64_t shift;
  };
  NextLines nextLines() const;
  /// Emits the prefetches of tile `number` at step i of k: lines of the part of the rhs that is
  /// packed next. Null if nothing is prefetched.
  std::function<void(mlir::Value i)> nextPrefetcher(const Block &block, const KBlock &k,
                                                    const Panel &panel, mlir::Value number);
  /// The same for stored panels: lines of the next one. A tile has `steps` steps.
  std::function<void(mlir::Value i)> nextPanelPrefetcher(const Block &block, const KBlock &k,
                                                         const Panel &panel, mlir::Value number,
                                                         int64_t steps);

  void storeTile(const Block &block, const Panel &panel, mlir::Value m, int64_t rows,
                 const Sums &sums);
  /// Epilogue over rows [m, m + rows) of sums kept in a buffer with rows of `rowElements`.
  void finishRows(const Block &block, const Panel &panel, mlir::Value m, mlir::Value rows,
                  mlir::Value buffer, int64_t rowElements);
  /// Linear index in the result; for results that are linear in m and n.
  mlir::Value resultIndex(const Block &block, mlir::Value m, mlir::Value n);
  bool isResultLinear() const;
  void storeVector(const Block &block, mlir::Value m, mlir::Value n, const Elem &value,
                   int64_t lanes, mlir::Value mask);

  /// One vector of sums between two pieces of k.
  Elem loadSum(const Block &block, mlir::Value m, mlir::Value n, int64_t lanes, mlir::Value mask);
  void storeSum(const Block &block, mlir::Value m, mlir::Value n, const Elem &sum,
                mlir::Value mask);
  mlir::Value sumAddress(const Block &block, mlir::Value m, mlir::Value n);

  Contraction &c;
  Epilogue &epilogue;
  Emission &e;
  BlockPlan plan;
  Buffers buffers;
  mlir::Type part; ///< HLO type of one part of an element
  mlir::Value lhsBuffer, rhsBuffer, sumBuffer;
  /// The shapes of tiles for sums of rows x columns, in memory; the first are those of most tiles.
  struct Registers {
    int64_t rows, columns;
    mlir::Value memory;
  };
  llvm::SmallVector<Registers> matrixShapes;
};

} // namespace hlo::codegen

#endif
