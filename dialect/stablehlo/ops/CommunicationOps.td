//===- CommunicationOps.td - Collectives, feeds, transfers ----------------===//
include "dialect/stablehlo/Attrs.td"

def Stable_Channel : OptionalAttr<Stable_ChannelHandle>;

def Stable_AllGatherOp : Stable_Op<"all_gather"> {
  let arguments = (ins Variadic<Stable_Array>:$operands, I64Attr:$all_gather_dim,
                       Stable_ReplicaGroups:$replica_groups, Stable_Channel:$channel_handle,
                       UnitAttr:$use_global_device_ids);
  let results = (outs Variadic<Stable_Array>);
}
def Stable_AllReduceOp : Stable_Op<"all_reduce"> {
  let arguments = (ins Variadic<Stable_Array>:$operands, Stable_ReplicaGroups:$replica_groups,
                       Stable_Channel:$channel_handle, UnitAttr:$use_global_device_ids);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Variadic<Stable_Array>);
}
def Stable_ReduceScatterOp : Stable_Op<"reduce_scatter"> {
  let arguments = (ins Stable_Array:$operand, I64Attr:$scatter_dimension,
                       Stable_ReplicaGroups:$replica_groups, Stable_Channel:$channel_handle,
                       UnitAttr:$use_global_device_ids);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Stable_Array:$result);
}
def Stable_AllToAllOp : Stable_Op<"all_to_all"> {
  let arguments = (ins Variadic<Stable_Array>:$operands, I64Attr:$split_dimension,
                       I64Attr:$concat_dimension, I64Attr:$split_count,
                       Stable_ReplicaGroups:$replica_groups, Stable_Channel:$channel_handle);
  let results = (outs Variadic<Stable_Array>);
}
def Stable_CollectiveBroadcastOp : Stable_Op<"collective_broadcast"> {
  let arguments = (ins Variadic<Stable_Array>:$operands, Stable_ReplicaGroups:$replica_groups,
                       Stable_Channel:$channel_handle, UnitAttr:$has_dynamic_root);
  let results = (outs Variadic<Stable_Array>);
}
def Stable_CollectiveReduceOp : Stable_Op<"collective_reduce"> {
  let arguments = (ins Variadic<Stable_Array>:$operands, Stable_ReplicaGroups:$replica_groups,
                       Stable_Channel:$channel_handle, UnitAttr:$use_global_device_ids,
                       UnitAttr:$has_dynamic_root);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Variadic<Stable_Array>);
}
def Stable_CollectivePermuteOp : Stable_Op<"collective_permute"> {
  let arguments = (ins Stable_Array:$operand, I64ElementsAttr:$source_target_pairs,
                       Stable_Channel:$channel_handle);
  let results = (outs Stable_Array:$result);
}
def Stable_CrossReplicaSumOp : Stable_Op<"cross-replica-sum"> {
  let arguments = (ins Stable_Array:$operand, I64ElementsAttr:$replica_groups);
  let results = (outs Stable_Array:$result);
}

def Stable_InfeedOp : Stable_Op<"infeed"> {
  let arguments = (ins Stable_Token:$token, DefaultValuedStrAttr<StrAttr, "">:$infeed_config,
                       OptionalAttr<ArrayAttr>:$layout);
  let results = (outs Variadic<Stable_ArrayOrToken>);
}
def Stable_OutfeedOp : Stable_Op<"outfeed"> {
  let arguments = (ins Variadic<Stable_Array>:$inputs, Stable_Token:$token,
                       DefaultValuedStrAttr<StrAttr, "">:$outfeed_config);
  let results = (outs Stable_Token:$result);
}
def Stable_SendOp : Stable_Op<"send"> {
  let arguments = (ins Variadic<Stable_Array>:$inputs, Stable_Token:$token, Stable_ChannelHandle:$channel_handle,
                       Stable_FlagOff:$is_host_transfer, OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs Stable_Token:$result);
}
def Stable_RecvOp : Stable_Op<"recv"> {
  let arguments = (ins Stable_Token:$token, Stable_ChannelHandle:$channel_handle,
                       Stable_FlagOff:$is_host_transfer, OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs Variadic<Stable_ArrayOrToken>);
}

def Stable_ReplicaIdOp : Stable_Op<"replica_id", [Pure]> {
  let results = (outs Stable_Array:$result);
  let assemblyFormat = "attr-dict `:` type(results)";
}
def Stable_PartitionIdOp : Stable_Op<"partition_id", [Pure]> {
  let results = (outs Stable_Array:$result);
  let assemblyFormat = "attr-dict `:` type(results)";
}
