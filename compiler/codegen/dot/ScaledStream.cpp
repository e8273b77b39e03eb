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
#include "compiler/codegen/dot/ColumnTiles.h"
#include "compiler/codegen/dot/Scaled.h"

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
  using Tile = ColumnTiles::Tile;

  /// The lhs to `activations`, and its totals; whether all of it is ordinary.
  Value copyRows(Indices batch);
  void forEachBlock(function_ref<void(const Block &block)> body);
  void addTile(Indices batch, const Tile &tile, const Block &block);
  void addBlock(const Tile &tile, const Block &block, int64_t row, SmallVector<Value> made,
                ArrayRef<ScaledOperand::Coefficients> coefficients);

  Elem activation(Value k, int64_t row) {
    return buffers.load(buffers.address(activations, mulI(e, k, m), row), 1);
  }
  Value factorAt(Value k, int64_t row) {
    return buffers.address(factors, mulI(e, divI(e, k, rowsAtOnce(unpack)), m), row);
  }

  ColumnTiles tiles;
  Value activations; ///< the lhs in f32, k by k
  Value factors;     ///< the same as a step multiplies them
  Value totals;      ///< of each block, row by row
  Value partial;     ///< the parts of a tile's sums, row by row, if they are not made together
};
} // namespace

ScaledStream::ScaledStream(Contraction &c, Epilogue &epilogue)
    : ScaledForm(c, epilogue, UnitStride::Free, scaledStreamTile(c)),
      tiles(c, epilogue, span, lanes) {
  factors = activations = stackBuffer(e, c.kSize() * m * buffers.partBytes);
  if (unpack.pairs) {
    factors = stackBuffer(e, c.kSize() / 2 * m * buffers.partBytes);
  }
  int64_t blocks = c.kSize() / run * llvm::divideCeil(run, size.depth);
  totals = stackBuffer(e, blocks * m * buffers.partBytes);
  tiles.allocate();
  if (size.atOnce < parts) {
    partial = stackBuffer(e, m * span * buffers.partBytes);
  }
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
  Value ordinary = emitForCarrying(
      e, constI64(e, 0), constI64(e, c.kSize()), 1, yes,
      [&](Value at, ValueRange carried) -> SmallVector<Value> {
        SmallVector<Index> k = splitIndex(e, Index(at), c.k, 1);
        Value all = carried[0];
        for (int64_t r = 0; r < m; ++r) {
          Elem value = c.lhs.read(batch, splitIndex(e, Index(constI64(e, r)), c.m, 1), k, 1, {});
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
        scales = tiles.coefficients(batch, tile, block.k);
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
  SmallVector<ScaledOperand::Coefficients> scales = tiles.coefficients(batch, tile, block.k);
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
    Value address = tiles.sumAt(tile, row, static_cast<int64_t>(v));
    Elem out = buffers.load(address, lanes);
    out = scale ? multiply(out, Elem(sum), scale) : addElems(e, c.element, out, Elem(sum));
    buffers.store(address, offset ? multiply(out, total, offset) : out);
  }
}

void ScaledStream::emit() {
  auto addTiles = [&](Indices batch, Value from, Value to) {
    forEachBlock([&](const Block &block) {
      emitFor(e, from, to, 1,
              [&](Value number) { addTile(batch, tiles.tileAt(number, from), block); });
    });
  };
  tiles.emit(
      c.kSize() * unpack.tileBytes(), [&](Indices batch) { return copyRows(batch); }, addTiles,
      [&](Value k, int64_t row) { return activation(k, row); });
}

void emitScaledStream(Contraction &c, Epilogue &epilogue) { ScaledStream(c, epilogue).emit(); }

} // namespace hlo::codegen
