//===- Matrix.cpp - Matrix registers in place of a register tile ----------===//
//
// Computes a tile of up to 32 rows x 32 columns by matrix registers of 16 rows of 64 bytes
// (Tiles), from rows of the lhs (contiguous along k, in memory or in a PackK buffer) and a panel
// of the rhs packed as groups along k (Groups.cpp). One loop over k loads two registers per side
// and multiplies each pair:
//
//   0 to 3   sums, 16 rows x 16 columns each: register 2i + j for rows i and columns j
//   4 and 5  rows, 16 of 64 bytes along k
//   6 and 7  columns: 16 groups along k, of 16 columns each
//
// Registers are named by number. A remainder of rows or columns uses whole registers if its
// operands and sums are in buffers that have room; otherwise registers of its exact shape are
// configured around it. Along k the last register is padded with zeros on both sides, since a NaN
// left in a buffer would turn the other side's zero into a NaN.
//
// Products of bf16 may treat subnormal operands and sums as zeros.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/MatrixKernel.h"
#include "compiler/codegen/dot/BlockedEmitter.h"
#include "compiler/codegen/loops/Lanes.h"

using namespace mlir;

namespace hlo::codegen {

int64_t BlockedEmitter::columnsOf(const Panel &panel) const {
  return panel.tail ? c.nSize() % plan.columns() : plan.columns();
}

/// Writes the register configuration for sums of rows x columns to memory, and returns its address.
static Value tileShapes(Emission &e, const Tiles &tiles, int64_t rows, int64_t columns,
                        int64_t groups) {
  MatrixShape shape{{}, {}, groups};
  for (int64_t i = 0; i < 2; ++i) {
    shape.rows[i] = std::clamp<int64_t>(rows - i * tiles.rows, 0, tiles.rows);
    shape.columns[i] = std::clamp<int64_t>(columns - i * tiles.rows, 0, tiles.rows);
  }
  return describeShape(e, tiles, shape);
}

void BlockedEmitter::configureTiles() {
  int64_t tail = c.nSize() % plan.columns();
  SmallVector<int64_t> columns;
  if (c.nSize() >= plan.columns()) {
    columns.push_back(plan.columns());
  }
  if (tail > 0) {
    columns.push_back(tail);
  }
  for (int64_t rows : {plan.rows, plan.rowTail}) {
    for (int64_t width : columns) {
      if (rows > 0 && (matrixShapes.empty() || needsMatrixShape(rows, width))) {
        matrixShapes.push_back(
            {rows, width, tileShapes(e, *plan.matrix, rows, width, plan.tileGroups)});
      }
    }
  }
  plan.matrix->configure(e, matrixShapes.front().memory);
}

bool BlockedEmitter::needsMatrixShape(int64_t rows, int64_t columns) const {
  bool rests = plan.sumsInResult && plan.kBlocks > 1;
  const Registers &usual = matrixShapes.front();
  const int64_t side = plan.matrix->rows;
  return (rows != usual.rows && rows % side != 0 && (rests || plan.lhs == LhsForm::Direct)) ||
         (columns != usual.columns && columns % side != 0 && rests);
}

void BlockedEmitter::releaseTiles() { plan.matrix->release(e); }

MatrixKernel BlockedEmitter::kernelOf(int64_t rows, int64_t columns) {
  auto isUnsigned = [&](const ContractionSide &side) {
    return plan.product->operand.isInteger() && isUnsignedElement(side.narrowInteger);
  };
  int64_t side = plan.matrix->rows, down = llvm::divideCeil(rows, side);
  int64_t across = llvm::divideCeil(columns, side);
  return {e, *plan.product, isUnsigned(c.lhs), isUnsigned(c.rhs), down, across};
}

MatrixSide BlockedEmitter::matrixRowsAt(const Block &block, const KBlock &k, Value m) {
  int64_t row = plan.lhsRow * plan.partBytes;
  Value first;
  if (plan.lhs == LhsForm::Direct) {
    int64_t bytes = storageBytes(c.lhs.strided->storage());
    row = *linearStride(c.m, c.lhs.freeStrides) * bytes;
    first = addBytes(e, c.lhs.address(e, block.batch, {}, {}), mulI(e, m, row));
    first = addBytes(e, first, mulI(e, k.first, bytes));
  } else {
    first = buffers.address(lhsBuffer, mulI(e, subI(e, m, block.packed0), plan.lhsRow));
  }
  return {first, row, plan.matrix->rows * row, plan.tileGroups * plan.partBytes};
}

void BlockedEmitter::emitMatrixTile(const Block &block, const KBlock &k, const Panel &panel,
                                    Value m, Value number, int64_t rows) {
  const Tiles &tiles = *plan.matrix;
  const int64_t side = tiles.rows;
  int64_t columns = columnsOf(panel);
  const Registers &usual = matrixShapes.front();
  const Registers *own = llvm::find_if(
      matrixShapes, [&](const Registers &s) { return s.rows == rows && s.columns == columns; });
  bool isExact = own != matrixShapes.end();
  if (isExact && own != &usual) {
    tiles.configure(e, own->memory);
  }

  MatrixSide lhs = matrixRowsAt(block, k, m);
  bool isStored = plan.rhs == RhsForm::Panels;
  Value rhs = isStored ? storedPanel(block, k, panel)
                       : buffers.address(rhsBuffer, panelStart(block, panel));
  int64_t rhsRow = panelRowBytes();
  bool isWhole = isExact || (rows % side == 0 && columns % side == 0);
  bool ends = plan.kBlocks == 1 && !(plan.sumsInResult && isWhole);
  int64_t sumRow = (ends                ? plan.columns()
                    : plan.sumsInResult ? *linearStride(c.m, c.outM)
                                        : plan.nBlock) *
                   plan.partBytes;
  Value sumStart = ends ? sumBuffer : sumAddress(block, m, panel.n);
  MatrixSums sums{sumStart, sumRow, side * sumRow, side * plan.partBytes};
  MatrixKernel kernel = kernelOf(rows, columns);
  kernel.start(plan.kBlocks == 1 ? Value() : compareI(e, arith::CmpIPredicate::ne, k.number, 0),
               sums);
  Value steps = divI(e, addI(e, groupsOf(k.length), plan.tileGroups - 1), plan.tileGroups);
  std::function<void(Value)> askNext;
  if (isStored && plan.prefetchNext) {
    askNext = nextPanelPrefetcher(block, k, panel, number,
                                  llvm::divideCeil(plan.mostSteps(), plan.tileGroups));
  }
  kernel.multiply(lhs, {rhs, rhsRow, side * plan.partBytes, plan.tileGroups * rhsRow}, steps,
                  askNext);
  kernel.store(sums);
  if (ends) {
    finishRows(block, panel, m, constI64(e, rows), sumBuffer, plan.columns());
  }
  if (isExact && own != &usual) {
    tiles.configure(e, usual.memory);
  }
}

void BlockedEmitter::packMatrixRows(const Block &block, const KBlock &k, Value from, Value to) {
  const int64_t side = plan.matrix->rows;
  // Squares of rows x groups are loaded along the rows and transposed.
  int64_t step = side * plan.kStep(), size = c.k.back();
  int64_t lastGroup = (size - 1) / plan.kStep() * plan.kStep();
  forEachK(k, step, [&](ArrayRef<Index> kIndex, Value local, Value) {
    SmallVector<Index> at(kIndex);
    Value first = at.back().base, group = divI(e, local, plan.kStep());
    emitFor(e, constI64(e, 0), subI(e, to, from), side, [&](Value row) {
      Index lane(addI(e, from, row), 1, side);
      Value mask;
      if (c.mSize() % side != 0) {
        mask = compareI(e, arith::CmpIPredicate::slt, laneIndices(e, lane, side), c.mSize());
      }
      SmallVector<Index> m = splitIndex(e, lane, c.m, side);
      SmallVector<Value> square;
      for (int64_t j = 0; j < side; ++j) {
        // Positions after the end of k are rewritten, or padded.
        Value place = addI(e, first, j * plan.kStep());
        at.back() = Index(size % step == 0 ? place : minI(e, place, lastGroup));
        square.push_back(readGroup(c.lhs, block, m, at, side, mask, /*flip=*/false).re);
      }
      square = transposeSquare(e, square);
      Value start = addI(e, mulI(e, row, plan.lhsRow), group);
      for (int64_t i = 0; i < side; ++i) {
        buffers.store(buffers.address(lhsBuffer, start, i * plan.lhsRow), Elem(square[i]), 0);
      }
    });
  });
}

Value BlockedEmitter::readColumnGroups(const Block &block, ArrayRef<Index> column,
                                       ArrayRef<Index> k, Value mask) {
  int64_t elements = plan.lanes * plan.kStep();
  Elem value = zeroUnless(e, c.element, mask, c.rhs.read(block.batch, column, k, elements, mask));
  return vector::BitCastOp::create(e.b, e.loc, laneType(computeType(part), plan.lanes),
                                   narrowLanes(e, plan.group, value.re));
}

void BlockedEmitter::fillRowEnds(const KBlock &k, Value rows) {
  Value end = groupsOf(k.length), zeros = zeroElem(e, c.element, plan.matrix->rows).re;
  emitFor(e, constI64(e, 0), rows, 1, [&](Value row) {
    Value at = addI(e, mulI(e, row, plan.lhsRow), end);
    buffers.store(buffers.address(lhsBuffer, at), Elem(zeros), 0);
  });
}

void BlockedEmitter::fillPanelEnds(const Block &block, const KBlock &k) {
  Value end = groupsOf(k.length), zeros = zeroElem(e, c.element, plan.lanes).re;
  Value tiles = divI(e, addI(e, end, plan.tileGroups - 1), plan.tileGroups);
  forEachPanel(block, [&](const Panel &panel) {
    emitFor(e, end, mulI(e, tiles, plan.tileGroups), 1, [&](Value group) {
      Value at = addI(e, panelStart(block, panel), mulI(e, group, plan.columns()));
      for (int64_t v = 0; v < panel.vectors; ++v) {
        buffers.store(buffers.address(rhsBuffer, at, v * plan.lanes), Elem(zeros), 0);
      }
    });
  });
}

} // namespace hlo::codegen
