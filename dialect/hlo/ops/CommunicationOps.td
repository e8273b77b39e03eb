//===- CommunicationOps.td - Feeds, send/recv, collectives, random --------===//
//
// replica_groups, source_target_pairs keep the normalized text of the format.
//
//===----------------------------------------------------------------------===//
include "dialect/hlo/Base.td"

class Hlo_CommOp<string mnemonic, dag ins> : Hlo_Op<mnemonic, []> {
  let summary = "HLO " # mnemonic;
  let arguments = ins;
  let results = (outs Variadic<AnyType>:$results);
}
class Hlo_ReducingCollective<string mnemonic> : Hlo_CommOp<mnemonic,
    (ins Variadic<AnyType>:$inputs, OptionalAttr<StrAttr>:$replica_groups, OptionalAttr<I64Attr>:$channel_id,
         OptionalAttr<BoolAttr>:$use_global_device_ids, OptionalAttr<BoolAttr>:$constrain_layout,
         FlatSymbolRefAttr:$to_apply)>;
class Hlo_GatheringCollective<string mnemonic> : Hlo_CommOp<mnemonic,
    (ins Variadic<AnyType>:$inputs, I64Attr:$dimension, OptionalAttr<StrAttr>:$replica_groups,
         OptionalAttr<I64Attr>:$channel_id, OptionalAttr<BoolAttr>:$use_global_device_ids,
         OptionalAttr<BoolAttr>:$constrain_layout)>;
class Hlo_PermutingCollective<string mnemonic> : Hlo_CommOp<mnemonic,
    (ins Variadic<AnyType>:$inputs, StrAttr:$source_target_pairs, OptionalAttr<I64Attr>:$channel_id,
         OptionalAttr<StrAttr>:$slice_sizes)>;
class Hlo_DoneOp<string mnemonic> : Hlo_CommOp<mnemonic, (ins AnyType:$operand)>;

def Hlo_AllReduceOp : Hlo_ReducingCollective<"all_reduce">;
def Hlo_AllReduceStartOp : Hlo_ReducingCollective<"all_reduce_start">;
def Hlo_AllReduceDoneOp : Hlo_DoneOp<"all_reduce_done">;
def Hlo_AllGatherOp : Hlo_GatheringCollective<"all_gather">;
def Hlo_AllGatherStartOp : Hlo_GatheringCollective<"all_gather_start">;
def Hlo_AllGatherDoneOp : Hlo_DoneOp<"all_gather_done">;
def Hlo_ReduceScatterOp : Hlo_CommOp<"reduce_scatter",
    (ins Variadic<AnyType>:$inputs, I64Attr:$dimension, OptionalAttr<StrAttr>:$replica_groups,
         OptionalAttr<I64Attr>:$channel_id, OptionalAttr<BoolAttr>:$use_global_device_ids,
         OptionalAttr<BoolAttr>:$constrain_layout, FlatSymbolRefAttr:$to_apply)>;
def Hlo_AllToAllOp : Hlo_CommOp<"all_to_all",
    (ins Variadic<AnyType>:$inputs, OptionalAttr<StrAttr>:$replica_groups, OptionalAttr<I64Attr>:$channel_id,
         OptionalAttr<I64Attr>:$dimension, OptionalAttr<BoolAttr>:$constrain_layout)>;
def Hlo_RaggedAllToAllOp : Hlo_CommOp<"ragged_all_to_all",
    (ins Variadic<AnyType>:$inputs, OptionalAttr<StrAttr>:$replica_groups, OptionalAttr<I64Attr>:$channel_id,
         OptionalAttr<I64Attr>:$dimension)>;
def Hlo_CollectiveBroadcastOp : Hlo_CommOp<"collective_broadcast",
    (ins Variadic<AnyType>:$inputs, OptionalAttr<StrAttr>:$replica_groups, OptionalAttr<I64Attr>:$channel_id,
         OptionalAttr<BoolAttr>:$has_dynamic_root)>;
def Hlo_CollectivePermuteOp : Hlo_PermutingCollective<"collective_permute">;
def Hlo_CollectivePermuteStartOp : Hlo_PermutingCollective<"collective_permute_start">;
def Hlo_CollectivePermuteDoneOp : Hlo_DoneOp<"collective_permute_done">;
/// No opcode: the end of a collective with the attribute `hlo.async`, which stands before it in the
/// same computation. Operands: the results of that op, then the arrays that it may read until here,
/// which must not be overwritten before. Results: those of that op, complete; they share its buffers.
def Hlo_CollectiveDoneOp : Hlo_CommOp<"collective_done", (ins Variadic<AnyType>:$inputs)>;
def Hlo_PartitionIdOp : Hlo_CommOp<"partition_id", (ins)>;
def Hlo_ReplicaIdOp : Hlo_CommOp<"replica_id", (ins)>;

/// The token goes when tuples are flattened: the order of the block is the order of feeds.
def Hlo_InfeedOp : Hlo_CommOp<"infeed", (ins Optional<AnyType>:$token, OptionalAttr<StrAttr>:$infeed_config)>;
/// Operands: the data (one, or its leaves once flattened), then the token.
def Hlo_OutfeedOp : Hlo_CommOp<"outfeed",
    (ins Variadic<AnyType>:$inputs, OptionalAttr<TypeAttr>:$outfeed_shape, OptionalAttr<StrAttr>:$outfeed_config)>;
class Hlo_TransferOp<string mnemonic> : Hlo_CommOp<mnemonic,
    (ins Variadic<AnyType>:$inputs, OptionalAttr<I64Attr>:$channel_id, OptionalAttr<BoolAttr>:$is_host_transfer)>;
def Hlo_SendOp : Hlo_TransferOp<"send">;
def Hlo_SendDoneOp : Hlo_TransferOp<"send_done">;
def Hlo_RecvOp : Hlo_TransferOp<"recv">;
def Hlo_RecvDoneOp : Hlo_TransferOp<"recv_done">;

def Hlo_RngOp : Hlo_CommOp<"rng", (ins AnyType:$a, AnyType:$b, StrAttr:$distribution)>;
def Hlo_RngBitGeneratorOp : Hlo_Op<"rng_bit_generator", [Pure]> {
  let summary = "Random bits and the next state from a state";
  let arguments = (ins AnyType:$state, StrAttr:$algorithm);
  let results = (outs Variadic<AnyType>:$results);
}
/// The state that the op had last time, plus delta. With the attribute `hlo.of_call`, which the
/// expansion of rng sets: the call's seed, and how many such ops it has executed before.
def Hlo_RngGetAndUpdateStateOp : Hlo_CommOp<"rng_get_and_update_state", (ins I64Attr:$delta)>;
