//===- Element.cpp - Element types, numbers and vectors of them -----------===//
//
// The types that hold an element of HLO (the table "How elements are held" in compiler/README.md),
// and constants, masks and selections of such values. In: HLO element types. Out: arith and vector
// ops at the Emission's insertion point.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/Element.h"

using namespace mlir;

namespace hlo::codegen {

Type elementType(Type arrayType) {
  if (auto shaped = dyn_cast<ShapedType>(arrayType)) {
    return shaped.getElementType();
  }
  return arrayType;
}

SmallVector<Type> elementTypes(ValueRange arrays) {
  SmallVector<Type> types;
  for (Value array : arrays) {
    types.push_back(elementType(array.getType()));
  }
  return types;
}

bool isUnsignedElement(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  return integer && (integer.isUnsigned() || (integer.isSignless() && integer.getWidth() == 1));
}

Number numberOf(Type element) {
  int bits = static_cast<int>(element.getIntOrFloatBitWidth());
  if (isa<IntegerType>(element)) {
    return {isUnsignedElement(element) ? Number::Unsigned : Number::Signed, bits};
  }
  return {element.isBF16() ? Number::Bfloat : Number::Float, bits};
}

bool isNarrowFloat(Type element) {
  auto real = dyn_cast<FloatType>(element);
  return real && real.getWidth() < 32;
}

Type computeType(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element)) {
    return complex.getElementType();
  }
  if (auto integer = dyn_cast<IntegerType>(element)) {
    return IntegerType::get(element.getContext(), integer.getWidth());
  }
  return isNarrowFloat(element) ? Float32Type::get(element.getContext()) : element;
}

int64_t storageBytes(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element)) {
    return 2 * storageBytes(complex.getElementType());
  }
  return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
}

LowerHalf lowerHalfOf(Type element) {
  bool fits = isNarrowFloat(element) && (element.isBF16() || element.getIntOrFloatBitWidth() <= 8);
  return fits ? LowerHalf::Zero : LowerHalf::Any;
}

Type laneType(Type scalar, int64_t lanes) {
  return lanes > 1 ? Type(VectorType::get({lanes}, scalar)) : scalar;
}

int64_t lanesOf(Value value) {
  auto vector = dyn_cast<VectorType>(value.getType());
  return vector ? vector.getNumElements() : 1;
}

Value constantMask(Emission &e, ArrayRef<bool> on) {
  auto type = VectorType::get({static_cast<int64_t>(on.size())}, e.b.getI1Type());
  return arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(type, on));
}

Value firstLanes(Emission &e, int64_t count, int64_t lanes) {
  SmallVector<bool> on(lanes);
  std::fill(on.begin(), on.begin() + count, true);
  return constantMask(e, on);
}

Value lastLanes(Emission &e, int64_t count, int64_t lanes) {
  SmallVector<bool> on(lanes);
  std::fill(on.end() - count, on.end(), true);
  return constantMask(e, on);
}

Value constI64(Emission &e, int64_t value) {
  // Reuses an equal constant that was made a few ops before: without this up to half of a kernel's
  // ops are equal constants.
  constexpr int few = 12;
  IntegerAttr wanted = e.b.getI64IntegerAttr(value);
  Block::iterator at = e.b.getInsertionPoint(), first = e.b.getInsertionBlock()->begin();
  for (int left = few; left > 0 && at != first; --left) {
    auto constant = dyn_cast<arith::ConstantOp>(*--at);
    if (constant && constant.getValue() == wanted) {
      return constant;
    }
  }
  return arith::ConstantOp::create(e.b, e.loc, wanted);
}

Elem splat(Emission &e, const Elem &value, int64_t lanes) {
  auto one = [&](Value part) -> Value {
    if (!part || lanes <= 1 || lanesOf(part) == lanes) {
      return part;
    }
    auto type = cast<VectorType>(laneType(part.getType(), lanes));
    return vector::BroadcastOp::create(e.b, e.loc, type, part);
  };
  Elem result = value;
  result.re = one(value.re);
  result.im = one(value.im);
  return result;
}

Elem selectElem(Emission &e, Value condition, const Elem &a, const Elem &b) {
  Value re = arith::SelectOp::create(e.b, e.loc, condition, a.re, b.re);
  if (!a.im) {
    return Elem(re, std::min(a.lower, b.lower));
  }
  return Elem(re, arith::SelectOp::create(e.b, e.loc, condition, a.im, b.im));
}

Value zeroOf(Emission &e, Type type) {
  return arith::ConstantOp::create(e.b, e.loc, cast<TypedAttr>(e.b.getZeroAttr(type)));
}

static Value floatConstant(Emission &e, Type type, APFloat value) {
  const llvm::fltSemantics &semantics = cast<FloatType>(type).getFloatSemantics();
  bool losesInfo = false;
  if (value.isNaN() && &value.getSemantics() != &semantics) {
    // In formats without a quiet bit the conversion fails.
    value = APFloat::getQNaN(semantics, value.isNegative());
  }
  value.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return arith::ConstantOp::create(e.b, e.loc, FloatAttr::get(type, value));
}

/// The same of one number.
static LowerHalf lowerHalfOf(const APFloat &value) {
  if (&value.getSemantics() != &APFloat::IEEEsingle()) {
    return LowerHalf::Any;
  }
  bool isZero = (value.bitcastToAPInt() & 0xffff) == 0;
  return isZero ? LowerHalf::Zero : value.isNaN() ? LowerHalf::Any : LowerHalf::ZeroInNaN;
}

Elem literalElement(Emission &e, DenseElementsAttr literal, int64_t index) {
  Type element = literal.getElementType();
  Type type = computeType(element);
  if (isa<ComplexType>(element)) {
    std::complex<APFloat> value = literal.getValues<std::complex<APFloat>>()[index];
    Value re = floatConstant(e, type, value.real());
    return Elem(re, floatConstant(e, type, value.imag()));
  }
  if (isa<FloatType>(element)) {
    Value constant = floatConstant(e, type, literal.getValues<APFloat>()[index]);
    auto number = cast<FloatAttr>(constant.getDefiningOp<arith::ConstantOp>().getValue());
    return Elem(constant, lowerHalfOf(number.getValue()));
  }
  APInt value = literal.getValues<APInt>()[index];
  return Elem(arith::ConstantOp::create(e.b, e.loc, IntegerAttr::get(type, value)));
}

Elem zeroElem(Emission &e, Type element, int64_t lanes) {
  Value zero = zeroOf(e, laneType(computeType(element), lanes));
  return isa<ComplexType>(element) ? Elem(zero, zero) : Elem(zero, LowerHalf::Zero);
}

} // namespace hlo::codegen
