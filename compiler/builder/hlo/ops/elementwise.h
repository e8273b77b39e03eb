//===- hlo/ops/elementwise.h - One result element per operand element -*- C++ -*-===//
//
// Part of the C++ builder. Licensed under Apache-2.0 WITH LLVM-exception.
//
//===----------------------------------------------------------------------===//
#ifndef HLO_OPS_ELEMENTWISE_H
#define HLO_OPS_ELEMENTWISE_H

#include <hlo/attributes.h>
#include <hlo/op.h>
#include <hlo/shape.h>
#include <optional>

namespace hlo {

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

#define HLO_UNARY(Name) XlaOp Name(XlaOp operand, SourceLocation at = SourceLocation::current());

HLO_UNARY(Abs)              ///< |x|
HLO_UNARY(Ceil)             ///< least integer that is not below x
HLO_UNARY(Clz)              ///< number of leading zero bits of an integer
HLO_UNARY(Conj)             ///< complex conjugate; x if it is real
HLO_UNARY(Copy)             ///< x in a buffer of its own
HLO_UNARY(Floor)            ///< largest integer that is not above x
HLO_UNARY(Imag)             ///< imaginary part; 0 if x is real
HLO_UNARY(IsFinite)         ///< PRED: neither infinite nor NaN
HLO_UNARY(Neg)              ///< -x
HLO_UNARY(Not)              ///< logical of PRED, bitwise of integers
HLO_UNARY(LogicalNot)       ///< Not
HLO_UNARY(PopulationCount)  ///< number of one bits of an integer
HLO_UNARY(Real)             ///< real part; x if it is real
HLO_UNARY(Round)            ///< RoundNearestAfz
HLO_UNARY(RoundNearestAfz)  ///< nearest integer, ties away from zero
HLO_UNARY(RoundNearestEven) ///< nearest integer, ties to even
HLO_UNARY(Sign)             ///< -1, -0, +0, 1 or NaN
#undef HLO_UNARY

#define HLO_FUNCTION(Name)                                                                         \
  XlaOp Name(XlaOp operand, SourceLocation at = SourceLocation::current());                        \
  XlaOp Name(XlaOp operand, const std::optional<ResultAccuracy> &result_accuracy,                  \
             SourceLocation at = SourceLocation::current());

HLO_FUNCTION(Acos)
HLO_FUNCTION(Acosh)
HLO_FUNCTION(Asin)
HLO_FUNCTION(Asinh)
HLO_FUNCTION(Atanh)
HLO_FUNCTION(Cbrt) ///< cube root
HLO_FUNCTION(Cos)
HLO_FUNCTION(Cosh)
HLO_FUNCTION(Erf)
HLO_FUNCTION(Exp)
HLO_FUNCTION(Expm1)    ///< e^x - 1
HLO_FUNCTION(Log)      ///< natural logarithm
HLO_FUNCTION(Log1p)    ///< ln(1 + x)
HLO_FUNCTION(Logistic) ///< 1 / (1 + e^-x)
HLO_FUNCTION(Rsqrt)    ///< 1 / sqrt(x)
HLO_FUNCTION(Sin)
HLO_FUNCTION(Sinh)
HLO_FUNCTION(Sqrt)
HLO_FUNCTION(Tan)
HLO_FUNCTION(Tanh)
#undef HLO_FUNCTION

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

/// Operands have one element type. Their shapes are broadcast to one: if one is a scalar, it
/// becomes an array of the other's sizes; of dimensions of sizes 1 and n, the first is repeated n
/// times. For operands of different ranks, broadcast_dimensions[i] is the dimension of the larger
/// one that dimension i of the smaller one corresponds to, in increasing order; the larger one's
/// other dimensions have size 1 in the smaller one. With equal ranks it is empty or {0, 1, ...}.
#define HLO_BINARY(Name)                                                                           \
  XlaOp Name(XlaOp lhs, XlaOp rhs, absl::Span<const std::int64_t> broadcast_dimensions = {},       \
             SourceLocation at = SourceLocation::current());

HLO_BINARY(Add)
HLO_BINARY(And)
HLO_BINARY(Atan2)   ///< angle of the point (rhs, lhs)
HLO_BINARY(Complex) ///< lhs + i rhs
HLO_BINARY(Div)
HLO_BINARY(LogicalAnd) ///< And
HLO_BINARY(LogicalOr)  ///< Or
HLO_BINARY(Max)
HLO_BINARY(Min)
HLO_BINARY(Mul)
HLO_BINARY(MulHi) ///< upper half of the product of two integers
HLO_BINARY(Or)
HLO_BINARY(Pow)
HLO_BINARY(Rem) ///< has the sign of lhs
HLO_BINARY(ShiftLeft)
HLO_BINARY(ShiftRightArithmetic)
HLO_BINARY(ShiftRightLogical)
HLO_BINARY(Sub)
HLO_BINARY(Xor)

/// Comparisons: arrays of PRED. IEEE 754's order of floating types.
HLO_BINARY(Eq)
HLO_BINARY(Ne)
HLO_BINARY(Ge)
HLO_BINARY(Gt)
HLO_BINARY(Le)
HLO_BINARY(Lt)

/// -NaN < -Inf < ... < -0 < +0 < ... < +Inf < +NaN; the usual order of types that are not floating.
HLO_BINARY(EqTotalOrder)
HLO_BINARY(NeTotalOrder)
HLO_BINARY(GeTotalOrder)
HLO_BINARY(GtTotalOrder)
HLO_BINARY(LeTotalOrder)
HLO_BINARY(LtTotalOrder)
#undef HLO_BINARY

/// A comparison with direction and order as arguments.
XlaOp Compare(XlaOp lhs, XlaOp rhs, absl::Span<const std::int64_t> broadcast_dimensions,
              ComparisonDirection direction, ComparisonType type = ComparisonType::kDefault,
              SourceLocation at = SourceLocation::current());
XlaOp Compare(XlaOp lhs, XlaOp rhs, ComparisonDirection direction,
              SourceLocation at = SourceLocation::current());

//===----------------------------------------------------------------------===//
// Three operands
//===----------------------------------------------------------------------===//

/// on_true where `pred` is true, else on_false. `pred` is a scalar or has the sizes of the others;
/// a scalar among these is broadcast. Of tuples, `pred` is a scalar.
XlaOp Select(XlaOp pred, XlaOp on_true, XlaOp on_false,
             SourceLocation at = SourceLocation::current());
/// min(max(operand, min), max). `min` and `max` are scalars or have the operand's sizes.
XlaOp Clamp(XlaOp min, XlaOp operand, XlaOp max, SourceLocation at = SourceLocation::current());

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// The same numbers as another type.
XlaOp ConvertElementType(XlaOp operand, PrimitiveType new_element_type,
                         SourceLocation at = SourceLocation::current());
XlaOp Convert(XlaOp operand, PrimitiveType new_element_type,
              SourceLocation at = SourceLocation::current());
/// The same bits as another type. If it is k times narrower, the result has one more dimension, of
/// size k; if it is k times wider, the operand's last dimension has size k and is dropped.
XlaOp BitcastConvertType(XlaOp operand, PrimitiveType new_element_type,
                         SourceLocation at = SourceLocation::current());
XlaOp BitcastConvert(XlaOp operand, PrimitiveType new_element_type,
                     SourceLocation at = SourceLocation::current());
/// The same bytes as another shape.
XlaOp Bitcast(XlaOp operand, const Shape &shape, SourceLocation at = SourceLocation::current());
/// Rounds to a type with these numbers of bits, and back.
XlaOp ReducePrecision(XlaOp operand, int exponent_bits, int mantissa_bits,
                      SourceLocation at = SourceLocation::current());
/// Converts, rounding up with a probability equal to the distance. `random`: bits, unsigned, as
/// wide as the operand's elements.
XlaOp StochasticConvertType(XlaOp operand, XlaOp random, PrimitiveType new_element_type,
                            SourceLocation at = SourceLocation::current());
XlaOp StochasticConvert(XlaOp operand, XlaOp random, PrimitiveType new_element_type,
                        SourceLocation at = SourceLocation::current());

} // namespace hlo

#endif
