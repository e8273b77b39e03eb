//===- Narrow.cpp - Floats of fewer than 32 bits --------------------------===//
//
// Conversions between storage bits and f32 values of f16, bf16, f8*, f6* and f4*, and the
// rounding of an f32 to such a type: to nearest even, with each type's rules for overflow and
// NaN. By integer arithmetic, but f16 by instructions if the machine converts it.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/Narrow.h"
#include "compiler/codegen/Elementwise.h"
#include "compiler/codegen/elementwise/Num.h"
#include "dialect/hlo/Dialect.h"

using namespace mlir;

namespace hlo::codegen {

NarrowFormat narrowFormat(Type element) {
  auto type = cast<FloatType>(element);
  NarrowFormat f;
  f.bits = type.getWidth();
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  f.mantissa = static_cast<int>(APFloat::semanticsPrecision(semantics)) - 1;
  f.exponent = f.bits - 1 - f.mantissa;
  f.bias = 1 - APFloat::semanticsMinExponent(semantics);
  uint32_t signBit = 1u << (f.bits - 1);
  uint32_t topExponent = ((1u << f.exponent) - 1) << f.mantissa;
  if (isa<Float8E8M0FNUType>(element)) {
    f.kind = NarrowKind::Exponent;
    f.exponent = 8;
    f.bias = 127;
    f.maxCode = 0xfe;
    f.overflowCode = f.nanCode = 0xff;
  } else if (isa<Float8E4M3B11FNUZType, Float8E4M3FNUZType, Float8E5M2FNUZType>(element)) {
    f.kind = NarrowKind::NoNegativeZero;
    f.maxCode = signBit - 1;
    f.overflowCode = f.nanCode = signBit;
  } else if (isa<Float8E4M3FNType>(element)) {
    f.kind = NarrowKind::NoInfinity;
    f.maxCode = signBit - 2;
    f.overflowCode = f.nanCode = signBit - 1;
  } else if (isa<Float4E2M1FNType, Float6E2M3FNType, Float6E3M2FNType>(element)) {
    f.kind = NarrowKind::FiniteOnly;
    f.maxCode = f.overflowCode = signBit - 1;
    f.nanCode = 0;
  } else {
    f.kind = NarrowKind::Ieee;
    f.maxCode = topExponent - 1;
    f.overflowCode = topExponent;
    f.nanCode = topExponent | 1u << (f.mantissa - 1);
  }
  return f;
}

static constexpr int64_t floatSign = 0x80000000;
static constexpr int64_t floatMagnitude = 0x7fffffff;
static constexpr int64_t floatInfinity = 0x7f800000;
static constexpr int64_t floatNaN = 0x7fc00000;

/// Bits of the f32 2^exponent.
static int64_t powerOfTwo(int exponent) { return static_cast<int64_t>(exponent + 127) << 23; }

/// Adds half a unit of the last place that is kept, ties to even. The low `shift` bits of the
/// result are meaningless.
static Num addHalf(Num magnitude, int shift) {
  Num odd = shrU(magnitude, shift) & 1;
  return magnitude + odd + ((int64_t(1) << (shift - 1)) - 1);
}

LowerHalf lowerHalfOf(Num result, ArrayRef<Elem> operands) {
  constexpr size_t mostNodes = 64;
  llvm::SmallPtrSet<Value, 32> seen;
  for (const Elem &operand : operands) {
    if (isa<FloatType>(getElementTypeOrSelf(operand.re.getType())) &&
        operand.lower == LowerHalf::Any) {
      return LowerHalf::Any;
    }
    seen.insert(operand.re);
  }
  SmallVector<Value> todo{result.v};
  while (!todo.empty()) {
    Value v = todo.pop_back_val();
    APFloat number(0.0);
    if (!seen.insert(v).second) {
      continue;
    }
    if (matchPattern(v, m_ConstantFloat(&number))) {
      if (number.isNaN() && (number.bitcastToAPInt() & 0xffff) != 0) {
        return LowerHalf::Any;
      }
      continue;
    }
    Operation *op = v.getDefiningOp();
    if (!op || seen.size() > mostNodes) {
      return LowerHalf::Any;
    }
    if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
      continue;
    }
    ValueRange from = op->getOperands();
    auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
    if (isa<arith::SelectOp>(op)) {
      from = from.drop_front();
    } else if (call && call.getIntrin().contains(".scalef.p")) {
      from = from.take_front(2);
    } else if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp,
                    arith::MaximumFOp, arith::MinimumFOp, math::FmaOp, math::SqrtOp, math::AbsFOp,
                    vector::BroadcastOp, vector::ExtractOp, vector::ShuffleOp,
                    vector::InsertStridedSliceOp>(op)) {
      return LowerHalf::Any;
    }
    llvm::append_range(todo, from);
  }
  return LowerHalf::ZeroInNaN;
}

/// The bf16 bits in the upper half; the lower half is meaningless.
static Num roundBfloat(Num x, LowerHalf lower) {
  Num bits = bitsOf(x);
  Num rounded = addHalf(bits, 16);
  // Adding half a unit to such a NaN does not change its upper half.
  return lower != LowerHalf::Any ? rounded : select(isNaN(x), bits | 0x00400000, rounded);
}

Elem roundedForStore(Emission &e, Type element, const Elem &value) {
  Num x(e, value.re);
  if (!element.isBF16() || value.lower == LowerHalf::Zero || !e.machine.convert(kF32, kBf16) ||
      x.lanes() < 8) {
    return value;
  }
  Num half(e, arith::TruncFOp::create(e.b, e.loc, x.shaped(e.b.getBF16Type()), x));
  Num bits(e, arith::BitcastOp::create(e.b, e.loc, x.shaped(e.b.getI16Type()), half.v));
  Num subnormal = equal(bitsOf(x) & 0x7f800000, 0) & notEqual(x, 0.0);
  Num stored = rarely(subnormal, {bits}, [&] {
    return SmallVector<Num>{zextTo(shrU(roundBfloat(x, value.lower), 16), e.b.getI16Type())};
  })[0];
  return Elem(floatOf(shl(zextTo(stored, e.b.getI32Type()), 16)), LowerHalf::Zero);
}

static Value decodeExponent(Num bits) {
  Num code = zextTo(bits, bits.e->b.getI32Type());
  Num value = shl(code, 23);
  value = select(equal(code, 0), powerOfTwo(-127 + 1) / 2, value);
  return floatOf(select(equal(code, 0xff), floatNaN, value));
}

/// Whether every finite value of the format, scaled by a power of two, is an f16 of less than the
/// largest exponent with the same bits.
static bool fitsHalf(const NarrowFormat &f) {
  int exponentBits = f.bits - 1 - f.mantissa;
  bool known = f.kind == NarrowKind::Ieee || f.kind == NarrowKind::NoInfinity ||
               f.kind == NarrowKind::NoNegativeZero;
  return f.bits == 8 && known && (exponentBits < 5 || f.kind == NarrowKind::Ieee);
}

/// Decodes by way of f16, which one instruction converts: half the steps, on 16-bit lanes.
static Value decodeByHalf(Emission &e, const NarrowFormat &f, Num stored) {
  const int64_t infinity = 0x7c00, notANumber = 0x7e00;
  Num code = zextTo(stored, e.b.getI16Type());
  if (f.kind == NarrowKind::Ieee && f.exponent == 5) {
    return floatTo(floatOf(shl(code, 8)), e.b.getF32Type()); // f8e5m2 is the upper half of an f16
  }
  Num magnitude = code & 0x7f, sign = shl(code & 0x80, 8);
  Num half = shl(magnitude, 10 - f.mantissa);
  if (f.kind == NarrowKind::Ieee) {
    half = select(equal(magnitude, f.overflowCode), infinity, half);
    half = select(greater(magnitude, f.overflowCode), notANumber, half);
  } else if (f.kind == NarrowKind::NoInfinity) {
    half = select(equal(magnitude, f.nanCode), notANumber, half);
  } else {
    half = select(equal(code, 0x80), notANumber, half);
  }
  Num value = floatTo(floatOf(half | sign), e.b.getF32Type());
  return value * std::ldexp(1.0, 15 - f.bias);
}

Value decodeNarrow(Emission &e, Type element, Value bits) {
  NarrowFormat f = narrowFormat(element);
  Num stored(e, bits);
  if (e.machine.convert(kF16, kF32) && fitsHalf(f)) {
    return decodeByHalf(e, f, stored);
  }
  if (element.isBF16()) {
    return floatOf(shl(zextTo(stored, e.b.getI32Type()), 16));
  }
  if (element.isF16() && e.machine.convert(kF16, kF32)) {
    return floatTo(floatOf(stored), e.b.getF32Type());
  }
  if (f.kind == NarrowKind::Exponent) {
    return decodeExponent(stored);
  }
  Num code = zextTo(stored, e.b.getI32Type());
  int64_t signBit = int64_t(1) << (f.bits - 1);
  Num magnitude = code & (signBit - 1);
  Num sign = shl(code & signBit, 32 - f.bits);
  Num normal = shl(magnitude, 23 - f.mantissa) + (int64_t(127 - f.bias) << 23);
  Num units = signedToFloat(magnitude, e.b.getF32Type());
  Num subnormal = bitsOf(units * std::ldexp(1.0, 1 - f.bias - f.mantissa));
  Num value = select(less(magnitude, int64_t(1) << f.mantissa), subnormal, normal);
  switch (f.kind) {
  case NarrowKind::Ieee: {
    value = select(equal(magnitude, f.overflowCode), floatInfinity, value);
    Num payload = shl(magnitude, 23 - f.mantissa) | floatNaN;
    Num nan = element.isF16() ? (payload & floatMagnitude) : value.of(floatNaN);
    value = select(greater(magnitude, f.overflowCode), nan, value);
    break;
  }
  case NarrowKind::NoInfinity: value = select(equal(magnitude, f.nanCode), floatNaN, value); break;
  case NarrowKind::NoNegativeZero: value = select(equal(code, signBit), floatNaN, value); break;
  default: break;
  }
  return floatOf(value | sign);
}

static Value encodeExponent(Num x) {
  Num bits = bitsOf(x);
  Num code = shrU(bits + 0x00400000, 23);
  // Magnitudes below 2^-126 are f32 subnormals; half way between 2^-127 and 2^-126 is 3 * 2^-128.
  Num small = select(less(bits, 0x00600000), int64_t(0), bits.of(int64_t(1)));
  code = select(less(bits, 0x00800000), small, code);
  return zextTo(select(greater(x, 0.0), code, 0xff), x.e->b.getI8Type());
}

/// The code of a magnitude given as f32 bits, before NaN and sign are set.
static Num encodeMagnitude(const NarrowFormat &f, Num magnitude) {
  int shift = 23 - f.mantissa;
  Num normal = shrU(addHalf(magnitude, shift), shift) - (int64_t(127 - f.bias) << f.mantissa);
  // The float addition rounds at the unit of the format's subnormals.
  double magic = std::ldexp(1.0, 1 - f.bias - f.mantissa + 23);
  Num aligned = floatOf(magnitude) + magic;
  Num subnormal = bitsOf(aligned) - bitsOf(aligned.of(magic));
  Num code = select(less(magnitude, powerOfTwo(1 - f.bias)), subnormal, normal);
  return select(greater(code, int64_t(f.maxCode)), int64_t(f.overflowCode), code);
}

Num halfBefore(Num x) {
  auto widened = x.v.getDefiningOp<arith::ExtFOp>();
  bool isHalf = widened && getElementTypeOrSelf(widened.getIn().getType()).isF16();
  return isHalf ? Num(*x.e, widened.getIn()) : Num();
}

/// Rounds the bits of an f16 to its upper half.
static Num roundUpperHalf(const NarrowFormat &f, Num half) {
  Num bits = bitsOf(half);
  Num rounded = (bits + 0x7f + (shrU(bits, 8) & 1)) & ~int64_t(0xff);
  return select(isNaN(half), (bits & ~int64_t(0x7fff)) | int64_t(f.nanCode << 8), rounded);
}

/// Encodes f8e5m2, the upper half of an f16, by way of an f16 that is rounded to odd, with as few
/// bits as its subnormals have.
static Value encodeByHalf(const NarrowFormat &f, Num x) {
  OpBuilder &b = x.e->b;
  if (Num half = halfBefore(x); half.v) {
    return zextTo(shrU(roundUpperHalf(f, half), 8), b.getI8Type());
  }
  const int64_t low = (1 << 17) - 1;
  Num bits = bitsOf(x);
  Num odd = (bits | ((bits & low) + low)) & ~low;
  Num half = bitsOf(floatTo(floatOf(odd), b.getF16Type()));
  Num code = shrU(half + 0x7f + (shrU(half, 8) & 1), 8);
  Num nan = (shrU(half, 8) & 0x80) | int64_t(f.nanCode);
  return zextTo(select(isNaN(x), nan, code), b.getI8Type());
}

Value encodeNarrow(Emission &e, Type element, Value value, LowerHalf lower) {
  NarrowFormat f = narrowFormat(element);
  Num x(e, value);
  if (isa<Float8E5M2Type>(element) && e.machine.convert(kF32, kF16)) {
    return encodeByHalf(f, x);
  }
  if (element.isBF16()) {
    Num bits = lower == LowerHalf::Zero ? bitsOf(x) : roundBfloat(x, lower);
    return zextTo(shrU(bits, 16), e.b.getI16Type());
  }
  if (element.isF16() && e.machine.convert(kF32, kF16)) {
    return bitsOf(floatTo(x, e.b.getF16Type()));
  }
  if (f.kind == NarrowKind::Exponent) {
    return encodeExponent(x);
  }
  Num bits = bitsOf(x);
  Num magnitude = bits & floatMagnitude;
  Num sign = shrU(bits, 32 - f.bits) & (int64_t(1) << (f.bits - 1));
  Num code = encodeMagnitude(f, magnitude);
  Num nan = isNaN(x);
  switch (f.kind) {
  case NarrowKind::FiniteOnly:
    code = select(nan, int64_t(1) << (f.bits - 1), code | sign); // NaN becomes -0
    break;
  case NarrowKind::NoNegativeZero: {
    Num nonzero = notEqual(code, 0);
    code = select(nonzero, code | sign, int64_t(0));
    code = select(nan, int64_t(f.nanCode), code);
    break;
  }
  default: code = select(nan, int64_t(f.nanCode), code) | sign; break;
  }
  return zextTo(code, f.bits > 8 ? e.b.getI16Type() : e.b.getI8Type());
}

Value roundNarrow(Emission &e, Type element, Value value, LowerHalf lower) {
  NarrowFormat f = narrowFormat(element);
  Num x(e, value);
  if (element.isBF16()) {
    return floatOf(roundBfloat(x, lower) & 0xffff0000);
  }
  if ((element.isF16() && e.machine.convert(kF32, kF16)) || f.kind == NarrowKind::Exponent) {
    return decodeNarrow(e, element, encodeNarrow(e, element, value));
  }
  if (Num half = halfBefore(x); half.v && isa<Float8E5M2Type>(element)) {
    return floatTo(floatOf(roundUpperHalf(f, half)), e.b.getF32Type());
  }
  // The steps of encodeNarrow, on the f32 format.
  Num bits = bitsOf(x);
  Num magnitude = bits & floatMagnitude;
  Num sign = bits & floatSign;
  int shift = 23 - f.mantissa;
  Num normal = addHalf(magnitude, shift) & ~((int64_t(1) << shift) - 1);
  double magic = std::ldexp(1.0, 1 - f.bias - f.mantissa + 23);
  Num subnormal = bitsOf((floatOf(magnitude) + magic) - magic);
  Num rounded = select(less(magnitude, powerOfTwo(1 - f.bias)), subnormal, normal);
  int64_t largest = ((int64_t(f.maxCode >> f.mantissa) + 127 - f.bias) << 23) |
                    int64_t(f.maxCode & ((1u << f.mantissa) - 1)) << shift;
  int64_t overflow = f.kind == NarrowKind::Ieee         ? floatInfinity
                     : f.kind == NarrowKind::FiniteOnly ? largest
                                                        : floatNaN;
  rounded = select(greater(rounded, largest), overflow, rounded);
  Num nan = isNaN(x);
  switch (f.kind) {
  case NarrowKind::FiniteOnly: return floatOf(select(nan, floatSign, rounded | sign));
  case NarrowKind::NoNegativeZero: {
    Num kept = select(equal(rounded, 0), rounded, rounded | sign);
    Num isNan = greater(rounded, floatInfinity) | nan;
    return floatOf(select(isNan, floatNaN | floatSign, kept));
  }
  default: return floatOf(select(nan, floatNaN, rounded) | sign);
  }
}

Value roundInteger(Emission &e, Type element, Num x) {
  if (!element.isBF16() || !e.machine.convert(kF32, kBf16) || x.lanes() == 1) {
    return roundNarrow(e, element, x, LowerHalf::ZeroInNaN);
  }
  // The instruction may treat subnormals as zeros; no integer is subnormal.
  Num half(e, arith::TruncFOp::create(e.b, e.loc, x.shaped(element), x));
  Num bits(e, arith::BitcastOp::create(e.b, e.loc, x.shaped(e.b.getI16Type()), half.v));
  return floatOf(shl(zextTo(bits, e.b.getI32Type()), 16));
}

Elem quotientForNarrow(Emission &e, Operation *op, ArrayRef<Elem> operands) {
  auto isToNarrow = [](Operation *user) {
    auto convert = dyn_cast<ConvertOp>(user);
    return convert && isNarrowFloat(elementType(convert.getType()));
  };
  if (!isa<DivideOp>(op) || !elementType(op->getResult(0).getType()).isF32() ||
      lanesOf(operands[0].re) == 1 || !llvm::all_of(op->getUsers(), isToNarrow)) {
    return {};
  }
  Value shared = operands[1].re;
  if (auto broadcast = shared.getDefiningOp<vector::BroadcastOp>()) {
    shared = broadcast.getSource();
  }
  if (isa<VectorType>(shared.getType())) {
    return {};
  }
  Num x(e, operands[0].re), divisor(e, shared);
  auto inAllLanes = [&](Num number) { return Num(e, splat(e, Elem(number), x.lanes()).re); };
  // Reciprocals of other divisors may overflow, or lose bits.
  Num usual = greater(abs(divisor), 0x1p-125) & less(abs(divisor), 0x1p125);
  Num product = x * inAllLanes(1.0 / divisor);
  return Elem(rarely(logicalNot(usual), {product},
                     [&] { return SmallVector<Num>{x / inAllLanes(divisor)}; })[0]);
}

Num roundToOdd(Num x, Type narrower) {
  Num nearest = floatTo(x, narrower);
  Num back = floatTo(nearest, x.scalar());
  Num inexact = notEqual(back, x) & equal(x, x);
  Num bits = bitsOf(nearest);
  // Rounded towards zero, with the last bit set: of the two neighbours of an inexact value one is
  // odd.
  Num wide = zextTo(greater(abs(back), abs(x)), bits.scalar());
  Num odd = (bits - wide) | 1;
  return select(inexact, floatOf(odd), nearest);
}

} // namespace hlo::codegen
