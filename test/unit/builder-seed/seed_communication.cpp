//===- seed_communication.cpp - Collectives, feeds, transfers -------------===//
//
// Rows of the table of the specification's sections: see SeedTable.h. Values in ranks(...) are one
// per replica: such examples run on as many threads.
//
//===----------------------------------------------------------------------===//
#include "SeedTable.h"

using namespace seed;

static const XlaComputation &add() {
  static const XlaComputation computation = Scalar2(F32, "add");
  return computation;
}

ROW(AllGather,
    "AllGather(operand, all_gather_dimension, shard_count, replica_groups, channel_id, layout, "
    "use_global_device_ids)",
    "tr: AllGather") {
  auto x = ranks({f32({2}, {1, 2.5}), f32({2}, {3, 5.25})});
  const auto both = ranks({f32({4}, {1, 2.5, 3, 5.25}), f32({4}, {1, 2.5, 3, 5.25})});
  RUNS(AllGather(x(b), 0, 2), both);
  RUNS(AllGather(x(b), 0, 2, {{0, 1}}), both);
  RUNS(AllGather(x(b), 0, 2, {{0, 1}}, ChannelHandle(1), std::nullopt, true), both);
  RUNS(AllGatherDone(AllGatherStart(x(b), 0, 2)), both);
  // The order in a group is that of the result.
  RUNS(AllGather(x(b), 0, 2, {{1, 0}}),
       ranks({f32({4}, {3, 5.25, 1, 2.5}), f32({4}, {3, 5.25, 1, 2.5})}));
  RUNS(AllGatherTuple({x(b), x(b)}, 0, 2),
       ranks({tuple({f32({4}, {1, 2.5, 3, 5.25}), f32({4}, {1, 2.5, 3, 5.25})}),
              tuple({f32({4}, {1, 2.5, 3, 5.25}), f32({4}, {1, 2.5, 3, 5.25})})}));
  FAILS(AllGather(x(b), 1, 2), "the dimension is");
  FAILS(AllGather(x(b), -1, 2), "the dimension is");
  FAILS(AllGather(x(b), 0, 0), "the dimension is");
  FAILS(AllGather(x(b), 0, 3, {{0, 1}}), "of the result is");
  FAILS(AllGather(x(b), 0, 2, {{0, 0}}), "replica groups hold");
}

ROW(AllReduce,
    "AllReduce(operand, computation, replica_groups, channel_id, shape_with_layout, "
    "use_global_device_ids)",
    "tr: AllReduce") {
  auto x = ranks({f32({2}, {1, 2.5}), f32({2}, {3, 5.25})});
  const auto both = ranks({f32({2}, {4, 7.75}), f32({2}, {4, 7.75})});
  RUNS(AllReduce(x(b), add()), both);
  RUNS(AllReduce(x(b), add(), {{0, 1}}, ChannelHandle(1), ShapeUtil::MakeShape(F32, {2}), true),
       both);
  RUNS(AllReduceDone(AllReduceStart(x(b), add())), both);
  RUNS(AllReduce(x(b), add(), {{0}, {1}}), ranks({f32({2}, {1, 2.5}), f32({2}, {3, 5.25})}));
  RUNS(AllReduce(Tuple(b, {x(b), x(b)}), add()),
       ranks({tuple({f32({2}, {4, 7.75}), f32({2}, {4, 7.75})}),
              tuple({f32({2}, {4, 7.75}), f32({2}, {4, 7.75})})}));
  const XlaComputation max = Scalar2(F32, "maximum"), integers = Scalar2(S32, "add");
  RUNS(AllReduce(x(b), max), ranks({f32({2}, {3, 5.25}), f32({2}, {3, 5.25})}));
  FAILS(AllReduce(x(b), integers), "as parameter");
  FAILS(AllReduce(x(b), add(), {{0, 0}}), "replica groups hold");
  FAILS(AllReduce(x(b), XlaComputation()), "computation");
}

ROW(CrossReplicaSum, "CrossReplicaSum(operand, replica_groups)", "zh: CrossReplicaSum",
    "en: CrossReplicaSum", "old: CrossReplicaSum", "tr: CrossReplicaSum") {
  auto x = ranks({f32({2}, {1, 2.5}), f32({2}, {3, 5.25})});
  RUNS(CrossReplicaSum(x(b)), ranks({f32({2}, {4, 7.75}), f32({2}, {4, 7.75})}));
  RUNS(CrossReplicaSum(x(b), {{0}, {1}}), ranks({f32({2}, {1, 2.5}), f32({2}, {3, 5.25})}));
  FAILS(CrossReplicaSum(x(b), {{0, 0}}), "replica groups hold");
}

ROW(AllToAll,
    "AllToAll(operand, split_dimension, concat_dimension, split_count, replica_groups, layout, "
    "channel_id)",
    "zh: AllToAll", "tr: AllToAll", "tr: AllToAll - Example 1.",
    "tr: AllToAll - Example 2 - StableHLO") {
  // Example 1: [4, 16] on four cores becomes [16, 4]. Element [i, j] of core r is 64 r + 16 i + j.
  const auto part = [](int core) {
    return f32({4, 16}, [core](const Index &i) { return 64 * core + 16 * i[0] + i[1]; });
  };
  const auto received = [](int core) {
    return f32({16, 4}, [core](const Index &i) {
      return 64 * (i[0] / 4) + 16 * (i[0] % 4) + 4 * core + i[1];
    });
  };
  auto x = ranks({part(0), part(1), part(2), part(3)});
  RUNS(AllToAll(x(b), 1, 0, 4), ranks({received(0), received(1), received(2), received(3)}));
  // Example 2: [2, 4] on two replicas becomes [4, 2].
  auto y =
      ranks({f32({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), f32({2, 4}, {10, 20, 30, 40, 50, 60, 70, 80})});
  RUNS(AllToAll(y(b), 1, 0, 2, {{0, 1}}), ranks({f32({4, 2}, {1, 2, 5, 6, 10, 20, 50, 60}),
                                                 f32({4, 2}, {3, 4, 7, 8, 30, 40, 70, 80})}));
  // Groups in their own order.
  RUNS(AllToAll(y(b), 1, 0, 2, {{1, 0}}), ranks({f32({4, 2}, {30, 40, 70, 80, 3, 4, 7, 8}),
                                                 f32({4, 2}, {10, 20, 50, 60, 1, 2, 5, 6})}));
  FAILS(AllToAll(x(b), 1, 0, 3), "split_dimension is"); // does not divide 16
  FAILS(AllToAll(x(b), 2, 0, 4), "split_dimension is");
  FAILS(AllToAll(x(b), 1, -1, 4), "split_dimension is");
  FAILS(AllToAll(x(b), 1, 0, 0), "split_dimension is");
  FAILS(AllToAll(Tuple(b, {x(b)}), 1, 0, 4), "must be an array, is");
  FAILS(AllToAll(y(b), 1, 0, 4, {{0, 1}}), "split_count is");
}

ROW(RaggedAllToAll,
    "RaggedAllToAll(input, input_offsets, send_sizes, output, output_offsets, recv_sizes, "
    "replica_groups, channel_id)",
    "tr: RaggedAllToAll") {
  // The documents' numbers; their recv_sizes do not add up and are replaced by what is received.
  auto input = ranks({s32({3}, {1, 2, 2}), s32({3}, {3, 4, 0})});
  auto output = s32({4}, {0, 0, 0, 0});
  auto inputOffsets = s32({2}, {0, 1});
  auto sendSizes = ranks({s32({2}, {1, 2}), s32({2}, {1, 1})});
  auto outputOffsets = ranks({s32({2}, {0, 0}), s32({2}, {1, 2})});
  auto recvSizes = ranks({s32({2}, {1, 1}), s32({2}, {2, 1})});
  RUNS(RaggedAllToAll(input(b), inputOffsets(b), sendSizes(b), output(b), outputOffsets(b),
                      recvSizes(b), {{0, 1}}),
       ranks({s32({4}, {1, 3, 0, 0}), s32({4}, {2, 2, 4, 0})}));
  auto three = s32({3}, {0, 1, 2});
  FAILS(RaggedAllToAll(input(b), three(b), sendSizes(b), output(b), outputOffsets(b), recvSizes(b),
                       {{0, 1}}),
        "must hold integers and have the sizes of");
  auto floats = f32({4}, {0, 0, 0, 0});
  FAILS(RaggedAllToAll(input(b), inputOffsets(b), sendSizes(b), floats(b), outputOffsets(b),
                       recvSizes(b), {{0, 1}}),
        "element types differ: input is");
}

ROW(CollectiveBroadcast, "CollectiveBroadcast(operand, replica_groups, channel_id)",
    "tr: CollectiveBroadcast") {
  auto x = ranks({f32({1}, {1}), f32({1}, {2}), f32({1}, {3})});
  // Replica 0 is in no group: zeros.
  RUNS(CollectiveBroadcast(x(b), {{2, 1}}), ranks({f32({1}, {0}), f32({1}, {3}), f32({1}, {3})}));
  FAILS(CollectiveBroadcast(x(b), {{1, 1}}), "replica groups hold");
}

ROW(CollectivePermute, "CollectivePermute(operand, source_target_pairs, channel_id, inplace)",
    "tr: CollectivePermute") {
  auto x = ranks({f32({1}, {1}), f32({1}, {2}), f32({1}, {3})});
  RUNS(CollectivePermute(x(b), {{0, 1}, {1, 2}}),
       ranks({f32({1}, {0}), f32({1}, {1}), f32({1}, {2})}));
  RUNS(CollectivePermuteDone(CollectivePermuteStart(x(b), {{0, 1}, {1, 2}})),
       ranks({f32({1}, {0}), f32({1}, {1}), f32({1}, {2})}));
  RUNS(CollectivePermute(x(b), {{0, 1}, {1, 0}}, std::nullopt, true),
       ranks({f32({1}, {2}), f32({1}, {1}), f32({1}, {0})}));
  FAILS(CollectivePermute(x(b), {{0, 1}, {2, 1}}),
        "source_target_pairs hold target"); // one target twice
  FAILS(CollectivePermute(x(b), {{0, 1}, {0, 2}}),
        "source_target_pairs hold source"); // one source twice
  FAILS(CollectivePermute(x(b), {{-1, 1}}), "must be a source and a target, is");
}

ROW(ReduceScatter,
    "ReduceScatter(operand, computation, scatter_dimension, shard_count, replica_groups, "
    "channel_id, layout, use_global_device_ids)",
    "tr: ReduceScatter", "tr: ReduceScatter - Example 1 - StableHLO") {
  auto x = ranks({f32({2}, {1, 2.25}), f32({2}, {3, 5.25})});
  RUNS(ReduceScatter(x(b), add(), 0, 2), ranks({f32({1}, {4}), f32({1}, {7.5})}));
  // [2, 4] on two replicas becomes [2, 2].
  auto y =
      ranks({f32({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), f32({2, 4}, {10, 20, 30, 40, 50, 60, 70, 80})});
  RUNS(ReduceScatter(y(b), add(), 1, 2, {{0, 1}}),
       ranks({f32({2, 2}, {11, 22, 55, 66}), f32({2, 2}, {33, 44, 77, 88})}));
  FAILS(ReduceScatter(x(b), add(), 1, 2), "the dimension is");
  FAILS(ReduceScatter(x(b), add(), 0, 3), "cannot be divided by");
  FAILS(ReduceScatter(x(b), add(), 0, 1, {{0, 1}}), "of the operand is");
  const XlaComputation integers = Scalar2(S32, "add");
  FAILS(ReduceScatter(x(b), integers, 0, 2), "as parameter");
}

ROW(ReplicaId, "ReplicaId(builder)", "tr: ReplicaId") {
  RUNS(ReplicaId(b), ranks({u32(0), u32(1), u32(2)}));
}

ROW(PartitionID, "PartitionID(builder, shape); PartitionId(builder)", "tr: PartitionID") {
  RUNS(PartitionID(b, ShapeUtil::MakeShape(U32, {})), u32(0));
  RUNS(PartitionId(b), u32(0));
  FAILS(PartitionID(b, ShapeUtil::MakeShape(F32, {})), "the written shape is");
  FAILS(PartitionID(b, ShapeUtil::MakeShape(U32, {2})), "the written shape is");
}

ROW(Infeed, "Infeed(builder, shape, config)", "zh: Infeed", "en: Infeed", "old: Infeed",
    "tr: Yayın içi") {
  NextInfeed({f32({2}, {1, 2}), f32({2}, {10, 20})}); // in the order of the calls
  RUNS(Sub(Infeed(b, ShapeUtil::MakeShape(F32, {2})), Infeed(b, ShapeUtil::MakeShape(F32, {2}))),
       f32({2}, {-9, -18}));
  const Shape pair =
      ShapeUtil::MakeTupleShape({ShapeUtil::MakeShape(F32, {2}), ShapeUtil::MakeShape(S32, {})});
  NextInfeed({tuple({f32({2}, {1, 2}), s32(3)})});
  RUNS(Infeed(b, pair, "config"), tuple({f32({2}, {1, 2}), s32(3)}));
  RUNS(Infeed(b, ShapeUtil::MakeNil()), tuple({})); // reads nothing
  NextInfeed({f32({2}, {1, 2})});
  RUNS(GetTupleElement(InfeedWithToken(CreateToken(b), ShapeUtil::MakeShape(F32, {2})), 0),
       f32({2}, {1, 2}));
  FAILS(Infeed(b, ShapeUtil::MakeShape(F32, {-1})), "has negative size");
  auto x = f32({2}, {1, 2});
  FAILS(InfeedWithToken(x(b), ShapeUtil::MakeShape(F32, {2})), "must be token");
}

ROW(Outfeed, "Outfeed(operand, shape_with_layout, outfeed_config)", "tr: Çıkış") {
  auto x = f32({2}, {1, 2});
  NextOutfeed({f32({2}, {1, 2})});
  RUNS(Outfeed(x(b), ShapeUtil::MakeShape(F32, {2}), "config"), tuple({}));
  auto token = CreateToken;
  NextOutfeed({f32({2}, {1, 2}), f32({2}, {2, 4})});
  RUNS(AddDependency(x(b),
                     OutfeedWithToken(x(b) + x(b),
                                      OutfeedWithToken(x(b), token(b, SourceLocation::current()),
                                                       ShapeUtil::MakeShape(F32, {2})),
                                      ShapeUtil::MakeShape(F32, {2}))),
       f32({2}, {1, 2}));
  FAILS(Outfeed(x(b), ShapeUtil::MakeShape(F32, {3})), "outfeed_shape is");
  FAILS(Outfeed(x(b), ShapeUtil::MakeShape(S32, {2})), "outfeed_shape is");
  FAILS(OutfeedWithToken(x(b), x(b), ShapeUtil::MakeShape(F32, {2})), "must be token");
}

// Two replicas send each other x. Recv happens before Send, and both before RecvDone and SendDone.
static XlaOp Exchange(XlaBuilder *b, XlaOp x) {
  b->SetFrontendAttributes({{"_xla_send_recv_source_target_pairs", "{{0,1},{1,0}}"}});
  const XlaOp received = Recv(b, ShapeUtil::MakeShape(F32, {2}), 1);
  const XlaOp sent = Send(x, 1);
  const XlaOp data = RecvDone(received);
  SendDone(sent);
  b->ClearFrontendAttributes();
  return data;
}

ROW(Send, "Send(operand, handle)", "zh: Send", "en: Send", "tr: Gönder") {
  auto x = f32({2}, {1, 2});
  NextHostSend({f32({2}, {1, 2})});
  RUNS(AddDependency(x(b), SendToHost(x(b), CreateToken(b), ShapeUtil::MakeShape(F32, {2}),
                                      ChannelHandle(3, ChannelHandle::DEVICE_TO_HOST))),
       f32({2}, {1, 2}));
  // The other end is in another computation, which this compiler does not run: text only.
  PRINTS(Send(x(b), ChannelHandle(1)), "send-done(");
  PRINTS(AddDependency(x(b), SendWithToken(x(b), CreateToken(b), ChannelHandle(1))), "send(");
  PRINTS(AddDependency(x(b), SendWithTokens(x(b), CreateToken(b), ChannelHandle(1))), "send(");
  FAILS(SendWithToken(x(b), x(b), ChannelHandle(1)), "must be token");
}

ROW(SendDone, "Send(operand, channel_id); SendDone(context)", "tr: SendDone") {
  auto x = ranks({f32({2}, {1, 2}), f32({2}, {10, 20})});
  RUNS(Exchange(b, x(b)), ranks({f32({2}, {10, 20}), f32({2}, {1, 2})}));
  FAILS(SendDone(x(b)), "is not the context of a transfer");
  FAILS(SendDone(Recv(b, ShapeUtil::MakeShape(F32, {2}), 1)),
        "the operand must come from send, comes from recv");
}

ROW(Recv, "Recv(builder, shape, handle)", "zh: Recv", "en: Recv", "tr: Recv") {
  NextHostRecv({f32({2}, {1, 2})});
  RUNS(GetTupleElement(RecvFromHost(CreateToken(b), ShapeUtil::MakeShape(F32, {2}),
                                    ChannelHandle(3, ChannelHandle::HOST_TO_DEVICE)),
                       0),
       f32({2}, {1, 2}));
  NextHostRecv({f32({2}, {1, 2})});
  RUNS(GetTupleElement(RecvToHost(CreateToken(b), ShapeUtil::MakeShape(F32, {2}),
                                  ChannelHandle(3, ChannelHandle::HOST_TO_DEVICE)),
                       0),
       f32({2}, {1, 2}));
  PRINTS(Recv(b, ShapeUtil::MakeShape(F32, {2}), ChannelHandle(1)), "recv-done(");
  PRINTS(RecvWithTokens(CreateToken(b), ShapeUtil::MakeShape(F32, {2}), ChannelHandle(1)), "recv(");
  PRINTS(RecvWithToken(CreateToken(b), ShapeUtil::MakeShape(F32, {2}), ChannelHandle(1)), "recv(");
  FAILS(Recv(b, ShapeUtil::MakeShape(F32, {-2}), ChannelHandle(1)), "has negative size");
  auto x = f32({2}, {1, 2});
  FAILS(RecvWithToken(x(b), ShapeUtil::MakeShape(F32, {2}), ChannelHandle(1)), "must be token");
}

ROW(RecvDone, "Recv(builder, shape, channel_id); RecvDone(context)", "tr: RecvDone",
    "tr: Kanal talimatlarının planlanması") {
  auto x = ranks({f32({2}, {1, 2}), f32({2}, {10, 20})});
  RUNS(Exchange(b, x(b)), ranks({f32({2}, {10, 20}), f32({2}, {1, 2})}));
  FAILS(RecvDone(x(b)), "is not the context of a transfer");
  FAILS(RecvDone(Send(x(b), 1)), "the operand must come from recv, comes from send");
}
