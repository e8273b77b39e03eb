//===- BlockPlan.cpp - Sizes and forms of the blocked contraction ---------===//
//
// In: the sizes and strides of a contraction and the target. Out: the register
// tile, cache blocks, tasks, and whether operands are packed. Nothing here looks
// at the number of threads, so results do not depend on it.
//
// Cache blocks: a panel of the rhs (kMost x columns) stays in L1 while all rows of
// the task's block go past it; the block's panels, the rows of the lhs and the sums
// stay in L2.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/BlockPlan.h"

using namespace mlir;

namespace hlo::codegen {

/// Part of L1 that a panel of the rhs may take; the lhs streams through the rest.
static constexpr double kPanelShare = 0.68;
/// A column of the rhs of at most so many bytes is not cut.
static constexpr int64_t kOnePieceBytes = 2304;
/// Bytes of stack for packed rows of the lhs, packed panels of the rhs, and sums between pieces of
/// k.
static constexpr int64_t kLhsBuffer = 192 << 10, kRhsBuffer = 256 << 10, kSumBuffer = 256 << 10;
/// Panels wait for the tiles that come past them in this part of L2; a tile and the result stream
/// through the rest.
static constexpr double kPanelsShare = 0.5;
/// With tiles outside: steps along k of a piece, and most bytes of it in one row. A longer piece
/// means fewer passes over the sums; a panel of it comes from L2 for each tile, which the loads of
/// two vectors per 14 cycles do not feel.
static constexpr int64_t kLongPiece = 1024, kLongPieceBytes = 8192;
/// The same for a lhs that is packed from columns: each block of columns packs it again, from
/// another page at each k, which costs more than sums that come and go: 1024^3 takes 13.1 ms with
/// four pieces of 256 and one block, 14.7 ms with one piece and four blocks.
static constexpr int64_t kShortPiece = 256;
/// Tiles outside need more tiles than this, else packing into L2 first does not pay.
static constexpr int64_t kFewTiles = 6;
/// A rhs from memory behind L2 is packed by the first tile of each panel, while lines of the next
/// block come, up to so many rows: 8 times 96 x 768 x 2048 takes 20.5 ms with panels packed into L2
/// first, 16.1 so; 6 times 160 rows 22.9 and 20.7, 256 rows 34 and 40.
static constexpr int64_t kStreamedRows = 160;
/// Steps of a piece of k then: its panel and its part of the lhs stay in L1 together. The lines
/// that are asked for from memory leave few of L1's fill buffers for what comes from L2: 12 times
/// 64 x 768 x 2048 with a transposed lhs 20.8 ms with 256 steps, 17.5 so.
static constexpr int64_t kStreamedPiece = 128;
/// Bytes of the lhs that are packed at a time from columns, so that whole cache lines are read.
static constexpr int64_t kTileGroup = 192 << 10;
/// Most rows and columns of a block whose sums rest in the result, or in a buffer: they stay in L2.
static constexpr int64_t kRestRows = 256, kRestColumns = 256;
/// A task of fewer multiply-adds than this (about 10 us) is not split further; if splitting
/// repeats packing, one of fewer than kSmallPackedTask.
static constexpr int64_t kSmallTask = 1 << 20, kSmallPackedTask = 8 << 20;
/// Storing an element of the result takes at least as long as so many multiply-adds: with fewer,
/// rows of the result are made whole, by some tasks each (1000 x 1000 with k = 2, two threads: 0.25
/// ms as one task).
static constexpr int64_t kStoreWork = 16;
/// The same where tasks that one thread runs are joined, so that it packs nothing twice: 128 x 256
/// x 256 with a transposed lhs takes two threads 0.108 ms as one task, and 0.058 as two.
static constexpr int64_t kSmallJoinedTask = 2 << 20;
/// A single task of more multiply-adds than this is split in two even if that makes narrow blocks.
static constexpr int64_t kLargeTask = 64 << 20;
/// Tasks are split until there are this many, so that threads share evenly. With tiles outside
/// every cut repeats something where its two sides are run by different threads: after kFewTasks
/// only tasks of at least 2 * kSmallPackedTask are cut.
static constexpr int64_t kEnoughTasks = 16, kFewTasks = 4;
/// Narrower panels than these altogether read the lhs too often: 2048 x 2048 x 64 takes 5 % longer
/// with 64 KiB of them.
static constexpr int64_t kLeastPanels = 128 << 10;
/// Blocks of fewer rows or columns than this repeat too much packing.
static constexpr int64_t kNarrowBlock = 96;

bool canBlock(const Contraction &c) {
  return !c.element.isInteger(1) && c.kSize() > 0 && c.batchSize() * c.mSize() * c.nSize() > 0;
}

/// Columns of the lhs that start at most so many bytes apart are read in place.
static constexpr int64_t kDenseStep = 256;

/// Whether memory holds elements as the inner loop uses them.
static bool isStoredAsUsed(const Contraction &c, const ContractionSide &side) {
  return side.strided->storage() == c.element;
}

/// matrix: groups along k of a piece. 32 rows of them, or 32 columns, are 32 KiB: one stays in L1,
/// the other comes from L2 at half a line per cycle.
static constexpr int64_t kMatrixPiece = 256;
/// matrix: most rows and columns of a block if k is cut: their sums stay in L2.
static constexpr int64_t kMatrixBlock = 512;
/// matrix: so many lines of the lhs in one set of L1 still stay there.
static constexpr int64_t kMatrixLinesPerSet = 8;
/// How many multiply-adds matrix registers do in the time in which vectors of f32 do one.
static constexpr int64_t kMatrixSpeed = 8;

/// Whether tiles of the lhs are read from memory as they are: nothing to fill up along k, and
/// either hardly used again, or whole lines of which L1 can keep those of one tile.
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
  if (!isStoredAsUsed(c, side)) {
    return c.mSize() <= 2 && uses <= 2 ? LhsForm::Direct : packed;
  }
  if (uses <= 2 || c.mSize() == 1) {
    return LhsForm::Direct;
  }
  // Scalars along k come in whole cache lines, so that a copy would save little: 512x512x512 took
  // 1.36 ms so, and 1.43 ms with packed rows.
  bool small = c.mSize() * c.kSize() * plan.partBytes * plan.parts <= (16 << 10);
  // Rows of k next to each other, of which a tile reads a part: no page per step, and hardly more
  // lines than a copy has.
  bool dense = *linearStride(c.k, side.kStrides) * plan.partBytes * plan.parts <= kDenseStep;
  return small || dense || side.unit == UnitStride::K ? LhsForm::Direct : packed;
}

/// Whether n is two dimensions, panels and columns of a panel, such that a panel holds whole tiles.
static bool holdsPanels(const Contraction &c, const BlockPlan &plan) {
  const ContractionSide &side = c.rhs;
  return side.strided && isStoredAsUsed(c, side) && c.n.size() == 2 &&
         c.n[1] % plan.columns() == 0 && side.freeStrides[1] == 1 &&
         linearStride(c.k, side.kStrides) && !linearStride(c.n, side.freeStrides);
}

static RhsForm chooseRhs(const Contraction &c, const BlockPlan &plan) {
  if (holdsPanels(c, plan)) {
    return RhsForm::Panels;
  }
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
  if (!isStoredAsUsed(c, side)) {
    return uses == 1 ? RhsForm::Direct : packed;
  }
  bool contiguous = c.nSize() <= plan.columns();
  bool small = c.kSize() * c.nSize() * plan.partBytes * plan.parts <= (8 << 10);
  // Panels of a large one are read from a page per row. A copy that is read once is worth that from
  // memory only.
  int64_t large = c.kernel.e.machine.memory.l2 / 2;
  if (uses == 1) {
    large = std::max(large, kStreamedBytes);
  }
  bool isLarge = c.kSize() * c.nSize() * plan.partBytes * plan.parts > large;
  return (uses <= 2 && !isLarge) || contiguous || small ? RhsForm::Direct : packed;
}

/// Whether a tile can read the rhs where it is, row by row, and leave the panel behind for others.
static bool canPackInTile(const Contraction &c, const BlockPlan &plan) {
  const ContractionSide &side = c.rhs;
  return plan.rhs == RhsForm::PackN && !plan.stores && plan.group == KGroup::None && side.strided &&
         side.unit == UnitStride::Free && linearStride(c.n, side.freeStrides) &&
         linearStride(c.k, side.kStrides);
}

/// Whether memory behind L2 holds the rhs.
static bool leavesL2(const Contraction &c) {
  return c.batchSize() * c.nSize() * c.kSize() * storageBytes(c.rhs.strided->storage()) >
         c.kernel.e.machine.memory.l2 / 2;
}

/// Whether few rows meet a rhs that comes from memory, as fast as vectors of whole lines use it
/// (with vectors of half a line, all of this costs 10 %).
static bool streamsRhs(const Contraction &c, const BlockPlan &plan) {
  return canPackInTile(c, plan) && linearStride(c.batch, c.rhs.batchStrides) && leavesL2(c) &&
         c.mSize() <= kStreamedRows &&
         c.kernel.e.machine.vectors.bytes >= c.kernel.e.machine.memory.line;
}

/// Whether tiles are the outer loop: worth it where each packed panel of the rhs is used by several
/// tiles, and each packed tile by several panels.
static bool chooseOrder(const Contraction &c, const BlockPlan &plan) {
  return plan.rhs != RhsForm::Direct && c.mSize() > kFewTiles * plan.rows &&
         c.nSize() > plan.columns() && !streamsRhs(c, plan);
}

/// Bytes of L2 in which panels of the rhs wait for the tiles that come past them, if tilesOutside.
static int64_t panelsBytes(const Contraction &c) {
  return static_cast<int64_t>(c.kernel.e.machine.memory.l2 * kPanelsShare);
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
      // Pieces so long that all columns stay in L2.
      int64_t most = panelsBytes(c) / (c.nSize() * bytes);
      steps = std::clamp(most, std::min(steps, kShortPiece), steps);
    }
    target = steps * plan.kStep();
  }
  if (plan.matrix) {
    target = kMatrixPiece * plan.kStep();
  }
  if (!plan.matrix && plan.lhs == LhsForm::Direct &&
      c.kSize() * plan.partBytes * plan.parts <= kOnePieceBytes) {
    // A panel that comes from L2 again costs less than sums that come and go.
    target = std::max(target, c.kSize());
  }
  if (streamsRhs(c, plan)) {
    target = std::min(target, kStreamedPiece);
  }
  if (plan.rhs == RhsForm::Direct && plan.lhs == LhsForm::Direct) {
    // Nothing is packed, and everything is used once or twice: one pass.
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

/// Tiles of equal size along k, so that as little as possible is filled up; whether rows are read
/// in place.
static void cutTiles(const Contraction &c, BlockPlan &plan) {
  int64_t tiles = llvm::divideCeil(plan.mostSteps(), plan.matrix->rows);
  plan.tileGroups = llvm::divideCeil(plan.mostSteps(), tiles);
  int64_t unit = plan.tileGroups * plan.kStep();
  int64_t last = (c.k[plan.kDim] - (plan.kChunks - 1) * plan.kChunk) * plan.kInner;
  plan.padsK = plan.kMost % unit != 0 || last % unit != 0;
  plan.lhs = chooseGroupedLhs(c, plan);
}

static void cutTasks(const Contraction &c, BlockPlan &plan) {
  int64_t m = c.mSize(), n = c.nSize(), batch = c.batchSize();
  int64_t bytes = plan.partBytes * plan.parts;
  int64_t mMost = plan.lhs == LhsForm::Direct ? 4096 : kLhsBuffer / (plan.mostSteps() * bytes);
  int64_t nMost = 4096;
  if (plan.tilesOutside) {
    mMost = 4096;
    nMost = panelsBytes(c) / (plan.rhsRows * bytes);
  } else if (plan.rhs != RhsForm::Direct) {
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
    weight = llvm::divideCeil(weight, kMatrixSpeed);
  }
  bool packsLhs = plan.lhs != LhsForm::Direct;
  while (count() < kEnoughTasks) {
    int64_t work = plan.mTask * plan.nTask * weight;
    bool few = !plan.tilesOutside || count() < kFewTasks;
    // Cuts columns or rows, if that leaves tasks that are worth their start.
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
    // Cutting columns reads the lhs again, cutting rows the rhs; what is packed costs more.
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

/// Whether memory holds a rhs of which few rows make use, so that waiting for it would show, and L2
/// has room for what is packed next beside the panels.
static bool asksForNext(const Contraction &c, const BlockPlan &plan) {
  if (!plan.packsInTile || !linearStride(c.batch, c.rhs.batchStrides)) {
    return false;
  }
  int64_t bytes = storageBytes(c.rhs.strided->storage());
  int64_t block = plan.nTask * plan.kMost * bytes,
          panels = plan.nTask * plan.rhsRows * plan.partBytes * plan.parts;
  return leavesL2(c) && block + panels < c.kernel.e.machine.memory.l2 / 2;
}

/// How many rows are packed at a time, and what is asked for ahead.
static void orderRows(const Contraction &c, BlockPlan &plan) {
  plan.prefetchRows = plan.prefetchPanels = false;
  plan.packedRows = plan.mBlock;
  // Better packed for most tiles, but the first one can do that.
  plan.packsInTile = canPackInTile(c, plan) && !plan.tilesOutside && plan.mTasks == 1;
  plan.prefetchNext = asksForNext(c, plan);
  if (!plan.tilesOutside) {
    return;
  }
  int64_t bytes = plan.partBytes * plan.parts;
  plan.prefetchPanels = plan.packsRhs() && !plan.matrix &&
                        plan.rhsRows * plan.nBlock * bytes > c.kernel.e.machine.memory.l1 / 2;
  if (plan.lhs == LhsForm::PackK && !(plan.matrix && c.lhs.unit == UnitStride::Free)) {
    plan.packedRows = plan.rows;
  } else if (plan.lhs == LhsForm::PackK) {
    int64_t tiles = std::max<int64_t>(1, kTileGroup / (plan.mostSteps() * plan.rows * bytes));
    plan.packedRows = std::min(plan.mBlock, tiles * plan.rows);
  } else if (plan.lhs == LhsForm::PackM) {
    int64_t tiles = std::max<int64_t>(1, kTileGroup / (plan.mostSteps() * plan.lhsWidth * bytes));
    plan.packedRows = std::min(plan.mBlock, tiles * plan.rows);
  }
  bool ahead = c.lhs.strided && c.lhs.unit == UnitStride::K && linearStride(c.k, c.lhs.kStrides) &&
               linearStride(c.m, c.lhs.freeStrides) && plan.kMost >= 4 * plan.fullLanes;
  bool lhsLeavesL2 =
      c.mSize() * c.kSize() * storageBytes(c.lhs.strided ? c.lhs.strided->storage() : c.element) >
      c.kernel.e.machine.memory.l2 / 4;
  plan.prefetchRows = ahead && lhsLeavesL2 && !plan.matrix;
}

/// Most rows of a tile whose lines of the lhs, if it is read in place, L1 keeps.
static int64_t mostRowsOf(const Contraction &c, const BlockPlan &plan) {
  const ContractionSide &side = c.lhs;
  if (!side.strided || side.unit != UnitStride::K ||
      (plan.group == KGroup::None && !isStoredAsUsed(c, side))) {
    return rowsInL1(c.kernel.e.machine, /*rowBytes=*/0);
  }
  int64_t row = linearStride(c.m, side.freeStrides).value_or(0);
  return rowsInL1(c.kernel.e.machine, row * storageBytes(side.strided->storage()));
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
  plan.tileGroups = 1;
  plan.padsK = false;
  plan.group = groupOf(plan.product);
  plan.rhsUnsigned = plan.flipLhs = false;
  if (plan.product && plan.product->signs == Product::Signs::OneUnsigned) {
    plan.rhsUnsigned = isUnsignedElement(c.rhs.narrowInteger);
    plan.flipLhs = isUnsignedElement(c.lhs.narrowInteger) == plan.rhsUnsigned;
  }
  bool grouped = plan.group != KGroup::None;
  // Lanes along the last of several dimensions of m must not leave it.
  bool runs = c.lhs.unit == UnitStride::Free && c.m.size() > 1 && c.m.back() % 4 == 0;
  plan.stores = plan.parts * plan.parts * c.kSize() < kStoreWork;
  // With next to no steps, few rows at a time, which are few streams of stores: 300 x 500 with k =
  // 3 0.022 and 0.018 ms, but 1000 x 1000 with k = 4 in f64 0.31 and 0.35.
  int64_t mostRows = plan.parts * plan.parts * c.kSize() < 4 ? std::min<int64_t>(m, 4) : m;
  TileShape tile =
      chooseTile(machine, mostRows, n, c.kSize() / plan.kStep(), plan.lanes, plan.parts,
                 runs ? c.m.back() : 0, mostRowsOf(c, plan), plan.narrowLast);
  if (plan.matrix) {
    // Two tiles of each side, and four of sums.
    tile = {std::min<int64_t>(2 * plan.matrix->rows, m), n > plan.lanes ? 2 : 1, 0};
  }
  plan.rows = tile.rows;
  plan.vectors = tile.vectors;
  plan.rowTail = m % plan.rows;
  plan.vectorTail = llvm::divideCeil(n % plan.columns(), plan.lanes);
  plan.lhs = plan.matrix ? LhsForm::PackK
             : grouped   ? chooseGroupedLhs(c, plan)
                         : chooseLhs(c, plan);
  plan.rhs = !grouped                      ? chooseRhs(c, plan)
             : c.rhs.unit == UnitStride::K ? RhsForm::PackTranspose
                                           : RhsForm::PackN;
  plan.sumsInResult = plainResult;
  plan.tilesOutside = chooseOrder(c, plan);
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
