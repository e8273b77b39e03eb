//===- Elementwise.cpp - One result element per operand element -----------===//
#include "compiler/builder/Instruction.h"
#include <hlo/ops/elementwise.h>

namespace hlo {

using detail::binary;
using detail::Instruction;

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

static XlaOp unary(absl::string_view opcode, XlaOp operand, SourceLocation at,
                   const std::optional<ResultAccuracy> &accuracy = std::nullopt) {
  Instruction inst(opcode, {operand}, at);
  if (accuracy && accuracy->has_tolerance()) {
    inst.attribute("result_accuracy",
                   absl::StrCat("{tolerance={atol=", detail::numberText(accuracy->atol()),
                                ",rtol=", detail::numberText(accuracy->rtol()),
                                ",ulps=", accuracy->ulps(), "}}"));
  } else if (accuracy) {
    inst.attribute("result_accuracy", accuracy->mode() == ResultAccuracy::HIGHEST
                                          ? "{mode=highest}"
                                          : "{mode=default}");
  }
  return inst.add();
}

#define UNARY(Name, opcode)                                                                        \
  XlaOp Name(XlaOp operand, SourceLocation at) { return unary(opcode, operand, at); }
UNARY(Abs, "abs")
UNARY(Ceil, "ceil")
UNARY(Clz, "count-leading-zeros")
UNARY(Copy, "copy")
UNARY(Floor, "floor")
UNARY(IsFinite, "is-finite")
UNARY(Neg, "negate")
UNARY(Not, "not")
UNARY(LogicalNot, "not")
UNARY(PopulationCount, "popcnt")
UNARY(Round, "round-nearest-afz")
UNARY(RoundNearestAfz, "round-nearest-afz")
UNARY(RoundNearestEven, "round-nearest-even")
UNARY(Sign, "sign")
UNARY(Imag, "imag")
UNARY(Real, "real")
#undef UNARY

XlaOp Conj(XlaOp operand, SourceLocation at) {
  Instruction inst("conj", {operand}, at);
  const Shape *shape = inst.arrayOf(0);
  if (!shape) {
    return inst.add();
  }
  if (!primitive_util::IsComplexType(shape->element_type())) {
    return operand;
  }
  return Complex(Real(operand, at), Neg(Imag(operand, at), at), {}, at);
}

#define FUNCTION(Name, opcode)                                                                     \
  XlaOp Name(XlaOp operand, SourceLocation at) { return unary(opcode, operand, at); }              \
  XlaOp Name(XlaOp operand, const std::optional<ResultAccuracy> &result_accuracy,                  \
             SourceLocation at) {                                                                  \
    return unary(opcode, operand, at, result_accuracy);                                            \
  }
FUNCTION(Acos, "acos")
FUNCTION(Acosh, "acosh")
FUNCTION(Asin, "asin")
FUNCTION(Asinh, "asinh")
FUNCTION(Atanh, "atanh")
FUNCTION(Cbrt, "cbrt")
FUNCTION(Cos, "cosine")
FUNCTION(Cosh, "cosh")
FUNCTION(Erf, "erf")
FUNCTION(Exp, "exponential")
FUNCTION(Expm1, "exponential-minus-one")
FUNCTION(Log, "log")
FUNCTION(Log1p, "log-plus-one")
FUNCTION(Logistic, "logistic")
FUNCTION(Rsqrt, "rsqrt")
FUNCTION(Sin, "sine")
FUNCTION(Sinh, "sinh")
FUNCTION(Sqrt, "sqrt")
FUNCTION(Tan, "tan")
FUNCTION(Tanh, "tanh")
#undef FUNCTION

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

#define BINARY(Name, opcode)                                                                       \
  XlaOp Name(XlaOp lhs, XlaOp rhs, absl::Span<const std::int64_t> broadcast_dimensions,            \
             SourceLocation at) {                                                                  \
    return binary(opcode, lhs, rhs, broadcast_dimensions, at);                                     \
  }
BINARY(Add, "add")
BINARY(And, "and")
BINARY(Atan2, "atan2")
BINARY(Complex, "complex")
BINARY(Div, "divide")
BINARY(LogicalAnd, "and")
BINARY(LogicalOr, "or")
BINARY(Max, "maximum")
BINARY(Min, "minimum")
BINARY(Mul, "multiply")
BINARY(MulHi, "mulhi")
BINARY(Or, "or")
BINARY(Pow, "power")
BINARY(Rem, "remainder")
BINARY(ShiftLeft, "shift-left")
BINARY(ShiftRightArithmetic, "shift-right-arithmetic")
BINARY(ShiftRightLogical, "shift-right-logical")
BINARY(Sub, "subtract")
BINARY(Xor, "xor")
#undef BINARY

static absl::string_view directionText(ComparisonDirection direction) {
  switch (direction) {
  case ComparisonDirection::kEq: return "EQ";
  case ComparisonDirection::kNe: return "NE";
  case ComparisonDirection::kGe: return "GE";
  case ComparisonDirection::kGt: return "GT";
  case ComparisonDirection::kLe: return "LE";
  case ComparisonDirection::kLt: break;
  }
  return "LT";
}

static absl::string_view comparisonText(ComparisonType type) {
  switch (type) {
  case ComparisonType::kFloat: return "FLOAT";
  case ComparisonType::kFloatTotalOrder: return "TOTALORDER";
  case ComparisonType::kSigned: return "SIGNED";
  case ComparisonType::kUnsigned: return "UNSIGNED";
  case ComparisonType::kDefault: break;
  }
  return "";
}

XlaOp Compare(XlaOp lhs, XlaOp rhs, absl::Span<const std::int64_t> broadcast_dimensions,
              ComparisonDirection direction, ComparisonType type, SourceLocation at) {
  return binary("compare", lhs, rhs, broadcast_dimensions, at, directionText(direction),
                comparisonText(type));
}

XlaOp Compare(XlaOp lhs, XlaOp rhs, ComparisonDirection direction, SourceLocation at) {
  return Compare(lhs, rhs, {}, direction, ComparisonType::kDefault, at);
}

/// Total order of floating types; other types have only one order.
static XlaOp totalOrder(XlaOp lhs, XlaOp rhs, absl::Span<const std::int64_t> broadcast_dimensions,
                        ComparisonDirection direction, SourceLocation at) {
  Instruction inst("compare", {lhs, rhs}, at);
  const Shape *shape = inst.arrayOf(0);
  bool isFloat = shape && primitive_util::IsFloatingPointType(shape->element_type());
  return Compare(lhs, rhs, broadcast_dimensions, direction,
                 isFloat ? ComparisonType::kFloatTotalOrder : ComparisonType::kDefault, at);
}

#define COMPARISON(Name)                                                                           \
  XlaOp Name(XlaOp lhs, XlaOp rhs, absl::Span<const std::int64_t> broadcast_dimensions,            \
             SourceLocation at) {                                                                  \
    return Compare(lhs, rhs, broadcast_dimensions, ComparisonDirection::k##Name,                   \
                   ComparisonType::kDefault, at);                                                  \
  }                                                                                                \
  XlaOp Name##TotalOrder(XlaOp lhs, XlaOp rhs,                                                     \
                         absl::Span<const std::int64_t> broadcast_dimensions, SourceLocation at) { \
    return totalOrder(lhs, rhs, broadcast_dimensions, ComparisonDirection::k##Name, at);           \
  }
COMPARISON(Eq)
COMPARISON(Ne)
COMPARISON(Ge)
COMPARISON(Gt)
COMPARISON(Le)
COMPARISON(Lt)
#undef COMPARISON

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

XlaOp operator-(PlacedOp x) { return Neg(x.op, x.at); }
XlaOp operator~(PlacedOp x) { return Not(x.op, x.at); }
XlaOp operator+(PlacedOp x, XlaOp y) { return Add(x.op, y, {}, x.at); }
XlaOp operator-(PlacedOp x, XlaOp y) { return Sub(x.op, y, {}, x.at); }
XlaOp operator*(PlacedOp x, XlaOp y) { return Mul(x.op, y, {}, x.at); }
XlaOp operator/(PlacedOp x, XlaOp y) { return Div(x.op, y, {}, x.at); }
XlaOp operator%(PlacedOp x, XlaOp y) { return Rem(x.op, y, {}, x.at); }
XlaOp operator&(PlacedOp x, XlaOp y) { return And(x.op, y, {}, x.at); }
XlaOp operator|(PlacedOp x, XlaOp y) { return Or(x.op, y, {}, x.at); }
XlaOp operator^(PlacedOp x, XlaOp y) { return Xor(x.op, y, {}, x.at); }
XlaOp operator<<(PlacedOp x, XlaOp y) { return ShiftLeft(x.op, y, {}, x.at); }

XlaOp operator>>(PlacedOp x, XlaOp y) {
  Instruction inst("shift-right-logical", {x.op}, x.at);
  const Shape *shape = inst.arrayOf(0);
  bool isSigned = shape && primitive_util::IsSignedIntegralType(shape->element_type());
  return isSigned ? ShiftRightArithmetic(x.op, y, {}, x.at) : ShiftRightLogical(x.op, y, {}, x.at);
}

//===----------------------------------------------------------------------===//
// Three operands
//===----------------------------------------------------------------------===//

/// Of tuples, whose elements are chosen one by one.
static XlaOp selectTuple(XlaOp pred, XlaOp onTrue, XlaOp onFalse, const Shape &shape,
                         SourceLocation at) {
  std::vector<XlaOp> elements;
  for (int i = 0; i < shape.tuple_shapes_size(); ++i) {
    elements.push_back(
        Select(pred, detail::element(onTrue, i, at), detail::element(onFalse, i, at), at));
  }
  return Tuple(pred.builder(), elements, at);
}

/// A scalar as an array of this shape; other operands as they are.
static XlaOp scalarTo(XlaOp op, const Shape &from, const Shape &target, SourceLocation at) {
  return from.IsArray() && from.rank() == 0 && target.rank() != 0
             ? detail::expandTo(op, from, target, {}, at)
             : op;
}

XlaOp Select(XlaOp pred, XlaOp on_true, XlaOp on_false, SourceLocation at) {
  Instruction inst("select", {pred, on_true, on_false}, at);
  const Shape *choice = inst.arrayOf(0), *yes = inst.shapeOf(1), *no = inst.shapeOf(2);
  if (!choice || !yes || !no) {
    return inst.add();
  }
  if (yes->IsTuple() || no->IsTuple()) {
    if (!ShapeUtil::Compatible(*yes, *no) || choice->rank() != 0) {
      return inst.fail("tuples must have one shape, and pred must be a scalar: pred is ",
                       choice->ToString(), ", on_true is ", yes->ToString(), ", on_false is ",
                       no->ToString());
    }
    return selectTuple(pred, on_true, on_false, *yes, at);
  }
  // The result has the sizes of the operand that is no scalar.
  const Shape &target = yes->rank() ? *yes : no->rank() ? *no : *choice;
  return Instruction(
             "select",
             {pred, scalarTo(on_true, *yes, target, at), scalarTo(on_false, *no, target, at)}, at)
      .add();
}

XlaOp Clamp(XlaOp min, XlaOp operand, XlaOp max, SourceLocation at) {
  return Instruction("clamp", {min, operand, max}, at).add();
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

XlaOp ConvertElementType(XlaOp operand, PrimitiveType new_element_type, SourceLocation at) {
  Instruction inst("convert", {operand}, at);
  const Shape *shape = inst.arrayOf(0);
  return shape ? inst.shape(ShapeUtil::ChangeElementType(*shape, new_element_type)).add()
               : inst.add();
}

XlaOp Convert(XlaOp operand, PrimitiveType new_element_type, SourceLocation at) {
  return ConvertElementType(operand, new_element_type, at);
}

XlaOp BitcastConvertType(XlaOp operand, PrimitiveType new_element_type, SourceLocation at) {
  Instruction inst("bitcast-convert", {operand}, at);
  const Shape *from = inst.arrayOf(0);
  if (!from) {
    return inst.add();
  }
  // PRED takes a byte.
  auto bits = [](PrimitiveType type) { return type == PRED ? 8 : primitive_util::BitWidth(type); };
  int have = bits(from->element_type()), want = bits(new_element_type);
  Shape result = ShapeUtil::ChangeElementType(*from, new_element_type);
  result.clear_layout();
  if (!want) {
    return inst.fail("the new element type must be one of arrays");
  }
  if (have > want && have % want == 0) {
    result.add_dimensions(have / want);
  } else if (want > have && want % have == 0 && from->rank() > 0) {
    result = ShapeUtil::DeleteDimension(from->rank() - 1, result);
  }
  return inst.shape(result).add();
}

XlaOp BitcastConvert(XlaOp operand, PrimitiveType new_element_type, SourceLocation at) {
  return BitcastConvertType(operand, new_element_type, at);
}

XlaOp Bitcast(XlaOp operand, const Shape &shape, SourceLocation at) {
  return Instruction("bitcast", {operand}, at).shape(shape).add();
}

XlaOp ReducePrecision(XlaOp operand, int exponent_bits, int mantissa_bits, SourceLocation at) {
  return Instruction("reduce-precision", {operand}, at)
      .number("exponent_bits", exponent_bits)
      .number("mantissa_bits", mantissa_bits)
      .add();
}

XlaOp StochasticConvertType(XlaOp operand, XlaOp random, PrimitiveType new_element_type,
                            SourceLocation at) {
  Instruction inst("stochastic-convert", {operand, random}, at);
  const Shape *shape = inst.arrayOf(0);
  return shape ? inst.shape(ShapeUtil::ChangeElementType(*shape, new_element_type)).add()
               : inst.add();
}

XlaOp StochasticConvert(XlaOp operand, XlaOp random, PrimitiveType new_element_type,
                        SourceLocation at) {
  return StochasticConvertType(operand, random, new_element_type, at);
}

} // namespace hlo
