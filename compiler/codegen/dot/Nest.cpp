//===- Nest.cpp - A contraction as a loop nest per output vector ----------===//
//
// Takes every shape and every type. For each vector of the result along n, a nest of
// loops over the dimensions of k accumulates in registers:
//
//   for each vector of n
//     for k0, k1, ...
//       sum[lanes of n] += broadcast(lhs[m, k]) * rhs[k, lanes of n]
//
// It needs no scratch memory. It runs at the speed of memory if each element of the rhs
// is used once, and far below the multiply-add peak if elements are reused.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/Kernel.h"
#include "compiler/codegen/dot/Contraction.h"

using namespace mlir;

namespace hlo::codegen {

/// Multiply-adds per task: a few microseconds, so that its dispatch is a small part of it.
static constexpr int64_t kMultipliesPerTask = 1 << 16;

void emitNest(Contraction &c, Epilogue &epilogue) {
  Emission &e = c.kernel.e;
  int64_t size = c.nSize(), lanes = lanesFor(c, size);
  int64_t vectors = llvm::divideCeil(size, lanes);
  int64_t items = c.batchSize() * c.mSize() * vectors;
  emitItems(c.kernel, items, c.kSize() * lanes, kMultipliesPerTask, [&](Value item) {
    SmallVector<Value> place = delinearize(e, item, {c.batchSize(), c.mSize(), vectors});
    SmallVector<Index> batch = splitIndex(e, Index(place[0]), c.batch, 1);
    SmallVector<Index> m = splitIndex(e, Index(place[1]), c.m, 1);
    Index column(mulI(e, place[2], lanes), lanes > 1 ? 1 : 0, lanes);
    SmallVector<Index> n = splitIndex(e, column, c.n, lanes);
    Value mask = lanesInside(e, column.base, lanes, size);
    Sums sums = zeroSums(e, c.element, 1, lanes);
    carryNest(e, c.k, sums, [&](ArrayRef<Index> k, Value, Sums &inner) {
      Elem a = splat(e, c.lhs.read(batch, m, k, 1, {}), lanes);
      inner[0] = multiplyAdd(e, c.element, inner[0], a, c.rhs.read(batch, n, k, lanes, mask));
    });
    epilogue.store(c.element, sums[0], c.outIndex(batch, m, n, lanes), lanes, mask);
  });
}

} // namespace hlo::codegen
