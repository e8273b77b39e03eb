//===- Prefetch.cpp - Prefetches of the register tile ---------------------===//
//
// Functions that a tile calls at each step of k to prefetch a line or two: the panel some steps
// ahead (from L2 to L1), the next tile's rows, and the part of the rhs that the next block packs
// (from memory to L2). Addresses past the end are harmless: a prefetch never faults.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/BlockedEmitter.h"

using namespace mlir;

namespace hlo::codegen {

/// Rows of the next tile that are prefetched in turn, one line per step: at least the rows of most
/// tiles; a power of two.
static constexpr int64_t kAskedRows = 16;
/// Lines of a panel are prefetched from L2 to L1 so many steps ahead: 8 steps of 12 or more cycles
/// exceed L2's latency.
static constexpr int64_t kPanelAhead = 8;
/// The same for rows of a rhs that is read in place and packed by the tile. Of 16 rows that are 4
/// KiB apart, L1 would lose some before their use.
static constexpr int64_t kRowsAhead = 8;
/// Steps of k per iteration of the loop if the next block is prefetched: most steps share a line
/// with another, and computing its address takes as many instructions as half a step.
static constexpr int64_t kStepsAtOnce = 4;

Value strideBytes(Emission &e, const ContractionSide &side, Value index, int64_t stride) {
  return mulI(e, index, stride * storageBytes(side.strided->storage()));
}

Value batchAddress(Emission &e, const ContractionSide &side, ArrayRef<Index> batch) {
  Value address = side.strided->pointer();
  for (auto [index, stride] : llvm::zip(batch, side.batchStrides)) {
    address = addBytes(e, address, strideBytes(e, side, index.base, stride));
  }
  return address;
}

std::function<void(Value)> BlockedEmitter::rowPrefetcher(const Block &block, const KBlock &k,
                                                         const Panel &panel, Value m) {
  if (!plan.prefetchRows) {
    return {};
  }
  // One line per step, of kAskedRows rows in turn, so that all are prefetched once during a task's
  // panels. Rows past the last one are prefetched too.
  int64_t bytes = storageBytes(c.lhs.strided->storage());
  int64_t rowBytes = *linearStride(c.m, c.lhs.freeStrides) * bytes;
  int64_t panels = llvm::divideCeil(plan.nTask, plan.columns());
  int64_t perLine = std::max<int64_t>(kAskedRows, panels * kLineBytes / (bytes * plan.kStep()));
  int64_t shift = llvm::Log2_64(perLine);
  Value number = minI(e, divI(e, subI(e, panel.n, block.n0), plan.columns()), panels - 1);
  Value first =
      mulI(e, number, llvm::divideCeil(plan.mostSteps(), int64_t(1) << shift) * kLineBytes);
  Value base =
      addBytes(e, batchAddress(e, c.lhs, block.batch), mulI(e, addI(e, m, plan.rows), rowBytes));
  base = addBytes(e, addBytes(e, base, strideBytes(e, c.lhs, k.first, 1)), first);
  return [this, base, shift, rowBytes](Value i) {
    Value row = arith::AndIOp::create(e.b, e.loc, i, constI64(e, kAskedRows - 1));
    Value line = arith::ShRUIOp::create(e.b, e.loc, i, constI64(e, shift));
    Value at = addI(e, mulI(e, row, rowBytes), mulI(e, line, kLineBytes));
    emitPrefetch(e, addBytes(e, base, at), 2);
  };
}

std::function<void(Value)> BlockedEmitter::panelPrefetcher(const Block &block, const KBlock &k,
                                                           const Panel &panel, int64_t rows) {
  if (!plan.prefetchPanels && !panel.packs) {
    return {};
  }
  int64_t row = plan.columns() * plan.parts * plan.partBytes, bytes = row;
  if (panel.packs) {
    bytes = plan.columns() * storageBytes(c.rhs.strided->storage());
    row = *linearStride(c.k, c.rhs.kStrides) * storageBytes(c.rhs.strided->storage());
  }
  int64_t lines = llvm::divideCeil(bytes, kLineBytes);
  int64_t products = rows * panel.vectors * plan.parts * plan.parts;
  int64_t loads =
      (rows + panel.vectors) * plan.parts + lines + plan.prefetchRows + plan.prefetchNext;
  if (products < loads) {
    return {};
  }
  Value base = panel.packs ? rhsAddress(block, k, panel)
                           : buffers.address(rhsBuffer, panelStart(block, panel));
  base = addBytes(e, base, constI64(e, (panel.packs ? kRowsAhead : kPanelAhead) * row));
  return [this, base, row, bytes](Value i) {
    prefetchRun(e, addBytes(e, base, mulI(e, i, row)), bytes);
  };
}

BlockedEmitter::NextLines BlockedEmitter::nextLines() const {
  // The block's lines are spread over all steps of its tiles.
  int64_t perRow =
      llvm::divideCeil(plan.nTask * storageBytes(c.rhs.strided->storage()), kLineBytes);
  int64_t tiles = std::max<int64_t>(1, plan.mTask / plan.rows), lines = perRow * plan.kMost;
  int64_t steps = tiles * (plan.nTask / plan.columns()) * plan.mostSteps();
  int64_t asks = llvm::divideCeil(lines, steps),
          shift = llvm::Log2_64(std::max<int64_t>(1, steps / lines));
  return {perRow, asks, shift};
}

int64_t BlockedEmitter::stepsAtOnce() const {
  bool whole = plan.kDim < 0 ||
               (plan.kMost % kStepsAtOnce == 0 && c.k[plan.kDim] * plan.kInner % kStepsAtOnce == 0);
  return plan.prefetchNext && whole ? kStepsAtOnce : 1;
}

std::function<void(Value)> BlockedEmitter::nextPrefetcher(const Block &block, const KBlock &k,
                                                          const Panel &panel, Value number) {
  if (!plan.prefetchNext) {
    return {};
  }
  // The next piece of k of these columns, else the next columns, else the next batch index.
  int64_t row = *linearStride(c.k, c.rhs.kStrides),
          batch = *linearStride(c.batch, c.rhs.batchStrides);
  Value here = mulI(e, block.batchNumber, batch);
  Value piece = addI(e, addI(e, here, block.n0), mulI(e, addI(e, k.first, plan.kMost), row));
  Value columns = addI(e, here, block.n1);
  Value index = mulI(e, addI(e, block.batchNumber, 1), batch);
  auto choose = [&](Value condition, Value yes, Value no) -> Value {
    return arith::SelectOp::create(e.b, e.loc, condition, yes, no);
  };
  index = choose(compareI(e, arith::CmpIPredicate::eq, block.n1, c.nSize()), index, columns);
  index = choose(compareI(e, arith::CmpIPredicate::eq, k.number, plan.kBlocks - 1), index, piece);
  Value base = addBytes(e, c.rhs.strided->pointer(), strideBytes(e, c.rhs, index, 1));
  // In the order of memory.
  auto [perRow, asks, shift] = nextLines();
  int64_t bytes = storageBytes(c.rhs.strided->storage()),
          tiles = std::max<int64_t>(1, plan.mTask / plan.rows);
  Value tile = mulI(e, divI(e, subI(e, panel.n, block.n0), plan.columns()), tiles);
  Value first = mulI(e, addI(e, tile, minI(e, number, tiles - 1)), plan.mostSteps());
  return [this, base, row, bytes, perRow = perRow, asks = asks, shift = shift, first](Value i) {
    Value step = arith::ShRUIOp::create(e.b, e.loc, addI(e, first, i), constI64(e, shift));
    for (int64_t ask = 0; ask < asks; ++ask) {
      Value line = addI(e, mulI(e, step, asks), ask);
      Value at = mulI(e, divI(e, line, perRow), row * bytes);
      emitPrefetch(e, addBytes(e, base, addI(e, at, mulI(e, remI(e, line, perRow), kLineBytes))),
                   2);
    }
  };
}

} // namespace hlo::codegen
