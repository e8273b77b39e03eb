//===- BlockCuts.h - What the files of the block plan share ---------------===//
#ifndef COMPILER_CODEGEN_DOT_BLOCKCUTS_H
#define COMPILER_CODEGEN_DOT_BLOCKCUTS_H

#include "compiler/codegen/dot/BlockPlan.h"

namespace hlo::codegen {

/// A store of an element costs at least 16 multiply-adds. With fewer steps of k the stores
/// dominate: tasks are then whole rows of the result, which are stored in the order of memory.
inline constexpr int64_t kStoreWork = 16;
/// matrix: groups along k of a piece. 32 rows of them, or 32 columns, are 32 KiB: one stays in L1,
/// the other comes from L2 at half a line per cycle.
inline constexpr int64_t kMatrixPiece = 256;

// BlockPlan.cpp: of a plan whose tile and forms are known.

/// Whether a panel of the rhs has at most 16 columns, and is not cut along k if the rows are read
/// in place.
bool isNarrow(const Contraction &c, const BlockPlan &plan);
/// The form of a lhs that is multiplied in groups.
LhsForm chooseGroupedLhs(const Contraction &c, const BlockPlan &plan);
/// Whether the rows of the lhs stay in L2 while all stored panels pass by once.
bool panelsPassOnce(const Contraction &c, const BlockPlan &plan);
/// Whether the first tile of a panel can read the rhs in place and leave the packed panel for the
/// others.
bool canPackInTile(const Contraction &c, const BlockPlan &plan);
/// Whether the rhs does not fit L2.
bool leavesL2(const Contraction &c);
/// Whether the rhs streams from memory while few rows use it. Only for vectors of whole cache
/// lines; with half lines it costs 10 %.
bool streamsRhs(const Contraction &c, const BlockPlan &plan);

// BlockCuts.cpp, in this order.

/// Cuts k into pieces.
void cutK(const Contraction &c, BlockPlan &plan);
/// Cuts k into matrix registers of equal size, so that little is padded, and decides whether rows
/// are read in place.
void cutTiles(const Contraction &c, BlockPlan &plan);
/// Cuts the result into blocks and tasks.
void cutTasks(const Contraction &c, BlockPlan &plan);
/// Decides how many rows are packed at a time, and whether the next block is prefetched.
void orderRows(const Contraction &c, BlockPlan &plan);

} // namespace hlo::codegen

#endif
