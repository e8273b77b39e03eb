//===- Inner.cpp - Few rows: lanes along k --------------------------------===//
//
// In: a contraction with few rows whose rhs steps by one along k: a matrix stored
// by rows times a vector or a few of them, or a few rows times a transposed matrix.
// Out: for each group of columns and each tile of rows, a loop over k that carries
// rows x columns vectors of partial sums; at the end their lanes are added up, those
// of many sums at a time.
//
// Each element of the large side is read from memory once, in order and in its own
// type: widening, scales and zero points are applied in registers. So this form runs
// at the speed of memory, where packing would read, write and read again. The small
// side is copied once per task, in the type of accumulation, unless memory holds it
// in that type.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/Buffers.h"
#include "compiler/codegen/contraction/Kernel.h"
#include "compiler/codegen/dot/Forms.h"

using namespace mlir;

namespace hlo::codegen {

/// Rows of the small side a multiple of 4 KiB apart map to one set of L1, whose 8 to 12 ways have
/// room for four of them beside the columns. More are copied.
static constexpr int64_t kFewRows = 4;
/// Up to four groups of columns read the small side where it is: each widens it again, but a copy
/// is a load, a conversion and a store of each vector before its first use. An estimate.
static constexpr int64_t kFewGroups = 4;

namespace {
class Inner {
public:
  Inner(Contraction &c, Epilogue &epilogue);
  void emit();

private:
  using Indices = ArrayRef<Index>;
  /// Rows [row, row + rows) of one group of columns.
  struct Tile {
    int64_t row, rows;
    SmallVector<SmallVector<Index>> n; ///< its columns
  };
  /// Calls body(index, place in a row of the copy, mask, sums) for the vectors along k.
  void forEachK(Sums &sums, function_ref<void(Indices k, Value at, Value mask, Sums &sums)> body);

  void copyRows(Indices batch);
  Elem readLhs(Indices batch, int64_t row, Indices k, Value at, Value mask);
  void emitGroup(Indices batch, Value first);

  Value copied(int64_t row, Value at) {
    return buffers.address(copy, at, row * parts * rowElements);
  }

  Contraction &c;
  Epilogue &epilogue;
  Emission &e;
  Buffers buffers;
  int64_t lanes, parts, partBytes;
  int64_t rows;        ///< of a tile
  int64_t columns;     ///< of a group, a power of two
  int64_t groups;      ///< of columns
  int64_t rowElements; ///< of a row of the copy: whole vectors along the last dimension of k
  Value copy;          ///< the small side; null if it is read as it is
};
} // namespace

Inner::Inner(Contraction &c, Epilogue &epilogue)
    : c(c), epilogue(epilogue), e(c.kernel.e), buffers(e, c.element),
      lanes(lanesFor(c, c.k.back())), parts(buffers.parts), partBytes(buffers.partBytes) {
  InnerTile tile = innerTile(c);
  rows = tile.rows;
  columns = tile.columns;
  int64_t m = c.mSize();
  groups = llvm::divideCeil(c.nSize(), columns);
  rowElements = c.kSize() / c.k.back() * static_cast<int64_t>(llvm::alignTo(c.k.back(), lanes));
  // Rows a multiple of 4 KiB apart would share a few sets of L1.
  rowElements += rowElements * partBytes % 4096 == 0 ? lanes : 0;
  int64_t bytes = m * parts * rowElements * partBytes;
  bool crowded = m > kFewRows && !c.lhs.freeStrides.empty() &&
                 c.lhs.freeStrides.back() * partBytes * parts % 4096 == 0;
  bool isReadAsIs = stepsAlongK(c.lhs) && isStoredAsSummed(c, c.lhs);
  if ((!isReadAsIs || crowded) &&
      (!stepsAlongK(c.lhs) || (groups > kFewGroups && bytes <= kMostCopied))) {
    copy = stackBuffer(e, bytes);
  }
}

void Inner::forEachK(Sums &sums, function_ref<void(Indices, Value, Value, Sums &)> body) {
  int64_t size = c.k.back();
  carryNest(e, ArrayRef(c.k).drop_back(), sums, [&](Indices outer, Value row, Sums &middle) {
    Value start = mulI(e, row, llvm::alignTo(size, lanes));
    SmallVector<Index> k(outer);
    k.emplace_back();
    carryVectors(e, size, lanes, middle, [&](Value i, Value mask, Sums &inner) {
      k.back() = Index(i, lanes > 1 ? 1 : 0, lanes);
      body(k, addI(e, start, i), mask, inner);
    });
  });
}

void Inner::copyRows(Indices batch) {
  for (int64_t row = 0; row < c.mSize(); ++row) {
    SmallVector<Index> free = splitIndex(e, Index(constI64(e, row)), c.m, 1);
    Sums none;
    forEachK(none, [&](Indices k, Value at, Value mask, Sums &) {
      Elem value = zeroUnless(e, c.element, mask, c.lhs.read(batch, free, k, lanes, mask));
      buffers.store(copied(row, at), value, rowElements);
    });
  }
}

Elem Inner::readLhs(Indices batch, int64_t row, Indices k, Value at, Value mask) {
  if (!copy) {
    SmallVector<Index> free = splitIndex(e, Index(constI64(e, row)), c.m, 1);
    return zeroUnless(e, c.element, mask, c.lhs.read(batch, free, k, lanes, mask));
  }
  return buffers.load(copied(row, at), lanes, rowElements);
}

void Inner::emitGroup(Indices batch, Value first) {
  Tile tile;
  for (int64_t i = 0; i < columns; ++i) {
    Value n = addI(e, first, i);
    // Columns past the end repeat the last one, and are not stored.
    tile.n.push_back(
        splitIndex(e, Index(c.nSize() % columns ? minI(e, n, c.nSize() - 1) : n), c.n, 1));
  }
  for (tile.row = 0; tile.row < c.mSize(); tile.row += tile.rows) {
    tile.rows = std::min(rows, c.mSize() - tile.row);
    Sums sums = zeroSums(e, c.element, tile.rows * columns, lanes);
    forEachK(sums, [&](Indices k, Value at, Value mask, Sums &inner) {
      multiplyStep(
          e, Multiplier{e, c.element}, tile.rows, columns,
          [&](int64_t r) { return readLhs(batch, tile.row + r, k, at, mask); },
          [&](int64_t v) {
            return zeroUnless(e, c.element, mask, c.rhs.read(batch, tile.n[v], k, lanes, mask));
          },
          inner);
    });
    storeLaneSums(c, epilogue, {batch, tile.row, tile.rows, first, columns, lanes}, sums);
  }
}

void Inner::emit() {
  int64_t bytes = c.rhs.storage ? storageBytes(c.rhs.storage) : 4;
  int64_t groupBytes = std::max<int64_t>(1, columns * c.kSize() * bytes), batches = c.batchSize();
  // A task is some groups of columns of one batch index, or all those of some batch indices.
  int64_t perTask = unitsPerTask(groups, groupBytes, batches);
  int64_t pieces = llvm::divideCeil(groups, perTask), batchBytes = groupBytes * groups;
  int64_t batchesPerTask =
      pieces > 1 ? 1
                 : std::clamp<int64_t>(bytesPerTask(batchBytes * batches) / batchBytes, 1, batches);
  int64_t batchTasks = llvm::divideCeil(batches, batchesPerTask);
  emitTasks(c.kernel, batchTasks * pieces, [&](Value task) {
    SmallVector<Value> place = delinearize(e, task, {batchTasks, pieces});
    auto [batch0, batch1] = pieceAt(e, place[0], batches, batchesPerTask);
    emitFor(e, batch0, batch1, 1, [&](Value number) {
      SmallVector<Index> batch = splitIndex(e, Index(number), c.batch, 1);
      if (copy) {
        copyRows(batch);
      }
      auto [from, to] = pieceAt(e, place[1], groups, perTask);
      emitFor(e, from, to, 1, [&](Value group) { emitGroup(batch, mulI(e, group, columns)); });
    });
  });
}

void emitInner(Contraction &c, Epilogue &epilogue) { Inner(c, epilogue).emit(); }

} // namespace hlo::codegen
