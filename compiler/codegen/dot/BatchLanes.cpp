//===- BatchLanes.cpp - Small products side by side, one in each lane -----===//
//
// In: a contraction whose operands both step by one along the batch; with one row alone, the
// side of that row may be stored in any way. Out: for each vector of the batch,
//
//   copies of both sides, [m][k] and [k][n] vectors
//   register tiles of the product: every load is a whole vector, nothing is broadcast
//   for a few rows at a time: the sums transposed to [lane][row][n], and stored
//
// The copies are contiguous: in memory the vectors are a whole batch apart, that is often a
// power of two, and would share a few sets of L1. Lanes along n would gather, which takes 5 to 15
// times as long (NOTES.md, "Forms for few rows, and small products"). If there is one row, the rhs
// is read once, in place.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/Kernel.h"
#include "compiler/codegen/dot/Forms.h"
#include "compiler/codegen/loops/Regions.h"

using namespace mlir;

namespace hlo::codegen {

/// Multiply-adds that make a task worth its dispatch; a product of more is split by rows.
static constexpr int64_t kMultipliesPerTask = 1 << 18, kMostPerTask = 1 << 20,
                         kOneRowPerTask = 1 << 16;

namespace {
class BatchLanes {
public:
  BatchLanes(Contraction &c, Epilogue &epilogue);
  void emit();

private:
  using Indices = ArrayRef<Index>;
  void copySides(Value rowFrom, Value rowTo);
  Elem readColumn(Value column, Value i);
  /// `row` and `column` count from the first of the piece.
  void emitTile(Value row, int64_t rows, Value column, int64_t columns, Value firstColumn);
  void emitRows(Value firstRow, Value row, int64_t rows);
  void emitOneRow(Value piece);
  void storeRows(Value row, int64_t rows, Value firstColumn, int64_t columns);
  void emitPiece(Value outer, Value vector, Value piece);

  Contraction &c;
  Epilogue &epilogue;
  Emission &e;
  int64_t m, n, k, lanes, bytes, rowsAtOnce, columnsAtOnce;
  bool oneRow;
  int64_t pieceRows,
      pieces;        ///< rows of a piece of the result (columns if there is one row), pieces
  Value lhs, rhs;    ///< copies
  Value sums, lines; ///< of a few rows: [row][n][lane], [lane][row][n]
  Value batchFrom, lanesUsed;
  SmallVector<Index> batch; ///< of the piece
  Value mask;               ///< lanes of the batch that exist; null if all do
};
} // namespace

BatchLanes::BatchLanes(Contraction &c, Epilogue &epilogue)
    : c(c), epilogue(epilogue), e(c.kernel.e), k(c.kSize()), lanes(lanesFor(c, c.batch.back())),
      bytes(storageBytes(c.element)), oneRow(hasOneRow(c)) {
  if (oneRow && c.mSize() > 1) {
    swapSides(c);
  }
  m = c.mSize();
  n = c.nSize();
  BatchTile tile = batchTile(c);
  rowsAtOnce = tile.rows;
  columnsAtOnce = tile.columns;
  int64_t cut = oneRow ? n : m, unit = oneRow ? columnsAtOnce : rowsAtOnce;
  pieces = llvm::divideCeil(m * n * k * lanes, kMostPerTask);
  if (oneRow) {
    pieces = std::max<int64_t>(pieces, llvm::divideCeil(n * lanes * bytes, kMostSums));
  }
  pieceRows = llvm::alignTo(llvm::divideCeil(cut, pieces), unit);
  pieces = llvm::divideCeil(cut, pieceRows);
  int64_t columns = oneRow ? pieceRows : n;
  lhs = stackBuffer(e, (oneRow ? 1 : std::min(pieceRows, m)) * k * lanes * bytes);
  if (!oneRow) {
    rhs = stackBuffer(e, n * k * lanes * bytes);
  }
  sums = stackBuffer(e, rowsAtOnce * columns * lanes * bytes);
  lines = stackBuffer(e, (rowsAtOnce * columns * lanes + lanesFor(c, n)) * bytes);
}

void BatchLanes::copySides(Value rowFrom, Value rowTo) {
  Value zero = constI64(e, 0);
  emitFor(e, rowFrom, rowTo, 1, [&](Value row) {
    SmallVector<Index> at = splitIndex(e, Index(row), c.m, 1);
    Value start = mulI(e, subI(e, row, rowFrom), k);
    emitFor(e, zero, constI64(e, k), 1, [&](Value i) {
      Elem value = c.lhs.read(batch, at, splitIndex(e, Index(i), c.k, 1), lanes, mask);
      storeElements(e, c.element, value, lhs, mulI(e, addI(e, start, i), lanes));
    });
  });
  if (oneRow) {
    return;
  }
  emitFor(e, zero, constI64(e, k), 1, [&](Value i) {
    SmallVector<Index> at = splitIndex(e, Index(i), c.k, 1);
    emitFor(e, zero, constI64(e, n), 1, [&](Value column) {
      Elem value = c.rhs.read(batch, splitIndex(e, Index(column), c.n, 1), at, lanes, mask);
      storeElements(e, c.element, value, rhs, mulI(e, addI(e, mulI(e, i, n), column), lanes));
    });
  });
}

Elem BatchLanes::readColumn(Value column, Value i) {
  if (oneRow) {
    return c.rhs.read(batch, splitIndex(e, Index(column), c.n, 1), splitIndex(e, Index(i), c.k, 1),
                      lanes, mask);
  }
  return loadElements(e, c.element, rhs, mulI(e, addI(e, mulI(e, i, n), column), lanes), lanes);
}

void BatchLanes::emitTile(Value row, int64_t rows, Value column, int64_t columns,
                          Value firstColumn) {
  int64_t width = oneRow ? pieceRows : n;
  Value start = addI(e, firstColumn, column);
  Sums tile = zeroSums(e, c.element, rows * columns, lanes);
  carrySums(e, constI64(e, 0), constI64(e, k), 1, tile, [&](Value i, Sums &inner) {
    multiplyStep(
        e, Multiplier{e, c.element}, rows, columns,
        [&](int64_t r) {
          Value at = addI(e, mulI(e, addI(e, row, r), k), i);
          return loadElements(e, c.element, lhs, mulI(e, at, lanes), lanes);
        },
        [&](int64_t v) { return readColumn(addI(e, start, v), i); }, inner);
  });
  for (auto [i, sum] : llvm::enumerate(tile)) {
    int64_t r = i / columns, v = i % columns;
    storeElements(e, c.element, sum, sums, mulI(e, addI(e, column, r * width + v), lanes));
  }
}

/// `columns` from `firstColumn` on, as far as they exist.
void BatchLanes::storeRows(Value row, int64_t rows, Value firstColumn, int64_t columns) {
  emitTransposedCopy(e, bytes, sums, lanes, lines, rows * columns, rows * columns, lanes);
  Value count = minI(e, subI(e, constI64(e, n), firstColumn), columns);
  int64_t width = lanesFor(c, n);
  emitFor(e, constI64(e, 0), lanesUsed, 1, [&](Value lane) {
    SmallVector<Index> place = splitIndex(e, Index(addI(e, batchFrom, lane)), c.batch, 1);
    emitFor(e, constI64(e, 0), constI64(e, rows), 1, [&](Value r) {
      SmallVector<Index> at = splitIndex(e, Index(addI(e, row, r)), c.m, 1);
      Value start = mulI(e, addI(e, mulI(e, lane, rows), r), columns);
      emitFor(e, constI64(e, 0), count, width, [&](Value j) {
        Index column(addI(e, firstColumn, j), width > 1 ? 1 : 0, width);
        Value mask = lanesInside(e, column.base, width, n);
        Elem value = loadElements(e, c.element, lines, addI(e, start, j), width);
        epilogue.store(c.element, value,
                       c.outIndex(place, at, splitIndex(e, column, c.n, width), width), width,
                       mask);
      });
    });
  });
}

void BatchLanes::emitRows(Value firstRow, Value row, int64_t rows) {
  Value local = subI(e, row, firstRow), zero = constI64(e, 0);
  forEachPiece(e, n, columnsAtOnce, [&](Value column, int64_t columns) {
    emitTile(local, rows, column, columns, zero);
  });
  storeRows(row, rows, zero, n);
}

void BatchLanes::emitOneRow(Value piece) {
  Value zero = constI64(e, 0), first = mulI(e, piece, pieceRows);
  Value count = minI(e, subI(e, constI64(e, n), first), pieceRows);
  int64_t rest = n % columnsAtOnce;
  Value whole = subI(e, count, remI(e, count, columnsAtOnce));
  emitFor(e, zero, whole, columnsAtOnce,
          [&](Value column) { emitTile(zero, 1, column, columnsAtOnce, first); });
  if (rest > 0) {
    emitFor(e, whole, count, rest, [&](Value column) { emitTile(zero, 1, column, rest, first); });
  }
  storeRows(zero, 1, first, pieceRows);
}

void BatchLanes::emitPiece(Value outer, Value vector, Value piece) {
  int64_t size = c.batch.back();
  Value start = mulI(e, vector, lanes);
  batchFrom = addI(e, mulI(e, outer, size), start);
  lanesUsed = minI(e, subI(e, constI64(e, size), start), lanes);
  Index last(start, 1, lanes);
  mask = lanesInside(e, start, lanes, size);
  batch = splitIndex(e, Index(outer), ArrayRef<int64_t>(c.batch).drop_back(), 1);
  batch.push_back(last);
  if (oneRow) {
    copySides(constI64(e, 0), constI64(e, 1));
    emitOneRow(piece);
    return;
  }
  auto [from, to] = pieceAt(e, piece, m, pieceRows);
  copySides(from, to);
  forEachPiece(e, from, to, m, rowsAtOnce,
               [&](Value row, int64_t rows) { emitRows(from, row, rows); });
}

void BatchLanes::emit() {
  int64_t vectors = llvm::divideCeil(c.batch.back(), lanes);
  int64_t outer = c.batchSize() / c.batch.back(), items = outer * vectors * pieces;
  int64_t work = pieceRows * (oneRow ? 1 : n) * k * lanes;
  emitItems(c.kernel, items, work, oneRow ? kOneRowPerTask : kMultipliesPerTask, [&](Value item) {
    SmallVector<Value> place = delinearize(e, item, {outer, vectors, pieces});
    emitPiece(place[0], place[1], place[2]);
  });
}

void emitBatchLanes(Contraction &c, Epilogue &epilogue) { BatchLanes(c, epilogue).emit(); }

} // namespace hlo::codegen
