//===- UnaryOps.td - Elementwise ops of one operand -----------------------===//
include "dialect/stablehlo/Attrs.td"

class Stable_UnaryOp<string mnemonic, dag attributes = (ins)> : Stable_Op<mnemonic, [Pure]> {
  let arguments = !con((ins Stable_Array:$operand), attributes);
  let results = (outs Stable_Array:$result);
  let assemblyFormat =
      "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}
/// A function whose error can be bounded.
class Stable_FunctionOp<string mnemonic> : Stable_UnaryOp<mnemonic, (ins Stable_Accuracy:$result_accuracy)>;

def Stable_AbsOp : Stable_UnaryOp<"abs">;
def Stable_CeilOp : Stable_UnaryOp<"ceil">;
def Stable_ConvertOp : Stable_UnaryOp<"convert">;
def Stable_ClzOp : Stable_UnaryOp<"count_leading_zeros">;
def Stable_FloorOp : Stable_UnaryOp<"floor">;
def Stable_ImagOp : Stable_UnaryOp<"imag">;
def Stable_NotOp : Stable_UnaryOp<"not">;
def Stable_NegOp : Stable_UnaryOp<"negate">;
def Stable_PopulationCountOp : Stable_UnaryOp<"popcnt">;
def Stable_RealOp : Stable_UnaryOp<"real">;
def Stable_RoundOp : Stable_UnaryOp<"round_nearest_afz">;
def Stable_RoundNearestEvenOp : Stable_UnaryOp<"round_nearest_even">;
def Stable_SignOp : Stable_UnaryOp<"sign">;
def Stable_UniformQuantizeOp : Stable_UnaryOp<"uniform_quantize">;
def Stable_UniformDequantizeOp : Stable_UnaryOp<"uniform_dequantize">;

def Stable_CbrtOp : Stable_FunctionOp<"cbrt">;
def Stable_CosineOp : Stable_FunctionOp<"cosine">;
def Stable_ExpOp : Stable_FunctionOp<"exponential">;
def Stable_Expm1Op : Stable_FunctionOp<"exponential_minus_one">;
def Stable_LogOp : Stable_FunctionOp<"log">;
def Stable_Log1pOp : Stable_FunctionOp<"log_plus_one">;
def Stable_LogisticOp : Stable_FunctionOp<"logistic">;
def Stable_RsqrtOp : Stable_FunctionOp<"rsqrt">;
def Stable_SineOp : Stable_FunctionOp<"sine">;
def Stable_SqrtOp : Stable_FunctionOp<"sqrt">;
def Stable_TanOp : Stable_FunctionOp<"tan">;
def Stable_TanhOp : Stable_FunctionOp<"tanh">;

def Stable_IsFiniteOp : Stable_Op<"is_finite", [Pure]> {
  let arguments = (ins Stable_Array:$x);
  let results = (outs Stable_Array:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def Stable_ReducePrecisionOp : Stable_Op<"reduce_precision", [Pure]> {
  let arguments = (ins Stable_Array:$operand, I32Attr:$exponent_bits, I32Attr:$mantissa_bits);
  let results = (outs Stable_Array:$output);
  let assemblyFormat = [{
    $operand `,` `format` `=` custom<ExponentMantissa>($exponent_bits, $mantissa_bits) attr-dict
      `:` custom<SameOperandsAndResultType>(type($operand), type($output))
  }];
}
