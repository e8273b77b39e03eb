//===- Tile.cpp - The register tile ---------------------------------------===//
//
// Multiplies `rows` rows of the lhs by a panel of the rhs over a piece of k: one loop over k that
// carries rows x vectors sums. Each step loads the vectors of the rhs once, and broadcasts one
// element of the lhs per row. At the end the sums are stored, added to earlier ones, or given to
// the epilogue. Where the rhs comes from memory, a step also prefetches the part of it that the
// next block packs, to L2. Addresses past the end are harmless: a prefetch never faults.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/BlockedEmitter.h"

using namespace mlir;

namespace hlo::codegen {

/// Rows of a rhs that is read in place and packed by the tile are prefetched 8 steps ahead, up to
/// 100 cycles. Of 16 rows that are 4 KiB apart, L1 would evict some before their use.
static constexpr int64_t kRowsAhead = 8;

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

int64_t BlockedEmitter::tileLanes(const Panel &panel, int64_t vector) {
  return plan.narrowLast && panel.tail && vector + 1 == panel.vectors ? plan.lanes / 2 : plan.lanes;
}

Value BlockedEmitter::tileMask(const Panel &panel, int64_t vector) {
  int64_t rest = c.nSize() % plan.lanes, lanes = tileLanes(panel, vector);
  bool whole = !panel.tail || vector + 1 != panel.vectors || rest % lanes == 0;
  return whole ? Value() : firstLanes(e, rest, lanes);
}

BlockedEmitter::LhsReader BlockedEmitter::lhsReader(const Block &block, const KBlock &k, Value m,
                                                    Value number) {
  if (plan.lhs == LhsForm::Direct) {
    int64_t rowStride = *linearStride(c.m, c.lhs.freeStrides);
    int64_t kStride = *linearStride(c.k, c.lhs.kStrides);
    Value base = batchAddress(e, c.lhs, block.batch);
    base = addBytes(e, base, strideBytes(e, c.lhs, m, rowStride));
    base = addBytes(e, base, strideBytes(e, c.lhs, k.first, kStride));
    int64_t rowBytes = rowStride * storageBytes(c.lhs.strided->storage());
    return [this, base, kStride, rowBytes](Value i, int64_t row, int64_t count) {
      Value at = addBytes(e, base, strideBytes(e, c.lhs, i, kStride * plan.kStep()));
      at = addBytes(e, at, constI64(e, row * rowBytes));
      return plan.group != KGroup::None ? buffers.load(at, count, 0)
                                        : c.lhs.strided->atPointer(at, count);
    };
  }
  if (plan.lhs == LhsForm::PackK) {
    int64_t row = plan.lhsRow * plan.parts;
    Value base = buffers.address(lhsBuffer, mulI(e, subI(e, m, block.packed0), row));
    return [this, base, row](Value i, int64_t r, int64_t count) {
      return buffers.load(buffers.address(base, i, r * row), count, plan.lhsRow);
    };
  }
  int64_t width = plan.lhsWidth * plan.parts;
  Value base = buffers.address(lhsBuffer, mulI(e, number, plan.mostSteps() * width));
  return [this, base, width](Value i, int64_t r, int64_t count) {
    return buffers.load(buffers.address(base, mulI(e, i, width), r), count, plan.lhsWidth);
  };
}

Value BlockedEmitter::rhsAddress(const Block &block, const KBlock &k, const Panel &panel) {
  Value base = batchAddress(e, c.rhs, block.batch);
  base = addBytes(e, base, strideBytes(e, c.rhs, panel.n, 1));
  return addBytes(e, base, strideBytes(e, c.rhs, k.first, *linearStride(c.k, c.rhs.kStrides)));
}

int64_t BlockedEmitter::panelRowBytes() const {
  return plan.rhs == RhsForm::Panels ? c.rhs.panels->width * plan.partBytes
                                     : plan.columns() * plan.parts * plan.partBytes;
}

Value BlockedEmitter::storedPanel(const Block &block, const KBlock &k, const Panel &panel) {
  const StoredPanels &panels = *c.rhs.panels;
  int64_t elements = c.kSize() * c.nSize();
  Value number = constI64(e, 0);
  for (auto [index, stride] : llvm::zip(block.batch, c.rhs.batchStrides)) {
    number = addI(e, number, mulI(e, index.base, stride / elements * panels.panels));
  }
  Value inBatch = divI(e, panel.n, panels.width);
  Value column = subI(e, panel.n, mulI(e, inBatch, panels.width));
  number = addI(e, number, inBatch);
  Value row = addI(e, mulI(e, number, panels.steps), divI(e, k.first, plan.kStep()));
  Value at = addI(e, mulI(e, row, panelRowBytes()), mulI(e, column, plan.partBytes));
  return addBytes(e, panels.pointer, at);
}

BlockedEmitter::RhsReader BlockedEmitter::rhsReader(const Block &block, const KBlock &k,
                                                    const Panel &panel) {
  int64_t row = plan.columns() * plan.parts;
  Value buffer = plan.packsRhs() ? buffers.address(rhsBuffer, panelStart(block, panel)) : Value();
  auto inBuffer = [this, buffer, row](Value i, int64_t v) {
    return buffers.address(buffer, mulI(e, i, row), v * plan.lanes);
  };
  if (plan.packsRhs() && !panel.packs) {
    return [this, inBuffer, panel](Value i, int64_t v) {
      return buffers.load(inBuffer(i, v), tileLanes(panel, v), plan.columns());
    };
  }
  if (plan.rhs == RhsForm::Panels) {
    Value base = storedPanel(block, k, panel);
    return [this, base, panel](Value i, int64_t v) {
      Value at = addBytes(e, base, mulI(e, i, panelRowBytes()));
      at = addBytes(e, at, constI64(e, v * plan.lanes * plan.partBytes));
      return buffers.load(at, tileLanes(panel, v), 0);
    };
  }
  int64_t kStride = *linearStride(c.k, c.rhs.kStrides);
  Value base = rhsAddress(block, k, panel);
  int64_t vectorBytes = plan.lanes * storageBytes(c.rhs.strided->storage());
  return [this, base, kStride, vectorBytes, panel, inBuffer](Value i, int64_t v) {
    Value at = addBytes(e, base, strideBytes(e, c.rhs, i, kStride));
    if (panel.packs && v == 0) {
      Value ahead = strideBytes(e, c.rhs, constI64(e, kRowsAhead), kStride);
      prefetchRun(e, addBytes(e, at, ahead), panel.vectors * vectorBytes);
    }
    Elem value = c.rhs.strided->atPointer(addBytes(e, at, constI64(e, v * vectorBytes)),
                                          tileLanes(panel, v), tileMask(panel, v));
    if (panel.packs) {
      buffers.store(inBuffer(i, v), value, plan.columns());
    }
    return value;
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

std::function<void(Value)> BlockedEmitter::nextPanelPrefetcher(const Block &block, const KBlock &k,
                                                               const Panel &panel, Value number,
                                                               int64_t steps) {
  const StoredPanels &panels = *c.rhs.panels;
  int64_t bytes = panels.steps * panelRowBytes();
  int64_t lines = llvm::divideCeil(plan.mostSteps() * plan.columns() * plan.partBytes, kLineBytes);
  int64_t tiles = std::max<int64_t>(1, llvm::divideCeil(plan.mTask, plan.rows));
  int64_t asks = llvm::divideCeil(lines, tiles * steps);
  int64_t shift = llvm::Log2_64(std::max<int64_t>(1, tiles * steps / lines));
  Value base = addBytes(e, storedPanel(block, k, panel), constI64(e, bytes));
  Value first = mulI(e, minI(e, number, tiles - 1), steps);
  return [this, base, asks, shift, first](Value i) {
    Value step = arith::ShRUIOp::create(e.b, e.loc, addI(e, first, i), constI64(e, shift));
    Value at = addBytes(e, base, mulI(e, step, asks * kLineBytes));
    for (int64_t ask = 0; ask < asks; ++ask) {
      emitPrefetch(e, addBytes(e, at, constI64(e, ask * kLineBytes)), 2);
    }
  };
}

bool BlockedEmitter::readsAlongK() const {
  return plan.lhs == LhsForm::PackK ||
         (plan.lhs == LhsForm::Direct && *linearStride(c.k, c.lhs.kStrides) == 1);
}

Value BlockedEmitter::multiplyByLanes(const LhsReader &lhs, const RhsReader &rhs, int64_t rows,
                                      int64_t vectors, Value groups, Sums &sums) {
  int64_t count = plan.fullLanes;
  Value whole = mulI(e, divI(e, groups, count), count);
  carrySums(e, constI64(e, 0), whole, count, sums, [&](Value i, Sums &inner) {
    multiplySteps(
        e, multiplier(), count, rows, vectors, [&](int64_t r) { return lhs(i, r, count); },
        [&](int64_t j, int64_t v) { return rhs(addI(e, i, j), v); }, inner);
  });
  return whole;
}

Value BlockedEmitter::multiplyByPairs(const LhsReader &lhs, const RhsReader &rhs, int64_t rows,
                                      int64_t vectors, Value groups, Sums &sums) {
  const Product &product = *plan.product;
  // The product of exchanged sides is the transposed one.
  bool exchanged = product.signs == Product::Signs::OneUnsigned && plan.rhsUnsigned;
  auto shuffle = [&](Value a, Value b, ArrayRef<int64_t> lanes) -> Value {
    return vector::ShuffleOp::create(e.b, e.loc, a, b, lanes);
  };
  Sums blocks = zeroSums(e, c.element, llvm::divideCeil(rows, 2) * 2 * vectors, plan.lanes);
  carrySums(e, constI64(e, 0), divI(e, groups, 2), 1, blocks, [&](Value i, Sums &inner) {
    Value first = mulI(e, i, 2), second = addI(e, first, 1);
    SmallVector<Value> columns; // two for each vector of the rhs
    for (int64_t v = 0; v < vectors; ++v) {
      Value a = rhs(first, v).re, b = rhs(second, v).re;
      columns.push_back(shuffle(a, b, {0, 4, 1, 5}));
      columns.push_back(shuffle(a, b, {2, 6, 3, 7}));
    }
    for (int64_t r = 0; r < rows; r += 2) {
      // A last row without another is multiplied twice, or with what the panel has behind it.
      int64_t other = std::min(r + 1, rows - 1);
      Value two = readsAlongK()
                      ? shuffle(lhs(first, r, 2).re, lhs(first, other, 2).re, {0, 1, 2, 3})
                      : shuffle(lhs(first, r, 2).re, lhs(second, r, 2).re, {0, 2, 1, 3});
      for (auto [j, column] : llvm::enumerate(columns)) {
        Elem &sum = inner[r * vectors + j];
        sum = Elem(
            product.multiplyPairs(e, sum.re, exchanged ? column : two, exchanged ? two : column));
      }
    }
  });
  for (int64_t i = 0; i < rows * vectors; ++i) {
    int64_t r = i / vectors, v = i % vectors, odd = r % 2;
    int64_t at = (r - odd) * vectors + 2 * v;
    Value row = exchanged
                    ? shuffle(blocks[at].re, blocks[at + 1].re, {odd, 2 + odd, 4 + odd, 6 + odd})
                    : shuffle(blocks[at].re, blocks[at + 1].re,
                              {2 * odd, 2 * odd + 1, 4 + 2 * odd, 5 + 2 * odd});
    sums[i] = addElems(e, c.element, sums[i], Elem(row));
  }
  return mulI(e, divI(e, groups, 2), 2);
}

void BlockedEmitter::multiplyTile(const Block &block, const KBlock &k, const Panel &panel, Value m,
                                  Value number, int64_t rows, Sums &sums) {
  LhsReader lhs = lhsReader(block, k, m, number);
  RhsReader rhs = rhsReader(block, k, panel);
  auto askNext = plan.rhs != RhsForm::Panels ? nextPrefetcher(block, k, panel, number)
                 : plan.prefetchNext
                     ? nextPanelPrefetcher(block, k, panel, number, plan.mostSteps())
                     : std::function<void(Value)>();
  Value groups = groupsOf(k.length), done = constI64(e, 0);
  bool isWhole = !panel.packs && !askNext && rows > 1 && !plan.narrowLast;
  if (isWhole && plan.rowOperands == RowOperands::Pairs) {
    done = multiplyByPairs(lhs, rhs, rows, panel.vectors, groups, sums);
  } else if (isWhole && plan.rowOperands == RowOperands::Lanes && readsAlongK()) {
    done = multiplyByLanes(lhs, rhs, rows, panel.vectors, groups, sums);
  }
  carrySums(e, done, groups, 1, sums, [&](Value i, Sums &inner) {
    if (askNext) {
      askNext(i);
    }
    multiplyStep(
        e, multiplier(), rows, panel.vectors, [&](int64_t r) { return lhs(i, r, 1); },
        [&](int64_t v) { return rhs(i, v); }, inner);
  });
}

void BlockedEmitter::emitTile(const Block &block, const KBlock &k, const Panel &panel, Value m,
                              Value number, int64_t rows) {
  if (plan.matrix) {
    emitMatrixTile(block, k, panel, m, number, rows);
    return;
  }
  Sums sums;
  for (int64_t i = 0; i < rows * panel.vectors; ++i) {
    int64_t lanes = tileLanes(panel, i % panel.vectors);
    sums.push_back(!plan.flipLhs       ? zeroElem(e, c.element, lanes)
                   : i < panel.vectors ? buffers.load(correctionAddress(block, panel, i), lanes, 0)
                                       : sums[i - panel.vectors]);
  }
  if (plan.kBlocks == 1) {
    multiplyTile(block, k, panel, m, number, rows, sums);
    storeTile(block, panel, m, rows, sums);
    return;
  }
  auto rowOf = [&](int64_t i) { return addI(e, m, i / panel.vectors); };
  auto columnOf = [&](int64_t i) { return addI(e, panel.n, i % panel.vectors * plan.lanes); };
  auto maskOf = [&](int64_t i) { return tileMask(panel, i % panel.vectors); };
  // Earlier sums are added after the products, so that no product waits for them.
  multiplyTile(block, k, panel, m, number, rows, sums);
  Value isLater = compareI(e, arith::CmpIPredicate::ne, k.number, 0);
  addEarlier(e, c.element, isLater, sums, [&](int64_t i) {
    return loadSum(block, rowOf(i), columnOf(i), tileLanes(panel, i % panel.vectors), maskOf(i));
  });
  for (auto [i, sum] : llvm::enumerate(sums)) {
    storeSum(block, rowOf(i), columnOf(i), sum, maskOf(i));
  }
}

void BlockedEmitter::storeTile(const Block &block, const Panel &panel, Value m, int64_t rows,
                               const Sums &sums) {
  if (epilogue.isIdentity()) {
    for (int64_t i = 0; i < rows * panel.vectors; ++i) {
      int64_t v = i % panel.vectors;
      storeVector(block, addI(e, m, i / panel.vectors), addI(e, panel.n, v * plan.lanes), sums[i],
                  tileLanes(panel, v), tileMask(panel, v));
    }
    return;
  }
  int64_t row = plan.columns() * plan.parts;
  for (int64_t i = 0; i < rows * panel.vectors; ++i) {
    int64_t fixed = i / panel.vectors * row + i % panel.vectors * plan.lanes;
    buffers.store(buffers.address(sumBuffer, constI64(e, 0), fixed), sums[i], plan.columns());
  }
  finishRows(block, panel, m, constI64(e, rows), sumBuffer, row);
}

void BlockedEmitter::finishRows(const Block &block, const Panel &panel, Value m, Value rows,
                                Value buffer, int64_t rowElements) {
  int64_t full = panel.vectors, lastLanes = tileLanes(panel, full - 1);
  Value lastMask = tileMask(panel, full - 1);
  bool partial = lastMask || lastLanes < plan.lanes;
  emitFor(e, constI64(e, 0), rows, 1, [&](Value row) {
    Value from = buffers.address(buffer, mulI(e, row, rowElements));
    auto finish = [&](Value column, int64_t lanes, Value mask) {
      Elem value = buffers.load(buffers.address(from, column), lanes, rowElements / plan.parts);
      storeVector(block, addI(e, m, row), addI(e, panel.n, column), value, lanes, mask);
    };
    emitFor(e, constI64(e, 0), constI64(e, (full - partial) * plan.lanes), plan.lanes,
            [&](Value column) { finish(column, plan.lanes, {}); });
    if (partial) {
      finish(constI64(e, (full - 1) * plan.lanes), lastLanes, lastMask);
    }
  });
}

bool BlockedEmitter::isResultLinear() const {
  std::optional<int64_t> column = linearStride(c.n, c.outN);
  return linearStride(c.m, c.outM) && column && (*column == 1 || c.nSize() == 1);
}

Value BlockedEmitter::resultIndex(const Block &block, Value m, Value n) {
  Value at = addI(e, mulI(e, m, *linearStride(c.m, c.outM)), n);
  for (auto [index, stride] : llvm::zip(block.batch, c.outBatch)) {
    at = addI(e, at, mulI(e, index.base, stride));
  }
  return at;
}

Value BlockedEmitter::sumAddress(const Block &block, Value m, Value n) {
  if (plan.sumsInResult) {
    return epilogue.addressAt(resultIndex(block, m, n));
  }
  Value row = mulI(e, subI(e, m, block.m0), plan.nBlock * plan.parts);
  return buffers.address(sumBuffer, addI(e, row, subI(e, n, block.n0)));
}

Elem BlockedEmitter::loadSum(const Block &block, Value m, Value n, int64_t lanes, Value mask) {
  if (plan.sumsInResult) {
    return epilogue.loadAt(resultIndex(block, m, n), lanes, mask);
  }
  return buffers.load(sumAddress(block, m, n), lanes, plan.nBlock);
}

void BlockedEmitter::storeSum(const Block &block, Value m, Value n, const Elem &sum, Value mask) {
  if (plan.sumsInResult) {
    epilogue.storeAt(c.element, sum, resultIndex(block, m, n), mask);
    return;
  }
  buffers.store(sumAddress(block, m, n), sum, plan.nBlock);
}

void BlockedEmitter::storeVector(const Block &block, Value m, Value n, const Elem &value,
                                 int64_t lanes, Value mask) {
  if (epilogue.isIdentity() && isResultLinear()) {
    epilogue.storeAt(c.element, value, resultIndex(block, m, n), mask);
    return;
  }
  Index column(n, lanes > 1 ? 1 : 0, lanes);
  epilogue.store(c.element, value,
                 c.outIndex(block.batch, splitIndex(e, Index(m), c.m, 1),
                            splitIndex(e, column, c.n, lanes), lanes),
                 lanes, mask);
}

} // namespace hlo::codegen
