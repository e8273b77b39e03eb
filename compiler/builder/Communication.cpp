//===- Communication.cpp - Collectives, feeds, transfers ------------------===//
#include "absl/strings/str_join.h"
#include "compiler/builder/Instruction.h"

namespace hlo {

using detail::Groups;
using detail::Instruction;
using detail::Ops;

using Channel = std::optional<ChannelHandle>;

//===----------------------------------------------------------------------===//
// What collectives have in common
//===----------------------------------------------------------------------===//

static void addGroups(Instruction &inst, Groups groups, const Channel &channel,
                      std::optional<bool> useGlobalDeviceIds = std::nullopt) {
  inst.attribute("replica_groups", detail::listsText(groups));
  if (channel) {
    inst.number("channel_id", channel->handle());
  }
  if (useGlobalDeviceIds.value_or(false)) {
    inst.boolean("use_global_device_ids", true);
  }
}

/// A layout that the caller demands, of an array.
static void constrain(Instruction &inst, Shape &shape, const std::optional<Layout> &layout) {
  if (layout) {
    shape.set_layout(*layout);
    inst.boolean("constrain_layout", true);
  }
}

/// An array as it is, the elements of a tuple one by one. `isTuple`: which of both it was.
static std::vector<XlaOp> elementsOf(XlaOp operand, SourceLocation at, bool &isTuple) {
  Instruction inst("get-tuple-element", {operand}, at);
  const Shape *shape = inst.shapeOf(0);
  isTuple = shape && shape->IsTuple();
  if (!isTuple) {
    return {operand};
  }
  std::vector<XlaOp> elements;
  for (int i = 0; i < shape->tuple_shapes_size(); ++i) {
    elements.push_back(detail::element(operand, i, at));
  }
  return elements;
}

/// One operand gives an array, where a tuple of one element is wanted.
static XlaOp asTuple(XlaOp result, std::size_t operands, bool isTuple, SourceLocation at) {
  return isTuple && operands == 1 && result.valid() ? Tuple({result}, at) : result;
}

/// The shapes of the results of all-gather and reduce-scatter: a dimension times or through
/// `shards`. False after an error.
static bool resultShapes(Instruction &inst, std::size_t operands, std::int64_t dimension,
                         std::int64_t shards, bool gathers, const std::optional<Layout> &layout,
                         std::vector<Shape> &results) {
  for (std::size_t i = 0; i < operands; ++i) {
    const Shape *from = inst.arrayOf(static_cast<int>(i));
    if (!from) {
      inst.add();
      return false;
    }
    if (shards < 1 || dimension < 0 || dimension >= from->rank()) {
      inst.fail("the dimension is ", dimension, ", shard_count ", shards, ", operand ", i, " is ",
                from->ToString());
      return false;
    }
    auto d = static_cast<int>(dimension);
    std::int64_t size = from->dimensions(d);
    if (!gathers && size % shards != 0) {
      inst.fail("dimension ", dimension, " of ", from->ToString(), " cannot be divided by ",
                shards);
      return false;
    }
    Shape result(from->element_type(), from->dimensions());
    for (int k = 0; k < result.dimensions_size(); ++k) {
      result.set_dynamic_dimension(k, from->is_dynamic_dimension(k));
    }
    std::int64_t wide = 0;
    if (gathers && __builtin_mul_overflow(size, shards, &wide)) {
      inst.fail("dimension ", dimension, " of the result does not fit into 63 bits");
      return false;
    }
    result.set_dimensions(d, gathers ? wide : size / shards);
    if (layout) {
      result.set_layout(*layout);
    }
    results.push_back(std::move(result));
  }
  if (layout) {
    inst.boolean("constrain_layout", true);
  }
  return true;
}

static Shape tupleUnlessSingle(std::vector<Shape> shapes) {
  return shapes.size() == 1 ? std::move(shapes[0]) : Shape(std::move(shapes));
}

static XlaOp invalid(const Instruction &inst) {
  return inst.builder ? inst.builder->ReportError(absl::OkStatus(), inst.at) : XlaOp();
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

XlaOp ReplicaId(XlaBuilder *builder, SourceLocation at) {
  return Instruction("replica-id", {}, at, builder).add();
}

XlaOp PartitionId(XlaBuilder *builder, SourceLocation at) {
  return Instruction("partition-id", {}, at, builder).add();
}

XlaOp PartitionID(XlaBuilder *builder, const Shape &shape, SourceLocation at) {
  return Instruction("partition-id", {}, at, builder).shape(shape).add();
}

static XlaOp allGather(const char *opcode, Ops operands, std::int64_t dimension,
                       std::int64_t shardCount, Groups groups, const Channel &channel,
                       const std::optional<Layout> &layout, std::optional<bool> useGlobalDeviceIds,
                       bool starts, SourceLocation at) {
  Instruction inst(opcode, operands, at);
  std::vector<Shape> results, given;
  if (!resultShapes(inst, operands.size(), dimension, shardCount, /*gathers=*/true, layout,
                    results)) {
    return invalid(inst);
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    given.push_back(*inst.arrayOf(static_cast<int>(i)));
  }
  addGroups(inst, groups, channel, useGlobalDeviceIds);
  Shape result = tupleUnlessSingle(std::move(results));
  return inst.numbers("dimensions", {dimension})
      .shape(starts ? Shape({tupleUnlessSingle(std::move(given)), result}) : result)
      .add();
}

XlaOp AllGather(XlaOp operand, std::int64_t all_gather_dimension, std::int64_t shard_count,
                absl::Span<const ReplicaGroup> replica_groups, const Channel &channel_id,
                const std::optional<Layout> &layout, std::optional<bool> use_global_device_ids,
                SourceLocation at) {
  bool isTuple = false;
  std::vector<XlaOp> operands = elementsOf(operand, at, isTuple);
  return asTuple(allGather("all-gather", operands, all_gather_dimension, shard_count,
                           replica_groups, channel_id, layout, use_global_device_ids,
                           /*starts=*/false, at),
                 operands.size(), isTuple, at);
}

XlaOp AllGatherTuple(absl::Span<const XlaOp> operands, std::int64_t all_gather_dimension,
                     std::int64_t shard_count, absl::Span<const ReplicaGroup> replica_groups,
                     const Channel &channel_id, const std::optional<Layout> &layout,
                     std::optional<bool> use_global_device_ids, SourceLocation at) {
  return asTuple(allGather("all-gather", operands, all_gather_dimension, shard_count,
                           replica_groups, channel_id, layout, use_global_device_ids,
                           /*starts=*/false, at),
                 operands.size(), /*isTuple=*/true, at);
}

XlaOp AllGatherStart(XlaOp operand, std::int64_t all_gather_dimension, std::int64_t shard_count,
                     absl::Span<const ReplicaGroup> replica_groups, const Channel &channel_id,
                     const std::optional<Layout> &layout, std::optional<bool> use_global_device_ids,
                     SourceLocation at) {
  bool isTuple = false;
  std::vector<XlaOp> operands = elementsOf(operand, at, isTuple);
  return allGather("all-gather-start", operands, all_gather_dimension, shard_count, replica_groups,
                   channel_id, layout, use_global_device_ids, /*starts=*/true, at);
}

XlaOp AllGatherDone(XlaOp start, SourceLocation at) {
  return Instruction("all-gather-done", {start}, at).add();
}

static XlaOp allReduce(const char *opcode, Ops operands, const XlaComputation &computation,
                       Groups groups, const Channel &channel,
                       const std::optional<Shape> &shapeWithLayout,
                       std::optional<bool> useGlobalDeviceIds, SourceLocation at) {
  Instruction inst(opcode, operands, at);
  addGroups(inst, groups, channel, useGlobalDeviceIds);
  if (shapeWithLayout) {
    // A single operand has an array as its result.
    bool isOne = shapeWithLayout->IsTuple() && shapeWithLayout->tuple_shapes_size() == 1;
    inst.shape(isOne ? shapeWithLayout->tuple_shapes(0) : *shapeWithLayout)
        .boolean("constrain_layout", true);
  }
  return inst.computation("to_apply", computation).add();
}

XlaOp AllReduce(XlaOp operand, const XlaComputation &computation,
                absl::Span<const ReplicaGroup> replica_groups, const Channel &channel_id,
                const std::optional<Shape> &shape_with_layout,
                std::optional<bool> use_global_device_ids, SourceLocation at) {
  bool isTuple = false;
  std::vector<XlaOp> operands = elementsOf(operand, at, isTuple);
  return asTuple(allReduce("all-reduce", operands, computation, replica_groups, channel_id,
                           shape_with_layout, use_global_device_ids, at),
                 operands.size(), isTuple, at);
}

XlaOp AllReduceTuple(absl::Span<const XlaOp> operands, const XlaComputation &computation,
                     absl::Span<const ReplicaGroup> replica_groups, const Channel &channel_id,
                     const std::optional<Shape> &shape_with_layout,
                     std::optional<bool> use_global_device_ids, SourceLocation at) {
  return asTuple(allReduce("all-reduce", operands, computation, replica_groups, channel_id,
                           shape_with_layout, use_global_device_ids, at),
                 operands.size(), /*isTuple=*/true, at);
}

XlaOp AllReduceStart(XlaOp operand, const XlaComputation &computation,
                     absl::Span<const ReplicaGroup> replica_groups, const Channel &channel_id,
                     const std::optional<Shape> &shape_with_layout,
                     std::optional<bool> use_global_device_ids, SourceLocation at) {
  bool isTuple = false;
  std::vector<XlaOp> operands = elementsOf(operand, at, isTuple);
  return allReduce("all-reduce-start", operands, computation, replica_groups, channel_id,
                   shape_with_layout, use_global_device_ids, at);
}

XlaOp AllReduceDone(XlaOp start, SourceLocation at) {
  return Instruction("all-reduce-done", {start}, at).add();
}

XlaOp CrossReplicaSum(XlaOp operand, absl::Span<const ReplicaGroup> replica_groups,
                      SourceLocation at) {
  Instruction inst("all-reduce", {operand}, at);
  const Shape *shape = inst.shapeOf(0);
  if (!shape) {
    return inst.add();
  }
  const Shape &first =
      shape->IsTuple() && shape->tuple_shapes_size() ? shape->tuple_shapes(0) : *shape;
  if (!first.IsArray()) {
    return inst.fail("the operand must be an array or a tuple of arrays, is ", shape->ToString());
  }
  PrimitiveType type = first.element_type();
  return AllReduce(operand, detail::scalarBinary(type == PRED ? "or" : "add", type), replica_groups,
                   std::nullopt, std::nullopt, std::nullopt, at);
}

XlaOp ReduceScatter(XlaOp operand, const XlaComputation &computation,
                    std::int64_t scatter_dimension, std::int64_t shard_count,
                    absl::Span<const ReplicaGroup> replica_groups, const Channel &channel_id,
                    const std::optional<Layout> &layout, std::optional<bool> use_global_device_ids,
                    SourceLocation at) {
  bool isTuple = false;
  std::vector<XlaOp> operands = elementsOf(operand, at, isTuple);
  Instruction inst("reduce-scatter", operands, at);
  std::vector<Shape> results;
  if (!resultShapes(inst, operands.size(), scatter_dimension, shard_count, /*gathers=*/false,
                    layout, results)) {
    return invalid(inst);
  }
  addGroups(inst, replica_groups, channel_id, use_global_device_ids);
  inst.numbers("dimensions", {scatter_dimension})
      .shape(tupleUnlessSingle(std::move(results)))
      .computation("to_apply", computation);
  return asTuple(inst.add(), operands.size(), isTuple, at);
}

XlaOp AllToAll(XlaOp operand, std::int64_t split_dimension, std::int64_t concat_dimension,
               std::int64_t split_count, absl::Span<const ReplicaGroup> replica_groups,
               const std::optional<Layout> &layout, const Channel &channel_id, SourceLocation at) {
  Instruction inst("all-to-all", {operand}, at);
  const Shape *from = inst.arrayOf(0);
  if (!from) {
    return inst.add();
  }
  auto isDimension = [&](std::int64_t d) { return d >= 0 && d < from->rank(); };
  if (!isDimension(split_dimension) || !isDimension(concat_dimension) || split_count < 1 ||
      from->dimensions(static_cast<int>(split_dimension)) % split_count != 0) {
    return inst.fail("split_dimension is ", split_dimension, ", concat_dimension ",
                     concat_dimension, ", split_count ", split_count, ", the operand ",
                     from->ToString());
  }
  if (!replica_groups.empty() &&
      static_cast<std::int64_t>(replica_groups[0].replica_ids_size()) != split_count) {
    return inst.fail("split_count is ", split_count, ", groups have ",
                     replica_groups[0].replica_ids_size(), " replicas");
  }
  addGroups(inst, replica_groups, channel_id);
  inst.numbers("dimensions", {split_dimension});
  if (layout) {
    Shape shape = *from;
    constrain(inst, shape, layout);
    inst.shape(shape);
  }
  XlaOp exchanged = inst.add();
  if (split_dimension == concat_dimension || !exchanged.valid()) {
    return exchanged;
  }
  // The instruction puts the parts one behind the other in the dimension that it splits:
  //   [.., parts * block, ..] -> [.., parts, block, ..], and `parts` moves before concat_dimension.
  std::vector<std::int64_t> split, permutation, merged = from->dimensions();
  for (std::int64_t i = 0; i < from->rank(); ++i) {
    std::int64_t size = from->dimensions(static_cast<int>(i));
    if (i == split_dimension) {
      split.push_back(split_count);
      size /= split_count;
    }
    split.push_back(size);
    if (i == concat_dimension) {
      permutation.push_back(split_dimension);
    }
    permutation.push_back(i >= split_dimension ? i + 1 : i);
  }
  merged[split_dimension] /= split_count;
  merged[concat_dimension] *= split_count;
  return Reshape(Transpose(Reshape(exchanged, split, at), permutation, at), merged, at);
}

XlaOp AllToAllTuple(absl::Span<const XlaOp> operands, absl::Span<const ReplicaGroup> replica_groups,
                    const std::optional<Layout> &layout, const Channel &channel_id,
                    SourceLocation at) {
  Instruction inst("all-to-all", operands, at);
  addGroups(inst, replica_groups, channel_id);
  if (layout) {
    std::vector<Shape> shapes;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Shape *from = inst.arrayOf(static_cast<int>(i));
      if (!from) {
        return inst.add();
      }
      shapes.push_back(*from);
      shapes.back().set_layout(*layout);
    }
    inst.boolean("constrain_layout", true).shape(Shape(std::move(shapes)));
  }
  return inst.add();
}

XlaOp RaggedAllToAll(XlaOp input, XlaOp input_offsets, XlaOp send_sizes, XlaOp output,
                     XlaOp output_offsets, XlaOp recv_sizes,
                     absl::Span<const ReplicaGroup> replica_groups, const Channel &channel_id,
                     SourceLocation at) {
  Instruction inst("ragged-all-to-all",
                   {input, output, input_offsets, send_sizes, output_offsets, recv_sizes}, at);
  addGroups(inst, replica_groups, channel_id);
  return inst.add();
}

XlaOp CollectiveBroadcast(XlaOp operand, absl::Span<const ReplicaGroup> replica_groups,
                          const Channel &channel_id, SourceLocation at) {
  Instruction inst("collective-broadcast", {operand}, at);
  addGroups(inst, replica_groups, channel_id);
  return inst.add();
}

using DevicePairs = absl::Span<const std::pair<std::int64_t, std::int64_t>>;

static void addPairs(Instruction &inst, DevicePairs pairs, const Channel &channel, bool inplace) {
  auto one = [](std::string *out, const std::pair<std::int64_t, std::int64_t> &pair) {
    absl::StrAppend(out, "{", pair.first, ",", pair.second, "}");
  };
  inst.attribute("source_target_pairs", absl::StrCat("{", absl::StrJoin(pairs, ",", one), "}"));
  if (channel) {
    inst.number("channel_id", channel->handle());
  }
  if (inplace) {
    inst.frontend("inplace", "true");
  }
}

XlaOp CollectivePermute(XlaOp operand, DevicePairs source_target_pairs, const Channel &channel_id,
                        bool inplace, SourceLocation at) {
  Instruction inst("collective-permute", {operand}, at);
  addPairs(inst, source_target_pairs, channel_id, inplace);
  return inst.add();
}

XlaOp CollectivePermuteStart(XlaOp operand, DevicePairs source_target_pairs,
                             const Channel &channel_id, bool inplace, SourceLocation at) {
  Instruction inst("collective-permute-start", {operand}, at);
  const Shape *from = inst.arrayOf(0);
  if (!from) {
    return inst.add();
  }
  addPairs(inst, source_target_pairs, channel_id, inplace);
  Shape context = ShapeUtil::MakeScalarShape(U32);
  return inst.shape(Shape({*from, *from, context, context})).add();
}

XlaOp CollectivePermuteDone(XlaOp start, SourceLocation at) {
  return Instruction("collective-permute-done", {start}, at).add();
}

//===----------------------------------------------------------------------===//
// Feeds
//===----------------------------------------------------------------------===//

/// The data of (data, token); the token is what the next transfer of `chain` follows.
static XlaOp dataOf(XlaBuilder *builder, XlaOp both, Instruction::Chain chain, SourceLocation at) {
  Instruction::setToken(builder, chain, detail::element(both, 1, at));
  return detail::element(both, 0, at);
}

XlaOp InfeedWithToken(XlaOp token, const Shape &shape, const std::string &config,
                      SourceLocation at) {
  Instruction inst("infeed", {token}, at);
  if (!config.empty()) {
    inst.text("infeed_config", config);
  }
  return inst.shape(Shape({shape, ShapeUtil::MakeTokenShape()})).add();
}

XlaOp Infeed(XlaBuilder *builder, const Shape &shape, const std::string &config,
             SourceLocation at) {
  if (!builder) {
    return XlaOp();
  }
  XlaOp token = Instruction::token(builder, Instruction::Chain::infeed, at);
  return dataOf(builder, InfeedWithToken(token, shape, config, at), Instruction::Chain::infeed, at);
}

XlaOp OutfeedWithToken(XlaOp operand, XlaOp token, const Shape &shape_with_layout,
                       const std::string &outfeed_config, SourceLocation at) {
  Instruction inst("outfeed", {operand, token}, at);
  inst.attribute("outfeed_shape", shape_with_layout.ToString(/*print_layout=*/true));
  if (!outfeed_config.empty()) {
    inst.text("outfeed_config", outfeed_config);
  }
  return inst.add();
}

XlaOp Outfeed(XlaOp operand, const Shape &shape_with_layout, const std::string &outfeed_config,
              SourceLocation at) {
  XlaBuilder *builder = operand.builder();
  if (!builder) {
    return XlaOp();
  }
  XlaOp token = Instruction::token(builder, Instruction::Chain::outfeed, at);
  Instruction::setToken(builder, Instruction::Chain::outfeed,
                        OutfeedWithToken(operand, token, shape_with_layout, outfeed_config, at));
  return Tuple(builder, {}, at);
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

XlaOp SendStart(XlaOp operand, XlaOp token, std::int64_t channel_id, bool is_host_transfer,
                SourceLocation at) {
  Instruction inst("send", {operand, token}, at);
  return inst.transfer(channel_id, is_host_transfer);
}

XlaOp RecvStart(XlaOp token, const Shape &shape, std::int64_t channel_id, bool is_host_transfer,
                SourceLocation at) {
  Instruction inst("recv", {token}, at);
  inst.shape(Shape({shape, ShapeUtil::MakeScalarShape(U32), ShapeUtil::MakeTokenShape()}));
  return inst.transfer(channel_id, is_host_transfer);
}

XlaOp SendDone(XlaOp context, SourceLocation at) {
  Instruction inst("send-done", {context}, at);
  return inst.transferDone();
}

XlaOp RecvDoneWithToken(XlaOp context, SourceLocation at) {
  Instruction inst("recv-done", {context}, at);
  return inst.transferDone();
}

XlaOp RecvDone(XlaOp context, SourceLocation at) {
  return detail::element(RecvDoneWithToken(context, at), 0, at);
}

XlaOp SendWithToken(XlaOp operand, XlaOp token, const ChannelHandle &handle, SourceLocation at) {
  return SendDone(SendStart(operand, token, handle.handle(), /*is_host_transfer=*/false, at), at);
}

XlaOp RecvWithToken(XlaOp token, const Shape &shape, const ChannelHandle &handle,
                    SourceLocation at) {
  return RecvDoneWithToken(RecvStart(token, shape, handle.handle(), /*is_host_transfer=*/false, at),
                           at);
}

XlaOp Send(XlaOp operand, const ChannelHandle &handle, SourceLocation at) {
  XlaBuilder *builder = operand.builder();
  if (!builder) {
    return XlaOp();
  }
  XlaOp token = Instruction::token(builder, Instruction::Chain::send, at);
  Instruction::setToken(builder, Instruction::Chain::send,
                        SendWithToken(operand, token, handle, at));
  return Tuple(builder, {}, at);
}

XlaOp Recv(XlaBuilder *builder, const Shape &shape, const ChannelHandle &handle,
           SourceLocation at) {
  if (!builder) {
    return XlaOp();
  }
  XlaOp token = Instruction::token(builder, Instruction::Chain::recv, at);
  return dataOf(builder, RecvWithToken(token, shape, handle, at), Instruction::Chain::recv, at);
}

XlaOp Send(XlaOp operand, std::int64_t channel_id, SourceLocation at) {
  XlaBuilder *builder = operand.builder();
  return builder ? SendStart(operand, Instruction::token(builder, Instruction::Chain::send, at),
                             channel_id, /*is_host_transfer=*/false, at)
                 : XlaOp();
}

XlaOp Recv(XlaBuilder *builder, const Shape &shape, std::int64_t channel_id, SourceLocation at) {
  return builder ? RecvStart(Instruction::token(builder, Instruction::Chain::recv, at), shape,
                             channel_id, /*is_host_transfer=*/false, at)
                 : XlaOp();
}

XlaOp SendToHost(XlaOp operand, XlaOp token, const Shape &shape_with_layout,
                 const ChannelHandle &handle, SourceLocation at) {
  Instruction inst("send", {operand, token}, at);
  const Shape *from = inst.shapeOf(0);
  if (!from) {
    return inst.add();
  }
  if (!ShapeUtil::Compatible(*from, shape_with_layout) ||
      handle.type() != ChannelHandle::DEVICE_TO_HOST) {
    return inst.fail("SendToHost of ", from->ToString(), " as ", shape_with_layout.ToString(),
                     handle.type() == ChannelHandle::DEVICE_TO_HOST
                         ? ""
                         : ", the channel must be of type DEVICE_TO_HOST");
  }
  return SendDone(SendStart(operand, token, handle.handle(), /*is_host_transfer=*/true, at), at);
}

XlaOp RecvFromHost(XlaOp token, const Shape &shape, const ChannelHandle &handle,
                   SourceLocation at) {
  if (handle.type() != ChannelHandle::HOST_TO_DEVICE) {
    return Instruction("recv", {token}, at)
        .fail("RecvFromHost: the channel must be of type HOST_TO_DEVICE");
  }
  return RecvDoneWithToken(RecvStart(token, shape, handle.handle(), /*is_host_transfer=*/true, at),
                           at);
}

XlaOp SendWithTokens(XlaOp operand, XlaOp token, const ChannelHandle &handle, SourceLocation at) {
  return SendWithToken(operand, token, handle, at);
}

XlaOp RecvWithTokens(XlaOp token, const Shape &shape, const ChannelHandle &handle,
                     SourceLocation at) {
  return RecvWithToken(token, shape, handle, at);
}

XlaOp RecvToHost(XlaOp token, const Shape &shape, const ChannelHandle &handle, SourceLocation at) {
  return RecvFromHost(token, shape, handle, at);
}

} // namespace hlo
