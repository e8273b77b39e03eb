//===- Unpack.cpp - Integers of a few bits as vectors of f32 --------------===//
#include "compiler/codegen/contraction/Unpack.h"
#include "compiler/codegen/loops/Lanes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace hlo::codegen {

// The highest integer of a word has its sign where the conversion expects one. The others convert
// as unsigned ones. Signed integers take the upper half of the range first, half a range more than
// they are, by a flip of their highest bit; so does the highest one of unsigned ones.

double Unpacker::factor(int64_t part) const {
  return hasBias() ? std::ldexp(1.0, static_cast<int>(-bits * part)) : 1;
}

double Unpacker::bias(int64_t part) const {
  double half = std::ldexp(1.0, static_cast<int>(bits - 1));
  bool isHighest = part == parts - 1;
  return !hasBias() || isHighest == isSigned ? 0 : isSigned ? half : -half;
}

static Value splatI32(Emission &e, uint32_t value, int64_t lanes) {
  auto type = VectorType::get({lanes}, e.b.getI32Type());
  return arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(type, APInt(32, value)));
}

static Value loadWords(Emission &e, Value address, int64_t number, int64_t lanes) {
  Type byte = IntegerType::get(e.b.getContext(), 8, IntegerType::Unsigned);
  Value run = loadElements(e, byte, address, constI64(e, number * lanes * 4), lanes * 4).re;
  return vector::BitCastOp::create(e.b, e.loc, VectorType::get({lanes}, e.b.getI32Type()), run);
}

const Product *productOfUnpacked(const Machine &machine, int64_t bits) {
  const Lookup *table = machine.lookup(16);
  auto products = machine.vectorProducts(kBf16, kBf16, kF32);
  bool fits = bits < 8 && table && table->entries == table->lanes &&
              table->lanes == 2 * machine.lanes(4) && table->entries >= 1 << bits;
  return fits && !products.empty() && products[0]->group == 2 ? products[0] : nullptr;
}

SmallVector<Value, 2> Unpacker::words(Value address, Value next) const {
  if (!isPacked()) {
    return {};
  }
  if (pairs && next) {
    // The lower halves of both rows' words, and the upper ones.
    SmallVector<Value, 2> halves;
    for (int64_t run = 0; run < runs; ++run) {
      Value words = loadWords(e, address, run, lanes), other = loadWords(e, next, run, lanes);
      Value half = splatI32(e, 16, lanes);
      Value low = arith::AndIOp::create(e.b, e.loc, words, splatI32(e, 0xffff, lanes));
      Value high = arith::AndIOp::create(e.b, e.loc, other, splatI32(e, 0xffff0000, lanes));
      Value up = arith::ShLIOp::create(e.b, e.loc, other, half);
      Value down = arith::ShRUIOp::create(e.b, e.loc, words, half);
      halves.push_back(arith::OrIOp::create(e.b, e.loc, low, up));
      halves.push_back(arith::OrIOp::create(e.b, e.loc, down, high));
    }
    return halves;
  }
  Value words = loadWords(e, address, 0, lanes);
  if (pairs) {
    return {words};
  }
  uint32_t flipped = 0;
  for (int64_t i = 0; i < parts; ++i) {
    flipped |= bias(i) != 0 ? UINT32_C(1) << (bits * (i + 1) - 1) : 0;
  }
  return {arith::XOrIOp::create(e.b, e.loc, words, splatI32(e, flipped, lanes))};
}

/// What entry i of a table stands for: the integer whose lowest bits are those of i.
static int64_t integerOf(int64_t i, int64_t bits, bool isSigned) {
  uint64_t low = static_cast<uint64_t>(i) & ((UINT64_C(1) << bits) - 1);
  return isSigned ? llvm::SignExtend64(low, static_cast<unsigned>(bits))
                  : static_cast<int64_t>(low);
}

Value Unpacker::pair(ArrayRef<Value> words, int64_t part) const {
  const Lookup &in = *e.machine.lookup(16);
  auto halves = VectorType::get({2 * lanes}, e.b.getI16Type());
  SmallVector<APInt> entries;
  for (int64_t i = 0; i < in.entries; ++i) {
    auto value = static_cast<float>(integerOf(i, bits, isSigned));
    entries.emplace_back(16, llvm::bit_cast<uint32_t>(value) >> 16);
  }
  Value table = arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(halves, entries));
  int64_t inHalf = perWord() / 2;
  Value index = vector::BitCastOp::create(e.b, e.loc, halves, words[part / inHalf]);
  if (int64_t shift = bits * (part % inHalf)) {
    APInt places(16, static_cast<uint64_t>(shift));
    Value by = arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(halves, places));
    index = arith::ShRUIOp::create(e.b, e.loc, index, by);
  }
  return vector::BitCastOp::create(e.b, e.loc, VectorType::get({lanes}, e.b.getF32Type()),
                                   in.emit(e, {table}, index));
}

Value Unpacker::part(Value address, ArrayRef<Value> words, int64_t part) const {
  if (pairs) {
    return pair(words, part);
  }
  auto floats = VectorType::get({lanes}, e.b.getF32Type());
  if (isPacked()) {
    uint32_t mask = ((UINT32_C(1) << bits) - 1) << (bits * part);
    Value one = arith::AndIOp::create(e.b, e.loc, words[0], splatI32(e, mask, lanes));
    return arith::SIToFPOp::create(e.b, e.loc, floats, one);
  }
  Type byte =
      IntegerType::get(e.b.getContext(), 8, isSigned ? IntegerType::Signed : IntegerType::Unsigned);
  Value run = loadElements(e, byte, address, constI64(e, part * lanes), lanes).re;
  auto wide = VectorType::get({lanes}, e.b.getI32Type());
  Value integers = isSigned ? arith::ExtSIOp::create(e.b, e.loc, wide, run).getResult()
                            : arith::ExtUIOp::create(e.b, e.loc, wide, run);
  return arith::SIToFPOp::create(e.b, e.loc, floats, integers);
}

/// Squares of as many vectors as each has lanes, transposed.
static SmallVector<Value> transposedSquares(Emission &e, ArrayRef<Value> vectors, int64_t lanes,
                                            bool toOrder) {
  int64_t squares = static_cast<int64_t>(vectors.size()) / lanes;
  SmallVector<Value> result(vectors.size());
  for (int64_t s = 0; s < squares; ++s) {
    SmallVector<Value> square;
    for (int64_t j = 0; j < lanes; ++j) {
      square.push_back(vectors[toOrder ? s * lanes + j : j * squares + s]);
    }
    square = transposeSquare(e, square);
    for (int64_t j = 0; j < lanes; ++j) {
      result[toOrder ? j * squares + s : s * lanes + j] = square[j];
    }
  }
  return result;
}

SmallVector<Value> Unpacker::inOrder(ArrayRef<Value> vectors) const {
  if (!isPacked()) {
    return SmallVector<Value>(vectors);
  }
  SmallVector<Value> ordered;
  for (int64_t run = 0; run < runs; ++run) {
    llvm::append_range(ordered, runInOrder(vectors.slice(run * perWord(), perWord())));
  }
  return ordered;
}

SmallVector<Value> Unpacker::runInOrder(ArrayRef<Value> vectors) const {
  int64_t parts = perWord();
  if (parts % lanes == 0) {
    return transposedSquares(e, vectors, lanes, /*toOrder=*/true);
  }
  // Each round makes the highest bit of a part's number the lowest bit of the place.
  SmallVector<Value> from(vectors), to(vectors);
  for (int64_t round = 1; round < parts; round *= 2) {
    for (int64_t i = 0; i < parts / 2; ++i) {
      for (int64_t half = 0; half < 2; ++half) {
        SmallVector<int64_t> places;
        for (int64_t l = 0; l < lanes / 2; ++l) {
          places.append({half * lanes / 2 + l, lanes + half * lanes / 2 + l});
        }
        to[2 * i + half] =
            vector::ShuffleOp::create(e.b, e.loc, from[i], from[i + parts / 2], places);
      }
    }
    from = to;
  }
  return from;
}

SmallVector<Value> Unpacker::byParts(ArrayRef<Value> vectors) const {
  if (!isPacked()) {
    return SmallVector<Value>(vectors);
  }
  if (parts % lanes == 0) {
    return transposedSquares(e, vectors, lanes, /*toOrder=*/false);
  }
  return takenApart(e, vectors);
}

SmallVector<Value> takenApart(Emission &e, ArrayRef<Value> vectors) {
  int64_t count = static_cast<int64_t>(vectors.size()), lanes = lanesOf(vectors[0]);
  SmallVector<Value> from(vectors), to(vectors);
  // Each round makes the lowest bit of a place the highest bit of a vector's number.
  for (int64_t round = 1; round < count; round *= 2) {
    for (int64_t i = 0; i < count / 2; ++i) {
      for (int64_t odd = 0; odd < 2; ++odd) {
        SmallVector<int64_t> places;
        for (int64_t l = 0; l < lanes; ++l) {
          places.push_back(2 * l + odd);
        }
        to[i + odd * count / 2] =
            vector::ShuffleOp::create(e.b, e.loc, from[2 * i], from[2 * i + 1], places);
      }
    }
    from = to;
  }
  return from;
}

} // namespace hlo::codegen
