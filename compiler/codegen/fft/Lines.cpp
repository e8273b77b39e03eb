//===- Lines.cpp - Transforms of contiguous lines -------------------------===//
//
// In: lines of n complex elements. Out: their transforms, in one of two forms:
//
//   across lines  as many lines as a vector has lanes are transposed into rows of vectors,
//                 transformed as columns, and transposed back
//   four steps    (FourSteps.cpp) one line as a matrix
//
// A line of an even number n of reals is transformed as n / 2 complex numbers. With z = x[2j] + i
// x[2j+1], Z its transform, h = n / 2, w = exp(-2 pi i / n):
//
//   X[k]   = E + w^k O,  X[h-k] = conj(E - w^k O),
//            2 E = Z[k] + conj Z[h-k],  2 O = -i (Z[k] - conj Z[h-k])
//   Z[k]   = (X[k] + conj X[h-k]) + i w^-k (X[k] - conj X[h-k])     (for an inverse, times 1/2)
//
// An odd number of reals gets zero imaginary parts, or is completed by conjugate symmetry.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/fft/Lines.h"
#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/fft/Roots.h"
#include "compiler/codegen/loops/Lanes.h"

using namespace mlir;

namespace hlo::codegen {

LineTransforms::LineTransforms(ColumnTransforms &columns, const FftShape &shape,
                               const FftLine &plan, Value scratch, int64_t bytes)
    : columns(columns), shape(shape), plan(plan), e(columns.e), math(columns.math),
      complexType(ComplexType::get(columns.math.real)), lanes(plan.lanes),
      partBytes(shape.partBytes) {
  int64_t buffers = bytes - fftConvolutionBytes(shape, plan);
  bufferA = scratch;
  bufferB = addBytes(e, scratch, constI64(e, llvm::alignDown(buffers / 2, 64)));
  behind = addBytes(e, scratch, constI64(e, buffers));
}

void LineTransforms::transform(Value lo, Value hi, ReadLine read, WriteLine write,
                               function_ref<Value(Value)> result) {
  if (!plan.fourSteps) {
    acrossLines(lo, hi, read, write);
    return;
  }
  emitFor(e, lo, hi, 1, [&](Value line) { oneLine(line, read, write, result(line)); });
}

Value LineTransforms::firstLanes(int64_t count, bool reversed) {
  if (count == lanes) {
    return {};
  }
  SmallVector<bool> on;
  for (int64_t l = 0; l < lanes; ++l) {
    on.push_back((reversed ? lanes - 1 - l : l) < count);
  }
  return constantMask(e, on);
}

Elem LineTransforms::reversed(const Elem &value) {
  if (lanes == 1) {
    return value;
  }
  SmallVector<int64_t> order;
  for (int64_t l = lanes; l-- > 0;) {
    order.push_back(l);
  }
  auto turn = [&](Value v) -> Value { return vector::ShuffleOp::create(e.b, e.loc, v, v, order); };
  return Elem(turn(value.re), turn(value.im));
}

Elem LineTransforms::halfRoots(Value index, int64_t count) {
  int64_t n = shape.lengths.back(), size = n / 2 + 1 + 16;
  Value table = constantTable(e, math.real, "half", [&] {
    std::vector<long double> values(2 * size);
    for (int64_t k = 0; k < size; ++k) {
      auto [c, s] = rootOfUnity(k % n, n);
      values[k] = c;
      values[size + k] = shape.inverse ? -s : s;
    }
    return values;
  });
  return Elem(loadElements(e, math.real, table, index, count).re,
              loadElements(e, math.real, table, addI(e, index, size), count).re);
}

void LineTransforms::forTiles(int64_t rows, bool oneBody,
                              function_ref<void(const ColumnBlock &)> body) {
  Value end = constI64(e, countColumnBlocks(rows, lanes, 1));
  emitFor(e, constI64(e, 0), end, 1,
          [&](Value number) { emitColumnBlock(e, rows, lanes, 1, number, body, oneBody); });
}

SmallVector<Elem> LineTransforms::transposed(ArrayRef<Elem> vectors) {
  if (lanes == 1) {
    return SmallVector<Elem>(vectors);
  }
  SmallVector<Value> re, im;
  for (const Elem &vector : vectors) {
    re.push_back(vector.re);
    im.push_back(vector.im);
  }
  re = transposeSquare(e, re);
  im = transposeSquare(e, im);
  SmallVector<Elem> result;
  for (auto [real, imaginary] : llvm::zip(re, im)) {
    result.push_back(Elem(real, imaginary));
  }
  return result;
}

void LineTransforms::loadTiles(ArrayRef<Value> lines, int64_t rows, ReadLine read,
                               const RowBuffer &to) {
  Value zero = constI64(e, 0);
  forTiles(rows, /*oneBody=*/true, [&](const ColumnBlock &tile) {
    SmallVector<Elem> elements;
    for (Value line : lines) {
      elements.push_back(read(line, tile.first, lanes, tile.mask));
    }
    elements = transposed(elements);
    tile.forEach(e,
                 [&](int64_t i) { columns.store(to, addI(e, tile.first, i), zero, elements[i]); });
  });
}

void LineTransforms::storeTiles(ArrayRef<Value> lines, int64_t rows, const RowBuffer &from,
                                WriteLine write) {
  Value zero = constI64(e, 0);
  forTiles(rows, /*oneBody=*/true, [&](const ColumnBlock &tile) {
    SmallVector<Elem> elements;
    for (int64_t i = 0; i < lanes; ++i) {
      Elem v = columns.load(from, tile.at(e, i), zero, lanes);
      if (shape.inverse) {
        v = math.scale(v, 1.0 / static_cast<double>(shape.lengths.back()));
      }
      elements.push_back(v);
    }
    elements = transposed(elements);
    for (auto [l, line] : llvm::enumerate(lines)) {
      write(line, tile.first, elements[l], tile.mask);
    }
  });
}

/// The transforms of real lines, computed from those of their halves.
RowBuffer LineTransforms::separateRows(const RowBuffer &from) {
  Value zero = constI64(e, 0);
  int64_t h = plan.n;
  RowBuffer to{from.base == bufferA ? bufferB : bufferA, 1};
  emitFor(e, zero, constI64(e, h / 2 + 1), 1, [&](Value k) {
    Value mirrored = subI(e, constI64(e, h), k);
    Elem a = columns.load(from, k, zero, lanes);
    Elem b = math.conj(columns.load(from, remI(e, mirrored, h), zero, lanes));
    Elem root = splat(e, halfRoots(k, 1), lanes);
    Elem even = math.scale(math.add(a, b), 0.5);
    Elem odd = math.scale(math.timesI(math.sub(a, b), /*negative=*/true), 0.5);
    odd = math.mul(odd, root);
    columns.store(to, k, zero, math.add(even, odd));
    columns.store(to, mirrored, zero, math.conj(math.sub(even, odd)));
  });
  return to;
}

void LineTransforms::acrossLines(Value lo, Value hi, ReadLine read, WriteLine write) {
  Value zero = constI64(e, 0);
  int64_t n = plan.n, stored = shape.work.back();
  RowBuffer a{bufferA, 1};
  emitFor(e, lo, hi, lanes, [&](Value first) {
    // Lanes beyond the last line repeat it.
    SmallVector<Value> lines;
    Value last = subI(e, hi, constI64(e, 1));
    for (int64_t l = 0; l < lanes; ++l) {
      lines.push_back(minI(e, addI(e, first, l), last));
    }
    loadTiles(lines, shape.realOut ? stored : n, read, a);
    auto clearImaginary = [&](int64_t row) {
      Elem v = columns.load(a, constI64(e, row), zero, lanes);
      v.im = zeroElem(e, math.real, lanes).re;
      columns.store(a, constI64(e, row), zero, v);
    };
    auto readRow = [&](Value row, Value vector) {
      Elem x = columns.load(a, row, vector, lanes);
      if (!shape.realOut || !shape.halved) {
        return x;
      }
      Elem y = math.conj(columns.load(a, subI(e, constI64(e, n), row), vector, lanes));
      Elem odd = math.mul(math.sub(x, y), splat(e, halfRoots(row, 1), lanes));
      return math.add(math.add(x, y), math.timesI(odd, /*negative=*/false));
    };
    if (shape.realOut) {
      clearImaginary(0);
      if (shape.halved) {
        clearImaginary(n);
      } else {
        emitFor(e, constI64(e, stored), constI64(e, n), 1, [&](Value row) {
          Elem v = columns.load(a, subI(e, constI64(e, n), row), zero, lanes);
          columns.store(a, row, zero, math.conj(v));
        });
      }
    }
    RowBuffer done =
        columns.transformToBuffer(n, lanes, 1, readRow, bufferA, bufferB, /*fromA=*/true);
    if (shape.realIn && shape.halved) {
      done = separateRows(done);
    }
    storeTiles(lines, shape.realIn ? stored : n, done, write);
  });
}

} // namespace hlo::codegen
