//===- AlgebraicBits.cpp - Rules of f8 numbers as their bits --------------===//
//
// Ops that need only the sign and magnitude of an f8 number work on its byte, without a conversion
// to f32 and back.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/transforms/simplifiers/algebraic/AlgebraicRules.h"

using namespace mlir;
using namespace hlo;

/// The bits of x as u8; null if x is made by arithmetic (its value is in f32 anyway), or if its
/// type is not one whose sign bit is separate from a magnitude that is zero only for zeros.
/// `isKnown`: the caller has checked the type.
static Value storedBits(Value x, HloBuilder &b, bool isKnown = false) {
  Type element = elementTypeOf(x);
  Operation *op = x.getDefiningOp();
  isKnown |= isa<Float8E5M2Type, Float8E4M3FNType, Float8E4M3Type, Float8E3M4Type>(element);
  if (!isKnown || (op && isElementwiseOp(op))) {
    return {};
  }
  return b.bitcastConvert(x, HloBuilder::array(x, b.b.getIntegerType(8, /*isSigned=*/false)));
}

// -x -> bits of x with the sign bit flipped
static Value negatedBits(NegateOp op, HloBuilder &b) {
  Value bits = storedBits(op.getOperand(), b);
  return bits ? b.bitcastConvert(b.binary<XorOp>(bits, b.splat(HloBuilder::type(bits), 0x80)),
                                 HloBuilder::type(op.getResult()))
              : Value();
}

// |x| -> bits of x without the sign bit
static Value magnitudeBits(AbsOp op, HloBuilder &b) {
  Value bits = storedBits(op.getOperand(), b);
  return bits ? b.bitcastConvert(b.binary<AndOp>(bits, b.splat(HloBuilder::type(bits), 0x7f)),
                                 HloBuilder::type(op.getResult()))
              : Value();
}

// pred(x) -> (bits of |x|) != 0
static Value truthOfBits(ConvertOp op, HloBuilder &b) {
  Value bits = isPred(op.getResult()) ? storedBits(op.getOperand(), b) : Value();
  if (!bits) {
    return {};
  }
  auto type = HloBuilder::type(bits);
  return b.compare(b.binary<AndOp>(bits, b.splat(type, 0x7f)), b.splat(type, 0), "NE");
}

// x == 0, x != 0 -> the same comparison of the bits of |x|; of all bits in types without -0, where
// the sign bit alone is NaN
static Value zeroByBits(CompareOp op, HloBuilder &b) {
  Type element = elementTypeOf(op.getLhs());
  bool isZero = isFloat(op.getRhs(), 0.0) || isFloat(op.getRhs(), -0.0);
  bool single = isa<Float8E4M3FNUZType, Float8E5M2FNUZType, Float8E4M3B11FNUZType>(element);
  if (!isZero || (op.getDirection() != "EQ" && op.getDirection() != "NE") ||
      op.getType() == "TOTALORDER") {
    return {};
  }
  Value bits = storedBits(op.getLhs(), b, single);
  if (!bits) {
    return {};
  }
  auto type = HloBuilder::type(bits);
  Value magnitude = single ? bits : b.binary<AndOp>(bits, b.splat(type, 0x7f));
  return b.compare(magnitude, b.splat(type, 0), op.getDirection());
}

void hlo::populateBitRules(RewritePatternSet &patterns) {
  addRules<NegateOp>(patterns, {negatedBits});
  addRules<AbsOp>(patterns, {magnitudeBits});
  addRules<ConvertOp>(patterns, {truthOfBits});
  addRules<CompareOp>(patterns, {zeroByBits});
}
