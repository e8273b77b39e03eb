//===- ReduceOps.td - Reductions, windows, sorts, scans -------------------===//
//
// Variadic forms have one tuple result as parsed, and N array results once
// tuples are flattened; both verify.
//
//===----------------------------------------------------------------------===//
include "dialect/hlo/Types.td"

class Hlo_VariadicOp<string mnemonic, dag ins, list<Trait> traits = [Pure]> : Hlo_Op<mnemonic, traits> {
  let summary = "HLO " # mnemonic;
  let arguments = ins;
  let results = (outs Variadic<AnyType>:$results);
}

def Hlo_ReduceOp : Hlo_VariadicOp<"reduce",
    (ins Variadic<AnyType>:$inputs, DenseI64ArrayAttr:$dimensions, FlatSymbolRefAttr:$to_apply)>;
def Hlo_ReduceWindowOp : Hlo_VariadicOp<"reduce_window",
    (ins Variadic<AnyType>:$inputs, OptionalAttr<Hlo_WindowAttr>:$window, FlatSymbolRefAttr:$to_apply)>;
def Hlo_SelectAndScatterOp : Hlo_VariadicOp<"select_and_scatter",
    (ins AnyType:$operand, AnyType:$source, AnyType:$init_value, OptionalAttr<Hlo_WindowAttr>:$window,
         FlatSymbolRefAttr:$select, FlatSymbolRefAttr:$scatter)>;
def Hlo_MapOp : Hlo_VariadicOp<"map",
    (ins Variadic<AnyType>:$inputs, OptionalAttr<DenseI64ArrayAttr>:$dimensions, FlatSymbolRefAttr:$to_apply)>;
def Hlo_ScanOp : Hlo_VariadicOp<"scan",
    (ins Variadic<AnyType>:$inputs, I64Attr:$dimension, I64Attr:$num_carries,
         OptionalAttr<BoolAttr>:$is_reverse, OptionalAttr<BoolAttr>:$is_associative,
         FlatSymbolRefAttr:$to_apply)>;
def Hlo_SortOp : Hlo_VariadicOp<"sort",
    (ins Variadic<AnyType>:$inputs, I64Attr:$dimension, OptionalAttr<BoolAttr>:$is_stable,
         FlatSymbolRefAttr:$to_apply)>;
def Hlo_TopkOp : Hlo_VariadicOp<"topk",
    (ins AnyType:$operand, I64Attr:$k, OptionalAttr<BoolAttr>:$largest, OptionalAttr<BoolAttr>:$is_stable)>;
