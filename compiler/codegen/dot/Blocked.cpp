//===- Blocked.cpp - Cache blocks around register tiles -------------------===//
//
// Emits a blocked contraction. For each block of m x n of some batch indices (a task, or adjacent
// tasks of one call):
//
//   for each piece of k
//     pack the panels of the rhs, if needed
//     for each tile of rows
//       pack the rows of the lhs (k along rows, or m inside panels), if needed
//       for each panel of columns: multiply in registers
//
// With few rows and a large rhs (BlockPlan::tilesOutside is false), all rows are packed first, and
// the loops over tiles and panels are exchanged; the first tile of a panel packs it, if the rhs
// is strided.
//
// With one piece of k, a tile's sums go to the epilogue directly. With several, the sums are kept
// in the result if it holds nothing else, otherwise in a buffer, from which the epilogue takes
// them at the end.
//
// A tile's body is emitted for full tiles, and again for fewer rows and for fewer columns if the
// sizes leave a remainder: at most four times.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/BlockedEmitter.h"
#include "compiler/codegen/loops/Lanes.h"

using namespace mlir;

namespace hlo::codegen {

BlockedEmitter::BlockedEmitter(Contraction &c, Epilogue &epilogue)
    : c(c), epilogue(epilogue), e(c.kernel.e), buffers(e, c.element), part(buffers.part) {
  plan = planBlocks(c, epilogue.isIdentity() && epilogue.heroElement() == c.element &&
                           isResultLinear());
  int64_t bytes = plan.partBytes * plan.parts;
  if (plan.lhs == LhsForm::PackK) {
    int64_t rows = plan.matrix ? llvm::alignTo(plan.packedRows, plan.fullLanes) : plan.packedRows;
    lhsBuffer = stackBuffer(e, rows * plan.lhsRow * bytes);
  } else if (plan.lhs == LhsForm::PackM) {
    lhsBuffer =
        stackBuffer(e, plan.packedRows / plan.rows * plan.mostSteps() * plan.lhsWidth * bytes);
  }
  if (plan.packsRhs()) {
    rhsBuffer = stackBuffer(e, plan.rhsRows * plan.nBlock * bytes);
  }
  if (plan.cutsRuns) {
    sumBuffer = stackBuffer(e, matrixSumBytes());
  } else if (plan.kBlocks > 1 && !plan.sumsInResult) {
    sumBuffer = stackBuffer(e, plan.mBlock * plan.nBlock * bytes);
  } else if (plan.kBlocks == 1 && (plan.matrix || !epilogue.isIdentity())) {
    sumBuffer = stackBuffer(e, plan.rows * plan.columns() * bytes);
  }
}

void BlockedEmitter::emitPart(Value batchBlock, Value m0, Value m1, Value n0, Value n1) {
  auto [batch0, batch1] = pieceAt(e, plan.batchBlocks == 1 ? constI64(e, 0) : batchBlock,
                                  c.batchSize(), plan.batchBlock);
  emitFor(e, batch0, batch1, 1, [&](Value batch) {
    Block block;
    block.batchNumber = batch;
    block.batch = splitIndex(e, Index(batch), c.batch, 1);
    block.n0 = n0;
    block.n1 = n1;
    auto emitRows = [&](Value from, Value to) {
      block.packed0 = block.m0 = from;
      block.m1 = to;
      emitBlock(block);
    };
    if (plan.mBlock >= c.mSize() || !plan.tilesOutside) {
      emitRows(m0, m1);
      return;
    }
    emitFor(e, m0, m1, plan.mBlock,
            [&](Value from) { emitRows(from, minI(e, addI(e, from, plan.mBlock), m1)); });
  });
}

void BlockedEmitter::emitJoined() {
  Type i64 = e.b.getI64Type();
  auto loop = scf::WhileOp::create(e.b, e.loc, TypeRange{i64}, ValueRange{c.kernel.first});
  OpBuilder::InsertionGuard guard(e.b);
  mlir::Block *before = e.b.createBlock(&loop.getBefore(), {}, {i64}, {e.loc});
  Value more = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::slt, before->getArgument(0),
                                     c.kernel.last);
  scf::ConditionOp::create(e.b, e.loc, more, before->getArguments());
  Value task = e.b.createBlock(&loop.getAfter(), {}, {i64}, {e.loc})->getArgument(0);
  Value left = subI(e, c.kernel.last, task);
  SmallVector<Value> place = delinearize(e, task, {plan.batchBlocks, plan.nTasks, plan.mTasks});
  // Either several strips of columns with all their rows, or some rows of one strip.
  Value strips = minI(e, divI(e, left, plan.mTasks), plan.nBlock / plan.nTask);
  strips = minI(e, strips, subI(e, constI64(e, plan.nTasks), place[1]));
  Value isWhole =
      arith::AndIOp::create(e.b, e.loc, compareI(e, arith::CmpIPredicate::eq, place[2], 0),
                            compareI(e, arith::CmpIPredicate::sge, left, plan.mTasks));
  Value some = minI(e, left, subI(e, constI64(e, plan.mTasks), place[2]));
  Value rows = arith::SelectOp::create(e.b, e.loc, isWhole, constI64(e, plan.mTasks), some);
  strips = arith::SelectOp::create(e.b, e.loc, isWhole, strips, constI64(e, 1));
  Value m1 = minI(e, mulI(e, addI(e, place[2], rows), plan.mTask), c.mSize());
  Value n1 = minI(e, mulI(e, addI(e, place[1], strips), plan.nTask), c.nSize());
  emitPart(place[0], mulI(e, place[2], plan.mTask), m1, mulI(e, place[1], plan.nTask), n1);
  Value next =
      arith::AddIOp::create(e.b, e.loc, task, arith::MulIOp::create(e.b, e.loc, rows, strips));
  scf::YieldOp::create(e.b, e.loc, next);
}

void BlockedEmitter::emitTask(Value task) {
  SmallVector<Value> place = delinearize(e, task, {plan.batchBlocks, plan.nTasks, plan.mTasks});
  auto [n0, n1] = pieceAt(e, place[1], c.nSize(), plan.nTask);
  auto [m0, m1] = pieceAt(e, place[2], c.mSize(), plan.mTask);
  emitPart(place[0], m0, m1, n0, n1);
}

void BlockedEmitter::emit() {
  int64_t tasks = plan.batchBlocks * plan.nTasks * plan.mTasks;
  if (plan.matrix) {
    configureTiles();
  }
  if (plan.tilesOutside && tasks > plan.batchBlocks) {
    c.kernel.tasks = tasks;
    emitJoined();
  } else {
    emitTasks(c.kernel, tasks, [&](Value task) { emitTask(task); });
  }
  if (plan.matrix) {
    releaseTiles();
  }
}

BlockedEmitter::KBlock BlockedEmitter::kBlockAt(Value number) {
  KBlock k;
  k.number = number;
  if (plan.kDim < 0) {
    k.start = k.first = constI64(e, 0);
    k.end = k.length = constI64(e, 1);
    return k;
  }
  SmallVector<int64_t> sizes(c.k.begin(), c.k.begin() + plan.kDim);
  sizes.push_back(plan.kChunks);
  SmallVector<Index> place = splitIndex(e, Index(number), sizes, 1);
  int64_t size = c.k[plan.kDim];
  k.start = mulI(e, place.back().base, plan.kChunk);
  k.end = plan.kChunks == 1 ? constI64(e, size) : minI(e, addI(e, k.start, plan.kChunk), size);
  k.outer.assign(place.begin(), place.end() - 1);
  k.length = mulI(e, subI(e, k.end, k.start), plan.kInner);
  Value outer = constI64(e, 0);
  for (auto [index, extent] : llvm::zip(k.outer, sizes)) {
    outer = addI(e, mulI(e, outer, extent), index.base);
  }
  k.first = mulI(e, addI(e, mulI(e, outer, size), k.start), plan.kInner);
  return k;
}

void BlockedEmitter::forEachK(const KBlock &k, int64_t step, KBody body, bool peeled) {
  int64_t rank = c.k.size();
  if (plan.kDim < 0) {
    body({}, constI64(e, 0), {});
    return;
  }
  std::function<void(SmallVector<Index>, Value)> nest = [&](SmallVector<Index> index, Value local) {
    int64_t d = index.size();
    if (d == rank) {
      body(index, local, {});
      return;
    }
    bool cut = d == plan.kDim;
    Value lo = cut ? k.start : constI64(e, 0), hi = cut ? k.end : constI64(e, c.k[d]);
    Value base = mulI(e, local, c.k[d]);
    bool last = d == rank - 1 && step > 1;
    if (last && peeled && (!cut || plan.kChunks == 1) && c.k[d] % step != 0) {
      int64_t whole = c.k[d] / step * step;
      auto at = [&](Value i, Value mask) {
        SmallVector<Index> deeper(index);
        deeper.push_back(Index(i, 1, step));
        body(deeper, addI(e, base, i), mask);
      };
      emitFor(e, lo, constI64(e, whole), step, [&](Value i) { at(i, {}); });
      at(constI64(e, whole), firstLanes(e, c.k[d] - whole, step));
      return;
    }
    emitFor(e, lo, hi, last ? step : 1, [&](Value i) {
      Value position = addI(e, base, subI(e, i, lo));
      SmallVector<Index> deeper(index);
      deeper.push_back(last ? Index(i, 1, step) : Index(i));
      if (!last) {
        nest(deeper, position);
        return;
      }
      Value mask;
      if (c.k[d] % step != 0) {
        mask = compareI(e, arith::CmpIPredicate::slt, laneIndices(e, deeper.back(), step), c.k[d]);
      }
      body(deeper, position, mask);
    });
  };
  nest(SmallVector<Index>(k.outer), constI64(e, 0));
}

void BlockedEmitter::forEachPanel(const Block &block, function_ref<void(const Panel &)> body) {
  forEachPiece(e, block.n0, block.n1, c.nSize(), plan.columns(), [&](Value n, int64_t count) {
    bool tail = count < plan.columns();
    body(Panel{n, tail ? plan.vectorTail : plan.vectors, tail});
  });
}

void BlockedEmitter::forEachTile(const Block &block, Value from,
                                 function_ref<void(Value, Value, int64_t)> body) {
  Value tiles = divI(e, subI(e, block.m1, from), plan.rows);
  emitFor(e, constI64(e, 0), tiles, 1, [&](Value number) {
    body(addI(e, from, mulI(e, number, plan.rows)), number, plan.rows);
  });
  if (plan.rowTail > 0) {
    Value last = compareI(e, arith::CmpIPredicate::eq, block.m1, c.mSize());
    emitIf(e, last, [&] { body(constI64(e, c.mSize() - plan.rowTail), tiles, plan.rowTail); });
  }
}

void BlockedEmitter::emitBlock(const Block &block) {
  emitFor(e, constI64(e, 0), constI64(e, plan.kBlocks), 1, [&](Value number) {
    KBlock k = kBlockAt(number);
    if (plan.tilesOutside) {
      packRhs(block, k);
      emitFor(e, block.m0, block.m1, plan.packedRows, [&](Value m0) {
        Block group = block;
        group.packed0 = m0;
        group.m1 = plan.packedRows >= plan.mBlock ? block.m1
                                                  : minI(e, addI(e, m0, plan.packedRows), block.m1);
        packLhs(group, k, m0, group.m1);
        forEachTile(group, m0, [&](Value m, Value tile, int64_t rows) {
          if (plan.cutsRuns) {
            emitMatrixRows(group, k, m, rows);
            return;
          }
          forEachPanel(group,
                       [&](const Panel &panel) { emitTile(group, k, panel, m, tile, rows); });
        });
      });
      return;
    }
    packLhs(block, k, block.m0, block.m1);
    if (plan.packsInTile) {
      forEachPanel(block, [&](Panel panel) {
        panel.packs = true;
        emitTile(block, k, panel, block.m0, constI64(e, 0), plan.rows);
        panel.packs = false;
        forEachTile(block, addI(e, block.m0, plan.rows), [&](Value m, Value tile, int64_t rows) {
          emitTile(block, k, panel, m, addI(e, tile, 1), rows);
        });
      });
      return;
    }
    packRhs(block, k);
    if (plan.stores) {
      forEachTile(block, block.m0, [&](Value m, Value tile, int64_t rows) {
        forEachPanel(block, [&](const Panel &panel) { emitTile(block, k, panel, m, tile, rows); });
      });
      return;
    }
    forEachPanel(block, [&](const Panel &panel) {
      forEachTile(block, block.m0, [&](Value m, Value tile, int64_t rows) {
        emitTile(block, k, panel, m, tile, rows);
      });
    });
  });
  if (plan.kBlocks > 1 && !plan.sumsInResult && !plan.cutsRuns) {
    Value rows = subI(e, block.m1, block.m0);
    forEachPanel(block, [&](const Panel &panel) {
      finishRows(block, panel, block.m0, rows,
                 buffers.address(sumBuffer, subI(e, panel.n, block.n0)), plan.nBlock * plan.parts);
    });
  }
}

void emitBlocked(Contraction &c, Epilogue &epilogue) { BlockedEmitter(c, epilogue).emit(); }

} // namespace hlo::codegen
