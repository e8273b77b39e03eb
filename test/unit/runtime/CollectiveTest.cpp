//===- CollectiveTest.cpp - Collectives over threads ----------------------===//
//
// Drives hlo_rt_collective_run with descriptions made by hand, on ranks that are threads:
// random sequences of all collectives against what they compute, over memory that ranks
// share and over messages alone; and every way in which a rank can fail the others.
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/FakeModule.h"
#include "gtest/gtest.h"
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <hlo/ranks.h>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace {
using Ids = std::vector<std::vector<int64_t>>;

/// r = 3 a + b: neither commutative nor associative, so that the order of members shows.
void threeAPlusB(const void *a, const void *b, void *r, int64_t first, int64_t last) {
  const auto *x = static_cast<const uint32_t *>(a), *y = static_cast<const uint32_t *>(b);
  auto *z = static_cast<uint32_t *>(r);
  for (int64_t i = first; i < last; ++i) {
    z[i] = 3 * x[i] + y[i];
  }
}

/// One collective on arrays of u32.
struct Op {
  int32_t kind = HLO_ALL_REDUCE;
  const char *opcode = "all-reduce";
  Ids groups;
  int64_t dimension = -1;
  std::vector<int64_t> operandDims, resultDims;
  std::string name = "op";
};

int64_t sizeOf(const std::vector<int64_t> &dims) {
  int64_t size = 1;
  for (int64_t d : dims) {
    size *= d;
  }
  return size;
}

/// The description of an Op, as generated code has it.
struct Description {
  std::vector<int64_t> flat;
  std::vector<hlo_buffer_desc> buffers;
  hlo_range_kernel *kernels[1] = {threeAPlusB};
  hlo_rt_collective desc = {};

  explicit Description(const Op &op) {
    for (const auto &group : op.groups) {
      flat.push_back(static_cast<int64_t>(group.size()));
      flat.insert(flat.end(), group.begin(), group.end());
    }
    for (const std::vector<int64_t> *dims : {&op.operandDims, &op.resultDims}) {
      hlo_buffer_desc buffer = {};
      buffer.name = "";
      buffer.dims = dims->data();
      buffer.bytes = 4 * static_cast<uint64_t>(sizeOf(*dims));
      buffer.type = HLO_U32;
      buffer.rank = static_cast<int32_t>(dims->size());
      buffers.push_back(buffer);
    }
    desc.op = {sizeof desc, 1, 1, 0, op.opcode, op.name.c_str(), buffers.data(), 16384};
    desc.kind = op.kind;
    desc.mode = HLO_GROUPS_OF_REPLICAS;
    desc.channel = -1;
    desc.dimension = op.dimension;
    desc.groups = flat.data();
    desc.num_groups = static_cast<uint32_t>(op.groups.size());
    desc.kernels = kernels;
  }
};

/// A call of one rank, with everything that a frame needs.
struct RankCall {
  FakeModule module;
  std::vector<char> scratch = std::vector<char>(16384);
  hlo_comm comm;

  RankCall(const hlo_comm *place, bool sharedMemory) : comm(*place) {
    comm.shared_memory = sharedMemory;
    module.call.comm = &comm;
  }
  hlo_status run(const Op &op, std::vector<uint32_t> &in, std::vector<uint32_t> &out) {
    Description description(op);
    hlo_status status = module.begin();
    if (status) {
      return status;
    }
    void *buffers[] = {in.data(), out.data(), scratch.data()};
    status = hlo_rt_collective_run(&module.frame, &description.desc, buffers);
    return hlo_rt_end(&module.frame, status);
  }
};

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

uint32_t valueAt(int rank, uint32_t seed, int64_t i) {
  uint64_t x = (static_cast<uint64_t>(rank) << 40) ^ (static_cast<uint64_t>(seed) << 20) ^
               static_cast<uint64_t>(i);
  x *= UINT64_C(0x9E3779B97F4A7C15);
  return static_cast<uint32_t>(x >> 29);
}

std::vector<int64_t> groupOf(const Op &op, int rank, int n) {
  for (const auto &group : op.groups) {
    if (std::find(group.begin(), group.end(), rank) != group.end()) {
      return group;
    }
  }
  std::vector<int64_t> all;
  for (int r = 0; r < n && op.groups.empty(); ++r) {
    all.push_back(r);
  }
  return all;
}

/// Element i of what `rank` must get.
uint32_t expectedAt(const Op &op, int rank, int n, uint32_t seed, int64_t i) {
  if (op.kind == HLO_COLLECTIVE_PERMUTE) {
    for (const auto &pair : op.groups) {
      if (pair[1] == rank) {
        return valueAt(static_cast<int>(pair[0]), seed, i);
      }
    }
    return 0;
  }
  std::vector<int64_t> group = groupOf(op, rank, n);
  auto member = [&](int64_t m) { return static_cast<int>(group[static_cast<size_t>(m)]); };
  int64_t size = static_cast<int64_t>(group.size());
  if (size == 0) {
    return 0;
  }
  int64_t self = std::find(group.begin(), group.end(), rank) - group.begin();
  auto reduceAt = [&](int64_t at) {
    uint32_t sum = valueAt(member(0), seed, at);
    for (int64_t m = 1; m < size; ++m) {
      sum = 3 * sum + valueAt(member(m), seed, at);
    }
    return sum;
  };
  int64_t inner = 1;
  const std::vector<int64_t> &dims =
      op.kind == HLO_ALL_GATHER ? op.operandDims : op.resultDims;
  for (size_t d = op.dimension < 0 ? dims.size() : static_cast<size_t>(op.dimension);
       d < dims.size(); ++d) {
    inner *= dims[d];
  }
  switch (op.kind) {
  case HLO_ALL_REDUCE:
    return reduceAt(i);
  case HLO_REDUCE_SCATTER:
    return reduceAt((i / inner * size + self) * inner + i % inner);
  case HLO_ALL_GATHER: {
    int64_t outer = i / (inner * size), m = i / inner % size;
    return valueAt(member(m), seed, outer * inner + i % inner);
  }
  case HLO_ALL_TO_ALL: {
    int64_t part = inner / size, outer = i / inner, m = i % inner / part;
    return valueAt(member(m), seed, outer * inner + self * part + i % part);
  }
  default:
    return valueAt(member(0), seed, i);
  }
}

/// A collective of random kind, groups and sizes; the same for the same state of the generator.
Op randomOp(std::mt19937 &random, int n) {
  auto pick = [&](int64_t below) { return static_cast<int64_t>(random() % uint64_t(below)); };
  Op op;
  const Ids someGroups[] = {{}, {{0, 1}, {2, 3}}, {{0, 2}, {3, 1}}, {{3, 1, 2, 0}}};
  op.groups = n == 4 ? someGroups[pick(4)] : Ids();
  int64_t size = op.groups.empty() ? n : static_cast<int64_t>(op.groups[0].size());
  std::vector<int64_t> dims = {1 + pick(3), 1 + pick(5), 1 + pick(pick(8) ? 40 : 4000)};
  op.dimension = pick(3);
  std::vector<int64_t> large = dims;
  large[static_cast<size_t>(op.dimension)] *= size;
  op.operandDims = op.resultDims = dims;
  switch (pick(6)) {
  case 0:
    op.dimension = -1;
    break;
  case 1:
    op.kind = HLO_ALL_GATHER, op.opcode = "all-gather", op.resultDims = large;
    break;
  case 2:
    op.kind = HLO_REDUCE_SCATTER, op.opcode = "reduce-scatter", op.operandDims = large;
    break;
  case 3:
    op.kind = HLO_ALL_TO_ALL, op.opcode = "all-to-all", op.operandDims = op.resultDims = large;
    break;
  case 4:
    op.kind = HLO_COLLECTIVE_BROADCAST, op.opcode = "collective-broadcast", op.dimension = -1;
    if (n > 2 && pick(2)) {
      op.groups = {{2, 0}};
    }
    break;
  default: {
    op.kind = HLO_COLLECTIVE_PERMUTE, op.opcode = "collective-permute", op.dimension = -1;
    op.groups.clear();
    int64_t shift = pick(n);
    for (int64_t r = 0; r < n; ++r) {
      if (pick(4)) {
        op.groups.push_back({r, (r + shift) % n});
      }
    }
    if (op.groups.empty()) {
      op.groups = {{0, n - 1}};
    }
  }
  }
  return op;
}

/// `count` random collectives on `n` ranks, with random delays; whether in place now and then.
void runRandom(int n, uint32_t count, bool sharedMemory) {
  RanksPtr ranks(hlo_ranks_create(n, 1, INT64_C(60000000000)));
  std::atomic<int> wrong{0};
  onThreads(n, [&](int rank) {
    RankCall call(hlo_ranks_comm(ranks.get(), rank), sharedMemory);
    std::mt19937 random(7), delays(static_cast<uint32_t>(rank));
    for (uint32_t k = 0; k < count && !wrong; ++k) {
      Op op = randomOp(random, n);
      op.name = "op" + std::to_string(k);
      std::vector<uint32_t> in(static_cast<size_t>(sizeOf(op.operandDims)));
      std::vector<uint32_t> other(static_cast<size_t>(sizeOf(op.resultDims)), 0xdddddddd);
      for (size_t i = 0; i < in.size(); ++i) {
        in[i] = valueAt(rank, k, static_cast<int64_t>(i));
      }
      bool inPlace = (op.kind == HLO_ALL_REDUCE || op.kind == HLO_COLLECTIVE_BROADCAST) &&
                     (k + static_cast<uint32_t>(rank)) % 3 == 0;
      std::vector<uint32_t> &out = inPlace ? in : other;
      if (delays() % 32 == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(delays() % 200));
      }
      hlo_status status = call.run(op, in, out);
      for (size_t i = 0; i < out.size() && status == HLO_OK; ++i) {
        if (out[i] != expectedAt(op, rank, n, k, static_cast<int64_t>(i))) {
          status = HLO_UNKNOWN;
        }
      }
      if (status != HLO_OK && wrong++ == 0) {
        ADD_FAILURE() << op.opcode << " number " << k << ", rank " << rank << ": "
                      << hlo_status_name(status) << " " << call.module.message;
      }
    }
  });
}

TEST(Collective, TenThousandAtRandomOnFourRanks) { runRandom(4, 10000, /*sharedMemory=*/true); }
TEST(Collective, OverMessagesAlone) { runRandom(4, 2000, /*sharedMemory=*/false); }
TEST(Collective, OnOtherNumbersOfRanks) {
  for (int n : {1, 2, 3, 8}) {
    runRandom(n, 500, /*sharedMemory=*/n % 2 == 0);
  }
}

/// All ranks at one all-reduce, each in its own way; what each got.
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
  // It is told so, too, when it comes after all; and then all of them can start anew.
  got = reduceOn(ranks.get(), 4, doNothing, /*absent=*/0);
  EXPECT_EQ(got[2].status, HLO_DEADLINE);
  EXPECT_NE(got[2].message.find("rank 2, which is absent"), std::string::npos);
  hlo_ranks_reset(ranks.get());
  for (const Outcome &one : reduceOn(ranks.get(), 4, doNothing)) {
    EXPECT_EQ(one.status, HLO_OK) << one.message;
  }
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

TEST(Collective, IdsAndBadSizes) {
  RanksPtr ranks(hlo_ranks_create(2, 3, 0));
  EXPECT_EQ(hlo_ranks_comm(ranks.get(), 6), nullptr);
  EXPECT_EQ(hlo_ranks_create(0, 1, 0), nullptr);
  EXPECT_EQ(hlo_ranks_create(33, 32, 0), nullptr);
  const hlo_comm *comm = hlo_ranks_comm(ranks.get(), 5);
  EXPECT_EQ(comm->replica, 1);
  EXPECT_EQ(comm->partition, 2);
}
} // namespace
