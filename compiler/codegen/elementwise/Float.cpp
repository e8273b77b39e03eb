//===- Float.cpp - Ops on real floats -------------------------------------===//
//
// f32 and f64 are computed in their own type. Narrow floats are computed in f32 and rounded to
// their type if the result may not be representable. Add, subtract and multiply of f32 and f64
// may be contracted to FMA; no other transformation is allowed.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/Families.h"
#include "compiler/codegen/elementwise/Narrow.h"
#include <limits>

using namespace mlir;

namespace hlo::codegen {

std::optional<llvm::APFloat> constantOf(Num x) {
  Value value = x.v;
  if (auto broadcast = value.getDefiningOp<vector::BroadcastOp>()) {
    value = broadcast.getSource();
  }
  Attribute attribute;
  if (!matchPattern(value, m_Constant(&attribute))) {
    return std::nullopt;
  }
  if (auto splat = dyn_cast<SplatElementsAttr>(attribute)) {
    attribute = splat.getSplatValue<Attribute>();
  }
  auto number = dyn_cast<FloatAttr>(attribute);
  return number ? std::optional(number.getValue()) : std::nullopt;
}

/// HLO's maximum or minimum. maxNum and minNum return their second operand if both are equal; of
/// two zeros, the right one is chosen by its sign bit, unless a constant operand decides.
static Num extremum(Num a, Num b, bool maximum) {
  for (bool second : {false, true}) {
    std::optional<llvm::APFloat> constant = constantOf(second ? b : a);
    if (!constant || constant->isNaN()) {
      continue;
    }
    // The other operand if it is NaN, otherwise the larger; a constant zero that wins against the
    // other zero is also chosen if both are equal.
    bool wins = constant->isZero() && constant->isNegative() != maximum;
    Num fixed = second ? b : a, other = second ? a : b;
    if (wins) {
      return select(maximum ? greaterEqual(fixed, other) : lessEqual(fixed, other), fixed, other);
    }
    return maximum ? maxNum(fixed, other) : minNum(fixed, other);
  }
  if (Num result = extremumInRegisters(a, b, maximum); result.v) {
    return result;
  }
  Emission &e = *a.e;
  Num chosen = maximum ? maxNum(a, b) : minNum(a, b);
  if (a.lanes() > 1) {
    // Both orders of the operands give the same number, except for two zeros and for a NaN. The
    // bitwise or of both results is then the lesser zero, the and the greater one. An or keeps a
    // NaN a NaN; after an and, NaN is set by a comparison.
    Num other = maximum ? maxNum(b, a) : minNum(b, a);
    if (!maximum) {
      return floatOf(bitsOf(chosen) | bitsOf(other));
    }
    Num unordered(e, arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::UNO, a.v, b.v));
    return floatOf((bitsOf(chosen) & bitsOf(other)) |
                   sextTo(unordered, e.b.getIntegerType(a.width())));
  }
  Num bits = maximum ? bitsOf(a) & bitsOf(b) : bitsOf(a) | bitsOf(b);
  return select(isNaN(a), a, select(equal(a, b), floatOf(bits), chosen));
}

Num floatMaximum(Num a, Num b) { return extremum(a, b, true); }
Num floatMinimum(Num a, Num b) { return extremum(a, b, false); }

template <typename Op> static Num contracted(Num a, Num b) {
  Emission &e = *a.e;
  auto flags = arith::FastMathFlagsAttr::get(e.b.getContext(), arith::FastMathFlags::contract);
  return Num(e, Op::create(e.b, e.loc, a.v, b.v, flags));
}
Num contractibleSum(Num a, Num b) { return contracted<arith::AddFOp>(a, b); }
Num contractibleDifference(Num a, Num b) { return contracted<arith::SubFOp>(a, b); }
Num contractibleProduct(Num a, Num b) { return contracted<arith::MulFOp>(a, b); }

/// The float's bits as a signed integer that compares in IEEE's total order.
static Num totalOrder(Num a) {
  Num bits = bitsOf(a);
  Num sign = shrS(bits, bits.width() - 1);
  return bits ^ shrU(sign, 1);
}

static Elem emitCompare(const Request &r) {
  std::optional<Direction> direction = parseDirection(r.string("direction"));
  if (!direction) {
    return {};
  }
  Num a = r.re(0), b = r.re(1);
  if (r.string("type") == "TOTALORDER") {
    a = totalOrder(a);
    b = totalOrder(b);
  }
  switch (*direction) {
  case Direction::EQ: return Elem(equal(a, b));
  case Direction::NE: return Elem(notEqual(a, b));
  case Direction::LT: return Elem(less(a, b));
  case Direction::LE: return Elem(lessEqual(a, b));
  case Direction::GT: return Elem(greater(a, b));
  case Direction::GE: return Elem(greaterEqual(a, b));
  }
  llvm_unreachable("all directions are above");
}

static Num signOf(Num x) {
  return select(notEqual(x, 0.0) & equal(x, x), copySign(x.of(1.0), x), x);
}

/// Ops whose results are representable in the operands' type without rounding; null for other ops.
static Num emitExact(const Request &r) {
  Num x = r.re(0);
  switch (r.opcode) {
  case Opcode::Abs: return abs(x);
  case Opcode::Maximum: return floatMaximum(x, r.re(1));
  case Opcode::Minimum: return floatMinimum(x, r.re(1));
  case Opcode::Clamp: return floatMinimum(r.re(2), floatMaximum(x, r.re(1)));
  case Opcode::Real: return x;
  case Opcode::Imag: return x.of(0.0);
  default: return {};
  }
}

static Num emitUnary(Opcode opcode, Num x) {
  switch (opcode) {
  case Opcode::Acos: return acosOf(x);
  case Opcode::Acosh: return acoshOf(x);
  case Opcode::Asin: return asinOf(x);
  case Opcode::Asinh: return asinhOf(x);
  case Opcode::Atanh: return atanhOf(x);
  case Opcode::Cbrt: return cbrtOf(x);
  case Opcode::Ceil: return ceil(x);
  case Opcode::Cosine: return cosOf(x);
  case Opcode::Cosh: return coshOf(x);
  case Opcode::Erf: return erfOf(x);
  case Opcode::Exponential: return expOf(x);
  case Opcode::ExponentialMinusOne: return expm1Of(x);
  case Opcode::Floor: return floor(x);
  case Opcode::Log: return logOf(x);
  case Opcode::LogPlusOne: return log1pOf(x);
  case Opcode::Logistic: return logisticOf(x);
  case Opcode::Negate: return -x;
  case Opcode::RoundNearestAfz: return Num(*x.e, math::RoundOp::create(x.e->b, x.e->loc, x.v));
  case Opcode::RoundNearestEven: return roundEven(x);
  case Opcode::Rsqrt: return rsqrtOf(x);
  case Opcode::Sign: return signOf(x);
  case Opcode::Sine: return sinOf(x);
  case Opcode::Sinh: return sinhOf(x);
  case Opcode::Sqrt: return sqrt(x);
  case Opcode::Tan: return tanOf(x);
  case Opcode::Tanh: return tanhOf(x);
  default: return {};
  }
}

/// a / b in f32, behind a fence: on targets with f16 arithmetic LLVM would divide in f16, whose
/// divider is slower.
static Num quotient(Num a, Num b) {
  Emission &e = *a.e;
  Num result = a / b;
  if (!e.machine.arithmeticOfHalf || !(halfBefore(a).v || halfBefore(b).v)) {
    return result;
  }
  return Num(e, LLVM::CallIntrinsicOp::create(e.b, e.loc, result.type(),
                                              e.b.getStringAttr("llvm.arithmetic.fence"),
                                              ValueRange{result.v})
                    .getResult(0));
}

static Num emitBinary(Opcode opcode, Num a, Num b) {
  switch (opcode) {
  case Opcode::Add: return contractibleSum(a, b);
  case Opcode::Subtract: return contractibleDifference(a, b);
  case Opcode::Multiply: return contractibleProduct(a, b);
  case Opcode::Divide: return quotient(a, b);
  case Opcode::Remainder: return remOf(a, b);
  case Opcode::Power: return powOf(a, b);
  case Opcode::Atan2: return atan2Of(a, b);
  default: return {};
  }
}

/// Computes an op of f32 or narrower types in f64, rounded once.
static Elem emitAccurately(const Request &r) {
  Num value = emitUnary(r.opcode, floatTo(r.re(0), r.e.b.getF64Type()));
  if (!value.v) {
    return {};
  }
  Type single = r.e.b.getF32Type();
  if (!isNarrowFloat(r.operand)) {
    return Elem(floatTo(value, single));
  }
  return Elem(roundNarrow(r.e, r.operand, roundToOdd(value, single)), lowerHalfOf(r.operand));
}

/// A result that is one of the operands, or differs from it in the sign.
static Elem chosen(const Request &r, Num value) {
  bool isBfloat = !value.isF64() && llvm::all_of(r.values, [](const Elem &operand) {
    return operand.lower == LowerHalf::Zero;
  });
  return Elem(value, isBfloat ? LowerHalf::Zero : lowerHalfOf(value, r.values));
}

Elem emitFloatOp(const Request &r) {
  Num x = r.re(0);
  switch (r.opcode) {
  case Opcode::Compare: return emitCompare(r);
  case Opcode::IsFinite: return Elem(less(abs(x), std::numeric_limits<double>::infinity()));
  case Opcode::Complex: return Elem(r.values[0].re, r.values[1].re);
  default: break;
  }
  if (Num exact = emitExact(r); exact.v) {
    return chosen(r, exact);
  }
  if (!x.isF64() && r.values.size() == 1 && asksForAccuracy(r.attrs)) {
    return emitAccurately(r);
  }
  Num value = r.values.size() == 1 ? emitUnary(r.opcode, x) : emitBinary(r.opcode, x, r.re(1));
  if (!value.v) {
    return {};
  }
  bool keepsPrecision = r.opcode == Opcode::Negate || r.opcode == Opcode::Sign;
  if (keepsPrecision &&
      (!isNarrowFloat(r.operand) || narrowFormat(r.operand).kind == NarrowKind::Ieee)) {
    return chosen(r, value);
  }
  LowerHalf lower = lowerHalfOf(value, r.values);
  if (!isNarrowFloat(r.operand)) {
    return Elem(value, lower);
  }
  return Elem(roundNarrow(r.e, r.operand, value, lower), lowerHalfOf(r.operand));
}

} // namespace hlo::codegen
