//===- ReduceOps.td - Ops with a computation of scalars -------------------===//
include "dialect/stablehlo/Attrs.td"

class Stable_ComputationOp<string mnemonic, dag inputs, dag computations, list<Trait> traits = []>
    : Stable_Op<mnemonic, !listconcat(traits, [RecursiveMemoryEffects])> {
  let arguments = inputs;
  let results = (outs Variadic<Stable_Array>);
  let regions = computations;
}

def Stable_ReduceOp
    : Stable_ComputationOp<"reduce", (ins Variadic<Stable_Array>:$inputs, Variadic<Stable_Array>:$init_values,
                                          DenseI64ArrayAttr:$dimensions),
                           (region SizedRegion<1>:$body), [SameVariadicOperandSize]> {
  let hasCustomAssemblyFormat = 1;
}
def Stable_ReduceWindowOp
    : Stable_ComputationOp<"reduce_window", (ins Variadic<Stable_Array>:$inputs, Variadic<Stable_Array>:$init_values,
                                                 DenseI64ArrayAttr:$window_dimensions,
                                                 OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                                                 OptionalAttr<DenseI64ArrayAttr>:$base_dilations,
                                                 OptionalAttr<DenseI64ArrayAttr>:$window_dilations,
                                                 OptionalAttr<I64ElementsAttr>:$padding),
                           (region SizedRegion<1>:$body), [SameVariadicOperandSize]>;
def Stable_SortOp
    : Stable_ComputationOp<"sort", (ins Variadic<Stable_Array>:$inputs,
                                        DefaultValuedOptionalAttr<I64Attr, "-1">:$dimension,
                                        Stable_FlagOff:$is_stable),
                           (region SizedRegion<1>:$comparator)>;
def Stable_ScatterOp
    : Stable_ComputationOp<"scatter", (ins Variadic<Stable_Array>:$inputs, Stable_Array:$scatter_indices,
                                           Variadic<Stable_Array>:$updates,
                                           Stable_ScatterDimensionNumbers:$scatter_dimension_numbers,
                                           Stable_FlagOff:$indices_are_sorted, Stable_FlagOff:$unique_indices),
                           (region SizedRegion<1>:$update_computation), [SameVariadicOperandSize]>;
def Stable_SelectAndScatterOp
    : Stable_ComputationOp<"select_and_scatter", (ins Stable_Array:$operand, Stable_Array:$source,
                                                      Stable_Array:$init_value,
                                                      OptionalAttr<DenseI64ArrayAttr>:$window_dimensions,
                                                      OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                                                      OptionalAttr<I64ElementsAttr>:$padding),
                           (region SizedRegion<1>:$select, SizedRegion<1>:$scatter)> {
  let results = (outs Stable_Array:$result);
}
def Stable_MapOp
    : Stable_ComputationOp<"map", (ins Variadic<Stable_Array>:$inputs, DenseI64ArrayAttr:$dimensions),
                           (region SizedRegion<1>:$computation)> {
  let results = (outs Stable_Array:$result);
}
