//===- BinaryOps.td - Elementwise ops of two and three operands -----------===//
include "dialect/stablehlo/Attrs.td"

class Stable_BinaryOp<string mnemonic, list<Trait> traits = []>
    : Stable_Op<mnemonic, !listconcat(traits, [Pure])> {
  let arguments = (ins Stable_Array:$lhs, Stable_Array:$rhs);
  let results = (outs Stable_Array:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict
      `:` custom<SameOperandsAndResultType>(type($lhs), type($rhs), type($result))
  }];
}

/// What a `reduce` in short form applies is a commutative op.
def Stable_AddOp : Stable_BinaryOp<"add", [Commutative]>;
def Stable_AndOp : Stable_BinaryOp<"and", [Commutative]>;
def Stable_MaxOp : Stable_BinaryOp<"maximum", [Commutative]>;
def Stable_MinOp : Stable_BinaryOp<"minimum", [Commutative]>;
def Stable_MulOp : Stable_BinaryOp<"multiply", [Commutative]>;
def Stable_OrOp : Stable_BinaryOp<"or", [Commutative]>;
def Stable_XorOp : Stable_BinaryOp<"xor", [Commutative]>;

def Stable_Atan2Op : Stable_BinaryOp<"atan2">;
def Stable_DivOp : Stable_BinaryOp<"divide">;
def Stable_PowOp : Stable_BinaryOp<"power">;
def Stable_RemOp : Stable_BinaryOp<"remainder">;
def Stable_ShiftLeftOp : Stable_BinaryOp<"shift_left">;
def Stable_ShiftRightArithmeticOp : Stable_BinaryOp<"shift_right_arithmetic">;
def Stable_ShiftRightLogicalOp : Stable_BinaryOp<"shift_right_logical">;
def Stable_SubtractOp : Stable_BinaryOp<"subtract">;

def Stable_ComplexOp : Stable_BinaryOp<"complex"> {
  let assemblyFormat =
      "operands attr-dict `:` custom<ComplexOpType>(type($lhs), type($rhs), type($result))";
}
def Stable_CompareOp : Stable_Op<"compare", [Pure]> {
  let arguments = (ins Stable_Array:$lhs, Stable_Array:$rhs,
                       Stable_ComparisonDirectionAttr:$comparison_direction,
                       OptionalAttr<Stable_ComparisonTypeAttr>:$compare_type);
  let results = (outs Stable_Array:$result);
  let assemblyFormat = [{
    custom<EnumWord>($comparison_direction) `,` $lhs `,` $rhs (`,` custom<EnumWord>($compare_type)^)? attr-dict
      `:` functional-type(operands, results)
  }];
}
def Stable_ClampOp : Stable_Op<"clamp", [Pure]> {
  let arguments = (ins Stable_Array:$min, Stable_Array:$operand, Stable_Array:$max);
  let results = (outs Stable_Array:$result);
  let assemblyFormat = [{
    $min `,` $operand `,` $max attr-dict
      `:` custom<SameOperandsAndResultType>(type($min), type($operand), type($max), type($result))
  }];
}
def Stable_SelectOp : Stable_Op<"select", [Pure]> {
  let arguments = (ins Stable_Array:$pred, Stable_Array:$on_true, Stable_Array:$on_false);
  let results = (outs Stable_Array:$result);
  let assemblyFormat = [{
    operands attr-dict
      `:` custom<SelectOpType>(type($pred), type($on_true), type($on_false), type($result))
  }];
}
