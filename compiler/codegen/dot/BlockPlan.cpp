//===- BlockPlan.cpp - Sizes and forms of the blocked contraction ---------===//
//
// Chooses the register tile, the cache blocks, the tasks, and which operands are packed, from the
// sizes and strides of a contraction and the machine. The number of threads plays no part, so
// results do not depend on it.
//
// Cache blocks: a panel of the rhs, [kMost][columns], stays in L1 while all rows of the task's
// block are multiplied with it. The block's panels, the rows of the lhs and the sums stay in L2.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/BlockPlan.h"

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
/// tilesOutside needs more tiles than this: packing into L2 first costs a store and a load more,
/// some 3 cycles a vector, beside 7 cycles of multiply-adds in each tile of 14 rows.
static constexpr int64_t kFewTiles = 6;
/// A rhs that does not fit L2 is packed by the first tile of each panel, while lines of the next
/// block are prefetched, for up to 160 rows. With more rows arithmetic dominates, and packing all
/// panels first is faster: 160 rows are 80 cycles of multiply-adds for a vector that comes from
/// memory in 6 to 16.
static constexpr int64_t kStreamedRows = 160;
/// The steps of a piece of k in that case: a panel and its part of the lhs must stay in L1
/// together. Prefetches from memory hold most of L1's fill buffers and leave few for lines from L2.
static constexpr int64_t kStreamedPiece = 128;
/// Bytes of the lhs that are packed at a time from columns: enough rows to read whole cache lines.
static constexpr int64_t kTileGroup = 192 << 10;
/// The largest block whose sums are kept between pieces of k: 256 x 256 f32 are 256 KiB of L2.
static constexpr int64_t kRestRows = 256, kRestColumns = 256;
/// A task of fewer multiply-adds (about 10 us) is not split further; if splitting repeats packing,
/// one of fewer than kSmallPackedTask.
static constexpr int64_t kSmallTask = 1 << 20, kSmallPackedTask = 8 << 20;
/// A store of an element costs at least 16 multiply-adds. With fewer steps of k the stores
/// dominate: tasks are then whole rows of the result, which are stored in the order of memory.
static constexpr int64_t kStoreWork = 16;
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

/// A panel of at most 16 columns (one vector of 64 bytes of f32, two of 32) is not cut along k if
/// the rows are read in place: its loads from L2, one or two vectors a step, hide behind the tile's
/// multiply-adds, and the rows' lines are read in order.
static constexpr int64_t kNarrowColumns = 16;
/// The rows of a tile for such a panel if all of them fall into one set of L1, of 8 to 12 ways: a
/// line has left L1 before all of its elements are used if there are many more.
static constexpr int64_t kRowsOfOneSet = 10;

/// Registers for products of integers, which another instruction adds: the one that is added while
/// the next is made.
static constexpr int64_t kProducts = 2;

static bool isNarrow(const Contraction &c, const BlockPlan &plan) {
  return plan.group == KGroup::None && c.nSize() <= kNarrowColumns;
}

bool canBlock(const Contraction &c) {
  return !c.element.isInteger(1) && c.kSize() > 0 && c.batchSize() * c.mSize() * c.nSize() > 0;
}

/// matrix: groups along k of a piece. 32 rows of them, or 32 columns, are 32 KiB: one stays in L1,
/// the other comes from L2 at half a line per cycle.
static constexpr int64_t kMatrixPiece = 256;
/// cutsRuns: groups along k of a piece, whose panels are packed together: 256 columns of them are 1
/// MiB of L2.
static constexpr int64_t kRunsPiece = 1024;
/// cutsRuns: the share of L1 for the operands of a run, the rows and the columns of a tile. The
/// rows stay there while the columns of all panels pass.
static constexpr double kRunShare = 0.67;
/// matrix: most rows and columns of a block if k is cut: their sums stay in L2.
static constexpr int64_t kMatrixBlock = 512;
/// matrix: the most lines of the lhs that may share one set of L1, of the 12 ways of machines that
/// have matrix registers.
static constexpr int64_t kMatrixLinesPerSet = 8;
/// The multiply-adds of matrix registers per multiply-add of f32 in vectors, for the sizes of
/// tasks.
static int64_t matrixSpeed(const Machine &machine, const BlockPlan &plan) {
  int64_t rows = plan.matrix->rows;
  return std::max<int64_t>(1, rows * rows / (plan.product->cost * machine.issue.fma));
}

/// Whether tiles of the lhs are read in place: no padding along k is needed, and each tile is
/// either used rarely or consists of whole lines that L1 can keep.
static bool tilesReadInPlace(const Contraction &c, const BlockPlan &plan) {
  if (plan.padsK) {
    return false;
  }
  if (c.nSize() <= 2 * plan.columns()) {
    return true;
  }
  int64_t rowBytes = *linearStride(c.m, c.lhs.freeStrides) * storageBytes(c.lhs.strided->storage());
  const Memory &memory = c.kernel.e.machine.memory;
  if (rowBytes % memory.line != 0) {
    return false;
  }
  SmallVector<int64_t> lines(memory.l1Way / memory.line, 0);
  for (int64_t row = 0; row < plan.rows; ++row) {
    for (int64_t line = 0; line * memory.line < plan.mostSteps() * plan.partBytes; ++line) {
      ++lines[(row * (rowBytes / memory.line) + line) % lines.size()];
    }
  }
  return *llvm::max_element(lines) <= kMatrixLinesPerSet;
}

static LhsForm chooseGroupedLhs(const Contraction &c, const BlockPlan &plan) {
  const ContractionSide &side = c.lhs;
  bool inPlace = side.unit == UnitStride::K && side.strided && !plan.flipLhs &&
                 storageBytes(side.strided->storage()) * plan.kStep() == 4 &&
                 c.k.back() % plan.kStep() == 0;
  if (inPlace && linearStride(c.m, side.freeStrides) && linearStride(c.k, side.kStrides) &&
      (!plan.matrix || tilesReadInPlace(c, plan))) {
    return LhsForm::Direct;
  }
  return side.unit == UnitStride::Free && !plan.matrix ? LhsForm::PackM : LhsForm::PackK;
}

static LhsForm chooseLhs(const Contraction &c, const BlockPlan &plan) {
  const ContractionSide &side = c.lhs;
  LhsForm packed = side.unit == UnitStride::Free ? LhsForm::PackM : LhsForm::PackK;
  if (!side.strided || !linearStride(c.k, side.kStrides)) {
    return packed;
  }
  std::optional<int64_t> rowStride = linearStride(c.m, side.freeStrides);
  if (!rowStride) {
    return packed;
  }
  int64_t uses = llvm::divideCeil(c.nSize(), plan.columns());
  if (!isStoredAsSummed(c, side)) {
    return c.mSize() <= 2 && uses <= 2 ? LhsForm::Direct : packed;
  }
  if (uses <= 2 || c.mSize() == 1) {
    return LhsForm::Direct;
  }
  // Scalars along k use whole cache lines, so that a copy would save little.
  const Memory &memory = c.kernel.e.machine.memory;
  bool small = c.mSize() * c.kSize() * plan.partBytes * plan.parts <= memory.l1 / 2;
  return small || side.unit == UnitStride::K ? LhsForm::Direct : packed;
}

bool readsPanels(const Contraction &c, const BlockPlan &plan) {
  if (!c.rhs.panels || plan.parts != 1 || plan.flipLhs) {
    return false;
  }
  const StoredPanels &panels = *c.rhs.panels;
  bool isStored = plan.group == KGroup::None
                      ? panels.storage == c.element
                      : storageBytes(panels.storage) * plan.kStep() == plan.partBytes;
  return isStored && panels.group == plan.kStep() && panels.width % plan.lanes == 0;
}

/// Whether the rows of the lhs stay in L2 while all stored panels pass by once.
static bool panelsPassOnce(const Contraction &c, const BlockPlan &plan) {
  int64_t rows = c.mSize() * c.kSize() / plan.kStep() * plan.partBytes;
  return plan.rhs == RhsForm::Panels && rows <= c.kernel.e.machine.memory.l2 / 2;
}

static RhsForm chooseRhs(const Contraction &c, const BlockPlan &plan) {
  const ContractionSide &side = c.rhs;
  RhsForm packed =
      side.unit == UnitStride::K && !c.k.empty() ? RhsForm::PackTranspose : RhsForm::PackN;
  if (!side.strided) {
    return packed;
  }
  std::optional<int64_t> column = linearStride(c.n, side.freeStrides);
  std::optional<int64_t> row = linearStride(c.k, side.kStrides);
  if (!column || !row || (*column != 1 && c.nSize() != 1)) {
    return packed;
  }
  int64_t uses = llvm::divideCeil(c.mSize(), plan.rows);
  if (!isStoredAsSummed(c, side)) {
    return uses == 1 ? RhsForm::Direct : packed;
  }
  // Of a narrow rhs whose rows are no whole vectors most loads are masked, and many cross a line.
  bool isRagged = isNarrow(c, plan) && c.nSize() % plan.lanes != 0 && uses > kFewTiles;
  bool contiguous = c.nSize() <= plan.columns() && !isRagged;
  bool small =
      c.kSize() * c.nSize() * plan.partBytes * plan.parts <= c.kernel.e.machine.memory.l1 / 4;
  // A large rhs is read from a page per row. For a single use, a copy pays only if the rhs comes
  // from memory.
  int64_t large = c.kernel.e.machine.memory.l2 / 2;
  if (uses == 1) {
    large = std::max(large, kStreamedBytes);
  }
  bool isLarge = c.kSize() * c.nSize() * plan.partBytes * plan.parts > large;
  return (uses <= 2 && !isLarge) || contiguous || small ? RhsForm::Direct : packed;
}

/// Whether the first tile of a panel can read the rhs in place and leave the packed panel for the
/// others.
static bool canPackInTile(const Contraction &c, const BlockPlan &plan) {
  const ContractionSide &side = c.rhs;
  return plan.rhs == RhsForm::PackN && !plan.stores && plan.group == KGroup::None && side.strided &&
         side.unit == UnitStride::Free && linearStride(c.n, side.freeStrides) &&
         linearStride(c.k, side.kStrides);
}

/// Whether the rhs does not fit L2.
static bool leavesL2(const Contraction &c) {
  return c.batchSize() * c.nSize() * c.kSize() * storageBytes(c.rhs.strided->storage()) >
         c.kernel.e.machine.memory.l2 / 2;
}

/// Whether the rhs streams from memory while few rows use it. Only for vectors of whole cache
/// lines; with half lines it costs 10 %.
static bool streamsRhs(const Contraction &c, const BlockPlan &plan) {
  return canPackInTile(c, plan) && linearStride(c.batch, c.rhs.batchStrides) && leavesL2(c) &&
         c.mSize() <= kStreamedRows &&
         c.kernel.e.machine.vectors.bytes >= c.kernel.e.machine.memory.line;
}

/// Whether tiles are the outer loop: if several tiles use each packed panel, and several panels
/// each packed tile.
static bool chooseOrder(const Contraction &c, const BlockPlan &plan) {
  return plan.rhs != RhsForm::Direct && c.mSize() > kFewTiles * plan.rows &&
         c.nSize() > plan.columns() && !streamsRhs(c, plan) && !panelsPassOnce(c, plan);
}

/// Bytes of L2 for packed panels, with tilesOutside.
static int64_t panelsBytes(const Contraction &c) {
  return static_cast<int64_t>(c.kernel.e.machine.memory.l2 * kPanelsShare);
}

/// Whether k of a product with many tiles of rows is cut into runs. Sums of a k of one piece that
/// are the result go straight there; a run's would pass through a buffer first, which costs as much
/// as reading the rows from L2.
static bool choosesRuns(const Contraction &c, const BlockPlan &plan, bool plainResult) {
  return !plainResult || c.kSize() > kMatrixPiece * plan.kStep();
}

static void cutK(const Contraction &c, BlockPlan &plan) {
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

/// Cuts k into tiles of equal size, so that little is padded, and decides whether rows are read in
/// place.
static void cutTiles(const Contraction &c, BlockPlan &plan) {
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

static void cutTasks(const Contraction &c, BlockPlan &plan) {
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

/// Decides how many rows are packed at a time, and whether the next block is prefetched.
static void orderRows(const Contraction &c, BlockPlan &plan) {
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

/// The largest number of rows whose lines of the lhs, if it is read in place, L1 keeps.
static int64_t mostRowsOf(const Contraction &c, const BlockPlan &plan) {
  const ContractionSide &side = c.lhs;
  const Machine &machine = c.kernel.e.machine;
  if (!side.strided || side.unit != UnitStride::K ||
      (plan.group == KGroup::None && !isStoredAsSummed(c, side))) {
    return rowsInL1(machine, /*rowBytes=*/0);
  }
  int64_t row =
      linearStride(c.m, side.freeStrides).value_or(0) * storageBytes(side.strided->storage());
  int64_t most = rowsInL1(machine, row);
  // With a single panel no other one finds the rows' lines in L2.
  return isNarrow(c, plan) && row % machine.memory.l1Way == 0 ? std::min(most, kRowsOfOneSet)
                                                              : most;
}

static RowOperands chooseRowOperands(const Contraction &c, const BlockPlan &plan) {
  const Vectors &vectors = c.kernel.e.machine.vectors;
  if (plan.matrix || c.mSize() == 1) {
    return RowOperands::Broadcast;
  }
  if (plan.product && plan.product->multiplyPairs && plan.lanes == 4) {
    return RowOperands::Pairs;
  }
  // Rows of a lhs that is packed from columns are neighbours, not its steps along k.
  bool alongK = c.lhs.unit == UnitStride::K || c.lhs.unit == UnitStride::None;
  return vectors.laneOperands && alongK ? RowOperands::Lanes : RowOperands::Broadcast;
}

BlockPlan planBlocks(const Contraction &c, bool plainResult) {
  BlockPlan plan;
  const Machine &machine = c.kernel.e.machine;
  int64_t m = c.mSize(), n = c.nSize();
  plan.parts = isa<ComplexType>(c.element) ? 2 : 1;
  plan.partBytes = computeType(c.element).getIntOrFloatBitWidth() / 8;
  plan.lanes = lanesFor(c, n);
  plan.fullLanes = lanesFor(c, std::numeric_limits<int32_t>::max());
  plan.narrowLast = hasNarrowLast(machine, n, plan.lanes);
  plan.product = c.blockedBy == BlockedBy::Matrix   ? matrixProduct(c)
                 : c.blockedBy == BlockedBy::Groups ? chooseProduct(c, plan.lanes)
                                                    : nullptr;
  plan.matrix = plan.product ? plan.product->tiles : nullptr;
  plan.tileGroups = plan.runSteps = 1;
  plan.padsK = plan.cutsRuns = false;
  plan.group = groupOf(plan.product);
  plan.rhsUnsigned = plan.flipLhs = false;
  if (plan.product && plan.product->signs == Product::Signs::OneUnsigned) {
    plan.rhsUnsigned = isUnsignedElement(c.rhs.narrowInteger);
    plan.flipLhs = isUnsignedElement(c.lhs.narrowInteger) == plan.rhsUnsigned;
  }
  bool grouped = plan.group != KGroup::None;
  plan.rowOperands = chooseRowOperands(c, plan);
  // If m has several dimensions, lanes along the last one must not cross its end.
  bool runs = c.lhs.unit == UnitStride::Free && c.m.size() > 1 && c.m.back() % 4 == 0;
  plan.stores = plan.parts * plan.parts * c.kSize() < kStoreWork;
  // With less than 4 steps, tiles of few rows write few streams of stores.
  int64_t mostRows = plan.parts * plan.parts * c.kSize() < 4 ? std::min<int64_t>(m, 4) : m;
  TileShape tile =
      chooseTile(machine, mostRows, n, c.kSize() / plan.kStep(), plan.lanes, plan.parts,
                 runs ? c.m.back() : 0, mostRowsOf(c, plan), plan.narrowLast,
                 !plan.product && isa<IntegerType>(c.element) ? kProducts : 0, plan.rowOperands);
  if (plan.matrix) {
    // Two matrix registers per side, and four for sums.
    tile = {std::min<int64_t>(2 * plan.matrix->rows, m), n > plan.lanes ? 2 : 1, 0};
  }
  plan.rows = tile.rows;
  plan.vectors = tile.vectors;
  bool stored = readsPanels(c, plan);
  while (stored && c.rhs.panels->width / plan.lanes % plan.vectors != 0) {
    --plan.vectors;
  }
  plan.rowTail = m % plan.rows;
  plan.vectorTail = llvm::divideCeil(n % plan.columns(), plan.lanes);
  plan.lhs = plan.matrix ? LhsForm::PackK
             : grouped   ? chooseGroupedLhs(c, plan)
                         : chooseLhs(c, plan);
  plan.rhs = stored                        ? RhsForm::Panels
             : !grouped                    ? chooseRhs(c, plan)
             : c.rhs.unit == UnitStride::K ? RhsForm::PackTranspose
                                           : RhsForm::PackN;
  plan.tilesOutside = chooseOrder(c, plan);
  plan.cutsRuns =
      plan.matrix && plan.packsRhs() && plan.tilesOutside && choosesRuns(c, plan, plainResult);
  plan.sumsInResult = plainResult && !plan.cutsRuns;
  cutK(c, plan);
  if (plan.matrix) {
    cutTiles(c, plan);
  }
  plan.rhsRows =
      (plan.matrix ? llvm::alignTo(plan.mostSteps(), plan.tileGroups) : plan.mostSteps()) +
      (plan.rhs == RhsForm::PackTranspose ? plan.lanes : 0) + plan.flipLhs;
  cutTasks(c, plan);
  plan.lhsRow = llvm::alignTo(plan.mostSteps(), plan.fullLanes) + plan.fullLanes;
  plan.lhsWidth = llvm::PowerOf2Ceil(plan.rows);
  orderRows(c, plan);
  return plan;
}

} // namespace hlo::codegen
