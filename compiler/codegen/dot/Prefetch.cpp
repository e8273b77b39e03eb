//===- Prefetch.cpp - Lines that the register tile asks for ahead ---------===//
//
// In: where a tile stands. Out: functions that ask, at each step along k, for a line or two of what
// comes later: the panel a few steps ahead (from L2 to L1), the rows of the next tile, and what the
// next block packs (from memory to L2), so that packing waits for nothing. All are addresses alone:
// a prefetch of what is not there does nothing.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/BlockedEmitter.h"

using namespace mlir;

namespace hlo::codegen {

/// Rows of the next tile whose lines are asked for in turn: as many as a tile mostly has, a power
/// of two.
static constexpr int64_t kAskedRows = 16;
/// So many steps ahead of their use the lines of a panel come from L2 to L1.
static constexpr int64_t kPanelAhead = 8;
/// The same for rows of a rhs that is read in place and packed on the way.
static constexpr int64_t kRowsAhead = 8;
/// Steps of the loop over k in one round where the next block is asked for: most steps share a line
/// with another, and where to find it takes as many instructions as half a step (16 times 48 x 768
/// x 2048 with a transposed lhs 18.6 and 17.8 ms).
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
  // One line at each step: of kAskedRows rows in turn, all of them once in the course of a task's
  // panels. Rows past the last one are asked for as well: a prefetch never faults.
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
                           : bufferAddress(rhsBuffer, panelStart(block, panel));
  base = addBytes(e, base, constI64(e, (panel.packs ? kRowsAhead : kPanelAhead) * row));
  return [this, base, row, bytes](Value i) {
    prefetchRun(e, addBytes(e, base, mulI(e, i, row)), bytes);
  };
}

BlockedEmitter::NextLines BlockedEmitter::nextLines() const {
  // All steps of a block's tiles share its lines.
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
