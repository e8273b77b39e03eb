//===- Unpack.cpp - Integers of a few bits as vectors of f32 --------------===//
#include "compiler/codegen/contraction/Unpack.h"
#include "compiler/codegen/loops/Lanes.h"

using namespace mlir;

namespace hlo::codegen {

// The highest integer of a word has its sign where the conversion expects one. The others convert
// as unsigned ones. Signed integers take the upper half of the range first, half a range more than
// they are, by a flip of their highest bit; so does the highest one of unsigned ones.

double Unpacker::factor(int64_t part) const {
  return isPacked() ? std::ldexp(1.0, static_cast<int>(-bits * part)) : 1;
}

double Unpacker::bias(int64_t part) const {
  double half = std::ldexp(1.0, static_cast<int>(bits - 1));
  bool isHighest = part == parts - 1;
  return !isPacked() || isHighest == isSigned ? 0 : isSigned ? half : -half;
}

static Value splatI32(Emission &e, uint32_t value, int64_t lanes) {
  auto type = VectorType::get({lanes}, e.b.getI32Type());
  return arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(type, APInt(32, value)));
}

Value Unpacker::words(Value address) const {
  if (!isPacked()) {
    return {};
  }
  Type byte = IntegerType::get(e.b.getContext(), 8, IntegerType::Unsigned);
  Value run = loadElements(e, byte, address, constI64(e, 0), lanes * 4).re;
  Value words =
      vector::BitCastOp::create(e.b, e.loc, VectorType::get({lanes}, e.b.getI32Type()), run);
  uint32_t flipped = 0;
  for (int64_t i = 0; i < parts; ++i) {
    flipped |= bias(i) != 0 ? UINT32_C(1) << (bits * (i + 1) - 1) : 0;
  }
  return arith::XOrIOp::create(e.b, e.loc, words, splatI32(e, flipped, lanes));
}

Value Unpacker::part(Value address, Value words, int64_t part) const {
  auto floats = VectorType::get({lanes}, e.b.getF32Type());
  if (isPacked()) {
    uint32_t mask = ((UINT32_C(1) << bits) - 1) << (bits * part);
    Value one = arith::AndIOp::create(e.b, e.loc, words, splatI32(e, mask, lanes));
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
  SmallVector<Value> from(vectors), to(vectors);
  for (int64_t round = 1; round < parts; round *= 2) {
    for (int64_t i = 0; i < parts / 2; ++i) {
      for (int64_t odd = 0; odd < 2; ++odd) {
        SmallVector<int64_t> places;
        for (int64_t l = 0; l < lanes; ++l) {
          places.push_back(2 * l + odd);
        }
        to[i + odd * parts / 2] =
            vector::ShuffleOp::create(e.b, e.loc, from[2 * i], from[2 * i + 1], places);
      }
    }
    from = to;
  }
  return from;
}

} // namespace hlo::codegen
