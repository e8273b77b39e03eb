//===- Groups.cpp - Narrow products, two or four at a time ----------------===//
//
// In: neighbours along k that are bf16, or integers of at most 8 or 16 bits, widened. Out: lanes of
// 32 bits that hold two or four of them, which one instruction multiplies and adds (Product). The
// first neighbour is in the lowest bits, as in memory, so that a lhs that is contiguous along k is
// broadcast from where it is. A pair of bf16 is held as an f32 with the same bits: buffers and
// shuffles treat it like one.
//
// Some products multiply unsigned bytes by signed ones (Product::Signs::OneUnsigned). If both sides
// have the same sign, the upper bit of each byte of the lhs is flipped, which adds 128 (or -128).
// The sums then start from -128 (or 128) times the sums of the columns of the rhs: minus the
// product of flippedZeros with the rhs. The result is exact, since all of it wraps.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/Groups.h"

using namespace mlir;

namespace hlo::codegen {

static Value constantLike(Emission &e, Value like, int64_t value) {
  Type scalar = getElementTypeOrSelf(like.getType());
  TypedAttr attribute = e.b.getIntegerAttr(scalar, value);
  if (auto vector = dyn_cast<VectorType>(like.getType())) {
    attribute = DenseElementsAttr::get(vector, cast<Attribute>(attribute));
  }
  return arith::ConstantOp::create(e.b, e.loc, attribute);
}

static Value bitsOf(Emission &e, Value value) {
  Type type = laneType(e.b.getIntegerType(32), lanesOf(value));
  return value.getType() == type ? value
                                 : arith::BitcastOp::create(e.b, e.loc, type, value).getResult();
}

static Value shiftLeft(Emission &e, Value value, int64_t bits) {
  return bits == 0
             ? value
             : arith::ShLIOp::create(e.b, e.loc, value, constantLike(e, value, bits)).getResult();
}

static Value andWith(Emission &e, Value value, int64_t bits) {
  return arith::AndIOp::create(e.b, e.loc, value, constantLike(e, value, bits));
}

KGroup groupOf(const Product *product) {
  if (!product) {
    return KGroup::None;
  }
  return !product->operand.isInteger() ? KGroup::Bf16Pair
         : product->group == 2         ? KGroup::WordPair
                                       : KGroup::ByteQuad;
}

int64_t sizeOf(KGroup group) {
  return group == KGroup::None ? 1 : group == KGroup::ByteQuad ? 4 : 2;
}

Value groupLanes(Emission &e, KGroup group, ArrayRef<Value> values) {
  if (group == KGroup::Bf16Pair) {
    Value low = bitsOf(e, values[0]), high = bitsOf(e, values[1]);
    low = arith::ShRUIOp::create(e.b, e.loc, low, constantLike(e, low, 16));
    high = andWith(e, high, int32_t(0xffff0000));
    Value pair = arith::OrIOp::create(e.b, e.loc, low, high);
    return arith::BitcastOp::create(e.b, e.loc, values[0].getType(), pair);
  }
  int64_t size = sizeOf(group), bits = 32 / size;
  Value result;
  for (int64_t j = 0; j < size; ++j) {
    Value piece = values[j];
    if (j + 1 < size) {
      piece = andWith(e, piece, (int64_t(1) << bits) - 1);
    }
    piece = shiftLeft(e, piece, j * bits);
    result = result ? arith::OrIOp::create(e.b, e.loc, result, piece).getResult() : piece;
  }
  return result;
}

Value flipBytes(Emission &e, Value groups) {
  Value flip = constantLike(e, groups, int32_t(0x80808080));
  return arith::XOrIOp::create(e.b, e.loc, groups, flip);
}

Value flippedZeros(Emission &e, int64_t lanes) {
  return flipBytes(e, zeroOf(e, laneType(e.b.getI32Type(), lanes)));
}

Value narrowLanes(Emission &e, KGroup group, Value value) {
  Value bits = bitsOf(e, value);
  if (group == KGroup::Bf16Pair) {
    bits = arith::ShRUIOp::create(e.b, e.loc, bits, constantLike(e, bits, 16));
  }
  Type narrow = laneType(e.b.getIntegerType(32 / sizeOf(group)), lanesOf(value));
  return arith::TruncIOp::create(e.b, e.loc, narrow, bits);
}

Value flipElements(Emission &e, Value elements) {
  return arith::XOrIOp::create(e.b, e.loc, elements, constantLike(e, elements, 0x80));
}

} // namespace hlo::codegen
