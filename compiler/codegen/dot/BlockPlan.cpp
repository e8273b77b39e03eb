//===- BlockPlan.cpp - Sizes and forms of the blocked contraction ---------===//
//
// Chooses the register tile, which operands are packed, the cache blocks and the tasks
// (BlockCuts.cpp), from the sizes and strides of a contraction and the machine. The number of
// threads plays no part, so results do not depend on it.
//
// Cache blocks: a panel of the rhs, [kMost][columns], stays in L1 while all rows of the task's
// block are multiplied with it. The block's panels, the rows of the lhs and the sums stay in L2.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/BlockPlan.h"
#include "compiler/codegen/dot/BlockCuts.h"

using namespace mlir;

namespace hlo::codegen {

/// tilesOutside needs more tiles than this: packing into L2 first costs a store and a load more,
/// some 3 cycles a vector, beside 7 cycles of multiply-adds in each tile of 14 rows.
static constexpr int64_t kFewTiles = 6;
/// A rhs that does not fit L2 is packed by the first tile of each panel, while lines of the next
/// block are prefetched, for up to 160 rows. With more rows arithmetic dominates, and packing all
/// panels first is faster: 160 rows are 80 cycles of multiply-adds for a vector that comes from
/// memory in 6 to 16.
static constexpr int64_t kStreamedRows = 160;
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

bool isNarrow(const Contraction &c, const BlockPlan &plan) {
  return plan.group == KGroup::None && c.nSize() <= kNarrowColumns;
}

bool canBlock(const Contraction &c) {
  return !c.element.isInteger(1) && c.kSize() > 0 && c.batchSize() * c.mSize() * c.nSize() > 0;
}

/// matrix: the most lines of the lhs that may share one set of L1, of the 12 ways of machines that
/// have matrix registers.
static constexpr int64_t kMatrixLinesPerSet = 8;
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

LhsForm chooseGroupedLhs(const Contraction &c, const BlockPlan &plan) {
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

bool panelsPassOnce(const Contraction &c, const BlockPlan &plan) {
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

bool canPackInTile(const Contraction &c, const BlockPlan &plan) {
  const ContractionSide &side = c.rhs;
  return plan.rhs == RhsForm::PackN && !plan.stores && plan.group == KGroup::None && side.strided &&
         side.unit == UnitStride::Free && linearStride(c.n, side.freeStrides) &&
         linearStride(c.k, side.kStrides);
}

bool leavesL2(const Contraction &c) {
  return c.batchSize() * c.nSize() * c.kSize() * storageBytes(c.rhs.strided->storage()) >
         c.kernel.e.machine.memory.l2 / 2;
}

bool streamsRhs(const Contraction &c, const BlockPlan &plan) {
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

/// Whether k of a product with many tiles of rows is cut into runs. Sums of a k of one piece that
/// are the result go straight there; a run's would pass through a buffer first, which costs as much
/// as reading the rows from L2.
static bool choosesRuns(const Contraction &c, const BlockPlan &plan, bool plainResult) {
  return !plainResult || c.kSize() > kMatrixPiece * plan.kStep();
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
