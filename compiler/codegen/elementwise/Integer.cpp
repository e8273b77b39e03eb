//===- Integer.cpp - Ops on pred and on integers --------------------------===//
//
// HLO's integer rules: everything wraps; x / 0 = -1, x % 0 = x, MIN / -1 = MIN,
// MIN % -1 = 0; shifts by the width or more give 0, or the sign. No division ever
// executes with a divisor that traps.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/Families.h"
#include "llvm/Support/DivisionByConstantInfo.h"

using namespace mlir;

namespace hlo::codegen {

static Num compareIntegers(Num a, Num b, Direction direction, bool isUnsigned) {
  switch (direction) {
  case Direction::EQ: return equal(a, b);
  case Direction::NE: return notEqual(a, b);
  case Direction::LT: return isUnsigned ? below(a, b) : less(a, b);
  case Direction::LE: return isUnsigned ? belowEqual(a, b) : lessEqual(a, b);
  case Direction::GT: return isUnsigned ? below(b, a) : greater(a, b);
  case Direction::GE: return isUnsigned ? belowEqual(b, a) : greaterEqual(a, b);
  }
  llvm_unreachable("all directions are above");
}

static Num larger(Num a, Num b, bool isUnsigned) {
  return isUnsigned ? Num(*a.e, arith::MaxUIOp::create(a.e->b, a.e->loc, a.v, b.v))
                    : Num(*a.e, arith::MaxSIOp::create(a.e->b, a.e->loc, a.v, b.v));
}
static Num smaller(Num a, Num b, bool isUnsigned) {
  return isUnsigned ? Num(*a.e, arith::MinUIOp::create(a.e->b, a.e->loc, a.v, b.v))
                    : Num(*a.e, arith::MinSIOp::create(a.e->b, a.e->loc, a.v, b.v));
}

/// a / b of unsigned 64 bits, b != 0, by way of f64. The reciprocal is rounded towards zero, with
/// an error below 2^-49, so that quotients are never too large. The remainder of the first step is
/// below b + 2^15, that of the second below 2 b. Takes a third of the time of division lane by
/// lane.
static Num wideQuotient(Num a, Num b) {
  Type f64 = a.e->b.getF64Type();
  Num inverse = (1.0 - 0x1p-50) / unsignedToFloat(b, f64);
  Num first = floatToUnsigned(unsignedToFloat(a, f64) * inverse, a.scalar());
  Num rest = a - first * b;
  Num second = floatToUnsigned(unsignedToFloat(rest, f64) * inverse, a.scalar());
  rest = rest - second * b;
  Num quotient = first + second;
  return select(belowEqual(b, rest), quotient + 1, quotient);
}

/// a / b, for b that is neither 0 nor (signed) -1 with a == MIN. Vectors of up to 32 bits are
/// divided as floats. The truncated quotient is exact: a quotient that is not an integer is farther
/// from the next one than the division's rounding error.
static Num quotientOf(Num a, Num b, bool isUnsigned) {
  OpBuilder &builder = a.e->b;
  if (a.lanes() > 1 && a.width() <= 32) {
    Type type = a.width() <= 8 ? Type(builder.getF32Type()) : builder.getF64Type();
    // By way of i64 or i32, in which unsigned values are non-negative.
    Type wide = a.width() == 32 && isUnsigned ? Type(builder.getI64Type()) : builder.getI32Type();
    auto widen = [&](Num n) { return isUnsigned ? zextTo(n, wide) : sextTo(n, wide); };
    Num q = trunc(signedToFloat(widen(a), type) / signedToFloat(widen(b), type));
    return zextTo(floatToSigned(q, wide), a.scalar());
  }
  if (a.lanes() > 1 && a.width() == 64 && a.e->machine.convert(kU64, kF64)) {
    if (isUnsigned) {
      return wideQuotient(a, b);
    }
    auto magnitude = [](Num n) { return select(less(n, 0), -n, n); };
    Num quotient = wideQuotient(magnitude(a), magnitude(b));
    return select(less(a ^ b, 0), -quotient, quotient);
  }
  if (isUnsigned) {
    return Num(*a.e, arith::DivUIOp::create(builder, a.e->loc, a.v, b.v));
  }
  return Num(*a.e, arith::DivSIOp::create(builder, a.e->loc, a.v, b.v));
}

namespace {
struct Division {
  Num quotient, remainder;
};
} // namespace

/// The constant b, if all lanes are equal and it is neither 0 nor -1: LLVM multiplies by its
/// reciprocal. nullopt otherwise.
static std::optional<APInt> plainDivisor(Value b) {
  if (auto broadcast = b.getDefiningOp<vector::BroadcastOp>()) {
    b = broadcast.getSource();
  }
  APInt number;
  bool plain = matchPattern(b, m_ConstantInt(&number)) && !number.isZero() && !number.isAllOnes();
  return plain ? std::optional<APInt>(number) : std::nullopt;
}

/// The upper half of the product of unsigned 64 bits and a constant, from products of 32.
static Num highOf(Num a, const APInt &constant) {
  const int64_t mask = 0xffffffff;
  Num low = a & mask, high = shrU(a, 32);
  Num c0 = a.of(constant & APInt(64, mask)), c1 = a.of(constant.lshr(32));
  Num middle = high * c0 + shrU(low * c0, 32);
  Num other = low * c1 + (middle & mask);
  return high * c1 + shrU(middle, 32) + shrU(other, 32);
}

/// a / d in vectors of 64 bits, by the reciprocal of d, which is not 0, 1 or -1. LLVM would do it
/// lane by lane.
static Num wideQuotient(Num a, const APInt &d, bool isUnsigned) {
  if (isUnsigned) {
    auto magic = llvm::UnsignedDivisionByConstantInfo::get(d);
    Num high = highOf(shrU(a, magic.PreShift), magic.Magic);
    if (magic.IsAdd) {
      high = shrU(a - high, 1) + high;
    }
    return shrU(high, magic.PostShift);
  }
  auto magic = llvm::SignedDivisionByConstantInfo::get(d);
  Num high = highOf(a, magic.Magic);
  // Corrects the unsigned product to the signed one, and then to that with the divisor's full
  // reciprocal.
  Num sign = shrS(a, 63);
  high = high - (sign & a.of(magic.Magic));
  if (magic.Magic.isNegative()) {
    high = high - a;
  }
  if (d.isStrictlyPositive() && magic.Magic.isNegative()) {
    high = high + a;
  } else if (d.isNegative() && magic.Magic.isStrictlyPositive()) {
    high = high - a;
  }
  high = shrS(high, magic.ShiftAmount);
  return high + shrU(high, 63);
}

static Division divide(Num a, Num b, bool isUnsigned) {
  if (std::optional<APInt> d = plainDivisor(b.v)) {
    bool power = d->abs().isPowerOf2() || (isUnsigned && d->isPowerOf2());
    if (a.width() == 64 && a.lanes() > 1 && !power) {
      Num quotient = wideQuotient(a, *d, isUnsigned);
      return {quotient, a - quotient * b};
    }
    OpBuilder &builder = a.e->b;
    Num quotient(*a.e, isUnsigned
                           ? arith::DivUIOp::create(builder, a.e->loc, a.v, b.v).getResult()
                           : arith::DivSIOp::create(builder, a.e->loc, a.v, b.v).getResult());
    return {quotient, a - quotient * b};
  }
  Num zero = equal(b, 0);
  Num minusOne;
  Num safe = select(zero, 1, b);
  if (!isUnsigned) {
    minusOne = equal(b, -1);
    safe = select(minusOne, 1, safe);
  }
  Num quotient = quotientOf(a, safe, isUnsigned);
  Num remainder = a - quotient * safe;
  if (!isUnsigned) {
    quotient = select(minusOne, -a, quotient);
    remainder = select(minusOne, 0, remainder);
  }
  return {select(zero, -1, quotient), select(zero, a, remainder)};
}

/// Wrapping power by squaring, for as many steps as the largest exponent has bits.
static Num powerOf(Num base, Num exponent, bool isUnsigned) {
  Emission &e = *base.e;
  Num one = base.of(1);
  if (base.width() == 1) {
    return base | (exponent ^ one);
  }
  SmallVector<Type> types(3, base.type());
  Num negative = isUnsigned ? Num() : less(exponent, 0);
  Num count = isUnsigned ? exponent : select(negative, 0, exponent);
  auto loop = scf::WhileOp::create(
      e.b, e.loc, types, ValueRange{one, base, count},
      [&](OpBuilder &b, Location loc, ValueRange args) {
        Emission inner{{b, loc}, e.machine};
        Num left(inner, args[2]);
        scf::ConditionOp::create(b, loc, anyLane(notEqual(left, 0)), args);
      },
      [&](OpBuilder &b, Location loc, ValueRange args) {
        Emission inner{{b, loc}, e.machine};
        Num product(inner, args[0]), square(inner, args[1]), left(inner, args[2]);
        Num odd = notEqual(left & 1, 0);
        Value next = select(odd, product * square, product);
        scf::YieldOp::create(b, loc, ValueRange{next, square * square, shrU(left, 1)});
      });
  Num result(e, loop.getResult(0));
  if (isUnsigned) {
    return result;
  }
  // 1 / base^-exponent, truncated.
  Num odd = notEqual(exponent & 1, 0);
  Num minusOne = select(odd, -1, one);
  Num inverse = select(equal(base, 1), 1, select(equal(base, -1), minusOne, base.of(0)));
  return select(negative, inverse, result);
}

static Num mulhi(Num a, Num b, bool isUnsigned) {
  Emission &e = *a.e;
  if (isUnsigned) {
    return Num(e, arith::MulUIExtendedOp::create(e.b, e.loc, a.v, b.v).getHigh());
  }
  return Num(e, arith::MulSIExtendedOp::create(e.b, e.loc, a.v, b.v).getHigh());
}

Elem emitPredicateOp(const Request &r) {
  auto one = [&] { return r.re(0); };
  auto two = [&] { return r.re(1); };
  switch (r.opcode) {
  case Opcode::Add:
  case Opcode::Or:
  case Opcode::Maximum: return Elem(one() | two());
  case Opcode::Multiply:
  case Opcode::And:
  case Opcode::Minimum: return Elem(one() & two());
  case Opcode::Xor:
  case Opcode::Subtract: return Elem(one() ^ two());
  case Opcode::Not: return Elem(logicalNot(one()));
  case Opcode::Abs:
  case Opcode::Sign:
  case Opcode::Real: return r.values[0];
  case Opcode::Clamp: return Elem((one() | two()) & r.re(2));
  case Opcode::Power: return Elem(one() | logicalNot(two()));
  case Opcode::Popcnt: return r.values[0];
  case Opcode::CountLeadingZeros: return Elem(logicalNot(one()));
  case Opcode::Compare:
    if (auto direction = parseDirection(r.string("direction"))) {
      return Elem(compareIntegers(one(), two(), *direction, /*isUnsigned=*/true));
    }
    return {};
  default: return {};
  }
}

static Elem emitShift(const Request &r) {
  Num a = r.re(0), amount = r.re(1);
  int64_t width = a.width();
  // An unsigned comparison also finds negative amounts. Types of one bit hold no amount above 1.
  Num inRange = width == 1 ? equal(amount, 0) : below(amount, width);
  Num safe = select(inRange, amount, 0);
  switch (r.opcode) {
  case Opcode::ShiftLeft: return Elem(select(inRange, shl(a, safe), 0));
  case Opcode::ShiftRightLogical: return Elem(select(inRange, shrU(a, safe), 0));
  default: return Elem(shrS(a, select(inRange, amount, width - 1)));
  }
}

Elem emitIntegerOp(const Request &r) {
  bool isUnsigned = isUnsignedElement(r.operand);
  Num a = r.re(0);
  Num b = r.values.size() > 1 ? r.re(1) : Num();
  Emission &e = r.e;
  switch (r.opcode) {
  case Opcode::Add: return Elem(a + b);
  case Opcode::Subtract: return Elem(a - b);
  case Opcode::Multiply: return Elem(a * b);
  case Opcode::Divide: return Elem(divide(a, b, isUnsigned).quotient);
  case Opcode::Remainder: return Elem(divide(a, b, isUnsigned).remainder);
  case Opcode::Power: return Elem(powerOf(a, b, isUnsigned));
  case Opcode::Mulhi: return Elem(mulhi(a, b, isUnsigned));
  case Opcode::Maximum: return Elem(larger(a, b, isUnsigned));
  case Opcode::Minimum: return Elem(smaller(a, b, isUnsigned));
  case Opcode::Clamp: return Elem(smaller(larger(a, b, isUnsigned), r.re(2), isUnsigned));
  case Opcode::And: return Elem(a & b);
  case Opcode::Or: return Elem(a | b);
  case Opcode::Xor: return Elem(a ^ b);
  case Opcode::Not: return Elem(a ^ a.of(llvm::APInt::getAllOnes(a.width())));
  case Opcode::Negate: return Elem(-a);
  case Opcode::Abs: return isUnsigned ? r.values[0] : Elem(select(less(a, 0), -a, a));
  case Opcode::Sign: {
    Num nonzero = zextTo(notEqual(a, 0), a.scalar());
    return isUnsigned ? Elem(nonzero) : Elem(shrS(a, a.width() - 1) | nonzero);
  }
  case Opcode::Real: return r.values[0];
  case Opcode::Popcnt: return Elem(math::CtPopOp::create(e.b, e.loc, a.v));
  case Opcode::CountLeadingZeros: return Elem(math::CountLeadingZerosOp::create(e.b, e.loc, a.v));
  case Opcode::ShiftLeft:
  case Opcode::ShiftRightLogical:
  case Opcode::ShiftRightArithmetic: return emitShift(r);
  case Opcode::Compare:
    if (auto direction = parseDirection(r.string("direction"))) {
      return Elem(compareIntegers(a, b, *direction, isUnsigned));
    }
    return {};
  default: return {};
  }
}

} // namespace hlo::codegen
