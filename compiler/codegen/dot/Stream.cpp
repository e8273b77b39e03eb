//===- Stream.cpp - Few rows: the rhs streams past once -------------------===//
//
// In: a contraction with at most a few rows whose rhs is large and steps by one
// along n, as the products of a decoder's activations with its weights. Out: for a
// range of columns, sums in a buffer that stays in L1, and a loop over k that takes
// several rows of the rhs at a time, from left to right:
//
//   sum[m, n] += lhs[m, k] * rhs[k, n] + lhs[m, k + 1] * rhs[k + 1, n] + ...
//
// A register tile over few rows would read short pieces of rows that are far apart,
// which no prefetcher follows: 8x4096x4096 took 11.8 ms so. Here the reads are a
// few sequential streams.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/BlockedEmitter.h"

using namespace mlir;

namespace hlo::codegen {

static constexpr int64_t kMostRows = 8;
/// Bytes of sums: half of L1.
static constexpr int64_t kSumBytes = 16 << 10;
/// Columns of a task, at least: pieces of rows that are worth a stream.
static constexpr int64_t kLeastColumns = 512;
static constexpr int64_t kEnoughTasks = 8;
/// A smaller rhs stays in L2, where tiles do better.
static constexpr int64_t kLargeBytes = 512 << 10;

bool canStream(const Contraction &c) {
  if (!c.rhs.strided || c.mSize() > kMostRows || c.k.empty() || c.kSize() == 0 ||
      c.element.isInteger(1) || isa<ComplexType>(c.element) || c.batchSize() == 0) {
    return false;
  }
  std::optional<int64_t> column = linearStride(c.n, c.rhs.freeStrides);
  int64_t bytes = c.kSize() * c.nSize() * storageBytes(c.rhs.strided->storage());
  return column && *column == 1 && c.nSize() >= 4 * lanesFor(c, c.nSize()) && bytes >= kLargeBytes &&
         c.k.back() >= 8;
}

namespace {
class Stream {
public:
  Stream(Contraction &c, Epilogue &epilogue);
  void emit();

private:
  void addRows(ArrayRef<Index> batch, Value n0, Value n1, SmallVector<Index> k, int64_t count);
  void nest(ArrayRef<Index> batch, Value n0, Value n1, SmallVector<Index> k);
  void forEachVector(Value n0, Value n1, function_ref<void(Value n, Value local, Value mask)> body);
  SmallVector<Index> columnAt(Value n) {
    return splitIndex(e, Index(n, 1, lanes), c.n, lanes);
  }
  Value sumAddress(int64_t row, Value local) {
    Value at = addBytes(e, sums, mulI(e, local, partBytes));
    return addBytes(e, at, constI64(e, row * block * partBytes));
  }

  Contraction &c;
  Epilogue &epilogue;
  Emission &e;
  int64_t rows, lanes, partBytes, block, atOnce;
  Value sums;
  SmallVector<SmallVector<Index>> m;
};
} // namespace

Stream::Stream(Contraction &c, Epilogue &epilogue)
    : c(c), epilogue(epilogue), e(c.kernel.e), rows(c.mSize()), lanes(lanesFor(c, c.nSize())),
      partBytes(computeType(c.element).getIntOrFloatBitWidth() / 8) {
  int64_t columns = std::max(kLeastColumns, c.nSize() / std::max<int64_t>(1, kEnoughTasks / c.batchSize()));
  columns = std::min(columns, kSumBytes / (rows * partBytes));
  block = llvm::alignTo(std::min(columns, c.nSize()), lanes);
  atOnce = std::clamp<int64_t>(16 / rows, 4, 8);
  sums = stackBuffer(e, rows * block * partBytes);
  for (int64_t r = 0; r < rows; ++r) {
    m.push_back(splitIndex(e, Index(constI64(e, r)), c.m, 1));
  }
}

void Stream::forEachVector(Value n0, Value n1, function_ref<void(Value, Value, Value)> body) {
  int64_t full = c.nSize() / lanes * lanes;
  emitFor(e, n0, minI(e, n1, full), lanes, [&](Value n) { body(n, subI(e, n, n0), {}); });
  if (full == c.nSize()) {
    return;
  }
  emitIf(e, compareI(e, arith::CmpIPredicate::eq, n1, c.nSize()), [&] {
    Value n = constI64(e, full);
    Value mask = compareI(e, arith::CmpIPredicate::slt, laneIndices(e, Index(n, 1), lanes), c.nSize());
    body(n, subI(e, n, n0), mask);
  });
}

void Stream::addRows(ArrayRef<Index> batch, Value n0, Value n1, SmallVector<Index> k, int64_t count) {
  SmallVector<SmallVector<Index>> at;
  SmallVector<Elem> scalars; // count per row
  for (int64_t u = 0; u < count; ++u) {
    at.push_back(k);
    at.back().back() = addIndex(e, k.back(), u);
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t u = 0; u < count; ++u) {
      scalars.push_back(splat(e, c.lhs.read(batch, m[r], at[u], 1, {}), lanes));
    }
  }
  Value zero = constI64(e, 0);
  forEachVector(n0, n1, [&](Value n, Value local, Value mask) {
    SmallVector<Index> column = columnAt(n);
    SmallVector<Elem> values;
    for (int64_t u = 0; u < count; ++u) {
      values.push_back(c.rhs.read(batch, column, at[u], lanes, mask));
    }
    for (int64_t r = 0; r < rows; ++r) {
      Value address = sumAddress(r, local);
      Elem sum = loadElements(e, c.element, address, zero, lanes);
      for (int64_t u = 0; u < count; ++u) {
        sum = multiplyAdd(e, c.element, sum, scalars[r * count + u], values[u]);
      }
      storeElements(e, c.element, sum, address, zero);
    }
  });
}

void Stream::nest(ArrayRef<Index> batch, Value n0, Value n1, SmallVector<Index> k) {
  int64_t size = c.k[k.size()];
  bool last = k.size() + 1 == c.k.size();
  auto loop = [&](int64_t from, int64_t to, int64_t step) {
    emitFor(e, constI64(e, from), constI64(e, to), step, [&](Value i) {
      SmallVector<Index> deeper(k);
      deeper.push_back(Index(i));
      last ? addRows(batch, n0, n1, deeper, step) : nest(batch, n0, n1, deeper);
    });
  };
  int64_t full = last ? size / atOnce * atOnce : size;
  loop(0, full, last ? atOnce : 1);
  loop(full, size, 1);
}

void Stream::emit() {
  int64_t blocks = llvm::divideCeil(c.nSize(), block);
  emitTasks(c.kernel, c.batchSize() * blocks, [&](Value task) {
    SmallVector<Value> place = delinearize(e, task, {c.batchSize(), blocks});
    SmallVector<Index> batch = splitIndex(e, Index(place[0]), c.batch, 1);
    Value n0 = mulI(e, place[1], block), n1 = minI(e, addI(e, n0, block), c.nSize());
    Value zero = constI64(e, 0);
    emitFor(e, zero, constI64(e, rows * block), lanes, [&](Value i) {
      storeElements(e, c.element, zeroElem(e, c.element, lanes), sumAddress(0, i), zero);
    });
    nest(batch, n0, n1, {});
    forEachVector(n0, n1, [&](Value n, Value local, Value mask) {
      for (int64_t r = 0; r < rows; ++r) {
        Elem sum = loadElements(e, c.element, sumAddress(r, local), zero, lanes);
        epilogue.store(c.element, sum, c.outIndex(batch, m[r], columnAt(n), lanes), lanes, mask);
      }
    });
  });
}

void emitStream(Contraction &c, Epilogue &epilogue) { Stream(c, epilogue).emit(); }

} // namespace hlo::codegen
