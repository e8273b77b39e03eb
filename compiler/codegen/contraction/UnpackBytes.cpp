//===- UnpackBytes.cpp - Integers of a few bits as groups of four bytes ---===//
#include "compiler/codegen/contraction/UnpackBytes.h"
#include "compiler/codegen/loops/Lanes.h"

using namespace mlir;

namespace hlo::codegen {

/// Bytes within which bytes are interleaved by one instruction.
static constexpr int64_t kBlockBytes = 16;

const Product *byteProduct(const Machine &machine, int64_t bits, bool isSigned) {
  // Packed integers are unsigned bytes of a few bits.
  Number integer{isSigned && bits == 8 ? Number::Signed : Number::Unsigned, static_cast<int>(bits)};
  for (const Product *product : machine.fewBitProducts(integer, Number{Number::Signed, 8}, kS32)) {
    if (product->group == 4) {
      return product;
    }
  }
  return nullptr;
}

int64_t ByteUnpacker::bias() const {
  if (bits < 8) {
    return isSigned ? INT64_C(1) << (bits - 1) : 0;
  }
  bool takesUnsigned = product.signs == Product::Signs::OneUnsigned;
  return takesUnsigned == !isSigned ? 0 : isSigned ? 128 : -128;
}

static Value splatByte(Emission &e, uint8_t value, int64_t bytes) {
  auto type = VectorType::get({bytes}, e.b.getI8Type());
  return arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(type, APInt(8, value)));
}

static Value asWords(Emission &e, Value bytes) {
  auto type = VectorType::get({lanesOf(bytes) / 4}, e.b.getI32Type());
  return vector::BitCastOp::create(e.b, e.loc, type, bytes);
}

Value ByteUnpacker::load(Value address) const {
  Type byte = IntegerType::get(e.b.getContext(), 8, IntegerType::Unsigned);
  Value loaded = loadElements(e, byte, address, constI64(e, 0), bytes()).re;
  if (bias() == 0) {
    return loaded;
  }
  // The highest bit of each integer.
  uint8_t flipped = 0;
  for (int64_t p = 0; p < planes(); ++p) {
    flipped |= UINT8_C(1) << (bits * (p + 1) - 1);
  }
  return arith::XOrIOp::create(e.b, e.loc, loaded, splatByte(e, flipped, bytes()));
}

Value ByteUnpacker::plane(Value loaded, int64_t number) const {
  if (bits == 8) {
    return loaded;
  }
  // Bits that a shift of words brings from the next byte are masked off.
  if (number > 0) {
    Value words = asWords(e, loaded);
    auto amount =
        DenseElementsAttr::get(cast<ShapedType>(words.getType()), APInt(32, bits * number));
    words =
        arith::ShRUIOp::create(e.b, e.loc, words, arith::ConstantOp::create(e.b, e.loc, amount));
    loaded = vector::BitCastOp::create(e.b, e.loc, loaded.getType(), words);
  }
  auto mask = static_cast<uint8_t>((1 << bits) - 1);
  return arith::AndIOp::create(e.b, e.loc, loaded, splatByte(e, mask, bytes()));
}

/// Interleaves elements of `unit` bytes of the lower or the upper halves of each block.
static Value interleave(Emission &e, Value a, Value b, int64_t unit, bool upper) {
  int64_t bytes = lanesOf(a);
  SmallVector<int64_t> places;
  for (int64_t block = 0; block < bytes; block += kBlockBytes) {
    int64_t start = block + (upper ? kBlockBytes / 2 : 0);
    for (int64_t at = start; at < start + kBlockBytes / 2; at += unit) {
      for (int64_t from : {at, bytes + at}) {
        for (int64_t i = 0; i < unit; ++i) {
          places.push_back(from + i);
        }
      }
    }
  }
  return vector::ShuffleOp::create(e.b, e.loc, a, b, places);
}

SmallVector<Value> ByteUnpacker::groups(ArrayRef<Value> rows) const {
  SmallVector<Value> result;
  for (bool upper : {false, true}) {
    Value first = interleave(e, rows[0], rows[1], 1, upper);
    Value second = interleave(e, rows[2], rows[3], 1, upper);
    for (bool upperPairs : {false, true}) {
      result.push_back(asWords(e, interleave(e, first, second, 2, upperPairs)));
    }
  }
  return result;
}

SmallVector<Value> ByteUnpacker::inOrder(ArrayRef<Value> sums) const {
  // Lanes of a block of four columns; vector (plane, g) has block b of the bytes 4 * (4 * b + g).
  constexpr int64_t kBlock = kBlockBytes / 4;
  int64_t blocks = lanes / kBlock;
  // The planes of four bytes: as many blocks of neighbouring columns.
  SmallVector<Value> columns;
  for (int64_t g = 0; g < kBlock; ++g) {
    SmallVector<Value> of;
    for (int64_t p = 0; p < planes(); ++p) {
      of.push_back(sums[p * kBlock + g]);
    }
    for (int64_t round = 1; round < planes(); round *= 2) {
      SmallVector<Value> next(of.size());
      for (int64_t i = 0; i < planes() / 2; ++i) {
        for (int64_t half = 0; half < 2; ++half) {
          SmallVector<int64_t> places;
          for (int64_t l = 0; l < lanes; l += kBlock) {
            for (int64_t at = l + half * kBlock / 2; at < l + (half + 1) * kBlock / 2; ++at) {
              places.append({at, lanes + at});
            }
          }
          next[2 * i + half] =
              vector::ShuffleOp::create(e.b, e.loc, of[i], of[i + planes() / 2], places);
        }
      }
      of = next;
    }
    columns.append(of);
  }
  // Block b of vector i has the columns of block b * vectors() + i: squares of blocks are
  // transposed.
  int64_t count = vectors();
  for (int64_t step = blocks / 2; step > 0; step /= 2) {
    for (int64_t i = 0; i < count; ++i) {
      if (i & step) {
        continue;
      }
      Value a = columns[i], b = columns[i + step];
      for (int64_t half = 0; half < 2; ++half) {
        SmallVector<int64_t> places;
        for (int64_t at = half * lanes / 2; at < (half + 1) * lanes / 2; at += kBlock) {
          for (int64_t from : {at, lanes + at}) {
            places.append({from, from + 1, from + 2, from + 3});
          }
        }
        columns[i + half * step] = vector::ShuffleOp::create(e.b, e.loc, a, b, places);
      }
    }
  }
  SmallVector<Value> result(count);
  for (int64_t i = 0; i < count; ++i) {
    result[i % blocks * (count / blocks) + i / blocks] = columns[i];
  }
  return result;
}

Value ByteUnpacker::multiply(Value sum, Value unpacked, Value factors) const {
  return product.multiply(e, sum, unpacked, factors);
}

} // namespace hlo::codegen
