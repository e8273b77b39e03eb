//===- Columns.cpp - Short rows in memory, their columns in vectors -------===//
//
// In: an array with rows of a few elements, one row per lane. Out: a column as a vector, or columns
// written to such rows. Memory is accessed by whole vectors, and shuffles rearrange the elements in
// registers:
//
//   memory    x0 y0 z0 x1 | y1 z1 x2 y2 | z2 x3 y3 z3      as many vectors as columns
//   columns   x0 x1 x2 x3 | y0 y1 y2 y3 | z0 z1 z2 z3
//
// An even number of columns is halved: pairs of vectors are deinterleaved (or interleaved), log2
// steps for a power of two. For an odd number the elements are picked from one vector after the
// other.
//
// Byte columns next to 32-bit values, with as many lanes as fill a register with words, go through
// words: four rows are loaded into each quarter of a register, and one shuffle within quarters
// extracts a column as words; stores do the reverse.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/loops/Columns.h"
#include "compiler/codegen/IndexMath.h"

#include <numeric>

using namespace mlir;

namespace hlo::codegen {

static Value shuffle(Emission &e, Value a, Value b, ArrayRef<int64_t> lanes) {
  return vector::ShuffleOp::create(e.b, e.loc, a, b, lanes);
}

/// A vector whose lane l is lane `from[l].second` of vector `from[l].first`.
static Value pick(Emission &e, ArrayRef<Value> vectors,
                  ArrayRef<std::pair<int64_t, int64_t>> from) {
  int64_t lanes = from.size(), count = vectors.size();
  Value result;
  SmallVector<int64_t> order(lanes);
  for (int64_t v = 0; v < count; ++v) {
    if (llvm::none_of(from, [&](auto place) { return place.first == v; })) {
      continue;
    }
    for (int64_t l = 0; l < lanes; ++l) {
      order[l] = from[l].first == v ? (result ? lanes : 0) + from[l].second : l;
    }
    result = shuffle(e, result ? result : vectors[v], vectors[v], order);
  }
  return result;
}

/// Column c of the vectors; there are as many columns as vectors.
static Value takeColumn(Emission &e, SmallVector<Value> vectors, int64_t c) {
  int64_t lanes = lanesOf(vectors[0]);
  while (vectors.size() % 2 == 0) {
    SmallVector<int64_t> order(lanes);
    for (int64_t l = 0; l < lanes; ++l) {
      order[l] = 2 * l + c % 2;
    }
    SmallVector<Value> halves;
    for (size_t v = 0; v < vectors.size(); v += 2) {
      halves.push_back(shuffle(e, vectors[v], vectors[v + 1], order));
    }
    vectors = std::move(halves);
    c /= 2;
  }
  int64_t count = vectors.size();
  SmallVector<std::pair<int64_t, int64_t>> from;
  for (int64_t l = 0; l < lanes; ++l) {
    from.push_back({(l * count + c) / lanes, (l * count + c) % lanes});
  }
  return count == 1 ? vectors[0] : pick(e, vectors, from);
}

SmallVector<Value> interleaveColumns(Emission &e, ArrayRef<Value> columns) {
  int64_t count = columns.size(), lanes = lanesOf(columns[0]);
  SmallVector<Value> result;
  if (count == 1) {
    return SmallVector<Value>(columns);
  }
  if (count % 2 == 1) {
    for (int64_t v = 0; v < count; ++v) {
      SmallVector<std::pair<int64_t, int64_t>> from;
      for (int64_t place = v * lanes; place < (v + 1) * lanes; ++place) {
        from.push_back({place % count, place / count});
      }
      result.push_back(pick(e, columns, from));
    }
    return result;
  }
  SmallVector<Value> even, odd;
  for (int64_t c = 0; c < count; c += 2) {
    even.push_back(columns[c]);
    odd.push_back(columns[c + 1]);
  }
  even = interleaveColumns(e, even);
  odd = interleaveColumns(e, odd);
  for (auto [a, b] : llvm::zip(even, odd)) {
    for (int64_t half : {int64_t(0), lanes / 2}) {
      SmallVector<int64_t> order;
      for (int64_t l = half; l < half + lanes / 2; ++l) {
        order.append({l, lanes + l});
      }
      result.push_back(shuffle(e, a, b, order));
    }
  }
  return result;
}

/// The masks of the vectors that hold the rows, from a mask with one lane per row.
static SmallVector<Value> masksOf(Emission &e, Value mask, int64_t columns) {
  return mask ? interleaveColumns(e, SmallVector<Value>(columns, mask))
              : SmallVector<Value>(columns);
}

/// True if up to four columns of bytes, one row per lane, go through words that fill a register.
static bool goesThroughWords(Emission &e, Type element, int64_t columns, int64_t lanes) {
  auto integer = dyn_cast<IntegerType>(element);
  return integer && integer.getWidth() == 8 && columns <= 4 && lanes >= 4 &&
         lanes == e.machine.lanes(4);
}

static Value asBytes(Emission &e, Value words) {
  auto type = VectorType::get({lanesOf(words) * 4}, e.b.getI8Type());
  return vector::BitCastOp::create(e.b, e.loc, type, words);
}

/// Bytes of a quarter of a 64-byte register, within which byte shuffles move data.
static constexpr int64_t kQuarter = 16;

/// The bytes of as many rows as lanes in one register; and the start of each row in it.
static Value loadByteRows(Emission &e, Type element, Value base, Value first, int64_t columns,
                          int64_t lanes, SmallVectorImpl<int64_t> &begins) {
  int64_t bytes = lanes * columns, width = lanes * 4;
  if (columns == 4) {
    for (int64_t l = 0; l < lanes; ++l) {
      begins.push_back(l * columns);
    }
    return loadElements(e, element, base, first, width).re;
  }
  // Each quarter of 16 bytes starts with the bytes of four rows; the last one ends with the last
  // row.
  SmallVector<Value> quarters;
  for (int64_t q = 0; q < width / kQuarter; ++q) {
    int64_t at = q * 4 * columns, from = std::min(at, bytes - kQuarter);
    for (int64_t r = 0; r < 4; ++r) {
      begins.push_back(q * kQuarter + at - from + r * columns);
    }
    quarters.push_back(loadElements(e, element, base, addI(e, first, from), kQuarter).re);
  }
  // Pairs of equal vectors are joined until one is left.
  while (quarters.size() > 1) {
    SmallVector<int64_t> both(2 * lanesOf(quarters[0]));
    std::iota(both.begin(), both.end(), 0);
    SmallVector<Value> pairs;
    for (size_t q = 0; q < quarters.size(); q += 2) {
      pairs.push_back(shuffle(e, quarters[q], quarters[q + 1], both));
    }
    quarters = std::move(pairs);
  }
  return quarters[0];
}

/// Column c of rows of bytes.
static Value loadByteColumn(Emission &e, Type element, Value base, Value first, int64_t columns,
                            int64_t c, int64_t lanes) {
  SmallVector<int64_t> begins;
  Value rows = loadByteRows(e, element, base, first, columns, lanes, begins);
  Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(rows.getType()));
  SmallVector<int64_t> order(lanes * 4, lanes * 4);
  for (int64_t l = 0; l < lanes; ++l) {
    order[l * 4] = begins[l] + c;
  }
  Value words = vector::BitCastOp::create(e.b, e.loc, VectorType::get({lanes}, e.b.getI32Type()),
                                          shuffle(e, rows, zero, order));
  return arith::TruncIOp::create(e.b, e.loc, VectorType::get({lanes}, e.b.getI8Type()), words);
}

/// The bytes of rows that consist of `columns`, as many vectors as columns.
static SmallVector<Value> interleaveBytes(Emission &e, ArrayRef<Value> columns) {
  int64_t count = columns.size(), lanes = lanesOf(columns[0]);
  auto type = VectorType::get({lanes}, e.b.getI32Type());
  Value words;
  for (auto [c, column] : llvm::enumerate(columns)) {
    Value word = arith::ExtUIOp::create(e.b, e.loc, type, column);
    if (c > 0) {
      Value by = arith::ConstantOp::create(
          e.b, e.loc,
          DenseElementsAttr::get(type, e.b.getI32IntegerAttr(static_cast<int32_t>(8 * c))));
      word = arith::ShLIOp::create(e.b, e.loc, word, by);
    }
    words = words ? arith::OrIOp::create(e.b, e.loc, words, word).getResult() : word;
  }
  Value bytes = asBytes(e, words);
  SmallVector<Value> result;
  for (int64_t v = 0; v < count; ++v) {
    SmallVector<int64_t> order;
    for (int64_t place = v * lanes; place < (v + 1) * lanes; ++place) {
      order.push_back(place / count * 4 + place % count);
    }
    result.push_back(shuffle(e, bytes, bytes, order));
  }
  return result;
}

Elem loadColumn(Emission &e, Type element, Value base, Value row, int64_t columns, int64_t c,
                int64_t lanes, Value mask) {
  Value first = mulI(e, row, columns);
  // With less than a quarter in all, the last quarter would begin before the first row.
  if (!mask && lanes * columns >= kQuarter && goesThroughWords(e, element, columns, lanes)) {
    return loadByteColumn(e, element, base, first, columns, c, lanes);
  }
  SmallVector<Value> masks = masksOf(e, mask, columns), real, imaginary;
  for (int64_t v = 0; v < columns; ++v) {
    Elem elem = loadElements(e, element, base, addI(e, first, v * lanes), lanes, masks[v]);
    real.push_back(elem.re);
    imaginary.push_back(elem.im);
  }
  if (imaginary[0]) {
    Value re = takeColumn(e, real, c);
    return Elem(re, takeColumn(e, imaginary, c));
  }
  return Elem(takeColumn(e, real, c), lowerHalfOf(element));
}

void storeColumns(Emission &e, Type element, ArrayRef<Elem> columns, Value base, Value row,
                  Value mask) {
  int64_t count = columns.size(), lanes = lanesOf(columns[0].re);
  Value first = mulI(e, row, count);
  auto parts = [&](Value Elem::*part) {
    return llvm::to_vector(llvm::map_range(columns, [&](const Elem &elem) { return elem.*part; }));
  };
  SmallVector<Value> real = parts(&Elem::re), imaginary = parts(&Elem::im), masks(count, mask);
  if (lanes > 1) {
    real = goesThroughWords(e, element, count, lanes) ? interleaveBytes(e, real)
                                                      : interleaveColumns(e, real);
    imaginary = imaginary[0] ? interleaveColumns(e, imaginary) : imaginary;
    masks = masksOf(e, mask, count);
  }
  LowerHalf lower = LowerHalf::Zero;
  for (const Elem &column : columns) {
    lower = std::min(lower, column.lower);
  }
  for (int64_t v = 0; v < count; ++v) {
    Elem elem(real[v], imaginary[v]);
    elem.lower = lower;
    storeElements(e, element, elem, base, addI(e, first, v * lanes), masks[v]);
  }
}

} // namespace hlo::codegen
