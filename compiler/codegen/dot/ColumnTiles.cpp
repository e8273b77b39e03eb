//===- ColumnTiles.cpp - Few rows, tiles of columns whose sums are kept ---===//
#include "compiler/codegen/dot/ColumnTiles.h"
#include "compiler/codegen/dot/Scaled.h"

#include <numeric>

using namespace mlir;

namespace hlo::codegen {

ColumnTiles::ColumnTiles(Contraction &c, Epilogue &epilogue, int64_t span, int64_t lanes)
    : c(c), epilogue(epilogue), e(c.kernel.e), buffers(e, c.element), m(c.mSize()), lanes(lanes),
      span(span), vectors(span / lanes), tiles(llvm::divideCeil(c.nSize(), span)),
      mostTiles(std::clamp<int64_t>(e.machine.memory.l2 / 4 / (m * span * buffers.partBytes), 1,
                                    tiles)) {}

void ColumnTiles::allocate() { sums = stackBuffer(e, mostTiles * m * span * buffers.partBytes); }

ColumnTiles::Tile ColumnTiles::tileAt(Value number, Value first) const {
  Value start = mulI(e, number, span);
  return {c.nSize() % span ? minI(e, start, c.nSize() - span) : start, subI(e, number, first)};
}

SmallVector<Index> ColumnTiles::columns(const Tile &tile, Value vector) const {
  Value first = addI(e, tile.start, mulI(e, vector, lanes));
  int64_t start = c.nSize() % span ? c.nSize() - span : span;
  return splitIndex(e, Index(first, 1, Congruence(std::gcd(lanes, start))), c.n, lanes);
}

Value ColumnTiles::sumAt(const Tile &tile, int64_t row, Value vector) const {
  Value place = addI(e, mulI(e, tile.slot, m * span), mulI(e, vector, lanes));
  return buffers.address(sums, place, row * span);
}

SmallVector<ScaledOperand::Coefficients> ColumnTiles::coefficients(Indices batch, const Tile &tile,
                                                                   Value k) const {
  SmallVector<ScaledOperand::Coefficients> all;
  for (int64_t v = 0; v < vectors; ++v) {
    all.push_back(c.rhs.coefficients(batch, columns(tile, constI64(e, v)),
                                     splitIndex(e, Index(k), c.k, 1), lanes));
  }
  return all;
}

/// For rows that are not ordinary: infinities and NaNs as the program has them, element by element.
void ColumnTiles::addPlainly(Indices batch, Value from, Value to,
                             function_ref<Elem(Value, int64_t)> element) {
  emitFor(e, from, to, 1, [&](Value number) {
    Tile tile = tileAt(number, from);
    emitFor(e, constI64(e, 0), constI64(e, vectors), 1, [&](Value vector) {
      SmallVector<Index> n = columns(tile, vector);
      Sums inner = zeroSums(e, c.element, m, lanes);
      carrySums(e, constI64(e, 0), constI64(e, c.kSize()), 1, inner, [&](Value k, Sums &now) {
        multiplyStep(
            e, Multiplier{e, c.element}, m, 1, [&](int64_t r) { return element(k, r); },
            [&](int64_t) {
              return c.rhs.read(batch, n, splitIndex(e, Index(k), c.k, 1), lanes, {});
            },
            now);
      });
      for (int64_t r = 0; r < m; ++r) {
        buffers.store(sumAt(tile, r, vector), inner[r]);
      }
    });
  });
}

void ColumnTiles::store(Indices batch, Value from, Value to) {
  auto storeVector = [&](const Tile &tile, Value vector, Value mask) {
    SmallVector<Index> n = columns(tile, vector);
    for (int64_t r = 0; r < m; ++r) {
      SmallVector<Index> row = splitIndex(e, Index(constI64(e, r)), c.m, 1);
      epilogue.store(c.element, buffers.load(sumAt(tile, r, vector), lanes),
                     c.outIndex(batch, row, n, lanes), lanes, mask);
    }
  };
  int64_t whole = c.nSize() / span;
  emitFor(e, from, minI(e, to, whole), 1, [&](Value number) {
    Tile tile = tileAt(number, from);
    emitFor(e, constI64(e, 0), constI64(e, vectors), 1,
            [&](Value vector) { storeVector(tile, vector, {}); });
  });
  if (whole == tiles) {
    return;
  }
  // The last tile ends with the columns; those that it shares with the tile before are that one's.
  emitIf(e, compareI(e, arith::CmpIPredicate::eq, to, tiles), [&] {
    Tile tile = tileAt(constI64(e, whole), from);
    int64_t shared = (whole + 1) * span - c.nSize();
    for (int64_t v = shared / lanes; v < vectors; ++v) {
      int64_t off = std::max<int64_t>(0, shared - v * lanes);
      storeVector(tile, constI64(e, v), off ? lastLanes(e, lanes - off, lanes) : Value());
    }
  });
}

void ColumnTiles::emit(int64_t tileBytes, function_ref<Value(Indices)> copyRows,
                       function_ref<void(Indices, Value, Value)> addTiles,
                       function_ref<Elem(Value, int64_t)> element) {
  int64_t perTask = unitsPerTask(tiles, tileBytes, c.batchSize());
  forEachBatch(c, llvm::divideCeil(tiles, perTask), [&](Indices batch, Value first, Value last) {
    Value ordinary = copyRows(batch);
    Value end = minI(e, mulI(e, last, perTask), tiles);
    emitFor(e, mulI(e, first, perTask), end, mostTiles, [&](Value from) {
      Value to = minI(e, addI(e, from, mostTiles), end);
      auto add = [&] {
        Value count = mulI(e, subI(e, to, from), m * span);
        buffers.fill(sums, constI64(e, 0), constI64(e, 0), count, zeroElem(e, c.element, lanes));
        addTiles(batch, from, to);
      };
      if (ordinary) {
        emitIfElse(e, ordinary, add, [&] { addPlainly(batch, from, to, element); });
      } else {
        add();
      }
      store(batch, from, to);
    });
  });
}

} // namespace hlo::codegen
