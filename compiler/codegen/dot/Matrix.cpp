//===- Matrix.cpp - Matrix registers in place of a register tile ----------===//
//
// In: rows of the lhs, contiguous along k (in memory, or a PackK buffer), a panel of the rhs
// packed as groups along k (Groups.cpp), a piece of k. Out: the sums of 32 rows x 32
// columns at most, in the result or in a buffer, by one loop over k that loads two
// tiles of each side and multiplies each with each:
//
//   0 to 3   sums, 16 rows x 16 columns each, 2i + j for rows i and columns j
//   4 and 5  rows, 16 of 64 bytes along k
//   6 and 7  columns: 16 groups along k, of 16 columns each
//
// for registers of 16 rows of 64 bytes (Tiles). They are named by number. A remainder of rows or
// columns uses as many whole tiles as it needs, where its operands and sums are in buffers that
// have room. Where they are not, it has tiles of its exact shape, which are configured around it.
// Along k, what is no multiple of a tile is filled up by zeros, on both sides: a NaN that happens
// to be in the buffer would otherwise meet the other side's zero.
//
// Multiplying bf16 may take subnormals for zeros, in the operands and in the sums.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/BlockedEmitter.h"
#include "compiler/codegen/loops/Lanes.h"

using namespace mlir;

namespace hlo::codegen {

int64_t BlockedEmitter::columnsOf(const Panel &panel) const {
  return panel.tail ? c.nSize() % plan.columns() : plan.columns();
}

/// The configuration of the registers for sums of rows x columns, in memory.
static Value tileShapes(Emission &e, const Tiles &tiles, int64_t rows, int64_t columns,
                        int64_t groups) {
  const int64_t side = tiles.rows;
  std::array<Tiles::Shape, 8> shapes;
  auto shape = [&](int64_t tile, int64_t tileRows, int64_t lanes) {
    if (tileRows > 0 && lanes > 0) {
      shapes[tile] = {tileRows, 4 * lanes};
    }
  };
  for (int64_t i = 0; i < 2; ++i) {
    int64_t tileRows = std::clamp<int64_t>(rows - i * side, 0, side);
    int64_t tileColumns = std::clamp<int64_t>(columns - i * side, 0, side);
    for (int64_t j = 0; j < 2; ++j) {
      shape(2 * i + j, tileRows, std::clamp<int64_t>(columns - j * side, 0, side));
    }
    shape(4 + i, tileRows, groups);
    shape(6 + i, tileColumns == 0 ? 0 : groups, tileColumns);
  }
  Value buffer = stackBuffer(e, tiles.configBytes);
  tiles.describe(e, shapes, buffer);
  return buffer;
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
  const MatrixShape &usual = matrixShapes.front();
  const int64_t side = plan.matrix->rows;
  return (rows != usual.rows && rows % side != 0 && (rests || plan.lhs == LhsForm::Direct)) ||
         (columns != usual.columns && columns % side != 0 && rests);
}

void BlockedEmitter::releaseTiles() { plan.matrix->release(e); }

void BlockedEmitter::emitMatrixTile(const Block &block, const KBlock &k, const Panel &panel,
                                    Value m, int64_t rows) {
  const Tiles &tiles = *plan.matrix;
  const int64_t side = tiles.rows;
  int64_t columns = columnsOf(panel), down = llvm::divideCeil(rows, side);
  int64_t across = llvm::divideCeil(columns, side);
  const MatrixShape &usual = matrixShapes.front();
  const MatrixShape *own = llvm::find_if(
      matrixShapes, [&](const MatrixShape &s) { return s.rows == rows && s.columns == columns; });
  bool isExact = own != matrixShapes.end();
  if (isExact && own != &usual) {
    tiles.configure(e, own->memory);
  }

  Value lhs;
  int64_t lhsRow = plan.lhsRow * plan.partBytes;
  if (plan.lhs == LhsForm::Direct) {
    int64_t bytes = storageBytes(c.lhs.strided->storage());
    lhsRow = *linearStride(c.m, c.lhs.freeStrides) * bytes;
    lhs = addBytes(e, c.lhs.address(e, block.batch, {}, {}), mulI(e, m, lhsRow));
    lhs = addBytes(e, lhs, mulI(e, k.first, bytes));
  } else {
    lhs = bufferAddress(lhsBuffer, mulI(e, subI(e, m, block.packed0), plan.lhsRow));
  }
  Value rhs = bufferAddress(rhsBuffer, panelStart(block, panel));
  int64_t rhsRow = plan.columns() * plan.partBytes;
  bool isWhole = isExact || (rows % side == 0 && columns % side == 0);
  bool ends = plan.kBlocks == 1 && !(plan.sumsInResult && isWhole);
  int64_t sumRow = (ends                ? plan.columns()
                    : plan.sumsInResult ? *linearStride(c.m, c.outM)
                                        : plan.nBlock) *
                   plan.partBytes;
  Value sums = ends ? sumBuffer : sumAddress(block, m, panel.n);

  // Where the rows and columns of square (i, j) of an array start.
  auto squareAt = [&](Value base, int64_t i, int64_t j, int64_t row) {
    return addBytes(e, base, constI64(e, side * (i * row + j * plan.partBytes)));
  };
  auto forSums = [&](function_ref<void(int64_t, int64_t)> body) {
    for (int64_t i = 0; i < down; ++i) {
      for (int64_t j = 0; j < across; ++j) {
        body(i, j);
      }
    }
  };
  auto clear = [&] { forSums([&](int64_t i, int64_t j) { tiles.zero(e, 2 * i + j); }); };
  if (plan.kBlocks == 1) {
    clear();
  } else {
    Value isLater = compareI(e, arith::CmpIPredicate::ne, k.number, 0);
    auto branch = scf::IfOp::create(e.b, e.loc, isLater, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(branch.thenBlock());
    forSums([&](int64_t i, int64_t j) {
      tiles.load(e, 2 * i + j, squareAt(sums, i, j, sumRow), sumRow);
    });
    e.b.setInsertionPointToStart(branch.elseBlock());
    clear();
  }
  auto isUnsigned = [&](const ContractionSide &side) {
    return plan.product->operand.isInteger() && isUnsignedElement(side.narrowInteger);
  };
  Value steps = divI(e, addI(e, groupsOf(k.length), plan.tileGroups - 1), plan.tileGroups);
  emitFor(e, constI64(e, 0), steps, 1, [&](Value step) {
    Value a = addBytes(e, lhs, mulI(e, step, plan.tileGroups * plan.partBytes));
    Value b = addBytes(e, rhs, mulI(e, step, plan.tileGroups * rhsRow));
    for (int64_t i = 0; i < down; ++i) {
      tiles.load(e, 4 + i, squareAt(a, i, 0, lhsRow), lhsRow);
      for (int64_t j = 0; j < across; ++j) {
        if (i == 0) {
          tiles.load(e, 6 + j, squareAt(b, 0, j, rhsRow), rhsRow);
        }
        plan.product->multiplyTiles(e, *plan.product, {2 * i + j, 4 + i, 6 + j}, isUnsigned(c.lhs),
                                    isUnsigned(c.rhs));
      }
    }
  });
  forSums([&](int64_t i, int64_t j) {
    tiles.store(e, 2 * i + j, squareAt(sums, i, j, sumRow), sumRow);
  });
  if (ends) {
    finishRows(block, panel, m, constI64(e, rows), sumBuffer, plan.columns());
  }
  if (isExact && own != &usual) {
    tiles.configure(e, usual.memory);
  }
}

void BlockedEmitter::packMatrixRows(const Block &block, const KBlock &k, Value from, Value to) {
  const int64_t side = plan.matrix->rows;
  // Squares of rows x groups are read by lanes along the rows, and transposed.
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
        // What stands after the end of k is written again, or filled up.
        Value place = addI(e, first, j * plan.kStep());
        at.back() = Index(size % step == 0 ? place : minI(e, place, lastGroup));
        square.push_back(readGroup(c.lhs, block, m, at, side, mask, /*flip=*/false).re);
      }
      square = transposeSquare(e, square);
      Value start = addI(e, mulI(e, row, plan.lhsRow), group);
      for (int64_t i = 0; i < side; ++i) {
        storeBuffer(bufferAddress(lhsBuffer, start, i * plan.lhsRow), Elem(square[i]), 0);
      }
    });
  });
}

Value BlockedEmitter::readColumnGroups(const Block &block, ArrayRef<Index> column,
                                       ArrayRef<Index> k, Value mask) {
  int64_t elements = plan.lanes * plan.kStep();
  Elem value = zeroUnless(e, c.element, mask, c.rhs.read(block.batch, column, k, elements, mask));
  return vector::BitCastOp::create(e.b, e.loc, laneType(computeType(part), plan.lanes),
                                   narrowLanes(value.re));
}

void BlockedEmitter::fillRowEnds(const KBlock &k, Value rows) {
  Value end = groupsOf(k.length), zeros = zeroElem(e, c.element, plan.matrix->rows).re;
  emitFor(e, constI64(e, 0), rows, 1, [&](Value row) {
    Value at = addI(e, mulI(e, row, plan.lhsRow), end);
    storeBuffer(bufferAddress(lhsBuffer, at), Elem(zeros), 0);
  });
}

void BlockedEmitter::fillPanelEnds(const Block &block, const KBlock &k) {
  Value end = groupsOf(k.length), zeros = zeroElem(e, c.element, plan.lanes).re;
  Value tiles = divI(e, addI(e, end, plan.tileGroups - 1), plan.tileGroups);
  forEachPanel(block, [&](const Panel &panel) {
    emitFor(e, end, mulI(e, tiles, plan.tileGroups), 1, [&](Value group) {
      Value at = addI(e, panelStart(block, panel), mulI(e, group, plan.columns()));
      for (int64_t v = 0; v < panel.vectors; ++v) {
        storeBuffer(bufferAddress(rhsBuffer, at, v * plan.lanes), Elem(zeros), 0);
      }
    });
  });
}

} // namespace hlo::codegen
