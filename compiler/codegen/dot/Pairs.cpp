//===- Pairs.cpp - Products of bf16, two at a time ------------------------===//
//
// In: sides whose elements are bf16. Out: the pieces that differ where the inner
// loop is vdpbf16ps, which adds a.low * b.low + a.high * b.high to each f32 lane:
// neighbours along k stand in one 32-bit lane, low half first. That is how they lie in
// memory along k, so that a lhs stored by rows is broadcast from where it is. A pair is
// held as an f32 of the same bits, so that buffers and shuffles treat it like one.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/BlockedEmitter.h"

using namespace mlir;

namespace hlo::codegen {

static Type integerLanes(Emission &e, unsigned bits, int64_t lanes) {
  return laneType(e.b.getIntegerType(bits), lanes);
}

static Value constantLike(Emission &e, Value like, int64_t value) {
  Type scalar = getElementTypeOrSelf(like.getType());
  TypedAttr attribute = e.b.getIntegerAttr(scalar, value);
  if (auto vector = dyn_cast<VectorType>(like.getType())) {
    attribute = DenseElementsAttr::get(vector, cast<Attribute>(attribute));
  }
  return arith::ConstantOp::create(e.b, e.loc, attribute);
}

static Value bitsOf(Emission &e, Value value) {
  return arith::BitcastOp::create(e.b, e.loc, integerLanes(e, 32, lanesOf(value)), value);
}

Value BlockedEmitter::pairLanes(Value even, Value odd) {
  Value low = bitsOf(e, even), high = bitsOf(e, odd);
  low = arith::ShRUIOp::create(e.b, e.loc, low, constantLike(e, low, 16));
  high = arith::AndIOp::create(e.b, e.loc, high, constantLike(e, high, int32_t(0xffff0000)));
  Value pair = arith::OrIOp::create(e.b, e.loc, low, high);
  return arith::BitcastOp::create(e.b, e.loc, even.getType(), pair);
}

Value BlockedEmitter::narrowLanes(Value value) {
  Value bits = bitsOf(e, value);
  bits = arith::ShRUIOp::create(e.b, e.loc, bits, constantLike(e, bits, 16));
  return arith::TruncIOp::create(e.b, e.loc, integerLanes(e, 16, lanesOf(value)), bits);
}

Elem BlockedEmitter::readPairs(const ContractionSide &side, const Block &block,
                               ArrayRef<Index> free, ArrayRef<Index> k, int64_t lanes, Value mask) {
  SmallVector<Index> even(k), odd(k);
  even.back() = Index(k.back().base);
  odd.back() = Index(addI(e, k.back().base, 1));
  Elem first = side.read(block.batch, free, even, lanes, mask);
  return Elem(pairLanes(first.re, side.read(block.batch, free, odd, lanes, mask).re));
}

Value BlockedEmitter::loadColumnPairs(const Block &block, ArrayRef<Index> column,
                                      ArrayRef<Index> k) {
  Value address = c.rhs.address(e, block.batch, column, k);
  Value mask;
  if (c.k.back() % (2 * plan.lanes) != 0) {
    Value rest = subI(e, constI64(e, c.k.back()), k.back().base);
    mask = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::slt, laneOffsets(e, plan.lanes, 2),
                                 splat(e, rest, plan.lanes).re);
  }
  return loadElements(e, part, address, constI64(e, 0), plan.lanes, mask).re;
}

Value BlockedEmitter::multiplyPairs(Value sum, Value a, Value b) {
  auto type = VectorType::get({2 * plan.lanes}, e.b.getBF16Type());
  Value left = vector::BitCastOp::create(e.b, e.loc, type, a);
  Value right = vector::BitCastOp::create(e.b, e.loc, type, b);
  return LLVM::CallIntrinsicOp::create(e.b, e.loc, sum.getType(),
                                       e.b.getStringAttr("llvm.x86.avx512bf16.dpbf16ps.512"),
                                       ValueRange{sum, left, right})
      .getResult(0);
}

} // namespace hlo::codegen
