//===- BlockPlan.h - Sizes and forms of the blocked contraction -----------===//
#ifndef COMPILER_CODEGEN_DOT_BLOCKPLAN_H
#define COMPILER_CODEGEN_DOT_BLOCKPLAN_H

#include "compiler/codegen/contraction/Groups.h"
#include "compiler/codegen/dot/Contraction.h"

namespace hlo::codegen {

/// How the inner loop reads the lhs.
enum class LhsForm {
  Direct, ///< scalars straight from memory
  PackK,  ///< a buffer of rows, contiguous along k
  PackM   ///< a buffer of panels, [k][rows]
};
enum class RhsForm {
  Direct,        ///< vectors straight from memory
  PackN,         ///< a panel [k][vectors], loaded along n
  PackTranspose, ///< the same panel, loaded along k and transposed in registers
  Panels         ///< vectors straight from memory, which has panels (see StoredPanels)
};

/// What a tile multiplies its columns by: an element or group of a row, broadcast; lanes of a
/// register that holds neighbours along k of the row; registers of two rows
/// (Product::multiplyPairs).
enum class RowOperands { Broadcast, Lanes, Pairs };

/// All decisions about a blocked contraction that are made before code is emitted.
struct BlockPlan {
  int64_t parts;     ///< 2 for complex, else 1
  int64_t partBytes; ///< bytes of one part of an element
  /// The product that multiplies groups along k; null: single elements are multiplied.
  const Product *product;
  KGroup group;        ///< the product's group, one lane in buffers
  const Tiles *matrix; ///< the product's tiles, if it uses matrix registers (see Matrix.cpp)
  int64_t tileGroups;  ///< matrix: groups along k of a register
  bool cutsRuns;       ///< matrix: k is cut into runs (see MatrixRuns.cpp)
  int64_t runSteps;    ///< cutsRuns: registers along k of a run, whose operands stay in L1
  bool padsK;          ///< matrix: a piece of k is not a multiple of a register and is padded
  bool rhsUnsigned;    ///< the rhs is the unsigned side of a OneUnsigned product
  bool flipLhs;        ///< the lhs is packed with its upper bit flipped (see Groups.cpp)
  int64_t lanes;       ///< lanes of a vector along n: fewer than fullLanes if n is small
  int64_t fullLanes;   ///< lanes of the target's vectors
  int64_t rows;        ///< of a register tile
  int64_t vectors;     ///< of a register tile, along n
  int64_t rowTail;     ///< rows of the last tile if fewer, else 0
  int64_t vectorTail;  ///< vectors of the last panel if it is not full, else 0
  bool narrowLast;     ///< the last vector of sums is half a vector (see hasNarrowLast)
  RowOperands rowOperands;
  LhsForm lhs;
  RhsForm rhs;
  /// True: the loop over tiles of rows is outside the loop over panels, so that a packed tile is
  /// multiplied with all panels of the task. False: the loop over panels is outside.
  bool tilesOutside;
  /// Stores dominate: without tilesOutside, tiles are processed one by one too, in the order of the
  /// result.
  bool stores;
  int64_t packedRows; ///< rows of the lhs packed at a time, a multiple of rows
  /// The first tile of a panel packs it as it reads the rhs (see Panel::packs), instead of a pass
  /// before.
  bool packsInTile;
  /// Whether the part of the rhs that is packed next (for the next piece of k, columns or batch
  /// index) is prefetched during this block's tiles.
  bool prefetchNext;
  bool sumsInResult; ///< between pieces of k, sums are in the result, not in a buffer
  int64_t batchBlock, mBlock,
      nBlock; ///< block sizes: the largest part of the result per packed piece of the rhs
  /// Rows and columns of a task. With tilesOutside adjacent tasks of one call are joined to blocks,
  /// whose mBlock and nBlock are multiples of these; otherwise they are equal.
  int64_t mTask, nTask;
  int64_t batchBlocks, mTasks, nTasks;
  /// k is cut along dimension kDim into pieces of kChunk; the dimensions inside it have kInner
  /// elements.
  int64_t kDim, kChunk, kChunks, kInner, kBlocks, kMost;
  int64_t lhsRow;   ///< stride of a PackK buffer's rows, in elements
  int64_t lhsWidth; ///< lanes of a PackM panel: rows rounded up to a power of two
  int64_t rhsRows;  ///< rows of a panel of the rhs, with room for whole vectors along k

  int64_t columns() const { return vectors * lanes; }
  /// Whether the rhs is packed into a buffer.
  bool packsRhs() const { return rhs == RhsForm::PackN || rhs == RhsForm::PackTranspose; }
  /// Elements along k per step of the inner loop.
  int64_t kStep() const { return sizeOf(group); }
  /// Steps of the inner loop in the longest piece of k.
  int64_t mostSteps() const { return (kMost + kStep() - 1) / kStep(); }
  /// matrix: registers along k in the longest piece of k.
  int64_t mostRegisters() const { return (mostSteps() + tileGroups - 1) / tileGroups; }
  /// cutsRuns: whether the sums of a tile rest in a buffer, between runs or pieces of k.
  bool sumsRest() const { return kBlocks > 1 || mostRegisters() > runSteps; }
};

/// `plainResult`: the result holds only the sums, in the type of accumulation.
BlockPlan planBlocks(const Contraction &c, bool plainResult);
/// Whether memory holds panels of the rhs as the plan's product wants them.
bool readsPanels(const Contraction &c, const BlockPlan &plan);
/// Whether the blocked form takes this contraction.
bool canBlock(const Contraction &c);
/// The product that multiplies groups in vectors of `lanes` lanes; null if there is none. A rhs
/// that is contiguous along k is read as groups, so memory must hold it in whole groups.
const Product *chooseProduct(const Contraction &c, int64_t lanes);
/// The matrix-register product for the contraction's types; null if there is none.
const Product *matrixProduct(const Contraction &c);
/// Whether groups can multiply the contraction.
bool canUseGroups(const Contraction &c);
/// Whether matrix registers can multiply the contraction.
bool canUseMatrix(const Contraction &c);
/// Cycles of an m x n product by matrix registers, with its packing.
double cyclesOfMatrix(const Machine &machine, const Product &product, int64_t m, int64_t n,
                      int64_t k);
/// Whether matrix registers are faster than vectors, by a model of both.
bool prefersMatrix(const Contraction &c);

/// Whether half a vector holds the columns after the last whole vector, and the target multiplies
/// it in half the time.
bool hasNarrowLast(const Machine &machine, int64_t n, int64_t lanes);

/// A register tile, and the modelled cycles per step of k for all of m x n.
struct TileShape {
  int64_t rows, vectors;
  double cycles;
};
/// The tile of the least modelled cycles for an m x n result. Its rows are at most `mostRows`; if
/// `rowMultiple` is not 0, a power of two that divides it. `narrowLast`: see BlockPlan.
/// `products`: registers for products that another instruction adds. `rowOperands`: see BlockPlan.
TileShape chooseTile(const Machine &machine, int64_t m, int64_t n, int64_t k, int64_t lanes,
                     int64_t parts, int64_t rowMultiple,
                     int64_t mostRows = std::numeric_limits<int64_t>::max(),
                     bool narrowLast = false, int64_t products = 0,
                     RowOperands rowOperands = RowOperands::Broadcast);
/// Cycles per k of all tiles of an m x `vectors` result of vectors. `multiplyAdd`: the time of one,
/// in multiply-adds of f32.
double cyclesOfTiles(const Machine &machine, int64_t m, int64_t vectors, int64_t k, int64_t parts,
                     const TileShape &tile, bool narrowLast = false, double multiplyAdd = 1);
/// The largest number of rows of the lhs, `rowBytes` apart, whose lines stay in L1 while a tile
/// uses them: rows a multiple of a way of L1 apart share a set. Only for machines that execute
/// vectors in halves; on others, tiles of so few rows would wait for their loads.
int64_t rowsInL1(const Machine &machine, int64_t rowBytes);

} // namespace hlo::codegen

#endif
