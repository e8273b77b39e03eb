//===- MatrixRuns.cpp - Matrix registers over runs of a long k ------------===//
//
// Multiplies rows with all packed panels where the rows of many tiles use each panel. k is cut into
// runs whose operands of one tile fit L1:
//
//   for each run along k
//     for each panel: the tile's products along the run
//
// The rows of a run stay in L1 while the columns of all panels come from L2. Between runs, and
// between pieces of k, a tile's sums rest in a buffer, whole registers with aligned rows. They are
// stored between the first products of the next tile, which does not wait for them.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/MatrixKernel.h"
#include "compiler/codegen/dot/BlockedEmitter.h"

using namespace mlir;

namespace hlo::codegen {

/// Rows and bytes of a tile's sums in their buffer, which has whole tiles one after the other.
static int64_t slotRows(const BlockPlan &plan) {
  return llvm::alignTo(plan.rows, plan.matrix->rows);
}

static int64_t slotBytes(const BlockPlan &plan) {
  return slotRows(plan) * plan.columns() * plan.partBytes;
}

int64_t BlockedEmitter::matrixSumBytes() const {
  int64_t down = plan.kBlocks > 1 ? llvm::divideCeil(plan.mBlock, plan.rows) : 1;
  int64_t across = plan.sumsRest() ? llvm::divideCeil(plan.nBlock, plan.columns()) : 1;
  return down * across * slotBytes(plan);
}

struct BlockedEmitter::MatrixRun {
  const Block &block;
  Value m;
  int64_t rows;
  MatrixSide lhs;  ///< the rows, at the start of the run
  Value first;     ///< the first register along k, in the piece
  Value registers; ///< along k
  Value isLater;   ///< there are sums of runs before; null: there are none
  Value isLast;    ///< no run comes after; null: none ever does
};

MatrixSide BlockedEmitter::columnsAt(const MatrixRun &run, const Panel &panel) {
  int64_t row = plan.columns() * plan.partBytes, step = plan.tileGroups * row;
  Value start = buffers.address(rhsBuffer, panelStart(run.block, panel));
  return {addBytes(e, start, mulI(e, run.first, step)), row, plan.matrix->rows * plan.partBytes,
          step};
}

MatrixSums BlockedEmitter::sumsAt(const MatrixRun &run, Value n) {
  int64_t row = plan.columns() * plan.partBytes, side = plan.matrix->rows;
  Value slot = constI64(e, 0);
  if (plan.sumsRest()) {
    slot = divI(e, subI(e, n, run.block.n0), plan.columns());
  }
  if (plan.kBlocks > 1) {
    Value down = divI(e, subI(e, run.m, run.block.m0), plan.rows);
    slot = addI(e, slot, mulI(e, down, llvm::divideCeil(plan.nBlock, plan.columns())));
  }
  return {addBytes(e, sumBuffer, mulI(e, slot, slotBytes(plan))), row, side * row,
          side * plan.partBytes};
}

void BlockedEmitter::finishPanel(const MatrixRun &run, const Panel &panel) {
  auto finish = [&] {
    finishRows(run.block, panel, run.m, constI64(e, run.rows), sumsAt(run, panel.n).first,
               plan.columns());
  };
  if (run.isLast) {
    emitIf(e, run.isLast, finish);
  } else {
    finish();
  }
}

void BlockedEmitter::emitWholePanels(const MatrixRun &run) {
  int64_t columns = plan.columns();
  Value n0 = run.block.n0, one = constI64(e, 1);
  MatrixKernel kernel = kernelOf(run.rows, columns);
  Value count = divI(e, subI(e, run.block.n1, n0), columns);
  // One more round than panels: each stores and finishes the sums of the panel before, beside the
  // products of its own.
  Value rounds = addI(e, count, minI(e, count, one));
  emitFor(e, constI64(e, 0), rounds, 1, [&](Value round) {
    Value n = addI(e, n0, mulI(e, round, columns)), before = subI(e, n, constI64(e, columns));
    Value isFirst = compareI(e, arith::CmpIPredicate::eq, round, 0);
    Value isNone = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, round, count);
    MatrixSide rhs = columnsAt(run, {n, plan.vectors, false});
    MatrixSums sums = sumsAt(run, n);
    auto start = [&](const MatrixSums *previous) {
      kernel.startStep(run.lhs, rhs, run.isLater, sums, previous);
    };
    emitIfElse(
        e, isFirst, [&] { start(nullptr); },
        [&] {
          MatrixSums previous = sumsAt(run, before);
          emitIfElse(e, isNone, [&] { kernel.store(previous); }, [&] { start(&previous); });
          finishPanel(run, {before, plan.vectors, false});
        });
    MatrixSide lhs = run.lhs;
    lhs.first = addBytes(e, lhs.first, constI64(e, lhs.step));
    rhs.first = addBytes(e, rhs.first, constI64(e, rhs.step));
    Value rest =
        arith::SelectOp::create(e.b, e.loc, isNone, constI64(e, 0), subI(e, run.registers, one));
    kernel.multiply(lhs, rhs, rest);
  });
}

void BlockedEmitter::emitLastPanel(const MatrixRun &run) {
  int64_t rest = c.nSize() % plan.columns();
  Panel panel{constI64(e, c.nSize() - rest), plan.vectorTail, true};
  MatrixKernel kernel = kernelOf(run.rows, rest);
  MatrixSums sums = sumsAt(run, panel.n);
  kernel.start(run.isLater, sums);
  kernel.multiply(run.lhs, columnsAt(run, panel), run.registers);
  kernel.store(sums);
  finishPanel(run, panel);
}

void BlockedEmitter::emitMatrixRows(const Block &block, const KBlock &k, Value m, int64_t rows) {
  const Tiles &tiles = *plan.matrix;
  // Buffers have room for whole registers of columns. Rows in memory end with the array.
  const Registers &usual = matrixShapes.front();
  const Registers *own = llvm::find_if(matrixShapes, [&](const Registers &s) {
    return s.rows == rows && s.columns == usual.columns;
  });
  bool isExact = own != matrixShapes.end() && own != &usual;
  if (isExact) {
    tiles.configure(e, own->memory);
  }
  MatrixSide side = matrixRowsAt(block, k, m);
  Value all = divI(e, addI(e, groupsOf(k.length), plan.tileGroups - 1), plan.tileGroups);
  Value runs = divI(e, addI(e, all, plan.runSteps - 1), plan.runSteps);
  emitFor(e, constI64(e, 0), runs, 1, [&](Value number) {
    Value first = mulI(e, number, plan.runSteps);
    MatrixRun run{block, m, rows, side, first, minI(e, subI(e, all, first), plan.runSteps), {}, {}};
    run.lhs.first = addBytes(e, side.first, mulI(e, first, side.step));
    if (plan.sumsRest()) {
      Value earlier = addI(e, k.number, number);
      run.isLater = compareI(e, arith::CmpIPredicate::ne, earlier, 0);
      Value isLastPiece = compareI(e, arith::CmpIPredicate::eq, k.number, plan.kBlocks - 1);
      Value isLastRun = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq,
                                              addI(e, number, constI64(e, 1)), runs);
      run.isLast = arith::AndIOp::create(e.b, e.loc, isLastPiece, isLastRun);
    }
    if (c.nSize() >= plan.columns()) {
      emitWholePanels(run);
    }
    if (c.nSize() % plan.columns() != 0) {
      emitIf(e, compareI(e, arith::CmpIPredicate::eq, block.n1, c.nSize()),
             [&] { emitLastPanel(run); });
    }
  });
  if (isExact) {
    tiles.configure(e, usual.memory);
  }
}

} // namespace hlo::codegen
