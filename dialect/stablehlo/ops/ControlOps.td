//===- ControlOps.td - Control flow, calls, tuples, tokens ----------------===//
include "dialect/stablehlo/Attrs.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Stable_ReturnOp : Stable_Op<"return", [Pure, Terminator, ReturnLike]> {
  let arguments = (ins Variadic<Stable_ArrayTokenOrBuffer>:$results);
  let assemblyFormat = "$results attr-dict (`:` type($results)^)?";
}

def Stable_IfOp : Stable_Op<"if", [RecursiveMemoryEffects]> {
  let arguments = (ins Stable_Array:$pred);
  let regions = (region SizedRegion<1>:$true_branch, SizedRegion<1>:$false_branch);
  let results = (outs Variadic<Stable_ArrayOrToken>);
}
def Stable_CaseOp : Stable_Op<"case", [RecursiveMemoryEffects]> {
  let arguments = (ins Stable_Array:$index);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let results = (outs Variadic<Stable_ArrayOrToken>);
}
def Stable_WhileOp : Stable_Op<"while", [RecursiveMemoryEffects,
                                         DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let arguments = (ins Variadic<Stable_ArrayTokenOrBuffer>:$operand);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let results = (outs Variadic<Stable_ArrayTokenOrBuffer>);
  let hasCustomAssemblyFormat = 1;
}

def Stable_OptimizationBarrierOp : Stable_Op<"optimization_barrier", [Pure]> {
  let arguments = (ins Variadic<Stable_ArrayOrToken>:$operand);
  let results = (outs Variadic<Stable_ArrayOrToken>:$result);
  let assemblyFormat =
      "attr-dict ($operand^ `:` custom<PairwiseOpType>(type($operand), type($result))):(`(` `)`)?";
}
def Stable_CompositeOp : Stable_Op<"composite"> {
  let arguments = (ins Variadic<Stable_Value>:$inputs, StrAttr:$name,
                       DefaultValuedOptionalAttr<DictionaryAttr, "{}">:$composite_attributes,
                       FlatSymbolRefAttr:$decomposition, DefaultValuedOptionalAttr<I32Attr, "0">:$version);
  let regions = (region VariadicRegion<AnyRegion>:$composite_regions);
  let results = (outs Variadic<Stable_Value>);
  let assemblyFormat = [{
    $name operands (` ` `(` $composite_regions^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
}
def Stable_CustomCallOp : Stable_Op<"custom_call", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let arguments = (ins Variadic<Stable_CallValue>:$inputs, StrAttr:$call_target_name,
                       Stable_FlagOff:$has_side_effect,
                       OptionalAttr<AnyAttrOf<[StrAttr, DictionaryAttr]>>:$backend_config,
                       DefaultValuedOptionalAttr<Stable_CustomCallApiVersionAttr,
                           "::stablehlo::CustomCallApiVersion::API_VERSION_ORIGINAL">:$api_version,
                       DefaultValuedOptionalAttr<Stable_SymbolsAttr, "{}">:$called_computations,
                       OptionalAttr<Stable_LayoutsAttr>:$operand_layouts,
                       OptionalAttr<Stable_LayoutsAttr>:$result_layouts,
                       DefaultValuedOptionalAttr<Stable_AliasesAttr, "{}">:$output_operand_aliases,
                       OptionalAttr<Stable_TilingsAttr>:$result_tilings);
  let results = (outs Variadic<Stable_CallValue>);
  let assemblyFormat = [{
    custom<CustomCallTarget>($call_target_name) `(` $inputs `)` attr-dict
      `:` functional-type(operands, results)
  }];
}

def Stable_TupleOp : Stable_Op<"tuple", [Pure]> {
  let arguments = (ins Variadic<Stable_Value>:$val);
  let results = (outs Stable_Tuple:$result);
  let assemblyFormat = "$val attr-dict `:` custom<TupleOpType>(type($val), type($result))";
}
def Stable_GetTupleElementOp : Stable_Op<"get_tuple_element", [Pure]> {
  let arguments = (ins Stable_Tuple:$operand, I32Attr:$index);
  let results = (outs Stable_Value:$result);
  let assemblyFormat = "$operand `[` $index `]` attr-dict `:` functional-type(operands, results)";
}

def Stable_CreateTokenOp : Stable_Op<"create_token", [Pure]> {
  let results = (outs Stable_Token:$output);
  let assemblyFormat = "attr-dict `:` type(results)";
}
def Stable_AfterAllOp : Stable_Op<"after_all", [Pure]> {
  let arguments = (ins Variadic<Stable_Token>:$inputs);
  let results = (outs Stable_Token:$result);
  let assemblyFormat = [{
    $inputs attr-dict
      `:` custom<VariadicSameOperandsAndResultType>(ref($inputs), type($inputs), type($result))
  }];
}

def Stable_AsyncStartOp : Stable_Op<"async_start", [IsolatedFromAbove]> {
  let arguments = (ins Variadic<Stable_Array>:$operands);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Stable_Future:$result);
}
def Stable_AsyncDoneOp : Stable_Op<"async_done"> {
  let arguments = (ins Stable_Future:$operand);
  let results = (outs Stable_Array:$result);
}
