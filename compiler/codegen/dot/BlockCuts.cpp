//===- BlockCuts.cpp - Pieces of k, blocks and tasks ----------------------===//
//
// Cuts a blocked contraction whose operands' forms are chosen: k into pieces whose panels stay in
// L1 or L2, the result into blocks whose buffers fit L2, and blocks into tasks that threads share
// evenly. Decides how many rows are packed at a time, and what is prefetched.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/BlockCuts.h"

using namespace mlir;

namespace hlo::codegen {

/// The share of L1 for a panel of the rhs: five and a half ways of eight. The rows of the lhs
/// stream through the others.
static constexpr double kPanelShare = 0.68;
/// Buffers in bytes: packed rows of the lhs, packed panels of the rhs, and sums between pieces of
/// k; together at most 0.7 MiB, which fits L2 of 1 MiB.
static constexpr int64_t kLhsBuffer = 192 << 10, kRhsBuffer = 256 << 10, kSumBuffer = 256 << 10;
/// The share of L2 for packed panels, which are read again for each tile of rows; a tile and the
/// result stream through the rest.
static constexpr double kPanelsShare = 0.5;
/// With tilesOutside: the steps of a piece of k, and its bytes per row at most. Longer pieces mean
/// fewer passes over the sums. Their panels come from L2 for each tile, at two vectors per 14
/// cycles, which L2 sustains.
static constexpr int64_t kLongPiece = 1024, kLongPieceBytes = 8192;
/// The same for a lhs that is packed from columns. Each block of columns packs it again, reading
/// from another page at each k, which costs more than additional passes over the sums.
static constexpr int64_t kShortPiece = 256;
/// The steps of a piece of k if the first tile of each panel packs a rhs that streams: a panel and
/// its part of the lhs must stay in L1 together. Prefetches from memory hold most of L1's fill
/// buffers and leave few for lines from L2.
static constexpr int64_t kStreamedPiece = 128;
/// Bytes of the lhs that are packed at a time from columns: enough rows to read whole cache lines.
static constexpr int64_t kTileGroup = 192 << 10;
/// The largest block whose sums are kept between pieces of k: 256 x 256 f32 are 256 KiB of L2.
static constexpr int64_t kRestRows = 256, kRestColumns = 256;
/// A task of fewer multiply-adds (about 10 us) is not split further; if splitting repeats packing,
/// one of fewer than kSmallPackedTask.
static constexpr int64_t kSmallTask = 1 << 20, kSmallPackedTask = 8 << 20;
/// kSmallTask for tasks that are joined if one thread runs them, so that nothing is packed twice.
static constexpr int64_t kSmallJoinedTask = 2 << 20;
/// A single task of more multiply-adds (some 0.5 ms) is split in two even if that makes narrow
/// blocks.
static constexpr int64_t kLargeTask = 64 << 20;
/// Tasks are split until there are this many, so that threads share them evenly. With tilesOutside
/// a cut repeats packing if different threads run its two sides; after kFewTasks only tasks of at
/// least 2 * kSmallPackedTask are cut.
static constexpr int64_t kEnoughTasks = 16, kFewTasks = 4;
/// The least bytes of a block's panels: with less, the lhs is read too often.
static constexpr int64_t kLeastPanels = 128 << 10;
/// Blocks of fewer rows or columns repeat too much packing: a load and a store, 1 to 2 cycles a
/// vector, beside less than 48 cycles of multiply-adds.
static constexpr int64_t kNarrowBlock = 96;

/// cutsRuns: groups along k of a piece, whose panels are packed together: 256 columns of them are 1
/// MiB of L2.
static constexpr int64_t kRunsPiece = 1024;
/// cutsRuns: the share of L1 for the operands of a run, the rows and the columns of a tile. The
/// rows stay there while the columns of all panels pass.
static constexpr double kRunShare = 0.67;
/// matrix: most rows and columns of a block if k is cut: their sums stay in L2.
static constexpr int64_t kMatrixBlock = 512;
/// The multiply-adds of matrix registers per multiply-add of f32 in vectors, for the sizes of
/// tasks.
static int64_t matrixSpeed(const Machine &machine, const BlockPlan &plan) {
  int64_t rows = plan.matrix->rows;
  return std::max<int64_t>(1, rows * rows / (plan.product->cost * machine.issue.fma));
}

/// Bytes of L2 for packed panels, with tilesOutside.
static int64_t panelsBytes(const Contraction &c) {
  return static_cast<int64_t>(c.kernel.e.machine.memory.l2 * kPanelsShare);
}

void cutK(const Contraction &c, BlockPlan &plan) {
  double panel = c.kernel.e.machine.memory.l1 * kPanelShare;
  int64_t target =
      std::clamp<int64_t>(panel * plan.kStep() / (plan.columns() * plan.partBytes * plan.parts), 64,
                          512 * plan.kStep());
  if (plan.tilesOutside) {
    int64_t bytes = plan.partBytes * plan.parts,
            steps = std::min(kLongPiece, kLongPieceBytes / bytes);
    if (plan.lhs == LhsForm::PackM && plan.sumsInResult) {
      // Pieces short enough that the panels of all columns fit L2.
      int64_t most = panelsBytes(c) / (c.nSize() * bytes);
      steps = std::clamp(most, std::min(steps, kShortPiece), steps);
    }
    target = steps * plan.kStep();
  }
  if (plan.matrix) {
    target = (plan.cutsRuns ? kRunsPiece : kMatrixPiece) * plan.kStep();
  }
  if (streamsRhs(c, plan)) {
    target = std::min(target, kStreamedPiece);
  }
  if (panelsPassOnce(c, plan)) {
    // All tiles of rows read a panel from L2.
    target = c.kernel.e.machine.memory.l2 / 4 / (plan.columns() * plan.partBytes) * plan.kStep();
  }
  if (plan.lhs == LhsForm::Direct && isNarrow(c, plan)) {
    target = std::max(target, c.kSize());
  }
  if (plan.rhs == RhsForm::Direct && plan.lhs == LhsForm::Direct) {
    // Nothing is packed, and every element is used once or twice: one pass.
    target = std::max<int64_t>(target, std::min<int64_t>(c.kSize(), 1 << 20));
  }
  plan.kDim = static_cast<int64_t>(c.k.size()) - 1;
  plan.kInner = 1;
  while (plan.kDim > 0 && plan.kInner * c.k[plan.kDim] <= target * 5 / 4) {
    plan.kInner *= c.k[plan.kDim--];
  }
  if (plan.kDim < 0) {
    plan.kChunk = plan.kChunks = plan.kBlocks = plan.kMost = 1;
    return;
  }
  int64_t size = c.k[plan.kDim];
  plan.kChunks = 1;
  if (plan.kInner * size > target * 5 / 4) {
    plan.kChunks = llvm::divideCeil(size, std::max<int64_t>(1, target / plan.kInner));
  }
  plan.kChunk = llvm::divideCeil(size, plan.kChunks);
  if (plan.kChunks > 1 && plan.kInner == 1) {
    // Vectors along k never cross the end of a piece.
    plan.kChunk =
        llvm::alignTo(plan.kChunk, plan.matrix ? plan.matrix->rows * plan.kStep() : plan.fullLanes);
  }
  plan.kChunks = llvm::divideCeil(size, plan.kChunk);
  plan.kBlocks = plan.kChunks;
  for (int64_t d = 0; d < plan.kDim; ++d) {
    plan.kBlocks *= c.k[d];
  }
  plan.kMost = plan.kChunk * plan.kInner;
}

void cutTiles(const Contraction &c, BlockPlan &plan) {
  int64_t tiles = llvm::divideCeil(plan.mostSteps(), plan.matrix->rows);
  plan.tileGroups = llvm::divideCeil(plan.mostSteps(), tiles);
  int64_t unit = plan.tileGroups * plan.kStep();
  int64_t last = (c.k[plan.kDim] - (plan.kChunks - 1) * plan.kChunk) * plan.kInner;
  plan.padsK = plan.kMost % unit != 0 || last % unit != 0;
  // Runs of equal length. A quarter more is not worth another pass over the sums.
  int64_t step = 2 * plan.matrix->rows * plan.matrix->rowBytes * 2, all = plan.mostRegisters();
  int64_t most = std::max<int64_t>(1, c.kernel.e.machine.memory.l1 * kRunShare / step);
  plan.runSteps = 4 * all <= 5 * most ? all : llvm::divideCeil(all, llvm::divideCeil(all, most));
  plan.lhs = chooseGroupedLhs(c, plan);
}

void cutTasks(const Contraction &c, BlockPlan &plan) {
  int64_t m = c.mSize(), n = c.nSize(), batch = c.batchSize();
  int64_t bytes = plan.partBytes * plan.parts;
  int64_t mMost = plan.lhs == LhsForm::Direct ? 4096 : kLhsBuffer / (plan.mostSteps() * bytes);
  int64_t nMost = 4096;
  if (plan.tilesOutside) {
    mMost = 4096;
    nMost = panelsBytes(c) / ((plan.cutsRuns ? plan.mostSteps() : plan.rhsRows) * bytes);
  } else if (plan.packsRhs()) {
    nMost = kRhsBuffer / (plan.rhsRows * bytes);
  }
  if (plan.kBlocks > 1 && plan.matrix) {
    mMost = std::min(mMost, kMatrixBlock);
    nMost = std::min(nMost, kMatrixBlock);
  } else if (plan.kBlocks > 1 && plan.sumsInResult && !plan.tilesOutside) {
    mMost = std::min(mMost, kRestRows);
    nMost = std::min(nMost, kRestColumns);
  } else if (plan.kBlocks > 1 && !plan.sumsInResult) {
    nMost = std::min(nMost, kRestColumns);
    mMost = std::min(mMost, kSumBuffer / (std::min(nMost, n) * bytes));
  }
  auto block = [](int64_t size, int64_t most, int64_t unit) {
    most = std::max(unit, most / unit * unit);
    int64_t blocks = llvm::divideCeil(size, most);
    return static_cast<int64_t>(llvm::alignTo(llvm::divideCeil(size, blocks), unit));
  };
  plan.mBlock = plan.mTask = block(m, mMost, plan.rows);
  plan.nBlock = plan.nTask = block(n, nMost, plan.columns());
  plan.batchBlock = 1;
  auto count = [&] {
    plan.mTasks = llvm::divideCeil(m, plan.mTask);
    plan.nTasks = llvm::divideCeil(n, plan.nTask);
    plan.batchBlocks = llvm::divideCeil(batch, plan.batchBlock);
    return plan.mTasks * plan.nTasks * plan.batchBlocks;
  };
  int64_t weight = std::max(plan.parts * plan.parts * c.kSize(), kStoreWork);
  if (plan.matrix) {
    weight = llvm::divideCeil(weight, matrixSpeed(c.kernel.e.machine, plan));
  }
  bool packsLhs = plan.lhs != LhsForm::Direct;
  while (count() < kEnoughTasks) {
    int64_t work = plan.mTask * plan.nTask * weight;
    bool few = !plan.tilesOutside || count() < kFewTasks;
    // Cuts columns or rows if the resulting tasks are large enough.
    auto cut = [&](bool columns) {
      int64_t &size = columns ? plan.nTask : plan.mTask;
      int64_t unit = columns ? plan.columns() : plan.rows;
      bool repeats = !plan.stores && (!few || (columns ? packsLhs : plan.packsRhs()));
      bool narrow = repeats && size < 2 * kNarrowBlock && (work < kLargeTask || count() >= 2);
      int64_t least = !repeats                   ? kSmallTask
                      : few && plan.tilesOutside ? kSmallJoinedTask
                                                 : kSmallPackedTask;
      bool thin = !few && columns && size * plan.mostSteps() * bytes < 2 * kLeastPanels;
      if (size <= unit || narrow || thin || work < 2 * least) {
        return false;
      }
      size = llvm::alignTo(llvm::divideCeil(size, 2), unit);
      return true;
    };
    // Cutting columns reads the lhs again, cutting rows the rhs. A side that is packed is loaded,
    // transformed, stored and loaded again, and counts four times; an estimate.
    double again = static_cast<double>(m) * plan.nTasks * (packsLhs ? 1 : 0.25);
    double repack = static_cast<double>(n) * plan.mTasks * (plan.packsRhs() ? 1 : 0.25);
    bool splitN =
        !plan.stores && plan.nTask > plan.columns() && (plan.mTask <= plan.rows || again <= repack);
    if (!cut(splitN) && (few || !cut(!splitN))) {
      break;
    }
  }
  if (plan.tilesOutside) {
    plan.mBlock = llvm::alignTo(plan.mBlock, plan.mTask);
    plan.nBlock = std::max<int64_t>(1, nMost / plan.nTask) * plan.nTask;
    plan.nBlock = std::min(plan.nBlock, plan.nTasks * plan.nTask);
  } else {
    plan.mBlock = plan.mTask;
    plan.nBlock = plan.nTask;
  }
  if (plan.mTask >= m && plan.nTask >= n) {
    int64_t one = std::max<int64_t>(1, m * n * weight);
    plan.batchBlock = std::clamp<int64_t>(kSmallTask / one, 1, batch);
  }
  count();
}

/// Whether to prefetch the next block: the rhs is in memory and used by few rows, so that waiting
/// for it would show, and L2 has room for both blocks.
static bool asksForNext(const Contraction &c, const BlockPlan &plan) {
  if (plan.rhs == RhsForm::Panels) {
    const StoredPanels &panels = *c.rhs.panels;
    int64_t panel = panels.steps * panels.width * plan.partBytes;
    int64_t l2 = c.kernel.e.machine.memory.l2;
    return panelsPassOnce(c, plan) && plan.rowOperands == RowOperands::Broadcast &&
           panels.panels * panel > l2 / 2 && 2 * panel <= l2 / 2;
  }
  if (!plan.packsInTile || !linearStride(c.batch, c.rhs.batchStrides)) {
    return false;
  }
  int64_t bytes = storageBytes(c.rhs.strided->storage());
  int64_t block = plan.nTask * plan.kMost * bytes,
          panels = plan.nTask * plan.rhsRows * plan.partBytes * plan.parts;
  return leavesL2(c) && block + panels < c.kernel.e.machine.memory.l2 / 2;
}

void orderRows(const Contraction &c, BlockPlan &plan) {
  plan.packedRows = plan.mBlock;
  // Packed for most tiles; the first one packs.
  plan.packsInTile = canPackInTile(c, plan) && !plan.tilesOutside && plan.mTasks == 1;
  plan.prefetchNext = asksForNext(c, plan);
  if (!plan.tilesOutside) {
    return;
  }
  int64_t bytes = plan.partBytes * plan.parts;
  if (plan.lhs == LhsForm::PackK && !(plan.matrix && c.lhs.unit == UnitStride::Free)) {
    plan.packedRows = plan.rows;
  } else if (plan.lhs == LhsForm::PackK) {
    int64_t tiles = std::max<int64_t>(1, kTileGroup / (plan.mostSteps() * plan.rows * bytes));
    plan.packedRows = std::min(plan.mBlock, tiles * plan.rows);
  } else if (plan.lhs == LhsForm::PackM) {
    int64_t tiles = std::max<int64_t>(1, kTileGroup / (plan.mostSteps() * plan.lhsWidth * bytes));
    plan.packedRows = std::min(plan.mBlock, tiles * plan.rows);
  }
}

} // namespace hlo::codegen
