//===- ByteStream.cpp - Few quantized rows, integers along the columns ----===//
//
// In: a contraction of a few rows, which are bytes or may be quantized (QuantizedRows), with a rhs
// of narrow integers (ScaledOperand) that is contiguous along n. Out: tiles of columns, whose
// integer sums over a block along k stay in registers:
//
//   for each block of k                        at most 32 steps, with one scale for each column
//     for each tile of columns
//       sum[m, n]  = bytes[m, k..k+3] * stored[k..k+3, n] + ...        a Product of four bytes
//       out[m, n] += scale[n] * (scale[m] * sum[m, n]) + offset[n] * total[m]
//
// The integers of four rows are brought beside each other in registers (ByteUnpacker).
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/ColumnTiles.h"
#include "compiler/codegen/dot/QuantizedRows.h"
#include "compiler/codegen/dot/Scaled.h"

using namespace mlir;

namespace hlo::codegen {

/// Bytes from a tile's part of a row to what is prefetched.
static constexpr int64_t kAhead = 2 * kLineBytes;
/// Steps of a group.
static constexpr int64_t kGroup = 4;

namespace {
class ByteStream {
public:
  ByteStream(Contraction &c, Epilogue &epilogue);
  void emit();

private:
  using Indices = ArrayRef<Index>;
  using Block = QuantizedRows::Block;
  using Tile = ColumnTiles::Tile;

  void addTile(Indices batch, const Tile &tile, const Block &block);
  SmallVector<Value> sumsOf(Value base, const Block &block, int64_t row, int64_t rows,
                            int64_t plane);

  Contraction &c;
  Emission &e;
  Buffers buffers;
  ByteUnpacker unpack;
  QuantizedRows activations;
  ScaledTile size;
  int64_t m, lanes;
  ColumnTiles tiles;
};
} // namespace

ByteStream::ByteStream(Contraction &c, Epilogue &epilogue)
    : c(c), e(c.kernel.e), buffers(e, c.element), unpack(byteUnpackerOf(c)), activations(c),
      size(byteStreamTile(c)), m(c.mSize()), lanes(unpack.lanes),
      tiles(c, epilogue, unpack.span(), lanes) {
  tiles.allocate();
}

/// The integer sums of a block for some rows and planes from `plane` on, row by row, with lanes as
/// ByteUnpacker::groups has them.
SmallVector<Value> ByteStream::sumsOf(Value base, const Block &block, int64_t row, int64_t rows,
                                      int64_t plane) {
  int64_t rowBytes = c.rhs.kStrides.back() * unpack.bits / 8, each = size.atOnce * kGroup;
  auto wide = VectorType::get({lanes}, e.b.getI32Type());
  Sums sums;
  for (int64_t r = 0; r < rows; ++r) {
    Value start = zeroOf(e, wide);
    if (unpack.bias() != 0) {
      auto bias = e.b.getI32IntegerAttr(static_cast<int32_t>(-unpack.bias()));
      Value total = arith::MulIOp::create(e.b, e.loc, activations.totalOf(row + r, block.number),
                                          arith::ConstantOp::create(e.b, e.loc, bias));
      start = splat(e, Elem(total), lanes).re;
    }
    sums.append(each, Elem(start));
  }
  auto step = [&](Value at, int64_t count, Sums &inner) {
    SmallVector<Value> loaded;
    for (int64_t j = 0; j < kGroup; ++j) {
      if (j >= count) {
        loaded.push_back(zeroOf(e, VectorType::get({unpack.bytes()}, e.b.getI8Type())));
        continue;
      }
      Value address = addBytes(e, base, mulI(e, addI(e, at, j), rowBytes));
      if (row == 0 && plane == 0) {
        emitPrefetch(e, addBytes(e, address, constI64(e, kAhead)));
      }
      loaded.push_back(unpack.load(address));
    }
    SmallVector<Value> factors;
    for (int64_t r = 0; r < rows; ++r) {
      Type word = IntegerType::get(e.b.getContext(), 32, IntegerType::Signed);
      Elem four = loadElements(e, word, activations.byteAt(row + r, block, at), constI64(e, 0), 1);
      factors.push_back(splat(e, four, lanes).re);
    }
    for (int64_t p = 0; p < size.atOnce; ++p) {
      SmallVector<Value> rowsOfPlane;
      for (Value bytes : loaded) {
        rowsOfPlane.push_back(unpack.plane(bytes, plane + p));
      }
      for (auto [g, group] : llvm::enumerate(unpack.groups(rowsOfPlane))) {
        for (int64_t r = 0; r < rows; ++r) {
          Elem &sum = inner[r * each + p * kGroup + static_cast<int64_t>(g)];
          sum = Elem(unpack.multiply(sum.re, group, factors[r]));
        }
      }
    }
  };
  int64_t whole = block.count / kGroup * kGroup;
  carrySums(e, constI64(e, 0), constI64(e, whole), kGroup, sums,
            [&](Value at, Sums &inner) { step(at, kGroup, inner); });
  if (whole < block.count) {
    step(constI64(e, whole), block.count - whole, sums);
  }
  return llvm::map_to_vector(sums, [](const Elem &sum) { return sum.re; });
}

void ByteStream::addTile(Indices batch, const Tile &tile, const Block &block) {
  Value base = scaledAddress(c, batch, tile.start, block.k);
  SmallVector<SmallVector<Value>> made(m); // of each row, plane by plane
  for (int64_t r0 = 0; r0 < m; r0 += size.rows) {
    int64_t rows = std::min(size.rows, m - r0), each = size.atOnce * kGroup;
    for (int64_t p = 0; p < unpack.planes(); p += size.atOnce) {
      SmallVector<Value> some = sumsOf(base, block, r0, rows, p);
      for (int64_t r = 0; r < rows; ++r) {
        made[r0 + r].append(some.begin() + r * each, some.begin() + (r + 1) * each);
      }
    }
  }
  if (!c.element.isF32()) {
    for (int64_t r = 0; r < m; ++r) {
      for (auto [v, sum] : llvm::enumerate(unpack.inOrder(made[r]))) {
        Value address = tiles.sumAt(tile, r, static_cast<int64_t>(v));
        Elem out = addElems(e, c.element, buffers.load(address, lanes), Elem(sum));
        buffers.store(address, out);
      }
    }
    return;
  }
  SmallVector<ScaledOperand::Coefficients> coefficients = tiles.coefficients(batch, tile, block.k);
  auto floats = VectorType::get({lanes}, e.b.getF32Type());
  for (int64_t r = 0; r < m; ++r) {
    Elem own = splat(e, Elem(activations.scaleOf(r, block.number)), lanes), total;
    for (auto [v, sum] : llvm::enumerate(unpack.inOrder(made[r]))) {
      const auto &[scale, offset] = coefficients[v];
      Value value = arith::SIToFPOp::create(e.b, e.loc, floats, sum);
      Value address = tiles.sumAt(tile, r, static_cast<int64_t>(v));
      Elem out = buffers.load(address, lanes);
      if (scale) {
        Value scaled = arith::MulFOp::create(e.b, e.loc, value, own.re);
        out = multiplyAdd(e, c.element, out, Elem(scaled), scale);
      } else {
        out = multiplyAdd(e, c.element, out, Elem(value), own);
      }
      if (offset) {
        if (!total) {
          Value count = arith::SIToFPOp::create(e.b, e.loc, e.b.getF32Type(),
                                                activations.totalOf(r, block.number));
          total = Elem(arith::MulFOp::create(e.b, e.loc, splat(e, Elem(count), lanes).re, own.re));
        }
        out = multiplyAdd(e, c.element, out, total, offset);
      }
      buffers.store(address, out);
    }
  }
}

void ByteStream::emit() {
  auto addTiles = [&](Indices batch, Value from, Value to) {
    activations.forEachBlock([&](const Block &block) {
      emitFor(e, from, to, 1,
              [&](Value number) { addTile(batch, tiles.tileAt(number, from), block); });
    });
  };
  auto element = [&](Value k, int64_t row) { return buffers.load(activations.plainAt(row, k), 1); };
  tiles.emit(
      c.kSize() * unpack.bytes(), [&](Indices batch) { return activations.fill(batch); }, addTiles,
      element);
}

void emitByteStream(Contraction &c, Epilogue &epilogue) { ByteStream(c, epilogue).emit(); }

} // namespace hlo::codegen
