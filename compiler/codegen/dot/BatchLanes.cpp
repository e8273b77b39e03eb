//===- BatchLanes.cpp - Small products side by side, one in each lane -----===//
//
// In: a contraction whose operands both step by one along the batch. Out: for each
// vector of the batch,
//
//   copies of both sides, [m][k] and [k][n] vectors
//   register tiles of the product: every load is a whole vector, nothing is broadcast
//   for a few rows at a time: the sums transposed to [lane][row][n], and stored
//
// The copies are contiguous: in memory the vectors are a whole batch apart, that is often a
// power of two, and would share a few sets of L1. Lanes along n would gather:
// [16,16,256] with [16,16,256] took 0.13 ms so.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/BlockedEmitter.h"
#include "compiler/codegen/loops/Regions.h"

using namespace mlir;

namespace hlo::codegen {

/// Sums over fewer products do not pay for the transposition of a result of more elements: 128x8x128, batch 16,
/// took 0.099 ms so and 0.043 blocked; 8x8x8, batch 1000, 0.016 and 0.033.
static constexpr int64_t kLeastK = 16, kSmallResult = 256;
/// Most bytes of the copies and of the sums of a few rows.
static constexpr int64_t kMostCopied = 512 << 10, kMostSums = 64 << 10;
/// Multiply-adds that make a task worth its dispatch; a product of more is split by rows.
static constexpr int64_t kMultipliesPerTask = 1 << 18, kMostPerTask = 1 << 20;
static constexpr int64_t kTileColumns = 4;

/// Accumulators, a column of vectors and one more vector must fit.
static int64_t tileRows(const Contraction &c) {
  return c.kernel.e.target.vectorRegisters >= 32 ? 4 : 2;
}

bool canUseBatchLanes(const Contraction &c) {
  if (isa<ComplexType>(c.element) || c.element.isInteger(1) || c.batch.empty() || c.k.empty() ||
      !c.lhs.strided || !c.rhs.strided || c.lhs.batchStrides.back() != 1 ||
      c.rhs.batchStrides.back() != 1 || c.mSize() < 2 || c.nSize() < 2 || c.kSize() < 2 ||
      c.batchSize() == 0 || (c.kSize() < kLeastK && c.mSize() * c.nSize() > kSmallResult)) {
    return false;
  }
  // Whole vectors: 64x48x64 took 0.034 ms with a batch of 4 in lanes, and 0.010 blocked.
  int64_t lanes = lanesFor(c, c.batch.back()), vector = lanes * storageBytes(c.element);
  if (vector < c.kernel.e.target.vectorBytes) {
    return false;
  }
  int64_t used = llvm::alignTo(c.batch.back(), lanes);
  return 2 * used <= 3 * c.batch.back() &&
         (c.mSize() + c.nSize()) * c.kSize() * vector <= kMostCopied &&
         tileRows(c) * c.nSize() * vector <= kMostSums;
}

namespace {
class BatchLanes {
public:
  BatchLanes(Contraction &c, Epilogue &epilogue);
  void emit();

private:
  using Indices = ArrayRef<Index>;
  void copySides(Indices batch, Value mask, Value rowFrom, Value rowTo);
  void emitTile(Value row, int64_t rows, Value column, int64_t columns);
  void emitRows(Value firstRow, Value row, int64_t rows);
  void storeRows(Value row, int64_t rows);
  void emitPiece(Value outer, Value vector, Value piece);

  Contraction &c;
  Epilogue &epilogue;
  Emission &e;
  int64_t m, n, k, lanes, bytes, rowsAtOnce, columnsAtOnce;
  int64_t pieceRows, pieces; ///< rows of a piece of the result, pieces
  Value lhs, rhs;            ///< copies
  Value sums, lines;         ///< of a few rows: [row][n][lane], [lane][row][n]
  Value batchFrom, lanesUsed;
};
} // namespace

BatchLanes::BatchLanes(Contraction &c, Epilogue &epilogue)
    : c(c), epilogue(epilogue), e(c.kernel.e), m(c.mSize()), n(c.nSize()), k(c.kSize()),
      lanes(lanesFor(c, c.batch.back())), bytes(storageBytes(c.element)) {
  rowsAtOnce = std::min(m, tileRows(c));
  columnsAtOnce = std::min(n, kTileColumns);
  pieces = llvm::divideCeil(m * n * k * lanes, kMostPerTask);
  pieceRows = llvm::alignTo(llvm::divideCeil(m, pieces), rowsAtOnce);
  pieces = llvm::divideCeil(m, pieceRows);
  lhs = stackBuffer(e, std::min(pieceRows, m) * k * lanes * bytes);
  rhs = stackBuffer(e, n * k * lanes * bytes);
  sums = stackBuffer(e, rowsAtOnce * n * lanes * bytes);
  lines = stackBuffer(e, (rowsAtOnce * n * lanes + lanesFor(c, n)) * bytes);
}

void BatchLanes::copySides(Indices batch, Value mask, Value rowFrom, Value rowTo) {
  Value zero = constI64(e, 0);
  emitFor(e, rowFrom, rowTo, 1, [&](Value row) {
    SmallVector<Index> at = splitIndex(e, Index(row), c.m, 1);
    Value start = mulI(e, subI(e, row, rowFrom), k);
    emitFor(e, zero, constI64(e, k), 1, [&](Value i) {
      Elem value = c.lhs.read(batch, at, splitIndex(e, Index(i), c.k, 1), lanes, mask);
      storeElements(e, c.element, value, lhs, mulI(e, addI(e, start, i), lanes));
    });
  });
  emitFor(e, zero, constI64(e, k), 1, [&](Value i) {
    SmallVector<Index> at = splitIndex(e, Index(i), c.k, 1);
    emitFor(e, zero, constI64(e, n), 1, [&](Value column) {
      Elem value = c.rhs.read(batch, splitIndex(e, Index(column), c.n, 1), at, lanes, mask);
      storeElements(e, c.element, value, rhs, mulI(e, addI(e, mulI(e, i, n), column), lanes));
    });
  });
}

/// `row` counts from the first of the piece.
void BatchLanes::emitTile(Value row, int64_t rows, Value column, int64_t columns) {
  SmallVector<Value> zeros(rows * columns, zeroElem(e, c.element, lanes).re);
  SmallVector<Value> tile = emitForCarrying(
      e, constI64(e, 0), constI64(e, k), 1, zeros, [&](Value i, ValueRange carried) {
        SmallVector<Elem> right;
        Value start = addI(e, mulI(e, i, n), column);
        for (int64_t v = 0; v < columns; ++v) {
          right.push_back(
              loadElements(e, c.element, rhs, mulI(e, addI(e, start, v), lanes), lanes));
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
      Value at = mulI(e, addI(e, column, r * n + v), lanes);
      storeElements(e, c.element, Elem(tile[r * columns + v]), sums, at);
    }
  }
}

void BatchLanes::storeRows(Value row, int64_t rows) {
  emitTransposedCopy(e, bytes, sums, lanes, lines, rows * n, rows * n, lanes);
  int64_t width = lanesFor(c, n);
  emitFor(e, constI64(e, 0), lanesUsed, 1, [&](Value lane) {
    SmallVector<Index> batch = splitIndex(e, Index(addI(e, batchFrom, lane)), c.batch, 1);
    emitFor(e, constI64(e, 0), constI64(e, rows), 1, [&](Value r) {
      SmallVector<Index> at = splitIndex(e, Index(addI(e, row, r)), c.m, 1);
      Value start = mulI(e, addI(e, mulI(e, lane, rows), r), n);
      emitFor(e, constI64(e, 0), constI64(e, n), width, [&](Value j) {
        Index column(j, width > 1 ? 1 : 0, width);
        Value mask;
        if (n % width != 0) {
          mask = compareI(e, arith::CmpIPredicate::slt, laneIndices(e, column, width), n);
        }
        Elem value = loadElements(e, c.element, lines, addI(e, start, j), width);
        epilogue.store(c.element, value,
                       c.outIndex(batch, at, splitIndex(e, column, c.n, width), width), width, mask);
      });
    });
  });
}

void BatchLanes::emitRows(Value firstRow, Value row, int64_t rows) {
  Value local = subI(e, row, firstRow);
  int64_t full = n / columnsAtOnce * columnsAtOnce;
  emitFor(e, constI64(e, 0), constI64(e, full), columnsAtOnce,
          [&](Value column) { emitTile(local, rows, column, columnsAtOnce); });
  if (full < n) {
    emitTile(local, rows, constI64(e, full), n - full);
  }
  storeRows(row, rows);
}

void BatchLanes::emitPiece(Value outer, Value vector, Value piece) {
  int64_t size = c.batch.back();
  Value start = mulI(e, vector, lanes), mask;
  batchFrom = addI(e, mulI(e, outer, size), start);
  lanesUsed = minI(e, subI(e, constI64(e, size), start), lanes);
  Index last(start, 1, lanes);
  if (size % lanes != 0) {
    mask = compareI(e, arith::CmpIPredicate::slt, laneIndices(e, last, lanes), size);
  }
  SmallVector<Index> batch =
      splitIndex(e, Index(outer), ArrayRef<int64_t>(c.batch).drop_back(), 1);
  batch.push_back(last);
  Value from = mulI(e, piece, pieceRows), to = minI(e, addI(e, from, pieceRows), m);
  copySides(batch, mask, from, to);
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
  int64_t perTask = std::clamp<int64_t>(kMultipliesPerTask / (pieceRows * n * k * lanes), 1, items);
  emitTasks(c.kernel, llvm::divideCeil(items, perTask), [&](Value task) {
    Value from = mulI(e, task, perTask), to = minI(e, addI(e, from, perTask), items);
    emitFor(e, from, to, 1, [&](Value item) {
      SmallVector<Value> place = delinearize(e, item, {outer, vectors, pieces});
      emitPiece(place[0], place[1], place[2]);
    });
  });
}

void emitBatchLanes(Contraction &c, Epilogue &epilogue) { BatchLanes(c, epilogue).emit(); }

} // namespace hlo::codegen
