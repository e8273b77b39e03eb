//===- Broadcast.cpp - A narrow result: lanes along the few rows ----------===//
//
// In: a contraction whose few rows fill a vector or two and are neighbours in the result, and
// whose rhs is large and steps by one along k, as the product of a matrix stored by rows
// with 16 columns (the sides are exchanged then). Out: for a few columns at a time, a loop
// over k that multiplies one vector of the small side with an element of each column:
//
//   sum[., n] += lhs[., k] * rhs[k, n]      for n = first, first + 1, ...
//
// No lanes have to be added up, and the small side goes past once per group: it comes from
// L2 without being felt. Lanes along k (Inner.cpp) would read it from there once for every few
// columns: [4096,1024] x [1024,16] took 1.2 ms so.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/Kernel.h"
#include "compiler/codegen/contraction/Pack.h"
#include "compiler/codegen/dot/Forms.h"
#include "compiler/codegen/loops/Lanes.h"

using namespace mlir;

namespace hlo::codegen {

/// Bytes of the large side per task.
static constexpr int64_t kBytesPerTask = 1 << 20;

namespace {
class Broadcast {
public:
  Broadcast(Contraction &c, Epilogue &epilogue);
  void emit();

private:
  using Indices = ArrayRef<Index>;
  void copyRows(Indices batch);
  void transposeRows(Indices batch);
  Index rowsAt(int64_t vector) { return Index(constI64(e, vector * lanes), 1, lanes); }
  /// The lanes of a vector that are rows; null if all are.
  Value maskOf(int64_t vector);
  Elem readLhs(Indices batch, int64_t vector, Indices k, Value at);
  void emitGroup(Indices batch, Value first, int64_t count);
  Value copied(Value at, int64_t vector) {
    return addBytes(e, copy, mulI(e, addI(e, mulI(e, at, vectors * lanes), vector * lanes), bytes));
  }

  Contraction &c;
  Epilogue &epilogue;
  Emission &e;
  int64_t lanes, bytes;
  int64_t vectors; ///< that hold a column of the result
  int64_t columns; ///< at a time
  Value copy;      ///< the small side, k by k; null if it lies in memory so
};
} // namespace

Broadcast::Broadcast(Contraction &c, Epilogue &epilogue)
    : c(c), epilogue(epilogue), e(c.kernel.e), lanes(lanesFor(c, c.mSize())),
      bytes(storageBytes(c.element)), vectors(broadcastTile(c).vectors),
      columns(broadcastTile(c).columns) {
  bool asIs = c.lhs.strided && c.lhs.strided->storage() == c.element &&
              c.lhs.freeStrides.back() == 1 && c.mSize() % lanes == 0;
  if (!asIs) {
    copy = stackBuffer(e, llvm::alignTo(c.kSize(), lanes) * vectors * lanes * bytes);
  }
}

Value Broadcast::maskOf(int64_t vector) {
  int64_t rest = c.mSize() - vector * lanes;
  return rest < lanes ? firstLanes(e, rest, lanes) : Value();
}

/// Squares of lanes x lanes elements, read along k.
void Broadcast::transposeRows(Indices batch) {
  for (int64_t v = 0; v < vectors; ++v) {
    emitFor(e, constI64(e, 0), constI64(e, llvm::alignTo(c.kSize(), lanes)), lanes, [&](Value i) {
      Index k(i, 1, lanes);
      Value mask = lanesInside(e, i, lanes, c.kSize());
      SmallVector<Elem> square = transposed(e, lanes, [&](int64_t l) {
        int64_t row = std::min(v * lanes + l, c.mSize() - 1);
        return c.lhs.read(batch, {Index(constI64(e, row))}, {k}, lanes, mask);
      });
      for (int64_t l = 0; l < lanes; ++l) {
        storeElements(e, c.element, square[l], copied(addI(e, i, l), v), constI64(e, 0));
      }
    });
  }
}

void Broadcast::copyRows(Indices batch) {
  if (lanes > 1 && c.k.size() == 1 && c.lhs.unit == UnitStride::K) {
    transposeRows(batch);
    return;
  }
  emitFor(e, constI64(e, 0), constI64(e, c.kSize()), 1, [&](Value at) {
    SmallVector<Index> k = splitIndex(e, Index(at), c.k, 1);
    for (int64_t v = 0; v < vectors; ++v) {
      Elem value = c.lhs.read(batch, {rowsAt(v)}, k, lanes, maskOf(v));
      storeElements(e, c.element, value, copied(at, v), constI64(e, 0));
    }
  });
}

Elem Broadcast::readLhs(Indices batch, int64_t vector, Indices k, Value at) {
  return copy ? loadElements(e, c.element, copied(at, vector), constI64(e, 0), lanes)
              : c.lhs.read(batch, {rowsAt(vector)}, k, lanes, {});
}

void Broadcast::emitGroup(Indices batch, Value first, int64_t count) {
  SmallVector<SmallVector<Index>> n;
  for (int64_t i = 0; i < count; ++i) {
    n.push_back(splitIndex(e, Index(addI(e, first, i)), c.n, 1));
  }
  // A row of the tile is a column of the result.
  Sums sums = zeroSums(e, c.element, count * vectors, lanes);
  carryNest(e, c.k, sums, [&](Indices k, Value at, Sums &inner) {
    multiplyStep(
        e,
        [&](const Elem &sum, const Elem &column, const Elem &rows) {
          return multiplyAdd(e, c.element, sum, rows, column);
        },
        count, vectors, [&](int64_t i) { return c.rhs.read(batch, n[i], k, 1, {}); },
        [&](int64_t v) { return readLhs(batch, v, k, at); }, inner);
  });
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t v = 0; v < vectors; ++v) {
      epilogue.store(c.element, sums[i * vectors + v], c.outIndex(batch, {rowsAt(v)}, n[i], lanes),
                     lanes, maskOf(v));
    }
  }
}

void Broadcast::emit() {
  int64_t full = c.nSize() / columns, rest = c.nSize() % columns;
  int64_t perTask = std::clamp<int64_t>(kBytesPerTask / (columns * c.kSize() * bytes), 1, full);
  int64_t pieces = llvm::divideCeil(full, perTask);
  emitTasks(c.kernel, c.batchSize() * pieces, [&](Value task) {
    SmallVector<Value> place = delinearize(e, task, {c.batchSize(), pieces});
    SmallVector<Index> batch = splitIndex(e, Index(place[0]), c.batch, 1);
    if (copy) {
      copyRows(batch);
    }
    auto [from, to] = pieceAt(e, place[1], full, perTask);
    emitFor(e, from, to, 1,
            [&](Value group) { emitGroup(batch, mulI(e, group, columns), columns); });
    if (rest > 0) {
      emitIf(e, compareI(e, arith::CmpIPredicate::eq, to, full),
             [&] { emitGroup(batch, constI64(e, full * columns), rest); });
    }
  });
}

void emitBroadcast(Contraction &c, Epilogue &epilogue) { Broadcast(c, epilogue).emit(); }

} // namespace hlo::codegen
