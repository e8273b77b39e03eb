//===- Ops.td - Ops of the sdy dialect ------------------------------------===//
include "dialect/stablehlo/sdy/Base.td"

/// Every op is checked by `sdy::verifyOp`.
def Sdy_Checked : NativeOpTrait<"Checked"> { let cppNamespace = "::sdy::OpTrait"; }

class Sdy_Op<string mnemonic, list<Trait> traits = []>
    : Op<Sdy_Dialect, mnemonic, !listconcat(traits, [Sdy_Checked])>;

def Sdy_MeshOp : Sdy_Op<"mesh", [Symbol]> {
  let summary = "Names a mesh";
  let arguments = (ins SymbolNameAttr:$sym_name, Sdy_Mesh:$mesh);
  let assemblyFormat = "$sym_name `=` $mesh attr-dict";
}
def Sdy_ReturnOp : Sdy_Op<"return", [Pure, Terminator, ReturnLike]> {
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

/// One operand and a result of the same type.
class Sdy_SameTypeOp<string mnemonic, list<Trait> traits = []>
    : Sdy_Op<mnemonic, !listconcat(traits, [AllTypesMatch<["input", "result"]>])> {
  let results = (outs AnyType:$result);
}
def Sdy_ShardingConstraintOp : Sdy_SameTypeOp<"sharding_constraint"> {
  let arguments = (ins AnyType:$input, Sdy_TensorSharding:$sharding);
  let assemblyFormat = "$input $sharding attr-dict `:` type($result)";
}
def Sdy_ReshardOp : Sdy_SameTypeOp<"reshard", [Pure]> {
  let arguments = (ins AnyType:$input, Sdy_TensorSharding:$sharding);
  let assemblyFormat = "$input $sharding attr-dict `:` type($result)";
}
def Sdy_DataFlowEdgeOp : Sdy_SameTypeOp<"data_flow_edge"> {
  let arguments = (ins AnyType:$input, OptionalAttr<Sdy_TensorSharding>:$sharding);
  let assemblyFormat = "$input (`sharding` `` `=` `` $sharding^)? attr-dict `:` type($result)";
}
def Sdy_PropagationBarrierOp : Sdy_SameTypeOp<"propagation_barrier", [Pure]> {
  let arguments = (ins AnyRankedTensor:$input, Sdy_PropagationDirection:$allowed_direction);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat =
      "$input `allowed_direction` `` `=` `` $allowed_direction attr-dict `:` type($input)";
}
def Sdy_ShardingGroupOp : Sdy_Op<"sharding_group"> {
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$group_id);
  let assemblyFormat = "$input `group_id` `` `=` `` $group_id attr-dict `:` type($input)";
}
def Sdy_FuncDataFlowEdgeOp : Sdy_Op<"func_data_flow_edge", [AllTypesMatch<["operand", "result"]>]> {
  let arguments = (ins AnyType:$operand);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}
def Sdy_ConstantOp : Sdy_Op<"constant", [Pure]> {
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyStaticShapeTensor:$output);
  let hasCustomAssemblyFormat = 1;
}

def Sdy_ManualComputationOp : Sdy_Op<"manual_computation", [IsolatedFromAbove, RecursiveMemoryEffects]> {
  let summary = "A computation of one device's shards along the manual axes";
  let arguments = (ins Variadic<AnyType>:$tensors, Sdy_TensorShardingPerValue:$in_shardings,
                       Sdy_TensorShardingPerValue:$out_shardings, Sdy_ManualAxes:$manual_axes);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` operands `)`
      `in_shardings` `` `=` `` custom<StrippedTensorShardingPerValueAttr>($in_shardings)
      `out_shardings` `` `=` `` custom<StrippedTensorShardingPerValueAttr>($out_shardings)
      `manual_axes` `` `=` `` $manual_axes custom<SingleBlockRegionNoBlockId>($body) attr-dict
      `:` functional-type(operands, results)
  }];
}
def Sdy_NamedComputationOp : Sdy_Op<"named_computation", [IsolatedFromAbove, RecursiveMemoryEffects]> {
  let arguments = (ins StrAttr:$name, Variadic<AnyType>:$operands,
                       OptionalAttr<Sdy_TensorShardingPerValue>:$in_shardings,
                       OptionalAttr<Sdy_TensorShardingPerValue>:$out_shardings);
  let results = (outs Variadic<AnyType>);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `<` $name `>` `` `(` $operands `)`
      (`in_shardings` `` `=` `` custom<StrippedTensorShardingPerValueAttr>($in_shardings)^)?
      (`out_shardings` `` `=` `` custom<StrippedTensorShardingPerValueAttr>($out_shardings)^)?
      custom<SingleBlockRegionNoBlockId>($body) attr-dict `:` functional-type($operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

def Sdy_Reduction : DefaultValuedAttr<Sdy_ReductionOp, "::sdy::ReductionOp::SUM">;

class Sdy_CollectiveOp<string mnemonic, dag attributes, string lead>
    : Sdy_Op<mnemonic, [AllTypesMatch<["tensor", "result"]>]> {
  let arguments = !con((ins AnyShaped:$tensor), attributes, (ins Sdy_TensorSharding:$out_sharding));
  let results = (outs AnyShaped:$result);
  let assemblyFormat = lead # " $tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)";
}
def Sdy_AllGatherOp
    : Sdy_CollectiveOp<"all_gather", (ins Sdy_ListOfAxisRefLists:$gathering_axes), "$gathering_axes">;
def Sdy_AllSliceOp : Sdy_CollectiveOp<"all_slice", (ins Sdy_ListOfAxisRefLists:$slicing_axes), "$slicing_axes">;
def Sdy_AllToAllOp : Sdy_CollectiveOp<"all_to_all", (ins Sdy_AllToAllParamList:$params), "$params">;
def Sdy_CollectivePermuteOp : Sdy_CollectiveOp<"collective_permute", (ins), "">;
def Sdy_AllReduceOp
    : Sdy_CollectiveOp<"all_reduce", (ins Sdy_AxisRefList:$reduction_axes,
                                          Sdy_Reduction:$reduction_op),
                       "($reduction_op^)? $reduction_axes">;
def Sdy_ReduceScatterOp
    : Sdy_CollectiveOp<"reduce_scatter", (ins Sdy_ListOfAxisRefLists:$reduce_scatter_axes,
                                              Sdy_Reduction:$reduction_op),
                       "($reduction_op^)? $reduce_scatter_axes">;
def Sdy_ShardedToUnreducedOp
    : Sdy_CollectiveOp<"sharded_to_unreduced", (ins Sdy_ListOfAxisRefLists:$axes), "$axes">;
def Sdy_ReplicatedToUnreducedOp
    : Sdy_CollectiveOp<"replicated_to_unreduced", (ins Sdy_AxisRefList:$axes), "$axes">;
