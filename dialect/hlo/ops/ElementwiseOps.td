//===- ElementwiseOps.td - One result element per operand element ---------===//
include "dialect/hlo/Base.td"

class Hlo_UnaryOp<string mnemonic> : Hlo_Op<mnemonic, [Pure]> {
  let summary = "Element-wise " # mnemonic;
  let arguments = (ins AnyType:$operand,
                       OptionalAttr<StrAttr>:$result_accuracy);
  let results = (outs AnyType:$result);
}
class Hlo_BinaryOp<string mnemonic, list<Trait> traits = []>
    : Hlo_Op<mnemonic, !listconcat([Pure], traits)> {
  let summary = "Element-wise " # mnemonic;
  let arguments = (ins AnyType:$lhs, AnyType:$rhs);
  let results = (outs AnyType:$result);
}

def Hlo_AbsOp : Hlo_UnaryOp<"abs">;
def Hlo_AcosOp : Hlo_UnaryOp<"acos">;
def Hlo_AcoshOp : Hlo_UnaryOp<"acosh">;
def Hlo_AsinOp : Hlo_UnaryOp<"asin">;
def Hlo_AsinhOp : Hlo_UnaryOp<"asinh">;
def Hlo_AtanhOp : Hlo_UnaryOp<"atanh">;
def Hlo_CbrtOp : Hlo_UnaryOp<"cbrt">;
def Hlo_CeilOp : Hlo_UnaryOp<"ceil">;
def Hlo_CosineOp : Hlo_UnaryOp<"cosine">;
def Hlo_CoshOp : Hlo_UnaryOp<"cosh">;
def Hlo_CountLeadingZerosOp : Hlo_UnaryOp<"count_leading_zeros">;
def Hlo_ErfOp : Hlo_UnaryOp<"erf">;
def Hlo_ExponentialOp : Hlo_UnaryOp<"exponential">;
def Hlo_ExponentialMinusOneOp : Hlo_UnaryOp<"exponential_minus_one">;
def Hlo_FloorOp : Hlo_UnaryOp<"floor">;
def Hlo_ImagOp : Hlo_UnaryOp<"imag">;
def Hlo_IsFiniteOp : Hlo_UnaryOp<"is_finite">;
def Hlo_LogOp : Hlo_UnaryOp<"log">;
def Hlo_LogPlusOneOp : Hlo_UnaryOp<"log_plus_one">;
def Hlo_LogisticOp : Hlo_UnaryOp<"logistic">;
def Hlo_NegateOp : Hlo_UnaryOp<"negate">;
def Hlo_NotOp : Hlo_UnaryOp<"not">;
def Hlo_PopcntOp : Hlo_UnaryOp<"popcnt">;
def Hlo_RealOp : Hlo_UnaryOp<"real">;
def Hlo_RoundNearestAfzOp : Hlo_UnaryOp<"round_nearest_afz">;
def Hlo_RoundNearestEvenOp : Hlo_UnaryOp<"round_nearest_even">;
def Hlo_RsqrtOp : Hlo_UnaryOp<"rsqrt">;
def Hlo_SignOp : Hlo_UnaryOp<"sign">;
def Hlo_SineOp : Hlo_UnaryOp<"sine">;
def Hlo_SinhOp : Hlo_UnaryOp<"sinh">;
def Hlo_SqrtOp : Hlo_UnaryOp<"sqrt">;
def Hlo_TanOp : Hlo_UnaryOp<"tan">;
def Hlo_TanhOp : Hlo_UnaryOp<"tanh">;

def Hlo_AddOp : Hlo_BinaryOp<"add", [Commutative]>;
def Hlo_AndOp : Hlo_BinaryOp<"and", [Commutative]>;
def Hlo_Atan2Op : Hlo_BinaryOp<"atan2">;
def Hlo_ComplexOp : Hlo_BinaryOp<"complex">;
def Hlo_DivideOp : Hlo_BinaryOp<"divide">;
def Hlo_MaximumOp : Hlo_BinaryOp<"maximum", [Commutative]>;
def Hlo_MinimumOp : Hlo_BinaryOp<"minimum", [Commutative]>;
def Hlo_MulhiOp : Hlo_BinaryOp<"mulhi", [Commutative]>;
def Hlo_MultiplyOp : Hlo_BinaryOp<"multiply", [Commutative]>;
def Hlo_OrOp : Hlo_BinaryOp<"or", [Commutative]>;
def Hlo_PowerOp : Hlo_BinaryOp<"power">;
def Hlo_RemainderOp : Hlo_BinaryOp<"remainder">;
def Hlo_ShiftLeftOp : Hlo_BinaryOp<"shift_left">;
def Hlo_ShiftRightArithmeticOp : Hlo_BinaryOp<"shift_right_arithmetic">;
def Hlo_ShiftRightLogicalOp : Hlo_BinaryOp<"shift_right_logical">;
def Hlo_SubtractOp : Hlo_BinaryOp<"subtract">;
def Hlo_XorOp : Hlo_BinaryOp<"xor", [Commutative]>;
def Hlo_StochasticConvertOp : Hlo_BinaryOp<"stochastic_convert">;

def Hlo_CompareOp : Hlo_Op<"compare", [Pure]> {
  let summary = "Element-wise comparison";
  let description = "`direction`: EQ NE GE GT LE LT. `type`: FLOAT TOTALORDER SIGNED UNSIGNED, absent = by element type.";
  let arguments = (ins AnyType:$lhs, AnyType:$rhs, StrAttr:$direction,
                       OptionalAttr<StrAttr>:$type);
  let results = (outs AnyType:$result);
}
def Hlo_SelectOp : Hlo_Op<"select", [Pure]> {
  let summary = "on_true where pred, else on_false";
  let arguments = (ins AnyType:$pred, AnyType:$on_true, AnyType:$on_false);
  let results = (outs AnyType:$result);
}
def Hlo_ClampOp : Hlo_Op<"clamp", [Pure]> {
  let summary = "min(max(operand, min), max)";
  let arguments = (ins AnyType:$min, AnyType:$operand, AnyType:$max);
  let results = (outs AnyType:$result);
}
def Hlo_ConvertOp : Hlo_Op<"convert", [Pure]> {
  let summary = "Element type conversion";
  let arguments = (ins AnyType:$operand);
  let results = (outs AnyType:$result);
}
def Hlo_BitcastConvertOp : Hlo_Op<"bitcast_convert", [Pure]> {
  let summary = "Reinterprets the bits of elements";
  let arguments = (ins AnyType:$operand);
  let results = (outs AnyType:$result);
}
def Hlo_ReducePrecisionOp : Hlo_Op<"reduce_precision", [Pure]> {
  let summary = "Rounds to a format of fewer exponent and mantissa bits";
  let arguments = (ins AnyType:$operand, I64Attr:$exponent_bits, I64Attr:$mantissa_bits);
  let results = (outs AnyType:$result);
}
