//===- BroadcastOps.td - Elementwise ops that broadcast their operands ----===//
include "dialect/stablehlo/chlo/Base.td"

class Chlo_BroadcastOp<string mnemonic, list<Trait> traits = []>
    : Chlo_Op<"broadcast_" # mnemonic, !listconcat(traits, [Pure])> {
  let arguments = (ins AnyTensor:$lhs, AnyTensor:$rhs, OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` `(` type($lhs) `,` type($rhs) `)` `->` type(results)";
}

def Chlo_BroadcastAddOp : Chlo_BroadcastOp<"add", [Commutative]>;
def Chlo_BroadcastAndOp : Chlo_BroadcastOp<"and", [Commutative]>;
def Chlo_BroadcastAtan2Op : Chlo_BroadcastOp<"atan2">;
def Chlo_BroadcastComplexOp : Chlo_BroadcastOp<"complex">;
def Chlo_BroadcastDivOp : Chlo_BroadcastOp<"divide">;
def Chlo_BroadcastMaxOp : Chlo_BroadcastOp<"maximum", [Commutative]>;
def Chlo_BroadcastMinOp : Chlo_BroadcastOp<"minimum", [Commutative]>;
def Chlo_BroadcastMulOp : Chlo_BroadcastOp<"multiply", [Commutative]>;
def Chlo_BroadcastNextAfterOp : Chlo_BroadcastOp<"next_after">;
def Chlo_BroadcastOrOp : Chlo_BroadcastOp<"or", [Commutative]>;
def Chlo_BroadcastPolygammaOp : Chlo_BroadcastOp<"polygamma">;
def Chlo_BroadcastPowOp : Chlo_BroadcastOp<"power">;
def Chlo_BroadcastRemOp : Chlo_BroadcastOp<"remainder">;
def Chlo_BroadcastShiftLeftOp : Chlo_BroadcastOp<"shift_left">;
def Chlo_BroadcastShiftRightArithmeticOp : Chlo_BroadcastOp<"shift_right_arithmetic">;
def Chlo_BroadcastShiftRightLogicalOp : Chlo_BroadcastOp<"shift_right_logical">;
def Chlo_BroadcastSubOp : Chlo_BroadcastOp<"subtract">;
def Chlo_BroadcastXorOp : Chlo_BroadcastOp<"xor", [Commutative]>;
def Chlo_BroadcastZetaOp : Chlo_BroadcastOp<"zeta">;

def Chlo_BroadcastCompareOp : Chlo_BroadcastOp<"compare"> {
  let arguments = (ins AnyTensor:$lhs, AnyTensor:$rhs, OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions,
                       Chlo_ComparisonDirectionAttr:$comparison_direction,
                       OptionalAttr<Chlo_ComparisonTypeAttr>:$compare_type);
}
def Chlo_BroadcastSelectOp : Chlo_Op<"broadcast_select", [Pure]> {
  let arguments = (ins AnyTensor:$pred, AnyTensor:$on_true, AnyTensor:$on_false);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = [{
    $pred `,` $on_true `,` $on_false attr-dict
      `:` `(` type($pred) `,` type($on_true) `,` type($on_false) `)` `->` type(results)
  }];
}
