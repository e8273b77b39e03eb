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
#include "compiler/codegen/dot/Contraction.h"

using namespace mlir;

namespace hlo::codegen {

/// Multiply-adds per task: a few microseconds, so that its dispatch is a small part of it.
static constexpr int64_t kMultipliesPerTask = 1 << 16;

namespace {
struct Nest {
  Contraction &c;
  int64_t lanes;
  SmallVector<Index> batch, m, n;
  Value mask;

  /// `acc` plus the products over the dimensions of k that come after those indexed by `k`.
  SmallVector<Value> sum(SmallVector<Index> k, ValueRange acc) {
    Emission &e = c.kernel.e;
    if (k.size() == c.k.size()) {
      Elem a = splatTo(c.lhs.read(batch, m, k, 1, {}));
      Elem b = c.rhs.read(batch, n, k, lanes, mask);
      Elem next = multiplyAdd(e, c.element, Elem(acc[0], acc.size() > 1 ? acc[1] : Value()), a, b);
      return next.im ? SmallVector<Value>{next.re, next.im} : SmallVector<Value>{next.re};
    }
    return emitForCarrying(e, constI64(e, 0), constI64(e, c.k[k.size()]), 1, acc,
                           [&](Value i, ValueRange carried) {
                             SmallVector<Index> deeper(k);
                             deeper.push_back(Index(i));
                             return sum(deeper, carried);
                           });
  }

  Elem splatTo(const Elem &scalar) { return lanes > 1 ? splat(c.kernel.e, scalar, lanes) : scalar; }
};
} // namespace

void emitNest(Contraction &c, Epilogue &epilogue) {
  Emission &e = c.kernel.e;
  int64_t size = c.nSize(), lanes = lanesFor(c, size);
  int64_t vectors = llvm::divideCeil(size, lanes);
  int64_t items = c.batchSize() * c.mSize() * vectors;
  int64_t perTask = std::clamp<int64_t>(
      kMultipliesPerTask / std::max<int64_t>(1, c.kSize() * lanes), 1, std::max<int64_t>(1, items));
  emitItems(c.kernel, items, perTask, [&](Value item) {
    SmallVector<Value> place = delinearize(e, item, {c.batchSize(), c.mSize(), vectors});
    Nest nest{c, lanes};
    nest.batch = splitIndex(e, Index(place[0]), c.batch, 1);
    nest.m = splitIndex(e, Index(place[1]), c.m, 1);
    Index column(mulI(e, place[2], lanes), lanes > 1 ? 1 : 0, lanes);
    nest.n = splitIndex(e, column, c.n, lanes);
    if (size % lanes != 0) {
      nest.mask = compareI(e, arith::CmpIPredicate::slt, laneIndices(e, column, lanes), size);
    }
    Elem zero = zeroElem(e, c.element, lanes);
    SmallVector<Value> init{zero.re};
    if (zero.im) {
      init.push_back(zero.im);
    }
    SmallVector<Value> sums = nest.sum({}, init);
    epilogue.store(c.element, Elem(sums[0], sums.size() > 1 ? sums[1] : Value()),
                   c.outIndex(nest.batch, nest.m, nest.n, lanes), lanes, nest.mask);
  });
}

} // namespace hlo::codegen
