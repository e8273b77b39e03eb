//===- Num.cpp - Arithmetic on emitted values -----------------------------===//
//
// Each function emits one op (or a few) at the Emission's insertion point. No
// fast-math flag is ever set here: the algorithms rely on exact rounding.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/Num.h"

using namespace mlir;

namespace hlo::codegen {

static Num constantOf(const Num &like, TypedAttr scalar) {
  Attribute attr = scalar;
  if (auto vector = dyn_cast<VectorType>(like.type())) {
    attr = DenseElementsAttr::get(vector, Attribute(scalar));
  }
  return Num(*like.e, arith::ConstantOp::create(like.e->b, like.e->loc, cast<TypedAttr>(attr)));
}

Num Num::of(double value) const {
  if (isFloat()) {
    return constantOf(*this, FloatAttr::get(scalar(), value));
  }
  return of(static_cast<int64_t>(value));
}
Num Num::of(int64_t value) const {
  if (isFloat()) {
    return constantOf(*this, FloatAttr::get(scalar(), static_cast<double>(value)));
  }
  return of(llvm::APInt(64, static_cast<uint64_t>(value), /*isSigned=*/true).sextOrTrunc(width()));
}
Num Num::of(const llvm::APInt &value) const {
  return constantOf(*this, IntegerAttr::get(scalar(), value));
}

template <typename FloatOp, typename IntOp> static Num binary(Num a, Num b) {
  if (a.isFloat()) {
    return Num(*a.e, FloatOp::create(a.e->b, a.e->loc, a.v, b.v));
  }
  return Num(*a.e, IntOp::create(a.e->b, a.e->loc, a.v, b.v));
}
template <typename IntOp> static Num integer(Num a, Num b) {
  return Num(*a.e, IntOp::create(a.e->b, a.e->loc, a.v, b.v));
}
template <typename UnaryOp> static Num unary(Num a) {
  return Num(*a.e, UnaryOp::create(a.e->b, a.e->loc, a.v));
}
template <typename CastOp> static Num castTo(Num a, Type type) {
  return Num(*a.e, CastOp::create(a.e->b, a.e->loc, a.shaped(type), a.v));
}

Num operator+(Num a, Num b) { return binary<arith::AddFOp, arith::AddIOp>(a, b); }
Num operator-(Num a, Num b) { return binary<arith::SubFOp, arith::SubIOp>(a, b); }
Num operator*(Num a, Num b) { return binary<arith::MulFOp, arith::MulIOp>(a, b); }
Num operator/(Num a, Num b) { return Num(*a.e, arith::DivFOp::create(a.e->b, a.e->loc, a.v, b.v)); }
Num operator&(Num a, Num b) { return integer<arith::AndIOp>(a, b); }
Num operator|(Num a, Num b) { return integer<arith::OrIOp>(a, b); }
Num operator^(Num a, Num b) { return integer<arith::XOrIOp>(a, b); }
Num operator-(Num a) { return a.isFloat() ? unary<arith::NegFOp>(a) : a.of(int64_t(0)) - a; }

Num shl(Num a, Num bits) { return integer<arith::ShLIOp>(a, bits); }
Num shrU(Num a, Num bits) { return integer<arith::ShRUIOp>(a, bits); }
Num shrS(Num a, Num bits) { return integer<arith::ShRSIOp>(a, bits); }
Num shl(Num a, int64_t bits) { return shl(a, a.of(bits)); }
Num shrU(Num a, int64_t bits) { return shrU(a, a.of(bits)); }
Num shrS(Num a, int64_t bits) { return shrS(a, a.of(bits)); }

static Num compare(Num a, Num b, arith::CmpFPredicate onFloats, arith::CmpIPredicate onInts) {
  if (a.isFloat()) {
    return Num(*a.e, arith::CmpFOp::create(a.e->b, a.e->loc, onFloats, a.v, b.v));
  }
  return Num(*a.e, arith::CmpIOp::create(a.e->b, a.e->loc, onInts, a.v, b.v));
}
using F = arith::CmpFPredicate;
using I = arith::CmpIPredicate;
Num less(Num a, Num b) { return compare(a, b, F::OLT, I::slt); }
Num lessEqual(Num a, Num b) { return compare(a, b, F::OLE, I::sle); }
Num greater(Num a, Num b) { return compare(a, b, F::OGT, I::sgt); }
Num greaterEqual(Num a, Num b) { return compare(a, b, F::OGE, I::sge); }
Num equal(Num a, Num b) { return compare(a, b, F::OEQ, I::eq); }
Num notEqual(Num a, Num b) { return compare(a, b, F::UNE, I::ne); }
Num below(Num a, Num b) { return compare(a, b, F::OLT, I::ult); }
Num belowEqual(Num a, Num b) { return compare(a, b, F::OLE, I::ule); }
Num isNaN(Num a) { return compare(a, a, F::UNO, I::ne); }
Num logicalNot(Num a) { return a ^ a.of(int64_t(1)); }

Num select(Num condition, Num a, Num b) {
  return Num(*a.e, arith::SelectOp::create(a.e->b, a.e->loc, condition.v, a.v, b.v));
}

Num fma(Num a, Num b, Num c) {
  if (!a.e->machine.fma) {
    return a * b + c;
  }
  return Num(*a.e, math::FmaOp::create(a.e->b, a.e->loc, a.v, b.v, c.v));
}

Num polynomial(Num x, llvm::ArrayRef<double> coefficients) {
  Num sum = x.of(coefficients.back());
  for (double c : llvm::reverse(coefficients.drop_back())) {
    sum = fma(sum, x, c);
  }
  return sum;
}

Num polynomialInPairs(Num x, Num square, llvm::ArrayRef<double> coefficients) {
  SmallVector<Num> pairs;
  for (size_t i = 0; i < coefficients.size(); i += 2) {
    Num low = x.of(coefficients[i]);
    pairs.push_back(i + 1 < coefficients.size() ? fma(x, coefficients[i + 1], low) : low);
  }
  Num sum = pairs.pop_back_val();
  while (!pairs.empty()) {
    sum = fma(sum, square, pairs.pop_back_val());
  }
  return sum;
}

Num polynomialAsTree(Num x, llvm::ArrayRef<double> coefficients) {
  SmallVector<Num> terms;
  for (size_t i = 0; i < coefficients.size(); i += 2) {
    Num low = x.of(coefficients[i]);
    terms.push_back(i + 1 < coefficients.size() ? fma(x, coefficients[i + 1], low) : low);
  }
  for (Num power = x; terms.size() > 1;) {
    power = power * power;
    size_t count = 0;
    for (size_t i = 0; i < terms.size(); i += 2) {
      terms[count++] = i + 1 < terms.size() ? fma(terms[i + 1], power, terms[i]) : terms[i];
    }
    terms.truncate(count);
  }
  return terms.front();
}

Num abs(Num a) { return unary<math::AbsFOp>(a); }
Num sqrt(Num a) { return unary<math::SqrtOp>(a); }
Num floor(Num a) { return unary<math::FloorOp>(a); }
Num ceil(Num a) { return unary<math::CeilOp>(a); }
Num trunc(Num a) { return unary<math::TruncOp>(a); }
Num roundEven(Num a) { return unary<math::RoundEvenOp>(a); }
Num copySign(Num magnitude, Num sign) {
  return Num(*sign.e, math::CopySignOp::create(sign.e->b, sign.e->loc, magnitude.v, sign.v));
}
Num maxNum(Num a, Num b) { return select(greater(a, b), a, b); }
Num minNum(Num a, Num b) { return select(less(a, b), a, b); }

Num bitsOf(Num a) {
  return castTo<arith::BitcastOp>(a, IntegerType::get(a.type().getContext(), a.width()));
}
Num floatOf(Num bits) {
  MLIRContext *context = bits.type().getContext();
  switch (bits.width()) {
  case 16: return castTo<arith::BitcastOp>(bits, Float16Type::get(context));
  case 32: return castTo<arith::BitcastOp>(bits, Float32Type::get(context));
  default: return castTo<arith::BitcastOp>(bits, Float64Type::get(context));
  }
}
Num signedToFloat(Num a, Type type) { return castTo<arith::SIToFPOp>(a, type); }
Num unsignedToFloat(Num a, Type type) { return castTo<arith::UIToFPOp>(a, type); }
Num floatToSigned(Num a, Type type) { return castTo<arith::FPToSIOp>(a, type); }
Num floatToUnsigned(Num a, Type type) { return castTo<arith::FPToUIOp>(a, type); }
Num floatTo(Num a, Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == a.width()) {
    return a;
  }
  return width > a.width() ? castTo<arith::ExtFOp>(a, type) : castTo<arith::TruncFOp>(a, type);
}
Num zextTo(Num a, Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == a.width()) {
    return a;
  }
  return width > a.width() ? castTo<arith::ExtUIOp>(a, type) : castTo<arith::TruncIOp>(a, type);
}
Num sextTo(Num a, Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == a.width()) {
    return a;
  }
  return width > a.width() ? castTo<arith::ExtSIOp>(a, type) : castTo<arith::TruncIOp>(a, type);
}

Num either(Num condition, Num like, function_ref<Num()> thenValue, function_ref<Num()> elseValue) {
  if (condition.lanes() > 1) {
    Num yes = thenValue(), no = elseValue();
    return select(condition, yes, no);
  }
  Emission &e = *condition.e;
  auto branch = scf::IfOp::create(e.b, e.loc, like.type(), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  auto fill = [&](Region &region, function_ref<Num()> value) {
    e.b.setInsertionPointToStart(&region.front());
    scf::YieldOp::create(e.b, e.loc, value().v);
  };
  fill(branch.getThenRegion(), thenValue);
  fill(branch.getElseRegion(), elseValue);
  return Num(e, branch.getResult(0));
}

Value anyLane(Num condition) {
  if (!isa<VectorType>(condition.type())) {
    return condition.v;
  }
  return vector::ReductionOp::create(condition.e->b, condition.e->loc, vector::CombiningKind::OR,
                                     condition.v);
}

SmallVector<Num> rarely(Num condition, ArrayRef<Num> elseValues,
                        function_ref<SmallVector<Num>()> thenValues) {
  Emission &e = *condition.e;
  SmallVector<Type> types;
  SmallVector<Value> otherwise;
  for (const Num &value : elseValues) {
    types.push_back(value.type());
    otherwise.push_back(value.v);
  }
  // With this hint LLVM keeps the constants of the common path in registers.
  Value any = anyLane(condition), no = arith::ConstantIntOp::create(e.b, e.loc, 0, 1);
  any = LLVM::ExpectOp::create(e.b, e.loc, any, no);
  auto branch = scf::IfOp::create(e.b, e.loc, types, any, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(&branch.getElseRegion().front());
  scf::YieldOp::create(e.b, e.loc, otherwise);
  e.b.setInsertionPointToStart(&branch.getThenRegion().front());
  SmallVector<Value> computed;
  for (const Num &value : thenValues()) {
    computed.push_back(value.v);
  }
  scf::YieldOp::create(e.b, e.loc, computed);
  SmallVector<Num> results;
  for (Value result : branch.getResults()) {
    results.push_back(Num(e, result));
  }
  return results;
}

} // namespace hlo::codegen
