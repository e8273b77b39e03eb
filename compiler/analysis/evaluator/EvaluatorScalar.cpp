//===- EvaluatorScalar.cpp - One element of an element-wise op ------------===//
//
// Integers wrap; x / 0 is all ones and x mod 0 is x, MIN / -1 is MIN and its
// remainder 0; a shift by the width or more gives 0, or copies of the sign.
// Floats are f16, bf16, f32, f64 with the operations that IEEE defines exactly
// (APFloat, round to nearest even); maximum and minimum pass NaN on; float to
// integer saturates, NaN gives 0.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/evaluator/EvaluatorScalar.h"
#include "compiler/analysis/Shapes.h"

using namespace mlir;
using namespace hlo;
using llvm::APFloat;
using llvm::APInt;
using llvm::APSInt;
using llvm::RoundingMode;

using Result = std::optional<APInt>;

/// True for the float types whose arithmetic IEEE 754 defines.
static bool isIeee(Type type) {
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
}

/// Unlike hlo::isUnsigned, true for pred too.
static bool isUnsignedOrPred(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer && !integer.isSigned();
}

static APFloat toFloat(Type type, const APInt &bits) {
  return APFloat(cast<FloatType>(type).getFloatSemantics(), bits);
}

Result hlo::bitsOfInteger(Type element, int64_t value) {
  if (auto integer = dyn_cast<IntegerType>(element)) {
    return APInt(64, static_cast<uint64_t>(value)).trunc(integer.getWidth());
  }
  if (!isIeee(element)) {
    return std::nullopt;
  }
  APFloat number(cast<FloatType>(element).getFloatSemantics());
  number.convertFromAPInt(APInt(64, static_cast<uint64_t>(value)), true,
                          RoundingMode::NearestTiesToEven);
  return number.bitcastToAPInt();
}

ScalarOp::ScalarOp(Operation *op) : op(op) {
  unsigned data = isa<SelectOp>(op) ? 1 : 0;
  from = op->getNumOperands() > data ? elementTypeOf(op->getOperand(data)) : Type();
  to = elementTypeOf(op->getResult(0));
}

Result ScalarOp::apply(ArrayRef<APInt> operands) const {
  if (isa<SelectOp>(op)) {
    return operands[0].isZero() ? operands[2] : operands[1];
  }
  if (isa<ConvertOp>(op)) {
    return applyConvert(operands[0]);
  }
  if (isa<BitcastConvertOp>(op)) {
    return from.getIntOrFloatBitWidth() == to.getIntOrFloatBitWidth() ? Result(operands[0])
                                                                      : std::nullopt;
  }
  if (isa<CompareOp>(op)) {
    return applyCompare(operands[0], operands[1]);
  }
  if (isa<IntegerType>(from)) {
    return applyInteger(operands);
  }
  return isIeee(from) ? applyFloat(operands) : std::nullopt;
}

static APInt shift(const APInt &value, const APInt &amount,
                   function_ref<APInt(const APInt &, unsigned)> inRange, const APInt &beyond) {
  return amount.uge(value.getBitWidth()) ? beyond : inRange(value, amount.getZExtValue());
}

Result ScalarOp::applyInteger(ArrayRef<APInt> operands) const {
  const APInt &x = operands[0];
  const APInt &y = operands[operands.size() > 1 ? 1 : 0];
  unsigned width = x.getBitWidth();
  bool isPred = width == 1 && from.isSignlessInteger();
  bool unsignedType = isUnsignedOrPred(from);
  auto less = [&](const APInt &a, const APInt &b) { return unsignedType ? a.ult(b) : a.slt(b); };
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](AddOp) { return isPred ? x | y : x + y; })
      .Case([&](SubtractOp) { return x - y; })
      .Case([&](MultiplyOp) { return x * y; })
      .Case([&](DivideOp) {
        if (y.isZero()) {
          return APInt::getAllOnes(width);
        }
        return unsignedType ? x.udiv(y) : x.sdiv(y);
      })
      .Case([&](RemainderOp) {
        if (y.isZero()) {
          return x;
        }
        return unsignedType ? x.urem(y) : x.srem(y);
      })
      .Case([&](MaximumOp) { return less(x, y) ? y : x; })
      .Case([&](MinimumOp) { return less(y, x) ? y : x; })
      .Case([&](ClampOp) {
        const APInt &value = operands[1], &high = operands[2];
        const APInt &raised = less(value, x) ? x : value;
        return less(high, raised) ? high : raised;
      })
      .Case([&](AndOp) { return x & y; })
      .Case([&](OrOp) { return x | y; })
      .Case([&](XorOp) { return x ^ y; })
      .Case([&](NotOp) { return ~x; })
      .Case([&](NegateOp) { return -x; })
      .Case([&](AbsOp) { return unsignedType ? x : x.abs(); })
      .Case([&](SignOp) {
        return x.isZero() || (!unsignedType && x.isNegative() && x.isAllOnes())
                   ? x
                   : (!unsignedType && x.isNegative() ? APInt::getAllOnes(width) : APInt(width, 1));
      })
      .Case([&](PopcntOp) { return APInt(width, x.popcount(), false, true); })
      .Case([&](CountLeadingZerosOp) { return APInt(width, x.countl_zero(), false, true); })
      .Case([&](ShiftLeftOp) {
        return shift(x, y, [](const APInt &a, unsigned n) { return a.shl(n); }, APInt(width, 0));
      })
      .Case([&](ShiftRightLogicalOp) {
        return shift(x, y, [](const APInt &a, unsigned n) { return a.lshr(n); }, APInt(width, 0));
      })
      .Case([&](ShiftRightArithmeticOp) {
        return shift(
            x, y, [](const APInt &a, unsigned n) { return a.ashr(n); },
            x.isNegative() ? APInt::getAllOnes(width) : APInt(width, 0));
      })
      .Default([](Operation *) -> Result { return std::nullopt; });
}

Result ScalarOp::applyFloat(ArrayRef<APInt> operands) const {
  SmallVector<APFloat, 3> values;
  for (const APInt &operand : operands) {
    values.push_back(toFloat(from, operand));
  }
  APFloat x = values[0];
  const APFloat &y = values[values.size() > 1 ? 1 : 0];
  auto round = [&](RoundingMode mode) {
    x.roundToIntegral(mode);
    return x.bitcastToAPInt();
  };
  constexpr RoundingMode nearest = RoundingMode::NearestTiesToEven;
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](AddOp) {
        x.add(y, nearest);
        return x.bitcastToAPInt();
      })
      .Case([&](SubtractOp) {
        x.subtract(y, nearest);
        return x.bitcastToAPInt();
      })
      .Case([&](MultiplyOp) {
        x.multiply(y, nearest);
        return x.bitcastToAPInt();
      })
      .Case([&](DivideOp) {
        x.divide(y, nearest);
        return x.bitcastToAPInt();
      })
      .Case([&](RemainderOp) {
        x.mod(y);
        return x.bitcastToAPInt();
      })
      .Case([&](MaximumOp) { return llvm::maximum(x, y).bitcastToAPInt(); })
      .Case([&](MinimumOp) { return llvm::minimum(x, y).bitcastToAPInt(); })
      .Case([&](ClampOp) {
        return llvm::minimum(llvm::maximum(values[1], x), values[2]).bitcastToAPInt();
      })
      .Case([&](NegateOp) {
        x.changeSign();
        return x.bitcastToAPInt();
      })
      .Case([&](AbsOp) {
        x.clearSign();
        return x.bitcastToAPInt();
      })
      .Case([&](SignOp) -> Result {
        if (x.isNaN() || x.isZero()) {
          return x.bitcastToAPInt();
        }
        return bitsOfInteger(from, x.isNegative() ? -1 : 1);
      })
      .Case([&](FloorOp) { return round(RoundingMode::TowardNegative); })
      .Case([&](CeilOp) { return round(RoundingMode::TowardPositive); })
      .Case([&](RoundNearestEvenOp) { return round(nearest); })
      .Case([&](RoundNearestAfzOp) { return round(RoundingMode::NearestTiesToAway); })
      .Case([&](IsFiniteOp) { return APInt(1, x.isFinite()); })
      .Default([](Operation *) -> Result { return std::nullopt; });
}

Result ScalarOp::applyCompare(const APInt &lhs, const APInt &rhs) const {
  auto compare = cast<CompareOp>(op);
  bool less, equal, ordered = true;
  if (isa<IntegerType>(from)) {
    less = isUnsignedOrPred(from) ? lhs.ult(rhs) : lhs.slt(rhs);
    equal = lhs == rhs;
  } else if (isIeee(from) && compare.getType() == "TOTALORDER") {
    // Flipping the magnitude bits of negative numbers makes signed integer order equal float order.
    auto key = [](const APInt &bits) {
      return bits.isNegative() ? bits ^ APInt::getSignedMaxValue(bits.getBitWidth()) : bits;
    };
    less = key(lhs).slt(key(rhs));
    equal = lhs == rhs;
  } else if (isIeee(from)) {
    APFloat::cmpResult order = toFloat(from, lhs).compare(toFloat(from, rhs));
    less = order == APFloat::cmpLessThan;
    equal = order == APFloat::cmpEqual;
    ordered = order != APFloat::cmpUnordered;
  } else {
    return std::nullopt;
  }
  StringRef direction = compare.getDirection();
  bool result = direction == "EQ"   ? equal
                : direction == "NE" ? !equal
                : direction == "LT" ? less
                : direction == "LE" ? less || equal
                : direction == "GT" ? ordered && !less && !equal
                                    : ordered && !less;
  return APInt(1, result);
}

Result ScalarOp::applyConvert(const APInt &operand) const {
  constexpr RoundingMode nearest = RoundingMode::NearestTiesToEven;
  bool toPred = to.isSignlessInteger(1);
  if (isa<IntegerType>(from)) {
    if (auto target = dyn_cast<IntegerType>(to)) {
      if (toPred) {
        return APInt(1, !operand.isZero());
      }
      return isUnsignedOrPred(from) ? operand.zextOrTrunc(target.getWidth())
                                    : operand.sextOrTrunc(target.getWidth());
    }
    if (!isIeee(to)) {
      return std::nullopt;
    }
    APFloat number(cast<FloatType>(to).getFloatSemantics());
    number.convertFromAPInt(operand, !isUnsignedOrPred(from), nearest);
    return number.bitcastToAPInt();
  }
  if (!isIeee(from)) {
    return std::nullopt;
  }
  APFloat number = toFloat(from, operand);
  if (toPred) {
    return APInt(1, !number.isZero());
  }
  if (auto target = dyn_cast<IntegerType>(to)) {
    if (number.isNaN()) {
      return APInt(target.getWidth(), 0);
    }
    APSInt integer(target.getWidth(), isUnsignedOrPred(to));
    bool exact = false;
    number.convertToInteger(integer, RoundingMode::TowardZero, &exact);
    return integer;
  }
  if (!isIeee(to)) {
    return std::nullopt;
  }
  bool losesInfo = false;
  number.convert(cast<FloatType>(to).getFloatSemantics(), nearest, &losesInfo);
  return number.bitcastToAPInt();
}
