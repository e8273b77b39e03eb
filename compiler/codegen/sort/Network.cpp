//===- Network.cpp - Short rows sorted side by side in vectors ------------===//
//
// In: the records of `lanes` rows, interleaved: record i of row l is lane l of vector i. Out: every
// row sorted, by Batcher's merge exchange (Knuth, volume 3, algorithm 5.2.2M), which works for
// every length: vectors i and i + d are compared and exchanged
//
//   for p = 2^(t-1), ..., 2, 1:
//     (d, r) = (p, 0), then (q - p, p) for q = 2^(t-1), ..., 2p:
//       for all i < n - d with i & p == r
//
// The network is not stable, but that has no effect: either all records differ (they hold the
// position), or equal records are identical. Short rows stay in registers.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/sort/SortEmission.h"

using namespace mlir;

namespace hlo::codegen {

/// Longest row that is sorted in registers, without loops.
static constexpr int64_t kRegisters = 16;

/// (a, b) -> (smaller, larger), lane by lane.
static void exchange(MutableArrayRef<Num> a, MutableArrayRef<Num> b) {
  Emission &e = *a[0].e;
  if (a.size() == 1) {
    Value x = a[0], y = b[0];
    a[0] = Num(e, arith::MinUIOp::create(e.b, e.loc, x, y));
    b[0] = Num(e, arith::MaxUIOp::create(e.b, e.loc, x, y));
    return;
  }
  Num swap = below(b[0], a[0]);
  for (size_t w = 1; w < a.size(); ++w) {
    swap = below(b[w], a[w]) | (equal(b[w], a[w]) & swap);
  }
  for (size_t w = 0; w < a.size(); ++w) {
    Num x = a[w], y = b[w];
    a[w] = select(swap, y, x);
    b[w] = select(swap, x, y);
  }
}

void SortEmission::networkSort(const RecordBuffer &buffer) {
  int64_t n = plan.n, lanes = plan.lanes, top = llvm::Log2_64_Ceil(n);
  auto load = [&](Value i) {
    return loadRecord(buffer, Index(i), Index(constI64(e, 0), 1), lanes, {});
  };
  auto store = [&](Value i, ArrayRef<Num> record) {
    storeRecord(buffer, Index(i), Index(constI64(e, 0), 1), record, {});
  };
  if (n <= kRegisters && plan.words.size() == 1) {
    SmallVector<SmallVector<Num>> rows;
    for (int64_t i = 0; i < n; ++i) {
      rows.push_back(load(constI64(e, i)));
    }
    for (int64_t p = int64_t(1) << top >> 1; p > 0; p /= 2) {
      for (int64_t q = int64_t(1) << top; q > p; q /= 2) {
        bool first = q == int64_t(1) << top;
        int64_t d = first ? p : q - p, r = first ? 0 : p;
        for (int64_t i = 0; i < n - d; ++i) {
          if ((i & p) == r) {
            exchange(rows[i], rows[i + d]);
          }
        }
      }
    }
    for (int64_t i = 0; i < n; ++i) {
      store(constI64(e, i), rows[i]);
    }
    return;
  }
  Value zero = constI64(e, 0);
  Num one(e, constI64(e, 1));
  auto clamp = [&](Num a, Num high) {
    a = Num(e, maxI(e, a, zero));
    return Num(e, minI(e, a, high));
  };
  emitFor(e, zero, constI64(e, top), 1, [&](Value step) {
    Num log = one.of(top - 1) - Num(e, step);
    Num p = shl(one, log);
    emitFor(e, zero, addI(e, step, 1), 1, [&](Value j) {
      Num first = equal(Num(e, j), 0);
      Num q = shl(one, one.of(top) - Num(e, j));
      Num d = select(first, p, q - p), r = select(first, 0, p);
      // i takes the numbers below n - d with i & p == r; there are `count` of them.
      Num below = one.of(n) - d;
      Num whole = shl(shrU(below, log + 1), log);
      Num count = whole + clamp((below & (shl(p, 1) - 1)) - r, p);
      emitFor(e, zero, count, 1, [&](Value number) {
        Num k(e, number);
        Num i = k + (k & (p.of(int64_t(0)) - p)) + r;
        SmallVector<Num> a = load(i), b = load(i + d);
        exchange(a, b);
        store(i, a);
        store(i + d, b);
      });
    });
  });
}

} // namespace hlo::codegen
