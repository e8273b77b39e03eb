//===- CollectiveTest.cpp - Collectives over threads ----------------------===//
//
// Drives hlo_rt_collective_run with descriptions made by hand, on ranks that are threads: random
// sequences of all collectives against their expected results, over shared memory and over messages
// alone; and every way in which one rank can fail the others.
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/CollectiveCases.h"
#include "gtest/gtest.h"
#include <atomic>
#include <functional>
#include <hlo/ranks.h>
#include <memory>

namespace {
struct DestroyRanks {
  void operator()(hlo_ranks *ranks) const { hlo_ranks_destroy(ranks); }
};
using RanksPtr = std::unique_ptr<hlo_ranks, DestroyRanks>;

void onThreads(int n, const std::function<void(int)> &body) {
  std::vector<std::thread> threads;
  for (int r = 0; r < n; ++r) {
    threads.emplace_back(body, r);
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
}

/// The same random collectives on `n` ranks that are threads.
void runRandom(int n, uint32_t count, bool sharedMemory) {
  RanksPtr ranks(hlo_ranks_create(n, 1, INT64_C(60000000000)));
  std::atomic<bool> wrong{false};
  onThreads(n, [&](int rank) {
    std::string text = runRandomAs(hlo_ranks_comm(ranks.get(), rank), rank, n, count, sharedMemory,
                                   [&] { return wrong.load(); });
    if (!text.empty() && !wrong.exchange(true)) {
      ADD_FAILURE() << text;
    }
  });
}

// Sanitizers make a round some ten times slower.
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SHARE_OF_ROUNDS 5
#endif
#endif
#ifndef SHARE_OF_ROUNDS
#define SHARE_OF_ROUNDS 1
#endif

TEST(Collective, TenThousandAtRandomOnFourRanks) {
  runRandom(4, 10000 / SHARE_OF_ROUNDS, /*sharedMemory=*/true);
}
TEST(Collective, OverMessagesAlone) {
  runRandom(4, 2000 / SHARE_OF_ROUNDS, /*sharedMemory=*/false);
}
TEST(Collective, OnOtherNumbersOfRanks) {
  for (int n : {1, 2, 3, 8}) {
    runRandom(n, 500 / SHARE_OF_ROUNDS, /*sharedMemory=*/n % 2 == 0);
  }
}

/// The same with pairs, with and without threads that help.
void runRandomPairs(int n, uint32_t count, bool sharedMemory, bool helpers) {
  RanksPtr ranks(hlo_ranks_create(n, 1, INT64_C(60000000000)));
  if (helpers) {
    ASSERT_EQ(hlo_ranks_start_helpers(ranks.get()), HLO_OK);
  }
  std::atomic<bool> wrong{false};
  onThreads(n, [&](int rank) {
    std::string text = runRandomPairsAs(hlo_ranks_comm(ranks.get(), rank), rank, n, count,
                                        sharedMemory, [&] { return wrong.load(); });
    if (!text.empty() && !wrong.exchange(true)) {
      ADD_FAILURE() << text;
    }
  });
}

TEST(Collective, TenThousandInTwoParts) {
  runRandomPairs(4, 10000 / SHARE_OF_ROUNDS, /*sharedMemory=*/true, /*helpers=*/false);
}
TEST(Collective, TenThousandInTwoPartsWithHelpers) {
  runRandomPairs(4, 10000 / SHARE_OF_ROUNDS, /*sharedMemory=*/true, /*helpers=*/true);
}
TEST(Collective, InTwoPartsOverMessagesAlone) {
  runRandomPairs(4, 2000 / SHARE_OF_ROUNDS, /*sharedMemory=*/false, /*helpers=*/false);
  runRandomPairs(4, 2000 / SHARE_OF_ROUNDS, /*sharedMemory=*/false, /*helpers=*/true);
}
TEST(Collective, InTwoPartsOnOtherNumbersOfRanks) {
  for (int n : {1, 2, 3, 8}) {
    runRandomPairs(n, 500 / SHARE_OF_ROUNDS, /*sharedMemory=*/true, /*helpers=*/n % 2 == 0);
  }
}

TEST(Collective, ResultsThatDoNotFitIntoTheCache) {
  RanksPtr ranks(hlo_ranks_create(3, 1, INT64_C(60000000000)));
  onThreads(3, [&](int rank) {
    RankCall call(hlo_ranks_comm(ranks.get(), rank), /*sharedMemory=*/true);
    Op op;
    op.operandDims = op.resultDims = {1200003};
    std::vector<uint32_t> in(1200003), out(1200003);
    for (size_t i = 0; i < in.size(); ++i) {
      in[i] = valueAt(rank, 5, static_cast<int64_t>(i));
    }
    // One result is in the operand's buffer.
    EXPECT_EQ(call.run(op, in, rank == 1 ? in : out), HLO_OK) << call.module.message;
    const std::vector<uint32_t> &result = rank == 1 ? in : out;
    size_t wrong = 0;
    for (size_t i = 0; i < result.size(); ++i) {
      wrong += result[i] != expectedAt(op, rank, 3, 5, static_cast<int64_t>(i));
    }
    EXPECT_EQ(wrong, 0u);
  });
}

/// All ranks run one all-reduce, each configured separately; the outcome of each.
struct Outcome {
  hlo_status status = HLO_OK;
  std::string message;
};

std::vector<Outcome> reduceOn(hlo_ranks *ranks, int n,
                              const std::function<void(int, RankCall &, Op &)> &prepare,
                              int absent = -1) {
  std::vector<Outcome> outcomes(static_cast<size_t>(n));
  onThreads(n, [&](int rank) {
    if (rank == absent) {
      return;
    }
    RankCall call(hlo_ranks_comm(ranks, rank), /*sharedMemory=*/true);
    Op op;
    op.name = "sum";
    op.operandDims = op.resultDims = {100};
    prepare(rank, call, op);
    std::vector<uint32_t> in(100, 1), out(100);
    outcomes[static_cast<size_t>(rank)] = {call.run(op, in, out), call.module.message};
  });
  return outcomes;
}

void doNothing(int, RankCall &, Op &) {}

TEST(Collective, AnAbsentRankIsNamedOnAllOthers) {
  RanksPtr ranks(hlo_ranks_create(4, 1, 50000000));
  std::vector<Outcome> got = reduceOn(ranks.get(), 4, doNothing, /*absent=*/2);
  for (int rank : {0, 1, 3}) {
    const Outcome &one = got[static_cast<size_t>(rank)];
    EXPECT_EQ(one.status, HLO_DEADLINE);
    EXPECT_NE(one.message.find("fake: all-reduce %sum: waited 5"), std::string::npos)
        << one.message;
    EXPECT_NE(one.message.find(" ms for rank 2, which is absent"), std::string::npos)
        << one.message;
  }
  // A rank that comes later gets the error too; afterwards all of them can start again.
  got = reduceOn(ranks.get(), 4, doNothing, /*absent=*/0);
  EXPECT_EQ(got[2].status, HLO_DEADLINE);
  EXPECT_NE(got[2].message.find("rank 2, which is absent"), std::string::npos);
  hlo_ranks_reset(ranks.get());
  for (const Outcome &one : reduceOn(ranks.get(), 4, doNothing)) {
    EXPECT_EQ(one.status, HLO_OK) << one.message;
  }
  // A second error is noticed as the first one was.
  got = reduceOn(ranks.get(), 4, doNothing, /*absent=*/3);
  EXPECT_EQ(got[1].status, HLO_DEADLINE);
  EXPECT_NE(got[1].message.find("rank 3, which is absent"), std::string::npos) << got[1].message;
}

TEST(Collective, ALateRankIsWaitedFor) {
  RanksPtr ranks(hlo_ranks_create(2, 2, INT64_C(10000000000)));
  auto late = [](int rank, RankCall &call, Op &) {
    call.comm.replica = rank; // as four replicas
    call.comm.partition = 0;
    call.comm.num_replicas = 4;
    call.comm.num_partitions = 1;
    if (rank == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
  };
  for (const Outcome &one : reduceOn(ranks.get(), 4, late)) {
    EXPECT_EQ(one.status, HLO_OK) << one.message;
  }
}

TEST(Collective, NoTimeoutIsTooLong) {
  for (int64_t timeout : {INT64_MAX, INT64_MAX - 1, INT64_MAX / 2}) {
    RanksPtr ranks(hlo_ranks_create(2, 1, timeout));
    int64_t busy = 0;
    auto late = [&](int rank, RankCall &call, Op &) {
      call.module.call.deadline_ns = timeout;
      if (rank == 1) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
    };
    timespec before, after;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    for (const Outcome &one : reduceOn(ranks.get(), 2, late)) {
      EXPECT_EQ(one.status, HLO_OK) << one.message;
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    busy = (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000;
    EXPECT_LT(busy, 50) << "a rank that waits sleeps";
  }
}

TEST(Collective, ACommWithoutRanksIsAnError) {
  RanksPtr ranks(hlo_ranks_create(1, 1, 0));
  for (int32_t wrong : {0, -1, INT32_MIN}) {
    for (bool partitions : {false, true}) {
      RankCall call(hlo_ranks_comm(ranks.get(), 0), /*sharedMemory=*/true);
      (partitions ? call.comm.num_partitions : call.comm.num_replicas) = wrong;
      Op op;
      op.operandDims = op.resultDims = {4};
      std::vector<uint32_t> in(4, 1), out(4);
      EXPECT_NE(call.run(op, in, out), HLO_OK);
    }
  }
}

TEST(Collective, ACallThatFailsEndsThoseOfItsPeers) {
  RanksPtr ranks(hlo_ranks_create(3, 1, INT64_C(10000000000)));
  auto prepare = [](int rank, RankCall &call, Op &op) {
    if (rank == 1) {
      op.groups = {{0, 2}}; // it is in no group: an error of its own
    }
    (void)call;
  };
  std::vector<Outcome> got = reduceOn(ranks.get(), 3, prepare);
  EXPECT_EQ(got[1].status, HLO_INVALID_ARGUMENT);
  EXPECT_EQ(got[1].message, "fake: all-reduce %sum: no group has this rank");
  for (int rank : {0, 2}) {
    EXPECT_EQ(got[static_cast<size_t>(rank)].status, HLO_ABORTED);
    EXPECT_EQ(got[static_cast<size_t>(rank)].message,
              "fake: rank 1 failed with HLO_INVALID_ARGUMENT: fake: all-reduce %sum: no group has "
              "this rank");
  }
}

TEST(Collective, ACallThatCannotBeginEndsThoseOfItsPeers) {
  RanksPtr ranks(hlo_ranks_create(2, 1, INT64_C(10000000000)));
  auto prepare = [](int rank, RankCall &call, Op &) {
    call.module.call.arena_bytes = rank == 1 ? 255 : 256;
  };
  std::vector<Outcome> got = reduceOn(ranks.get(), 2, prepare);
  EXPECT_EQ(got[1].status, HLO_ERR_ARENA);
  EXPECT_EQ(got[0].status, HLO_ABORTED);
  EXPECT_EQ(got[0].message, "fake: rank 1 failed with HLO_ERR_ARENA: fake: arena: needs 256 bytes "
                            "(align 64), given 255");
}

TEST(Collective, TheRanksAreThoseThatTheModuleIsFor) {
  RanksPtr ranks(hlo_ranks_create(3, 1, 0));
  FakeModule module;
  module.desc.needs = HLO_NEEDS_COMM;
  module.desc.num_replicas = 4;
  EXPECT_EQ(module.begin(), HLO_ERR_MISSING);
  EXPECT_STREQ(module.message, "fake: hlo_call has no comm");
  hlo_comm comm = *hlo_ranks_comm(ranks.get(), 0);
  comm.leave = nullptr;
  module.call.comm = &comm;
  EXPECT_EQ(module.begin(), HLO_ERR_MISSING);
  EXPECT_STREQ(module.message,
               "fake: compiled for 4 replicas and 1 partitions, hlo_comm has 3 and 1");
  comm.num_replicas = 4;
  EXPECT_EQ(module.beginAndEnd(), HLO_OK);
  comm.exchange = nullptr;
  EXPECT_EQ(module.begin(), HLO_ERR_MISSING);
  EXPECT_STREQ(module.message, "fake: hlo_call has no comm with exchange");
}

TEST(Collective, ACancelledRankEndsItsPeers) {
  RanksPtr ranks(hlo_ranks_create(3, 1, INT64_C(10000000000)));
  static const int32_t cancelled = 1;
  auto prepare = [](int rank, RankCall &call, Op &) {
    call.module.call.cancel = rank == 2 ? &cancelled : nullptr;
  };
  // Rank 0 never comes, so that rank 2 has to wait.
  std::vector<Outcome> got = reduceOn(ranks.get(), 3, prepare, /*absent=*/0);
  EXPECT_EQ(got[2].status, HLO_CANCELLED);
  EXPECT_EQ(got[1].status, HLO_ABORTED);
  EXPECT_EQ(got[1].message, "fake: all-reduce %sum: the call of rank 2 was cancelled");
}

TEST(Collective, RanksAtDifferentInstructionsAreToldSo) {
  RanksPtr ranks(hlo_ranks_create(2, 1, INT64_C(10000000000)));
  auto prepare = [](int rank, RankCall &, Op &op) {
    if (rank == 1) {
      op.name = "other";
    }
  };
  for (const Outcome &one : reduceOn(ranks.get(), 2, prepare)) {
    EXPECT_EQ(one.status, HLO_ABORTED);
    EXPECT_NE(one.message.find("ranks disagree: rank"), std::string::npos) << one.message;
    EXPECT_NE(one.message.find("all-reduce %other"), std::string::npos) << one.message;
  }
}

TEST(Collective, GroupsOfDifferentSizes) {
  constexpr int n = 6;
  RanksPtr ranks(hlo_ranks_create(n, 1, INT64_C(10000000000)));
  onThreads(n, [&](int rank) {
    RankCall call(hlo_ranks_comm(ranks.get(), rank), /*sharedMemory=*/true);
    Op op;
    op.groups = {{4, 1}, {0}, {2, 5, 3}};
    op.operandDims = op.resultDims = {100};
    std::vector<uint32_t> in(100), out(100);
    for (size_t i = 0; i < in.size(); ++i) {
      in[i] = valueAt(rank, 9, static_cast<int64_t>(i));
    }
    EXPECT_EQ(call.run(op, in, out), HLO_OK) << call.module.message;
    for (size_t i = 0; i < out.size(); ++i) {
      ASSERT_EQ(out[i], expectedAt(op, rank, n, 9, static_cast<int64_t>(i))) << rank;
    }
  });
}

TEST(Collective, RanksWithDifferentSizesAreToldSo) {
  RanksPtr ranks(hlo_ranks_create(2, 1, INT64_C(10000000000)));
  onThreads(2, [&](int rank) {
    RankCall call(hlo_ranks_comm(ranks.get(), rank), /*sharedMemory=*/false);
    Op op;
    op.operandDims = op.resultDims = {rank == 0 ? 100 : 120};
    std::vector<uint32_t> in(120, 1), out(120);
    EXPECT_EQ(call.run(op, in, out), HLO_ABORTED);
    EXPECT_NE(std::string(call.module.message).find("ranks disagree: rank"), std::string::npos)
        << call.module.message;
  });
}

/// Of rank 1: that its kernel reads, and the flag by which it cancels the other rank's call.
std::atomic<bool> isReading{false};
int32_t givenUp = 0;
thread_local bool isSlow = false;

void slowSum(const void *a, const void *b, void *r, int64_t first, int64_t last) {
  if (isSlow) {
    isReading = true;
    __atomic_store_n(&givenUp, 1, __ATOMIC_RELAXED);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    isReading = false;
  }
  threeAPlusB(a, b, r, first, last);
}

TEST(Collective, ARankThatGivesUpWaitsForTheReadersOfItsMemory) {
  RanksPtr ranks(hlo_ranks_create(2, 1, INT64_C(10000000000)));
  onThreads(2, [&](int rank) {
    RankCall call(hlo_ranks_comm(ranks.get(), rank), /*sharedMemory=*/true);
    call.module.call.cancel = rank == 0 ? &givenUp : nullptr;
    isSlow = rank == 1;
    Op op;
    op.operandDims = op.resultDims = {100};
    op.kernel = slowSum;
    std::vector<uint32_t> in(100, 1), out(100);
    EXPECT_EQ(call.run(op, in, out), rank == 0 ? HLO_CANCELLED : HLO_ABORTED)
        << call.module.message;
    EXPECT_FALSE(isReading);
  });
}

TEST(Collective, IdsAndBadSizes) {
  RanksPtr ranks(hlo_ranks_create(2, 3, 0));
  EXPECT_EQ(hlo_ranks_comm(ranks.get(), 6), nullptr);
  EXPECT_EQ(hlo_ranks_create(0, 1, 0), nullptr);
  EXPECT_EQ(hlo_ranks_create(33, 32, 0), nullptr);
  const hlo_comm *comm = hlo_ranks_comm(ranks.get(), 5);
  EXPECT_EQ(comm->replica, 1);
  EXPECT_EQ(comm->partition, 2);
}

/// A transport that has no two parts executes them at the start.
TEST(Collective, InTwoPartsOverATransportWithout) {
  RanksPtr ranks(hlo_ranks_create(2, 1, INT64_C(10000000000)));
  onThreads(2, [&](int rank) {
    RankCall call(hlo_ranks_comm(ranks.get(), rank), /*sharedMemory=*/true);
    call.comm.struct_size = offsetof(hlo_comm, begin);
    Op op;
    op.operandDims = op.resultDims = {100};
    Pair pair(op, 2, 4096);
    pair.in.assign(100, 1);
    pair.other.assign(100, 0);
    ASSERT_EQ(call.module.begin(), HLO_OK);
    EXPECT_EQ(pair.start(&call.module.frame), HLO_OK) << call.module.message;
    EXPECT_EQ(pair.other[99], 4u);
    EXPECT_EQ(pair.done(&call.module.frame), HLO_OK);
    EXPECT_EQ(hlo_rt_end(&call.module.frame, HLO_OK), HLO_OK);
  });
}

/// What becomes of pairs that are under way when a call ends with an error: each rank begins
/// `count` of them, then `body` says with what status it goes on to their ends, or ends the call at
/// once.
std::vector<Outcome> abandon(hlo_ranks *ranks, int n, int count, bool sharedMemory,
                             const std::function<hlo_status(int, RankCall &)> &body) {
  std::vector<Outcome> outcomes(static_cast<size_t>(n));
  onThreads(n, [&](int rank) {
    RankCall call(hlo_ranks_comm(ranks, rank), sharedMemory);
    hlo_status status = call.module.begin();
    std::vector<std::unique_ptr<Pair>> pairs;
    for (int k = 0; k < count && !status; ++k) {
      Op op;
      if (k % 2) {
        op.kind = HLO_ALL_GATHER;
        op.opcode = "all-gather";
        op.dimension = 0;
      }
      op.name = "p" + std::to_string(k);
      op.operandDims = {1000};
      op.resultDims = {k % 2 ? 1000 * n : 1000};
      pairs.push_back(std::make_unique<Pair>(op, n, 8192));
      pairs.back()->in.assign(1000, 1);
      pairs.back()->other.assign(k % 2 ? static_cast<size_t>(1000 * n) : 1000u, 0);
      status = pairs.back()->start(&call.module.frame);
    }
    status = status ? status : body(rank, call);
    for (auto &pair : pairs) {
      status = status ? status : pair->done(&call.module.frame);
    }
    outcomes[static_cast<size_t>(rank)] = {hlo_rt_end(&call.module.frame, status),
                                           call.module.message};
    // The memory is gone now; sanitizers see who reads it.
    pairs.clear();
  });
  return outcomes;
}

TEST(Collective, ACallThatFailsGivesUpWhatIsUnderWay) {
  for (bool helpers : {false, true}) {
    for (bool sharedMemory : {false, true}) {
      RanksPtr ranks(hlo_ranks_create(3, 1, INT64_C(10000000000)));
      if (helpers) {
        ASSERT_EQ(hlo_ranks_start_helpers(ranks.get()), HLO_OK);
      }
      for (int round = 0; round < 30; ++round) {
        auto body = [&](int rank, RankCall &call) {
          std::this_thread::sleep_for(std::chrono::microseconds((round * 7 + rank * 13) % 50));
          return rank == 1 ? hlo_rt_fail(&call.module.frame, HLO_OUT_OF_RANGE, "no") : HLO_OK;
        };
        std::vector<Outcome> got = abandon(ranks.get(), 3, 4, sharedMemory, body);
        EXPECT_EQ(got[1].status, HLO_OUT_OF_RANGE);
        for (int rank : {0, 2}) {
          const Outcome &one = got[static_cast<size_t>(rank)];
          // All of a rank's collectives may have ended before the error.
          EXPECT_TRUE(one.status == HLO_OK || one.status == HLO_ABORTED) << one.message;
        }
        hlo_ranks_reset(ranks.get());
      }
      for (const Outcome &one :
           abandon(ranks.get(), 3, 4, sharedMemory, [](int, RankCall &) { return HLO_OK; })) {
        EXPECT_EQ(one.status, HLO_OK) << one.message;
      }
    }
  }
}

TEST(Collective, AnAbsentRankIsNamedByTheEndOfAPair) {
  for (bool gathers : {false, true}) {
    RanksPtr ranks(hlo_ranks_create(3, 1, 500000000));
    std::vector<Outcome> got(3);
    onThreads(3, [&](int rank) {
      if (rank == 1) {
        return;
      }
      RankCall call(hlo_ranks_comm(ranks.get(), rank), /*sharedMemory=*/true);
      Op op;
      op.name = "sum";
      op.operandDims = op.resultDims = {100};
      if (gathers) {
        op.kind = HLO_ALL_GATHER;
        op.opcode = "all-gather";
        op.dimension = 0;
        op.resultDims = {300};
      }
      Pair pair(op, 3, 4096);
      pair.in.assign(100, 1);
      pair.other.assign(300, 0);
      hlo_status status = call.module.begin();
      status = status ? status : pair.start(&call.module.frame);
      status = status ? status : pair.done(&call.module.frame);
      got[static_cast<size_t>(rank)] = {hlo_rt_end(&call.module.frame, status),
                                        call.module.message};
    });
    for (int rank : {0, 2}) {
      const Outcome &one = got[static_cast<size_t>(rank)];
      EXPECT_EQ(one.status, HLO_DEADLINE);
      EXPECT_NE(one.message.find("ms for rank 1, which is absent"), std::string::npos)
          << one.message;
    }
  }
}

TEST(Collective, ACancelledRankEndsThePairsOfItsPeers) {
  for (bool helpers : {false, true}) {
    RanksPtr ranks(hlo_ranks_create(2, 1, INT64_C(10000000000)));
    if (helpers) {
      ASSERT_EQ(hlo_ranks_start_helpers(ranks.get()), HLO_OK);
    }
    static const int32_t cancelled = 1;
    std::vector<Outcome> got(2);
    std::atomic<bool> ended{false};
    onThreads(2, [&](int rank) {
      RankCall call(hlo_ranks_comm(ranks.get(), rank), /*sharedMemory=*/true);
      call.module.call.cancel = rank == 0 ? &cancelled : nullptr;
      Op first, second;
      first.name = "first";
      second.name = "second";
      first.operandDims = first.resultDims = second.operandDims = second.resultDims = {100};
      Pair a(first, 2, 4096), b(second, 2, 4096);
      for (Pair *pair : {&a, &b}) {
        pair->in.assign(100, 1);
        pair->other.assign(100, 0);
      }
      hlo_status status = call.module.begin();
      status = status ? status : a.start(&call.module.frame);
      if (rank == 0) {
        // Rank 1 never begins the second one.
        status = status ? status : b.start(&call.module.frame);
        status = status ? status : b.done(&call.module.frame);
      } else {
        while (!ended) {
          std::this_thread::yield();
        }
      }
      status = status ? status : a.done(&call.module.frame);
      got[static_cast<size_t>(rank)] = {hlo_rt_end(&call.module.frame, status),
                                        call.module.message};
      ended = true;
    });
    EXPECT_EQ(got[0].status, HLO_CANCELLED);
    // With helpers the first pair has ended before.
    EXPECT_TRUE(got[1].status == HLO_ABORTED || (helpers && got[1].status == HLO_OK))
        << got[1].message;
  }
}

TEST(Collective, AMessageOfAnotherSizeEndsAPair) {
  RanksPtr ranks(hlo_ranks_create(2, 1, INT64_C(10000000000)));
  onThreads(2, [&](int rank) {
    RankCall call(hlo_ranks_comm(ranks.get(), rank), /*sharedMemory=*/true);
    Op op;
    op.kind = HLO_COLLECTIVE_PERMUTE;
    op.opcode = "collective-permute";
    op.groups = {{0, 1}, {1, 0}};
    op.operandDims = op.resultDims = {rank == 0 ? 100 : 120};
    Pair pair(op, 2, 0);
    pair.in.assign(120, 1);
    pair.other.assign(120, 0);
    hlo_status status = call.module.begin();
    status = status ? status : pair.start(&call.module.frame);
    status = status ? status : pair.done(&call.module.frame);
    EXPECT_EQ(hlo_rt_end(&call.module.frame, status), HLO_ABORTED) << call.module.message;
    EXPECT_NE(std::string(call.module.message).find("ranks disagree: rank"), std::string::npos)
        << call.module.message;
  });
}

TEST(Collective, ARankThatSkipsAPairIsFoundInItsNextExchange) {
  RanksPtr ranks(hlo_ranks_create(2, 1, 0));
  std::vector<Outcome> got(2);
  onThreads(2, [&](int rank) {
    RankCall call(hlo_ranks_comm(ranks.get(), rank), /*sharedMemory=*/true);
    Op op;
    op.name = rank == 0 ? "pair" : "later";
    op.operandDims = op.resultDims = {100};
    Pair pair(op, 2, 4096);
    pair.in.assign(100, 1);
    pair.other.assign(100, 0);
    if (rank == 1) {
      got[1] = {call.run(op, pair.in, pair.other), call.module.message};
      return;
    }
    hlo_status status = call.module.begin();
    status = status ? status : pair.start(&call.module.frame);
    status = status ? status : pair.done(&call.module.frame);
    got[0] = {hlo_rt_end(&call.module.frame, status), call.module.message};
  });
  for (const Outcome &one : got) {
    EXPECT_EQ(one.status, HLO_ABORTED);
    EXPECT_NE(one.message.find("rank 1 at all-reduce %later"), std::string::npos) << one.message;
  }
}
} // namespace
