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
// power of two, and would share a few sets of L1. Lanes along n would gather:
// [16,16,256] with [16,16,256] took 0.13 ms so. If there is one row, the rhs is read once, in
// place: [24,40,64] with [40,64] took 0.067 ms by lanes along n, 0.004 so.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/BlockedEmitter.h"
#include "compiler/codegen/loops/Regions.h"

using namespace mlir;

namespace hlo::codegen {

/// Sums over fewer products do not pay for the transposition of a result of more elements:
/// 128x8x128, batch 16, took 0.099 ms so and 0.043 blocked; 8x8x8, batch 1000, 0.016 and 0.033.
static constexpr int64_t kLeastK = 16, kSmallResult = 256;
/// Most bytes of the copies and of the sums of a few rows.
static constexpr int64_t kMostCopied = 512 << 10, kMostSums = 64 << 10;
/// Multiply-adds that make a task worth its dispatch; a product of more is split by rows.
static constexpr int64_t kMultipliesPerTask = 1 << 18, kMostPerTask = 1 << 20,
                         kOneRowPerTask = 1 << 16;
static constexpr int64_t kTileColumns = 4, kOneRowColumns = 8;
/// One row that is gathered, since it is not along the batch, needs so many columns.
static constexpr int64_t kLeastColumns = 6;

/// Accumulators, a column of vectors and one more vector must fit.
static int64_t tileRows(const Contraction &c) {
  return c.kernel.e.machine.vectors.registers >= 32 ? 4 : 2;
}

static bool stepsAlongBatch(const ContractionSide &side) {
  return side.strided && side.batchStrides.back() == 1;
}

/// Whether one side has no free dimension, and the other is read in place.
static bool hasOneRow(const Contraction &c) {
  const ContractionSide &large = c.mSize() == 1 ? c.rhs : c.lhs,
                        &row = c.mSize() == 1 ? c.lhs : c.rhs;
  int64_t columns = c.mSize() * c.nSize();
  return std::min(c.mSize(), c.nSize()) == 1 && columns >= 2 && stepsAlongBatch(large) &&
         row.strided && (stepsAlongBatch(row) || columns >= kLeastColumns);
}

bool canUseBatchLanes(const Contraction &c) {
  if (isa<ComplexType>(c.element) || c.element.isInteger(1) || c.batch.empty() || c.k.empty() ||
      c.kSize() < 2 || c.batchSize() == 0) {
    return false;
  }
  bool oneRow = hasOneRow(c);
  bool both = c.mSize() > 1 && c.nSize() > 1 && stepsAlongBatch(c.lhs) && stepsAlongBatch(c.rhs) &&
              (c.kSize() >= kLeastK || c.mSize() * c.nSize() <= kSmallResult);
  if (!oneRow && !both) {
    return false;
  }
  // Whole vectors: 64x48x64 took 0.034 ms with a batch of 4 in lanes, and 0.010 blocked.
  int64_t lanes = lanesFor(c, c.batch.back()), vector = lanes * storageBytes(c.element);
  if (vector < c.kernel.e.machine.vectors.bytes) {
    return false;
  }
  int64_t used = llvm::alignTo(c.batch.back(), lanes);
  if (2 * used > 3 * c.batch.back()) {
    return false;
  }
  if (oneRow) {
    return c.kSize() * vector <= kMostCopied;
  }
  return (c.mSize() + c.nSize()) * c.kSize() * vector <= kMostCopied &&
         tileRows(c) * c.nSize() * vector <= kMostSums;
}

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
  rowsAtOnce = std::min(m, tileRows(c));
  columnsAtOnce = std::min(n, oneRow ? kOneRowColumns : kTileColumns);
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
  SmallVector<Value> zeros(rows * columns, zeroElem(e, c.element, lanes).re);
  SmallVector<Value> tile = emitForCarrying(
      e, constI64(e, 0), constI64(e, k), 1, zeros, [&](Value i, ValueRange carried) {
        SmallVector<Elem> right;
        Value start = addI(e, firstColumn, column);
        for (int64_t v = 0; v < columns; ++v) {
          right.push_back(readColumn(addI(e, start, v), i));
        }
        SmallVector<Value> next;
        for (int64_t r = 0; r < rows; ++r) {
          Value at = addI(e, mulI(e, addI(e, row, r), k), i);
          Elem left = loadElements(e, c.element, lhs, mulI(e, at, lanes), lanes);
          for (int64_t v = 0; v < columns; ++v) {
            next.push_back(
                multiplyAdd(e, c.element, Elem(carried[r * columns + v]), left, right[v]).re);
          }
        }
        return next;
      });
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t v = 0; v < columns; ++v) {
      Value at = mulI(e, addI(e, column, r * width + v), lanes);
      storeElements(e, c.element, Elem(tile[r * columns + v]), sums, at);
    }
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
        Value mask;
        if (n % width != 0) {
          mask = compareI(e, arith::CmpIPredicate::slt, laneIndices(e, column, width), n);
        }
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
  int64_t full = n / columnsAtOnce * columnsAtOnce;
  emitFor(e, constI64(e, 0), constI64(e, full), columnsAtOnce,
          [&](Value column) { emitTile(local, rows, column, columnsAtOnce, zero); });
  if (full < n) {
    emitTile(local, rows, constI64(e, full), n - full, zero);
  }
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
  if (size % lanes != 0) {
    mask = compareI(e, arith::CmpIPredicate::slt, laneIndices(e, last, lanes), size);
  }
  batch = splitIndex(e, Index(outer), ArrayRef<int64_t>(c.batch).drop_back(), 1);
  batch.push_back(last);
  if (oneRow) {
    copySides(constI64(e, 0), constI64(e, 1));
    emitOneRow(piece);
    return;
  }
  Value from = mulI(e, piece, pieceRows), to = minI(e, addI(e, from, pieceRows), m);
  copySides(from, to);
  int64_t rest = m % rowsAtOnce;
  Value whole = minI(e, to, m - rest);
  emitFor(e, from, whole, rowsAtOnce, [&](Value row) { emitRows(from, row, rowsAtOnce); });
  if (rest > 0) {
    emitIf(e, compareI(e, arith::CmpIPredicate::eq, to, m),
           [&] { emitRows(from, constI64(e, m - rest), rest); });
  }
}

void BatchLanes::emit() {
  int64_t vectors = llvm::divideCeil(c.batch.back(), lanes);
  int64_t outer = c.batchSize() / c.batch.back(), items = outer * vectors * pieces;
  int64_t piece = pieceRows * (oneRow ? 1 : n) * k * lanes;
  int64_t perTask =
      std::clamp<int64_t>((oneRow ? kOneRowPerTask : kMultipliesPerTask) / piece, 1, items);
  emitItems(c.kernel, items, perTask, [&](Value item) {
    SmallVector<Value> place = delinearize(e, item, {outer, vectors, pieces});
    emitPiece(place[0], place[1], place[2]);
  });
}

void emitBatchLanes(Contraction &c, Epilogue &epilogue) { BatchLanes(c, epilogue).emit(); }

} // namespace hlo::codegen
