//===- ScaledStream.cpp - Few rows, scaled integers along the columns -----===//
//
// In: a contraction of a few rows with a rhs of narrow integers (ScaledOperand) that is contiguous
// along n, as a decoder's weights are when they have a row for each input. Out: tiles of columns,
// whose sums over a block along k stay in registers:
//
//   for each block of k                        at most 32 steps, with one scale for each column
//     for each tile of columns
//       sum[m, n]  = lhs[m, k] * stored[k, n] + lhs[m, k + 1] * stored[k + 1, n] + ...
//       out[m, n] += scale[n] * (sum[m, n] - bias * total[m]) + offset[n] * total[m]
//
// where total[m] is the sum of the block's lhs[m, k], which all columns share. So a scale and a
// zero point cost a few instructions in each block instead of each step.
//
// Where the integers are unpacked as pairs of bf16 (Unpack.h), and the lhs is exact in bf16, a step
// takes two rows.
//
// A block's rows are as many streams. Prefetchers do not follow all of them, so each step
// prefetches its own row, two lines ahead.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/Groups.h"
#include "compiler/codegen/dot/Scaled.h"

#include <numeric>

using namespace mlir;

namespace hlo::codegen {

/// Bytes from a tile's part of a row to what is prefetched.
static constexpr int64_t kAhead = 2 * kLineBytes;

namespace {
class ScaledStream : ScaledForm {
public:
  ScaledStream(Contraction &c, Epilogue &epilogue);
  void emit();

private:
  using Indices = ArrayRef<Index>;
  struct Block {
    Value k, number;
    int64_t count;
  };
  /// One tile of columns, and where its sums are.
  struct Tile {
    Value start; ///< its first column
    Value slot;  ///< its number among those of the call's part
    SmallVector<Index> columns(ScaledStream &form, int64_t vector) const;
  };

  /// The lhs to `activations`, and its totals; whether all of it is ordinary.
  Value copyRows(Indices batch);
  void forEachBlock(function_ref<void(const Block &block)> body);
  void addTiles(Indices batch, Value from, Value to);
  void addTile(Indices batch, const Tile &tile, const Block &block);
  void addBlock(const Tile &tile, const Block &block, int64_t row, SmallVector<Value> made,
                ArrayRef<ScaledOperand::Coefficients> coefficients);
  void addPlainly(Indices batch, Value from, Value to);
  void storeTiles(Indices batch, Value from, Value to);

  /// Lanes from a column on that is a whole number of vectors after a tile's first.
  SmallVector<Index> columnsAt(Value first) {
    int64_t start = c.nSize() % span ? c.nSize() - span : span;
    return splitIndex(e, Index(first, 1, Congruence(std::gcd(lanes, start))), c.n, lanes);
  }
  Tile tileAt(Value number, Value first) {
    Value start = mulI(e, number, span);
    return {c.nSize() % span ? minI(e, start, c.nSize() - span) : start, subI(e, number, first)};
  }
  Value sumAt(const Tile &tile, int64_t row, Value vector) {
    Value place = addI(e, mulI(e, tile.slot, m * span), mulI(e, vector, lanes));
    return buffers.address(sums, place, row * span);
  }
  Value sumAt(const Tile &tile, int64_t row, int64_t vector) {
    return sumAt(tile, row, constI64(e, vector));
  }
  Elem activation(Value k, int64_t row) {
    return buffers.load(buffers.address(activations, mulI(e, k, m), row), 1);
  }
  Value factorAt(Value k, int64_t row) {
    return buffers.address(factors, mulI(e, divI(e, k, rowsAtOnce(unpack)), m), row);
  }

  int64_t tiles;
  int64_t mostTiles; ///< tiles whose sums are kept at a time
  Value activations; ///< the lhs in f32, k by k
  Value factors;     ///< the same as a step multiplies them
  Value totals;      ///< of each block, row by row
  Value sums;        ///< tile by tile, row by row
  Value partial;     ///< the parts of a tile's sums, row by row, if they are not made together
  SmallVector<SmallVector<Index>> rowIndex;
};
} // namespace

ScaledStream::ScaledStream(Contraction &c, Epilogue &epilogue)
    : ScaledForm(c, epilogue, UnitStride::Free, scaledStreamTile(c)),
      tiles(llvm::divideCeil(c.nSize(), span)) {
  mostTiles =
      std::clamp<int64_t>(e.machine.memory.l2 / 4 / (m * span * buffers.partBytes), 1, tiles);
  factors = activations = stackBuffer(e, c.kSize() * m * buffers.partBytes);
  if (unpack.pairs) {
    factors = stackBuffer(e, c.kSize() / 2 * m * buffers.partBytes);
  }
  int64_t blocks = c.kSize() / run * llvm::divideCeil(run, size.depth);
  totals = stackBuffer(e, blocks * m * buffers.partBytes);
  sums = stackBuffer(e, mostTiles * m * span * buffers.partBytes);
  if (size.atOnce < parts) {
    partial = stackBuffer(e, m * span * buffers.partBytes);
  }
  for (int64_t r = 0; r < m; ++r) {
    rowIndex.push_back(splitIndex(e, Index(constI64(e, r)), c.m, 1));
  }
}

SmallVector<Index> ScaledStream::Tile::columns(ScaledStream &form, int64_t vector) const {
  Emission &e = form.e;
  return form.columnsAt(addI(e, start, vector * form.lanes));
}

void ScaledStream::forEachBlock(function_ref<void(const Block &)> body) {
  int64_t perRun = llvm::divideCeil(run, size.depth);
  emitFor(e, constI64(e, 0), constI64(e, c.kSize() / run), 1, [&](Value group) {
    forEachPiece(e, run, size.depth, [&](Value at, int64_t count) {
      Value number = addI(e, mulI(e, group, perRun), divI(e, at, size.depth));
      body({addI(e, mulI(e, group, run), at), number, count});
    });
  });
}

Value ScaledStream::copyRows(Indices batch) {
  Value yes = arith::ConstantOp::create(e.b, e.loc, e.b.getBoolAttr(true));
  Value ordinary =
      emitForCarrying(e, constI64(e, 0), constI64(e, c.kSize()), 1, yes,
                      [&](Value at, ValueRange carried) -> SmallVector<Value> {
                        SmallVector<Index> k = splitIndex(e, Index(at), c.k, 1);
                        Value all = carried[0];
                        for (int64_t r = 0; r < m; ++r) {
                          Elem value = c.lhs.read(batch, rowIndex[r], k, 1, {});
                          buffers.store(buffers.address(activations, mulI(e, at, m), r), value);
                          all = arith::AndIOp::create(e.b, e.loc, all, isOrdinary(e, value.re));
                        }
                        return {all};
                      })[0];
  if (unpack.pairs) {
    emitFor(e, constI64(e, 0), constI64(e, c.kSize()), 2, [&](Value k) {
      for (int64_t r = 0; r < m; ++r) {
        Value both[] = {activation(k, r).re, activation(addI(e, k, 1), r).re};
        buffers.store(factorAt(k, r), Elem(groupLanes(e, KGroup::Bf16Pair, both)));
      }
    });
  }
  // In the order in which a tile adds up its products: where all integers are zero, the products
  // with the bias are then exactly the bias times the total.
  forEachBlock([&](const Block &block) {
    Sums total = zeroSums(e, c.element, m, 1);
    carrySums(e, constI64(e, 0), constI64(e, block.count), 1, total, [&](Value i, Sums &inner) {
      for (int64_t r = 0; r < m; ++r) {
        inner[r] = addElems(e, c.element, inner[r], activation(addI(e, block.k, i), r));
      }
    });
    for (int64_t r = 0; r < m; ++r) {
      buffers.store(buffers.address(totals, mulI(e, block.number, m), r), total[r]);
    }
  });
  return ordinary;
}

void ScaledStream::addTile(Indices batch, const Tile &tile, const Block &block) {
  auto coefficients = [&] {
    SmallVector<ScaledOperand::Coefficients> all;
    for (int64_t v = 0; v < parts; ++v) {
      all.push_back(c.rhs.coefficients(batch, tile.columns(*this, v),
                                       splitIndex(e, Index(block.k), c.k, 1), lanes));
    }
    return all;
  };
  Value base = scaledAddress(c, batch, tile.start, block.k);
  int64_t rowBytes = c.rhs.kStrides.back() * unpack.bits / 8;
  for (int64_t r0 = 0; r0 < m; r0 += size.rows) {
    int64_t rows = std::min(size.rows, m - r0);
    for (int64_t p0 = 0; p0 < parts; p0 += size.atOnce) {
      Sums inner = zeroSums(e, c.element, rows * size.atOnce, lanes);
      int64_t step = rowsAtOnce(unpack);
      carrySums(e, constI64(e, 0), constI64(e, block.count), step, inner, [&](Value i, Sums &now) {
        Value address = addBytes(e, base, mulI(e, i, rowBytes));
        Value next = addBytes(e, address, constI64(e, rowBytes));
        if (r0 == 0 && p0 == 0) {
          for (int64_t row = 0; row < step; ++row) {
            emitPrefetch(e, addBytes(e, row == 0 ? address : next, constI64(e, kAhead)));
          }
        }
        SmallVector<Value, 2> words = unpack.words(address, next);
        multiplyStep(
            e, Multiplier{e, c.element, unpack.pairs}, rows, size.atOnce,
            [&](int64_t r) { return buffers.load(factorAt(addI(e, block.k, i), r0 + r), 1); },
            [&](int64_t v) { return Elem(unpack.part(address, words, p0 + v)); }, now);
      });
      SmallVector<ScaledOperand::Coefficients> scales;
      if (!partial) {
        scales = coefficients();
      }
      for (int64_t r = 0; r < rows; ++r) {
        SmallVector<Value> made;
        for (int64_t v = 0; v < size.atOnce; ++v) {
          made.push_back(inner[r * size.atOnce + v].re);
        }
        if (!partial) {
          addBlock(tile, block, r0 + r, made, scales);
          continue;
        }
        for (auto [v, value] : llvm::enumerate(made)) {
          int64_t place = (r0 + r) * span + (p0 + static_cast<int64_t>(v)) * lanes;
          buffers.store(buffers.address(partial, constI64(e, place)), Elem(value));
        }
      }
    }
  }
  if (!partial) {
    return;
  }
  SmallVector<ScaledOperand::Coefficients> scales = coefficients();
  for (int64_t r = 0; r < m; ++r) {
    SmallVector<Value> made;
    for (int64_t v = 0; v < parts; ++v) {
      Value place = constI64(e, r * span + v * lanes);
      made.push_back(buffers.load(buffers.address(partial, place), lanes).re);
    }
    addBlock(tile, block, r, made, scales);
  }
}

/// Adds a row's sums of a block, given by parts, to those of its tile.
void ScaledStream::addBlock(const Tile &tile, const Block &block, int64_t row,
                            SmallVector<Value> made,
                            ArrayRef<ScaledOperand::Coefficients> coefficients) {
  Elem total =
      splat(e, buffers.load(buffers.address(totals, mulI(e, block.number, m), row), 1), lanes);
  for (auto [p, sum] : llvm::enumerate(made)) {
    if (unpack.factor(p) != 1) {
      sum = arith::MulFOp::create(e.b, e.loc, sum, constF32(e, unpack.factor(p), lanes).re);
    }
    if (unpack.bias(p) != 0) {
      sum = multiply(Elem(sum), total, constF32(e, -unpack.bias(p), lanes)).re;
    }
  }
  for (auto [v, sum] : llvm::enumerate(unpack.inOrder(made))) {
    const auto &[scale, offset] = coefficients[v];
    Value address = sumAt(tile, row, static_cast<int64_t>(v));
    Elem out = buffers.load(address, lanes);
    out = scale ? multiply(out, Elem(sum), scale) : addElems(e, c.element, out, Elem(sum));
    buffers.store(address, offset ? multiply(out, total, offset) : out);
  }
}

void ScaledStream::addTiles(Indices batch, Value from, Value to) {
  forEachBlock([&](const Block &block) {
    emitFor(e, from, to, 1, [&](Value number) { addTile(batch, tileAt(number, from), block); });
  });
}

/// For rows that are not ordinary: infinities and NaNs as the program has them, element by element.
void ScaledStream::addPlainly(Indices batch, Value from, Value to) {
  emitFor(e, from, to, 1, [&](Value number) {
    Tile tile = tileAt(number, from);
    emitFor(e, constI64(e, 0), constI64(e, parts), 1, [&](Value vector) {
      SmallVector<Index> n = columnsAt(addI(e, tile.start, mulI(e, vector, lanes)));
      Sums inner = zeroSums(e, c.element, m, lanes);
      carrySums(e, constI64(e, 0), constI64(e, c.kSize()), 1, inner, [&](Value k, Sums &now) {
        multiplyStep(
            e, Multiplier{e, c.element}, m, 1, [&](int64_t r) { return activation(k, r); },
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

void ScaledStream::storeTiles(Indices batch, Value from, Value to) {
  auto store = [&](const Tile &tile, Value vector, Value mask) {
    SmallVector<Index> n = columnsAt(addI(e, tile.start, mulI(e, vector, lanes)));
    for (int64_t r = 0; r < m; ++r) {
      epilogue.store(c.element, buffers.load(sumAt(tile, r, vector), lanes),
                     c.outIndex(batch, rowIndex[r], n, lanes), lanes, mask);
    }
  };
  int64_t whole = c.nSize() / span;
  emitFor(e, from, minI(e, to, whole), 1, [&](Value number) {
    Tile tile = tileAt(number, from);
    emitFor(e, constI64(e, 0), constI64(e, parts), 1,
            [&](Value vector) { store(tile, vector, {}); });
  });
  if (whole == tiles) {
    return;
  }
  // The last tile ends with the columns; those that it shares with the tile before are that one's.
  emitIf(e, compareI(e, arith::CmpIPredicate::eq, to, tiles), [&] {
    Tile tile = tileAt(constI64(e, whole), from);
    int64_t shared = (whole + 1) * span - c.nSize();
    for (int64_t v = shared / lanes; v < parts; ++v) {
      int64_t off = std::max<int64_t>(0, shared - v * lanes);
      store(tile, constI64(e, v), off ? lastLanes(e, lanes - off, lanes) : Value());
    }
  });
}

void ScaledStream::emit() {
  int64_t tileBytes = c.kSize() * unpack.tileBytes();
  int64_t perTask = unitsPerTask(tiles, tileBytes, c.batchSize());
  forEachBatch(c, llvm::divideCeil(tiles, perTask), [&](Indices batch, Value first, Value last) {
    Value ordinary = copyRows(batch);
    Value end = minI(e, mulI(e, last, perTask), tiles);
    emitFor(e, mulI(e, first, perTask), end, mostTiles, [&](Value from) {
      Value to = minI(e, addI(e, from, mostTiles), end);
      emitIfElse(
          e, ordinary,
          [&] {
            Value count = mulI(e, subI(e, to, from), m * span);
            buffers.fill(sums, constI64(e, 0), constI64(e, 0), count,
                         zeroElem(e, c.element, lanes));
            addTiles(batch, from, to);
          },
          [&] { addPlainly(batch, from, to); });
      storeTiles(batch, from, to);
    });
  });
}

void emitScaledStream(Contraction &c, Epilogue &epilogue) { ScaledStream(c, epilogue).emit(); }

} // namespace hlo::codegen
