//===- FunctionOps.td - Functions, constants, top_k, ragged_dot, scan -----===//
include "dialect/stablehlo/chlo/Base.td"

class Chlo_UnaryOp<string mnemonic> : Chlo_Op<mnemonic, [Pure]> {
  let arguments = (ins AnyTensor:$operand);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}
def Chlo_AcosOp : Chlo_UnaryOp<"acos">;
def Chlo_AcoshOp : Chlo_UnaryOp<"acosh">;
def Chlo_AsinOp : Chlo_UnaryOp<"asin">;
def Chlo_AsinAcosKernelOp : Chlo_UnaryOp<"_asin_acos_kernel">;
def Chlo_AsinhOp : Chlo_UnaryOp<"asinh">;
def Chlo_AtanOp : Chlo_UnaryOp<"atan">;
def Chlo_AtanhOp : Chlo_UnaryOp<"atanh">;
def Chlo_BesselI1eOp : Chlo_UnaryOp<"bessel_i1e">;
def Chlo_ConjOp : Chlo_UnaryOp<"conj">;
def Chlo_CoshOp : Chlo_UnaryOp<"cosh">;
def Chlo_DigammaOp : Chlo_UnaryOp<"digamma">;
def Chlo_ErfOp : Chlo_UnaryOp<"erf">;
def Chlo_ErfInvOp : Chlo_UnaryOp<"erf_inv">;
def Chlo_ErfcOp : Chlo_UnaryOp<"erfc">;
def Chlo_IsInfOp : Chlo_UnaryOp<"is_inf">;
def Chlo_IsNegInfOp : Chlo_UnaryOp<"is_neg_inf">;
def Chlo_IsPosInfOp : Chlo_UnaryOp<"is_pos_inf">;
def Chlo_LgammaOp : Chlo_UnaryOp<"lgamma">;
def Chlo_SinhOp : Chlo_UnaryOp<"sinh">;
def Chlo_SquareOp : Chlo_UnaryOp<"square">;
def Chlo_TanOp : Chlo_UnaryOp<"tan">;

class Chlo_BinaryOp<string mnemonic, string first, string second, list<Trait> traits = []>
    : Chlo_Op<mnemonic, !listconcat(traits, [Pure])> {
  let arguments = !dag(ins, [AnyTensor, AnyTensor], [first, second]);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$" # first # " `,` $" # second # " attr-dict `:` type($" # first # ") `,` type($" #
                       second # ") `->` type($result)";
}
def Chlo_MulhiOp : Chlo_BinaryOp<"mulhi", "lhs", "rhs", [Commutative]>;
def Chlo_NextAfterOp : Chlo_BinaryOp<"next_after", "x", "y">;
def Chlo_PolygammaOp : Chlo_BinaryOp<"polygamma", "n", "x">;
def Chlo_ZetaOp : Chlo_BinaryOp<"zeta", "x", "q">;

def Chlo_ConstantOp : Chlo_Op<"constant", [Pure, ConstantLike]> {
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyTensor:$output);
  let hasCustomAssemblyFormat = 1;
  let hasFolder = 1;
}
def Chlo_ConstantLikeOp : Chlo_Op<"constant_like", [Pure]> {
  let arguments = (ins TypedAttrInterface:$value, AnyTensor:$operand);
  let results = (outs AnyTensor:$result);
}

def Chlo_RaggedDotOp : Chlo_Op<"ragged_dot", [Pure]> {
  let arguments = (ins AnyTensor:$lhs, AnyTensor:$rhs, AnyTensor:$group_sizes,
                       Chlo_RaggedDotDimensionNumbers:$ragged_dot_dimension_numbers,
                       OptionalAttr<Chlo_PrecisionConfigAttr>:$precision_config);
  let results = (outs AnyTensor:$result);
}
def Chlo_TopKOp : Chlo_Op<"top_k", [Pure]> {
  let arguments = (ins AnyTensor:$operand, I64Attr:$k, DefaultValuedOptionalAttr<BoolAttr, "true">:$is_stable);
  let results = (outs AnyTensor:$values, AnyTensor:$indices);
  let assemblyFormat = [{
    `(` $operand `,` `k` `=` $k (`,` `is_stable` `=` $is_stable^)? `)` attr-dict
      `:` type($operand) `->` `(` type($values) `,` type($indices) `)`
  }];
}
def Chlo_ScanOp : Chlo_Op<"scan", [AttrSizedOperandSegments, AttrSizedResultSegments, IsolatedFromAbove,
                                   RecursiveMemoryEffects,
                                   DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let arguments = (ins Variadic<AnyTensor>:$inputs, Variadic<AnyTensor>:$inits, I64Attr:$dimension,
                       OptionalAttr<I64Attr>:$scan_dim_size,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_reverse,
                       OptionalAttr<BoolAttr>:$is_associative);
  let results = (outs Variadic<AnyTensor>:$outputs, Variadic<AnyTensor>:$carries);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
}
