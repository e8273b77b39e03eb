//===- BlockPlan.h - Sizes and forms of the blocked contraction -----------===//
#ifndef COMPILER_CODEGEN_DOT_BLOCKPLAN_H
#define COMPILER_CODEGEN_DOT_BLOCKPLAN_H

#include "compiler/codegen/contraction/Groups.h"
#include "compiler/codegen/dot/Contraction.h"

namespace hlo::codegen {

/// How the inner loop finds its operands.
enum class LhsForm {
  Direct, ///< scalars straight from memory
  PackK,  ///< a buffer of rows, contiguous along k
  PackM   ///< a buffer of panels of `rows` elements per k
};
enum class RhsForm {
  Direct,        ///< vectors straight from memory
  PackN,         ///< a panel of `vectors` vectors per k, read by lanes along n
  PackTranspose, ///< the same panel, read by lanes along k and transposed in registers
  Panels         ///< vectors straight from memory, which holds such panels (see PackedRhs.h)
};

/// Everything about a blocked contraction that is decided before code is made.
struct BlockPlan {
  int64_t parts;     ///< 2 for complex, else 1
  int64_t partBytes; ///< of one part of one element
  /// What multiplies groups of neighbours along k; null: elements are multiplied.
  const Product *product;
  KGroup group;        ///< of the product; a group is one lane in buffers
  const Tiles *matrix; ///< of the product, if matrix registers multiply (see Matrix.cpp)
  int64_t tileGroups;  ///< matrix: groups along k of a register
  bool padsK;          ///< matrix: some piece of k is no multiple of registers, and is filled up
  bool rhsUnsigned;    ///< the rhs is the unsigned side of a product that takes one
  bool flipLhs;        ///< the lhs is packed with its upper bit flipped (see Groups.cpp)
  int64_t lanes;       ///< per vector along n: fewer than fullLanes if n is small
  int64_t fullLanes;   ///< of the target's vectors
  int64_t rows;        ///< of a register tile
  int64_t vectors;     ///< of a register tile, along n
  int64_t rowTail;     ///< rows of the last tile if fewer, else 0
  int64_t vectorTail;  ///< vectors of the last panel if it is not full, else 0
  bool narrowLast;     ///< the last vector of sums is half a vector (see hasNarrowLast)
  LhsForm lhs;
  RhsForm rhs;
  /// A tile of rows goes past all panels of the task before the next tile does; else a panel past
  /// all tiles.
  bool tilesOutside;
  /// Most of the time goes to stores: what is not tilesOutside goes tile by tile as well, in the
  /// order of the result.
  bool stores;
  int64_t packedRows; ///< rows of the lhs that are packed at a time, a multiple of rows
  /// Whether rows of the next tile are asked for during this one's panels; only if tilesOutside.
  bool prefetchRows;
  /// Whether panels of the rhs, which come from L2 for each tile of rows, are asked for a few steps
  /// ahead.
  bool prefetchPanels;
  /// The first tile of a panel packs it on its way (see Panel::packs), instead of a pass before.
  bool packsInTile;
  /// Whether what is packed of the rhs for the next piece of k, columns or batch index is asked for
  /// during this one's tiles.
  bool prefetchNext;
  bool sumsInResult; ///< sums rest in the result between pieces of k, not in a buffer
  int64_t batchBlock, mBlock, nBlock; ///< most of what is made from one packed piece of the rhs
  /// Rows and columns of a task. If tilesOutside, neighbouring tasks of one call are joined to
  /// blocks, so mBlock and nBlock are multiples of these; else they are the same.
  int64_t mTask, nTask;
  int64_t batchBlocks, mTasks, nTasks;
  /// k is cut along dimension kDim into pieces of kChunk; the dimensions inside make kInner.
  int64_t kDim, kChunk, kChunks, kInner, kBlocks, kMost;
  int64_t lhsRow;   ///< elements from row to row of a PackK buffer
  int64_t lhsWidth; ///< lanes of a PackM panel: rows, rounded up to a power of two
  int64_t rhsRows;  ///< rows of a panel of the rhs, room for whole vectors along k

  int64_t columns() const { return vectors * lanes; }
  /// Whether panels of the rhs are made in a buffer.
  bool packsRhs() const { return rhs == RhsForm::PackN || rhs == RhsForm::PackTranspose; }
  /// Elements along k that one step of the inner loop takes.
  int64_t kStep() const { return sizeOf(group); }
  /// Steps of the inner loop in the longest piece of k.
  int64_t mostSteps() const { return (kMost + kStep() - 1) / kStep(); }
};

/// `plainResult`: the result holds nothing but the sums, in the type of accumulation.
BlockPlan planBlocks(const Contraction &c, bool plainResult);
/// Whether the blocked form takes this contraction.
bool canBlock(const Contraction &c);
/// What multiplies groups in vectors of so many lanes; null: nothing does. A rhs that is contiguous
/// along k is read as groups, so it must have them in memory.
const Product *chooseProduct(const Contraction &c, int64_t lanes);
/// What multiplies the contraction's types in matrix registers; null: nothing does.
const Product *matrixProduct(const Contraction &c);
/// Whether groups can multiply the contraction.
bool canUseGroups(const Contraction &c);
/// Whether the blocked form multiplies narrow integers or bf16 in groups, faster than the forms for
/// few rows.
bool prefersGroups(const Contraction &c);
/// Whether matrix registers can multiply the contraction.
bool canUseMatrix(const Contraction &c);
/// Cycles of an m x n product by matrix registers, with its packing.
double cyclesOfMatrix(const Machine &machine, const Product &product, int64_t m, int64_t n,
                      int64_t k);
/// Whether matrix registers multiply the contraction's types, faster than vectors by a model of
/// both.
bool prefersMatrix(const Contraction &c);

/// Whether the columns left over after whole vectors are few enough for half a vector, and the
/// target multiplies that in half the time.
bool hasNarrowLast(const Machine &machine, int64_t n, int64_t lanes);

/// A register tile, and the cycles per k that it takes for all of m x n.
struct TileShape {
  int64_t rows, vectors;
  double cycles;
};
/// The tile with the least cycles for an m x n result; at most `mostRows` rows, a divisor of
/// `rowMultiple` and a power of two if that is not 0. `narrowLast`: see BlockPlan.
TileShape chooseTile(const Machine &machine, int64_t m, int64_t n, int64_t k, int64_t lanes,
                     int64_t parts, int64_t rowMultiple,
                     int64_t mostRows = std::numeric_limits<int64_t>::max(),
                     bool narrowLast = false);
/// Cycles per k of all tiles of an m x `vectors` result of vectors. `multiplyAdd`: the time of one,
/// in multiply-adds of f32.
double cyclesOfTiles(const Machine &machine, int64_t m, int64_t vectors, int64_t k, int64_t parts,
                     const TileShape &tile, bool narrowLast = false, double multiplyAdd = 1);
/// What multiply-adds count where one starts in a cycle: choices of tiles were measured there as if
/// two did, with the same loads.
inline double halfRate(const Machine &machine) { return machine.issue.fma / 2; }
/// Rows of the lhs, `rowBytes` apart, whose lines stay in L1 while a tile uses them: those a
/// multiple of a way of L1 apart are lines of one set. Where two multiply-adds start in a cycle,
/// tiles of so few rows would wait for their loads, and all are taken (1024^3 where one
/// starts: 22.6 ms with 13 x 2, 19.1 with 6 x 4).
int64_t rowsInL1(const Machine &machine, int64_t rowBytes);

} // namespace hlo::codegen

#endif
