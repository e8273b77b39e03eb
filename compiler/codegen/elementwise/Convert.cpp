//===- Convert.cpp - Conversions of value and of representation -----------===//
//
// hlo.convert between any two element types, rounding once; bitcast_convert between
// types of one width; reduce_precision; stochastic_convert.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/Families.h"
#include "compiler/codegen/elementwise/Narrow.h"
#include "compiler/codegen/elementwise/functions/Functions.h"
#include "dialect/hlo/Shapes.h"
#include <limits>

using namespace mlir;

namespace hlo::codegen {

static bool isPredicate(Type element) { return element.isSignlessInteger(1); }

/// Rounds a value to bf16, given the value rounded to f32 (`nearest`). The double rounding matters
/// only if `nearest` is half way between two bf16, which is rare; then `toOdd` gives the value
/// rounded to f32 by round-to-odd, which rounds correctly. Integers are often half way, but exact
/// in f32 below 2^24.
static Num toBfloat(Emission &e, Num nearest, bool fromInteger, function_ref<Num()> toOdd) {
  if (nearest.lanes() > 1) {
    Num halfWay = equal(bitsOf(nearest) & 0xffff, 0x8000);
    if (fromInteger) {
      halfWay = halfWay & greaterEqual(abs(nearest), 16777216.0);
    }
    nearest = rarely(halfWay, {nearest}, [&] { return SmallVector<Num>{toOdd()}; })[0];
  } else {
    nearest = toOdd();
  }
  Type bf16 = e.b.getBF16Type();
  return Num(e, fromInteger ? roundInteger(e, bf16, nearest) : roundNarrow(e, bf16, nearest));
}

/// f32 or f64 -> the compute type of a float type, rounded once.
static Num floatToFloat(Emission &e, Num x, LowerHalf lower, Type from, Type to) {
  if (from == to) {
    return x;
  }
  if (!isNarrowFloat(to)) {
    return floatTo(x, to);
  }
  if (x.isF64()) {
    Type f32 = e.b.getF32Type();
    if (to.isBF16()) {
      return toBfloat(e, floatTo(x, f32), /*fromInteger=*/false,
                      [&] { return roundToOdd(x, f32); });
    }
    x = roundToOdd(x, f32);
    lower = LowerHalf::Any;
  } else if (isNarrowFloat(from) && to.isBF16() && from.getIntOrFloatBitWidth() <= 8) {
    return x; // f32 represents every value of eight mantissa and eight exponent bits
  }
  return Num(e, roundNarrow(e, to, x, lower));
}

/// Makes a 64-bit integer exact in f64, so that a later rounding to a narrower float equals one
/// rounding: ORs the eleven bits that f64 would lose into the bit above them (a sticky bit).
static Num stickyBits(Num x, bool isUnsigned) {
  Num low = x & 0x7ff;
  Num sticky = (x & ~INT64_C(0x7ff)) | select(notEqual(low, 0), 0x800, low);
  Num small =
      isUnsigned ? below(x, INT64_C(1) << 53) : below(x + (INT64_C(1) << 53), INT64_C(1) << 54);
  return select(small, x, sticky);
}

/// Makes a 32-bit integer exact in f32, so that a later rounding to fewer than 16 bits equals one
/// rounding: ORs the eight bits that f32 may lose into the bit above them.
static Num stickyByte(Num x, bool isUnsigned) {
  Num large = isUnsigned ? below(x.of(INT64_C(1) << 24), x)
                         : below(x.of(INT64_C(1) << 25), x + (INT64_C(1) << 24));
  return select(large & notEqual(x & 0xff, 0), (x & ~INT64_C(0xff)) | 0x100, x);
}

static Num integerToFloat(Emission &e, Num x, bool isUnsigned, Type to) {
  auto convert = [&](Num n, Type type) {
    return isUnsigned ? unsignedToFloat(n, type) : signedToFloat(n, type);
  };
  if (x.width() == 1) {
    auto type = cast<TypedAttr>(e.b.getZeroAttr(laneType(computeType(to), x.lanes())));
    Num zero(e, arith::ConstantOp::create(e.b, e.loc, type));
    return select(x, zero.of(isUnsigned ? 1.0 : -1.0), zero);
  }
  if (x.width() < 32) {
    bool isExact = x.width() <= 8 && (to.isBF16() || to.isF16());
    x = isUnsigned ? zextTo(x, e.b.getI32Type()) : sextTo(x, e.b.getI32Type());
    Num value = signedToFloat(x, computeType(to));
    return isNarrowFloat(to) && !isExact ? Num(e, roundInteger(e, to, value)) : value;
  }
  if (!isNarrowFloat(to)) {
    return convert(x, to);
  }
  if (to.isBF16() && x.width() == 32) {
    Num odd = isUnsigned ? unsignedToOdd(x) : Num();
    if (!odd.v) {
      odd = convert(stickyByte(x, isUnsigned), e.b.getF32Type());
    }
    return Num(e, roundInteger(e, to, odd));
  }
  auto toOdd = [&] {
    Num wide = convert(x.width() == 64 ? stickyBits(x, isUnsigned) : x, e.b.getF64Type());
    return roundToOdd(wide, e.b.getF32Type());
  };
  if (to.isBF16()) {
    return toBfloat(e, convert(x, e.b.getF32Type()), /*fromInteger=*/true, toOdd);
  }
  // Integers of 2^24 and more, which f32 may round, overflow in every narrow format but the one of
  // exponents alone.
  bool isExponent = isa<Float8E8M0FNUType>(to);
  return Num(e, roundNarrow(e, to, isExponent ? toOdd() : convert(x, e.b.getF32Type())));
}

/// Truncates towards zero and saturates; NaN gives 0.
static Num floatToInteger(Emission &e, Num x, Type to) {
  bool isUnsigned = isUnsignedElement(to);
  auto width = static_cast<int>(to.getIntOrFloatBitWidth());
  int valueBits = isUnsigned ? width : width - 1, precision = x.isF64() ? 53 : 24;
  double end = std::ldexp(1.0, valueBits), low = isUnsigned ? 0.0 : -end;
  // The largest float within the integer's range: the largest integer itself, or the float below
  // the range's end.
  bool isExact = valueBits <= precision;
  double high = isExact ? end - 1.0 : end - std::ldexp(1.0, valueBits - precision);
  Num inRange = minNum(maxNum(x, x.of(low)), x.of(high));
  // Converts by way of at least 32 bits, signed if that holds the range.
  Type through = e.b.getIntegerType(std::max(width, 32));
  Num value = isUnsigned && width >= 32 ? floatToUnsigned(inRange, through)
                                        : floatToSigned(inRange, through);
  if (!isExact) {
    llvm::APInt max =
        isUnsigned ? llvm::APInt::getMaxValue(width) : llvm::APInt::getSignedMaxValue(width);
    value = select(greaterEqual(x, end), value.of(max), value);
  }
  return zextTo(select(isNaN(x), 0, value), computeType(to));
}

static Num convertReal(Emission &e, Num x, Type from, Type to, LowerHalf lower = LowerHalf::Any) {
  if (from == to) {
    return x;
  }
  if (isPredicate(to)) {
    return x.isFloat() ? notEqual(x, 0.0) : notEqual(x, 0);
  }
  if (isa<FloatType>(from)) {
    return isa<FloatType>(to) ? floatToFloat(e, x, lower, from, to) : floatToInteger(e, x, to);
  }
  bool isUnsigned = isUnsignedElement(from);
  if (isa<FloatType>(to)) {
    return integerToFloat(e, x, isUnsigned, to);
  }
  return isUnsigned ? zextTo(x, computeType(to)) : sextTo(x, computeType(to));
}

/// What is known of a number that was converted, in f32, from what is known of it before.
static LowerHalf lowerHalfAfter(Type from, Type to, LowerHalf lower) {
  if (from == to) {
    return lower;
  }
  if (!isa<FloatType>(to) || to.isF64()) {
    return LowerHalf::Any;
  }
  if (auto integer = dyn_cast<IntegerType>(from)) {
    return integer.getWidth() <= 8 ? LowerHalf::Zero
                                   : std::max(LowerHalf::ZeroInNaN, lowerHalfOf(to));
  }
  bool isKept =
      !from.isF64() && (to.isF32() || (to.isBF16() && lowerHalfOf(from) == LowerHalf::Zero));
  return isKept ? lower : lowerHalfOf(to);
}

Elem emitConvert(Emission &e, Type from, Type to, const Elem &value) {
  auto fromComplex = dyn_cast<ComplexType>(from), toComplex = dyn_cast<ComplexType>(to);
  Num re(e, value.re);
  if (!fromComplex) {
    if (!toComplex) {
      return Elem(convertReal(e, re, from, to, value.lower), lowerHalfAfter(from, to, value.lower));
    }
    Num converted = convertReal(e, re, from, toComplex.getElementType());
    return Elem(converted, converted.of(0.0));
  }
  Num im(e, value.im);
  Type part = fromComplex.getElementType();
  if (toComplex) {
    Type target = toComplex.getElementType();
    Value converted = convertReal(e, re, part, target);
    return Elem(converted, convertReal(e, im, part, target));
  }
  if (isPredicate(to)) {
    return Elem(notEqual(re, 0.0) | notEqual(im, 0.0));
  }
  return Elem(convertReal(e, re, part, to));
}

/// The element's bits, as an integer of its own width.
static Num toBits(Emission &e, Type element, Num value, LowerHalf lower) {
  if (isNarrowFloat(element)) {
    Num code(e, encodeNarrow(e, element, value, lower));
    return zextTo(code, e.b.getIntegerType(element.getIntOrFloatBitWidth()));
  }
  if (isPredicate(element)) {
    return zextTo(value, e.b.getI8Type());
  }
  return value.isFloat() ? bitsOf(value) : value;
}

static Num fromBits(Emission &e, Type element, Num bits) {
  if (isNarrowFloat(element)) {
    Num stored = zextTo(bits, e.b.getIntegerType(8 * storageBytes(element)));
    return Num(e, decodeNarrow(e, element, stored));
  }
  if (isPredicate(element)) {
    return notEqual(bits, 0);
  }
  return isa<FloatType>(element) ? floatOf(bits) : bits;
}

Elem emitBitcast(const Request &r) {
  if (r.operand == r.result) {
    return r.values[0];
  }
  if (isa<ComplexType>(r.operand) || isa<ComplexType>(r.result) ||
      bitcastBits(r.operand) != bitcastBits(r.result)) {
    return {};
  }
  Num bits = toBits(r.e, r.operand, r.re(0), r.values[0].lower);
  return Elem(fromBits(r.e, r.result, bits), lowerHalfOf(r.result));
}

namespace {
/// The exponent and mantissa widths of an IEEE format whose bits are held in an integer.
struct Fields {
  int exponent, mantissa;
};
} // namespace

static Fields fieldsOf(Type element) {
  if (isNarrowFloat(element)) {
    NarrowFormat format = narrowFormat(element);
    return {format.exponent, format.mantissa};
  }
  return element.isF64() ? Fields{11, 52} : Fields{8, 23};
}

/// Rounds the mantissa to nearest even. Values beyond the reduced exponent's range become infinity;
/// values below its normal numbers become zero.
Elem emitReducePrecision(const Request &r) {
  if (!isa<FloatType>(r.operand)) {
    return {};
  }
  Emission &e = r.e;
  auto exponentBits = static_cast<int>(r.integer("exponent_bits"));
  auto mantissaBits = static_cast<int>(r.integer("mantissa_bits"));
  // Types of at most 8 bits have their own biases and special values; their numbers are reduced as
  // f32.
  bool small = isNarrowFloat(r.operand) && r.operand.getIntOrFloatBitWidth() <= 8;
  Type element = small ? e.b.getF32Type() : r.operand;
  Fields source = fieldsOf(element);
  Num value = r.re(0);
  LowerHalf lower = r.values[0].lower;
  Num bits = toBits(e, element, value, lower);
  auto mask = [&](int count, int at) {
    return bits.of(llvm::APInt::getBitsSet(bits.width(), at, at + count));
  };
  Num sign = bits & mask(1, source.exponent + source.mantissa);
  Num reduced = bits;
  if (mantissaBits < source.mantissa) {
    int drop = source.mantissa - mantissaBits;
    Num last = shrU(bits, drop) & 1;
    Num half = bits.of((INT64_C(1) << (drop - 1)) - 1);
    reduced = (bits + half + last) & (mask(bits.width(), 0) ^ mask(drop, 0));
  }
  if (exponentBits < source.exponent) {
    Num exponentMask = mask(source.exponent, source.mantissa);
    Num exponent = reduced & exponentMask;
    int64_t bias = (INT64_C(1) << (source.exponent - 1)) - 1;
    int64_t reducedBias = (INT64_C(1) << (exponentBits - 1)) - 1;
    Num overflows = below(bits.of((bias + reducedBias) << source.mantissa), exponent);
    Num underflows = belowEqual(exponent, (bias - reducedBias) << source.mantissa);
    reduced = select(overflows, sign | exponentMask, reduced);
    reduced = select(underflows, sign, reduced);
  }
  Num result = select(isNaN(value), value, fromBits(e, element, reduced));
  if (small) {
    return Elem(roundNarrow(e, r.operand, result), lowerHalfOf(r.operand));
  }
  return Elem(result, std::min(lower, lowerHalfOf(r.operand)));
}

/// Truncates |x|, then rounds up if the random integer is below the fraction's bits.
Elem emitStochasticConvert(const Request &r) {
  auto result = dyn_cast<IntegerType>(r.result);
  if (!isa<FloatType>(r.operand) || !result || isPredicate(result)) {
    return {};
  }
  Emission &e = r.e;
  Num x = r.re(0), random = r.re(1);
  Num magnitude = abs(x);
  Num whole = trunc(magnitude);
  Num fraction = magnitude - whole;
  Num finite = equal(fraction, fraction);
  Num scaled = select(finite, fraction, 0.0) * std::ldexp(1.0, random.width());
  Num threshold = floatToUnsigned(scaled, random.scalar());
  Num rounded = select(below(random, threshold) & finite, whole + 1.0, whole);
  return Elem(floatToInteger(e, copySign(rounded, x), result));
}

} // namespace hlo::codegen
