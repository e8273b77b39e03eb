//===- FourSteps.cpp - One line as a matrix -------------------------------===//
//
// In: a line of n = r c complex elements, interpreted as a matrix x of r rows and c columns. Out:
//
//   1. the columns of x, length r                                   (vectors of columns)
//   2. times w_n^(k j), row k, column j
//   3. transposed in squares of vectors: rows j, columns k
//   4. its columns, length c: element (l, k) is number l r + k of the result
//
// A line is read once and written twice, and scratch holds only a few columns. Between steps 3 and
// 4 the data is in the place of the result: a vector of real parts, then a vector of imaginary
// parts, in the bytes of the complex elements of the same columns.
//
// The factors of step 2 are a table of n entries; for long lines w_n^(k j) is the product of w_n^(k
// l) and w_n^(k (j - l)), with l the lane of j.
//
// Source: D. Bailey, FFTs in external or hierarchical memory, 1990.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/fft/Lines.h"
#include "compiler/codegen/fft/Roots.h"
#include "compiler/codegen/loops/Lanes.h"

using namespace mlir;

namespace hlo::codegen {

/// Longest line with a table entry for each element: 128 KiB of c64 or 256 KiB of c128, which stay
/// in L2 beside the buffers of a line. Longer lines have a complex factor per lane and one per
/// vector, and multiply the two: one multiplication more. Not measured with other lengths.
static constexpr int64_t kWholeTable = 16 << 10;

namespace {
struct Twiddles {
  ColumnTransforms &transforms;
  int64_t rows, columns, lanes;
  double scale;

  std::vector<long double> whole() const;
  std::vector<long double> ofLanes() const;
  std::vector<long double> ofBlocks() const;
  int64_t blocks() const { return llvm::divideCeil(columns, lanes); }
  std::pair<long double, long double> root(int64_t k, int64_t j) const {
    auto [c, s] = rootOfUnity(k * j % (rows * columns), rows * columns);
    return {c, transforms.inverse ? -s : s};
  }
  /// The factors for row `row` and vector number `block`.
  Elem at(Value row, Value block);
};
} // namespace

std::vector<long double> Twiddles::whole() const {
  std::vector<long double> values(rows * blocks() * 2 * lanes);
  for (int64_t k = 0; k < rows; ++k) {
    for (int64_t j = 0; j < columns; ++j) {
      auto [c, s] = root(k, j);
      int64_t at = (k * blocks() + j / lanes) * 2 * lanes + j % lanes;
      values[at] = c * scale;
      values[at + lanes] = s * scale;
    }
  }
  return values;
}

std::vector<long double> Twiddles::ofLanes() const {
  std::vector<long double> values(rows * 2 * lanes);
  for (int64_t k = 0; k < rows; ++k) {
    for (int64_t l = 0; l < lanes; ++l) {
      auto [c, s] = root(k, l);
      values[k * 2 * lanes + l] = c * scale;
      values[k * 2 * lanes + l + lanes] = s * scale;
    }
  }
  return values;
}

std::vector<long double> Twiddles::ofBlocks() const {
  std::vector<long double> values;
  for (int64_t k = 0; k < rows; ++k) {
    for (int64_t b = 0; b < blocks(); ++b) {
      auto [c, s] = root(k, b * lanes);
      values.insert(values.end(), {c, s});
    }
  }
  return values;
}

Elem Twiddles::at(Value row, Value block) {
  Emission &e = transforms.e;
  Type real = transforms.math.real;
  std::string suffix =
      (Twine(transforms.inverse ? ".back" : ".roots") + Twine(rows * columns)).str();
  Value number = addI(e, mulI(e, row, blocks()), block);
  if (rows * columns <= kWholeTable) {
    RowBuffer table{constantTable(e, real, "twiddles" + suffix, [&] { return whole(); }), 1};
    return transforms.load(table, number, constI64(e, 0), lanes);
  }
  RowBuffer table{constantTable(e, real, "lanes" + suffix, [&] { return ofLanes(); }), 1};
  Value scalars = constantTable(e, real, "blocks" + suffix, [&] { return ofBlocks(); });
  return transforms.math.mul(transforms.load(table, row, constI64(e, 0), lanes),
                             transforms.splatRoot(scalars, number, lanes));
}

/// Number of blocks of `size` columns: full vectors in the width of fftBlockVectors, then the
/// remainder under a mask.
static int64_t blocksOf(const Machine &machine, const FftLine &plan, int64_t size, int64_t length,
                        int64_t partBytes) {
  return countColumnBlocks(
      size, plan.lanes,
      fftBlockVectors(machine, length, size / plan.lanes, plan.lanes * partBytes));
}

int64_t LineTransforms::unitsOf(const Machine &machine, const FftLine &plan, const FftShape &shape,
                                int64_t step) {
  switch (step) {
  case 0: return blocksOf(machine, plan, plan.columns, plan.rows, shape.partBytes);
  case 1: return blocksOf(machine, plan, plan.rows, plan.columns, shape.partBytes);
  default: return 1;
  }
}

void LineTransforms::forBlocks(int64_t size, int64_t length, Value lo, Value hi,
                               function_ref<void(const ColumnBlock &)> body) {
  int64_t vectors = fftBlockVectors(e.machine, length, size / lanes, lanes * partBytes);
  emitFor(e, lo, hi, 1,
          [&](Value number) { emitColumnBlock(e, size, lanes, vectors, number, body); });
}

void LineTransforms::fourSteps(ColumnTransforms &transforms, ReadIndex read, WriteIndex write,
                               Value between, double scale) {
  Value zero = constI64(e, 0);
  firstSteps(transforms, zero, constI64(e, unitsOf(e.machine, plan, shape, 0)), read, between,
             scale);
  lastStep(transforms, zero, constI64(e, unitsOf(e.machine, plan, shape, 1)), write, between);
}

void LineTransforms::firstSteps(ColumnTransforms &transforms, Value lo, Value hi, ReadIndex read,
                                Value between, double scale) {
  int64_t rows = plan.rows, width = plan.columns;
  Twiddles twiddles{transforms, rows, width, lanes, scale};
  forBlocks(width, rows, lo, hi, [&](const ColumnBlock &block) {
    auto readColumns = [&](Value row, Value vector) {
      Value column = addI(e, block.first, mulI(e, vector, lanes));
      return read(addI(e, mulI(e, row, width), column), block.mask);
    };
    auto adjust = [&](Value row, Value vector, const Elem &value) {
      return math.mul(value, twiddles.at(row, addI(e, divI(e, block.first, lanes), vector)));
    };
    RowBuffer done =
        transforms.transformToBuffer(rows, lanes, block.vectors, readColumns, bufferA, bufferB,
                                     /*fromA=*/false, adjust);
    emitFor(e, constI64(e, 0), constI64(e, block.vectors), 1, [&](Value vector) {
      // Separate bodies for full and partial tiles: unmasked stores are 4 % faster (64 lines of
      // 1000).
      forTiles(rows, /*oneBody=*/false, [&](const ColumnBlock &tile) {
        SmallVector<Elem> elements;
        for (int64_t i = 0; i < lanes; ++i) {
          elements.push_back(transforms.load(done, tile.at(e, i), vector, lanes));
        }
        elements = transposed(elements);
        Value tall = tile.count(e);
        block.forEach(e, [&](int64_t l) {
          Value j = addI(e, addI(e, block.first, mulI(e, vector, lanes)), l);
          Value at = betweenAt(j, tile.first);
          storeElements(e, math.real, Elem(elements[l].re), between, at, tile.mask);
          storeElements(e, math.real, Elem(elements[l].im), between, addI(e, at, tall), tile.mask);
        });
      });
    });
  });
}

void LineTransforms::lastStep(ColumnTransforms &transforms, Value lo, Value hi, WriteIndex write,
                              Value between) {
  int64_t rows = plan.rows, width = plan.columns;
  forBlocks(rows, width, lo, hi, [&](const ColumnBlock &block) {
    Value count = block.count(e);
    auto readBetween = [&](Value row, Value vector) {
      Value at = betweenAt(row, addI(e, block.first, mulI(e, vector, lanes)));
      return Elem(loadElements(e, math.real, between, at, lanes, block.mask).re,
                  loadElements(e, math.real, between, addI(e, at, count), lanes, block.mask).re);
    };
    auto writeResult = [&](Value row, Value vector, const Elem &value) {
      write(addI(e, mulI(e, row, rows), addI(e, block.first, mulI(e, vector, lanes))), value,
            block.mask);
    };
    transforms.transform(width, lanes, block.vectors, readBetween, writeResult, bufferA, bufferB);
  });
}

void LineTransforms::transformStage(int64_t step, Value lo, Value hi, ReadLine read,
                                    WriteLine write, function_ref<Value(Value)> result) {
  int64_t units = unitsOf(e.machine, plan, shape, step);
  // The units of each line that [lo, hi) covers.
  Value end = divI(e, addI(e, hi, units - 1), units);
  emitFor(e, divI(e, lo, units), end, 1, [&](Value line) {
    Value begin = mulI(e, line, units);
    Value from = maxI(e, subI(e, lo, begin), 0);
    Value to = minI(e, subI(e, hi, begin), units);
    switch (step) {
    case 0: {
      double scale = shape.inverse ? 1.0 / static_cast<double>(shape.lengths.back()) : 1;
      firstSteps(
          columns, from, to,
          [&](Value index, Value mask) {
            return shape.realOut ? joined(line, index, mask, read) : read(line, index, lanes, mask);
          },
          result(line), scale);
      return;
    }
    case 1:
      lastStep(
          columns, from, to,
          [&](Value index, const Elem &value, Value mask) { write(line, index, value, mask); },
          result(line));
      return;
    default: separate(line, write, result(line));
    }
  });
}

/// Transforms a line with a large prime factor by two transforms of length `padded`.
void LineTransforms::convolution(ReadIndex read, WriteIndex write) {
  int64_t n = plan.n, m = plan.padded;
  RowBuffer product{behind, 1};
  Value between = addBytes(e, behind, constI64(e, 2 * m * partBytes));
  Value factors = columns.chirpTable(n), spectrum = columns.chirpSpectrum(n, m, lanes);
  // Mask of the lanes from `index` on that are below n; null if all are.
  auto within = [&](Value index) -> Value {
    Value at = lanes > 1 ? addI(e, splat(e, index, lanes).re, laneOffsets(e, lanes, 1)) : index;
    return e.b.createOrFold<arith::CmpIOp>(e.loc, arith::CmpIPredicate::slt, at,
                                           constLanes(e, n, lanes));
  };
  auto chirped = [&](Value index, Value) {
    Value mask = within(index);
    return math.mul(read(index, mask), loadElements(e, complexType, factors, index, lanes, mask));
  };
  auto multiplied = [&](Value index, const Elem &value, Value) {
    Value vector = divI(e, index, lanes);
    Elem factor = columns.load({spectrum, 1}, vector, constI64(e, 0), lanes);
    columns.store(product, vector, constI64(e, 0), math.mul(value, factor));
  };
  ColumnTransforms forward(e, math.real, false), back(e, math.real, true);
  fourSteps(forward, chirped, multiplied, between, 1);
  auto readProduct = [&](Value index, Value) {
    return columns.load(product, divI(e, index, lanes), constI64(e, 0), lanes);
  };
  auto finish = [&](Value index, const Elem &value, Value) {
    Value mask = within(index);
    Elem y = math.mul(value, loadElements(e, complexType, factors, index, lanes, mask));
    if (shape.inverse) {
      y = math.scale(y, 1.0 / static_cast<double>(shape.lengths.back()));
    }
    write(index, y, mask);
  };
  fourSteps(back, readProduct, finish, between, 1);
}

/// Z[k] from the line's X, for an inverse with real result.
Elem LineTransforms::joined(Value line, Value index, Value mask, ReadLine read) {
  int64_t h = plan.n;
  Value mirrorMask;
  if (mask && lanes > 1) {
    mirrorMask = reversed({mask, mask}).re;
  } else {
    mirrorMask = mask;
  }
  Elem x = read(line, index, lanes, mask);
  Value mirrored = subI(e, constI64(e, h - lanes + 1), index);
  Elem y = reversed(read(line, mirrored, lanes, mirrorMask));
  // The imaginary parts of X[0] and X[h] are ignored.
  Value at = lanes > 1 ? addI(e, splat(e, index, lanes).re, laneOffsets(e, lanes, 1)) : index;
  Value isFirst = compareI(e, arith::CmpIPredicate::eq, at, 0);
  Value none = zeroElem(e, math.real, lanes).re;
  x.im = arith::SelectOp::create(e.b, e.loc, isFirst, none, x.im);
  y.im = arith::SelectOp::create(e.b, e.loc, isFirst, none, y.im);
  y = math.conj(y);
  Elem odd = math.mul(math.sub(x, y), halfRoots(index, lanes));
  return math.add(math.add(x, y), math.timesI(odd, /*negative=*/false));
}

/// X from the line's Z, in place: elements k and h - k, from both ends to the middle.
void LineTransforms::separate(Value line, WriteLine write, Value between) {
  int64_t h = plan.n, pairs = (h - 1) / 2;
  Value zero = constI64(e, 0);
  auto read = [&](Value index, int64_t count, Value mask) {
    return loadElements(e, complexType, between, index, count, mask);
  };
  auto vectors = [&](Value k, int64_t count) {
    Value mask = firstLanes(count), mirrorMask = firstLanes(count, /*reversed=*/true);
    Value mirrored = subI(e, constI64(e, h - lanes + 1), k);
    Elem a = read(k, lanes, mask);
    Elem b = math.conj(reversed(read(mirrored, lanes, mirrorMask)));
    Elem even = math.scale(math.add(a, b), 0.5);
    Elem odd = math.scale(math.timesI(math.sub(a, b), /*negative=*/true), 0.5);
    odd = math.mul(odd, halfRoots(k, lanes));
    write(line, k, math.add(even, odd), mask);
    write(line, mirrored, reversed(math.conj(math.sub(even, odd))), mirrorMask);
  };
  Elem first = read(zero, 1, {});
  Value none = zeroElem(e, math.real).re;
  write(line, zero, Elem(math.add(first.re, first.im), none), {});
  write(line, constI64(e, h), Elem(math.sub(first.re, first.im), none), {});
  if (h % 2 == 0) {
    Value middle = constI64(e, h / 2);
    write(line, middle, math.conj(read(middle, 1, {})), {});
  }
  int64_t whole = pairs / lanes * lanes;
  emitFor(e, constI64(e, 1), constI64(e, 1 + whole), lanes, [&](Value k) { vectors(k, lanes); });
  if (pairs > whole) {
    vectors(constI64(e, 1 + whole), pairs - whole);
  }
}

void LineTransforms::oneLine(Value line, ReadLine read, WriteLine write, Value between) {
  auto readIndex = [&](Value index, Value mask) {
    return shape.realOut ? joined(line, index, mask, read) : read(line, index, lanes, mask);
  };
  auto writeIndex = [&](Value index, const Elem &value, Value mask) {
    write(line, index, value, mask);
  };
  if (plan.padded) {
    convolution(readIndex, writeIndex);
  } else {
    double scale = shape.inverse ? 1.0 / static_cast<double>(shape.lengths.back()) : 1;
    fourSteps(columns, readIndex, writeIndex, between, scale);
  }
  if (shape.realIn) {
    separate(line, write, between);
  }
}

} // namespace hlo::codegen
