//===- hlo/ops/communication.h - Collectives, transfers, feeds -*- C++ -*-===//
//
// Part of the C++ builder. Licensed under Apache-2.0 WITH LLVM-exception.
//
// Collectives: an empty list of replica groups is one group of all replicas. A channel makes the
// groups span partitions; with use_global_device_ids, groups list replica * partitions + partition.
//
//===----------------------------------------------------------------------===//
#ifndef HLO_OPS_COMMUNICATION_H
#define HLO_OPS_COMMUNICATION_H

#include <hlo/attributes.h>
#include <hlo/computation.h>
#include <hlo/op.h>
#include <optional>

namespace hlo {

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// u32[].
XlaOp ReplicaId(XlaBuilder *builder, SourceLocation at = SourceLocation::current());
XlaOp PartitionId(XlaBuilder *builder, SourceLocation at = SourceLocation::current());
/// `shape` is u32[].
XlaOp PartitionID(XlaBuilder *builder, const Shape &shape,
                  SourceLocation at = SourceLocation::current());

/// The operands of all members of the group, one behind the other: the dimension becomes
/// `shard_count`, the group's size, times as large. A tuple gives a tuple. `layout`: of the result.
/// Start and Done are the halves of an asynchronous one.
XlaOp AllGather(XlaOp operand, std::int64_t all_gather_dimension, std::int64_t shard_count,
                absl::Span<const ReplicaGroup> replica_groups = {},
                const std::optional<ChannelHandle> &channel_id = std::nullopt,
                const std::optional<Layout> &layout = std::nullopt,
                std::optional<bool> use_global_device_ids = std::nullopt,
                SourceLocation at = SourceLocation::current());
XlaOp AllGatherTuple(absl::Span<const XlaOp> operands, std::int64_t all_gather_dimension,
                     std::int64_t shard_count, absl::Span<const ReplicaGroup> replica_groups = {},
                     const std::optional<ChannelHandle> &channel_id = std::nullopt,
                     const std::optional<Layout> &layout = std::nullopt,
                     std::optional<bool> use_global_device_ids = std::nullopt,
                     SourceLocation at = SourceLocation::current());
XlaOp AllGatherStart(XlaOp operand, std::int64_t all_gather_dimension, std::int64_t shard_count,
                     absl::Span<const ReplicaGroup> replica_groups = {},
                     const std::optional<ChannelHandle> &channel_id = std::nullopt,
                     const std::optional<Layout> &layout = std::nullopt,
                     std::optional<bool> use_global_device_ids = std::nullopt,
                     SourceLocation at = SourceLocation::current());
XlaOp AllGatherDone(XlaOp start, SourceLocation at = SourceLocation::current());

/// The operands of all members combined with `computation`, element by element. A tuple gives a
/// tuple. `shape_with_layout`: the result's shape, with the layout of the data in transit.
XlaOp AllReduce(XlaOp operand, const XlaComputation &computation,
                absl::Span<const ReplicaGroup> replica_groups = {},
                const std::optional<ChannelHandle> &channel_id = std::nullopt,
                const std::optional<Shape> &shape_with_layout = std::nullopt,
                std::optional<bool> use_global_device_ids = std::nullopt,
                SourceLocation at = SourceLocation::current());
XlaOp AllReduceTuple(absl::Span<const XlaOp> operands, const XlaComputation &computation,
                     absl::Span<const ReplicaGroup> replica_groups = {},
                     const std::optional<ChannelHandle> &channel_id = std::nullopt,
                     const std::optional<Shape> &shape_with_layout = std::nullopt,
                     std::optional<bool> use_global_device_ids = std::nullopt,
                     SourceLocation at = SourceLocation::current());
XlaOp AllReduceStart(XlaOp operand, const XlaComputation &computation,
                     absl::Span<const ReplicaGroup> replica_groups = {},
                     const std::optional<ChannelHandle> &channel_id = std::nullopt,
                     const std::optional<Shape> &shape_with_layout = std::nullopt,
                     std::optional<bool> use_global_device_ids = std::nullopt,
                     SourceLocation at = SourceLocation::current());
XlaOp AllReduceDone(XlaOp start, SourceLocation at = SourceLocation::current());
/// The sum of the operands of all members; of PRED: Or.
XlaOp CrossReplicaSum(XlaOp operand, absl::Span<const ReplicaGroup> replica_groups = {},
                      SourceLocation at = SourceLocation::current());

/// AllReduce, of which member i gets part i of `shard_count` in the dimension.
XlaOp ReduceScatter(XlaOp operand, const XlaComputation &computation,
                    std::int64_t scatter_dimension, std::int64_t shard_count,
                    absl::Span<const ReplicaGroup> replica_groups = {},
                    const std::optional<ChannelHandle> &channel_id = std::nullopt,
                    const std::optional<Layout> &layout = std::nullopt,
                    std::optional<bool> use_global_device_ids = std::nullopt,
                    SourceLocation at = SourceLocation::current());

/// Splits the operand into `split_count` parts, sends part i to member i, and puts the received
/// parts one behind the other.
XlaOp AllToAll(XlaOp operand, std::int64_t split_dimension, std::int64_t concat_dimension,
               std::int64_t split_count, absl::Span<const ReplicaGroup> replica_groups = {},
               const std::optional<Layout> &layout = std::nullopt,
               const std::optional<ChannelHandle> &channel_id = std::nullopt,
               SourceLocation at = SourceLocation::current());
/// Operand i goes to member i; a tuple of what was received.
XlaOp AllToAllTuple(absl::Span<const XlaOp> operands,
                    absl::Span<const ReplicaGroup> replica_groups = {},
                    const std::optional<Layout> &layout = std::nullopt,
                    const std::optional<ChannelHandle> &channel_id = std::nullopt,
                    SourceLocation at = SourceLocation::current());
/// Rows input[input_offsets[i] ...], send_sizes[i] of them, go to member i's output at
/// output_offsets[i].
XlaOp RaggedAllToAll(XlaOp input, XlaOp input_offsets, XlaOp send_sizes, XlaOp output,
                     XlaOp output_offsets, XlaOp recv_sizes,
                     absl::Span<const ReplicaGroup> replica_groups = {},
                     const std::optional<ChannelHandle> &channel_id = std::nullopt,
                     SourceLocation at = SourceLocation::current());

/// The first member's operand; zeros on replicas that are in no group.
XlaOp CollectiveBroadcast(XlaOp operand, absl::Span<const ReplicaGroup> replica_groups,
                          const std::optional<ChannelHandle> &channel_id = std::nullopt,
                          SourceLocation at = SourceLocation::current());
/// The source's operand on each target; zeros on the others. `inplace` is kept as the frontend
/// attribute "inplace"; the compiler decides by itself which buffers are shared.
XlaOp CollectivePermute(XlaOp operand,
                        absl::Span<const std::pair<std::int64_t, std::int64_t>> source_target_pairs,
                        const std::optional<ChannelHandle> &channel_id = std::nullopt,
                        bool inplace = false, SourceLocation at = SourceLocation::current());
XlaOp CollectivePermuteStart(
    XlaOp operand, absl::Span<const std::pair<std::int64_t, std::int64_t>> source_target_pairs,
    const std::optional<ChannelHandle> &channel_id = std::nullopt, bool inplace = false,
    SourceLocation at = SourceLocation::current());
XlaOp CollectivePermuteDone(XlaOp start, SourceLocation at = SourceLocation::current());

//===----------------------------------------------------------------------===//
// Feeds
//===----------------------------------------------------------------------===//

/// The next item of hlo_call.infeed. Infeeds of one computation are ordered as they are called.
XlaOp Infeed(XlaBuilder *builder, const Shape &shape, const std::string &config = "",
             SourceLocation at = SourceLocation::current());
/// (item, token).
XlaOp InfeedWithToken(XlaOp token, const Shape &shape, const std::string &config = "",
                      SourceLocation at = SourceLocation::current());
/// Writes to hlo_call.outfeed. `shape_with_layout`: the operand's shape. Outfeeds of one
/// computation are ordered as they are called. The result is the empty tuple.
XlaOp Outfeed(XlaOp operand, const Shape &shape_with_layout, const std::string &outfeed_config = "",
              SourceLocation at = SourceLocation::current());
/// A token.
XlaOp OutfeedWithToken(XlaOp operand, XlaOp token, const Shape &shape_with_layout,
                       const std::string &outfeed_config = "",
                       SourceLocation at = SourceLocation::current());

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

/// Sends to the Recv with the same handle, and waits. The result is the empty tuple.
XlaOp Send(XlaOp operand, const ChannelHandle &handle,
           SourceLocation at = SourceLocation::current());
/// The data of the Send with the same handle.
XlaOp Recv(XlaBuilder *builder, const Shape &shape, const ChannelHandle &handle,
           SourceLocation at = SourceLocation::current());
/// A token.
XlaOp SendWithToken(XlaOp operand, XlaOp token, const ChannelHandle &handle,
                    SourceLocation at = SourceLocation::current());
/// (data, token).
XlaOp RecvWithToken(XlaOp token, const Shape &shape, const ChannelHandle &handle,
                    SourceLocation at = SourceLocation::current());
/// As SendWithToken and RecvWithToken, with the program as the other end: hlo_call.host_send and
/// host_recv. The handle's type is DEVICE_TO_HOST or HOST_TO_DEVICE.
XlaOp SendToHost(XlaOp operand, XlaOp token, const Shape &shape_with_layout,
                 const ChannelHandle &handle, SourceLocation at = SourceLocation::current());
XlaOp RecvFromHost(XlaOp token, const Shape &shape, const ChannelHandle &handle,
                   SourceLocation at = SourceLocation::current());

/// Other names of these in the documents.
XlaOp SendWithTokens(XlaOp operand, XlaOp token, const ChannelHandle &handle,
                     SourceLocation at = SourceLocation::current());
XlaOp RecvWithTokens(XlaOp token, const Shape &shape, const ChannelHandle &handle,
                     SourceLocation at = SourceLocation::current());
XlaOp RecvToHost(XlaOp token, const Shape &shape, const ChannelHandle &handle,
                 SourceLocation at = SourceLocation::current());

/// The halves of the above: begin a transfer without waiting. The result is the transfer's context,
/// (data, u32[], token[]), for SendDone and RecvDone. Without a token, it begins after the calls of
/// Send or Recv with a handle that came before.
XlaOp Send(XlaOp operand, std::int64_t channel_id, SourceLocation at = SourceLocation::current());
XlaOp Recv(XlaBuilder *builder, const Shape &shape, std::int64_t channel_id,
           SourceLocation at = SourceLocation::current());
XlaOp SendStart(XlaOp operand, XlaOp token, std::int64_t channel_id, bool is_host_transfer = false,
                SourceLocation at = SourceLocation::current());
XlaOp RecvStart(XlaOp token, const Shape &shape, std::int64_t channel_id,
                bool is_host_transfer = false, SourceLocation at = SourceLocation::current());
/// A token.
XlaOp SendDone(XlaOp context, SourceLocation at = SourceLocation::current());
/// The data.
XlaOp RecvDone(XlaOp context, SourceLocation at = SourceLocation::current());
/// (data, token).
XlaOp RecvDoneWithToken(XlaOp context, SourceLocation at = SourceLocation::current());

} // namespace hlo

#endif
