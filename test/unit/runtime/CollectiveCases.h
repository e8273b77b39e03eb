//===- CollectiveCases.h - Random collectives and what they compute -------===//
//
// For tests of transports: threads (CollectiveTest.cpp) and processes
// (test/collectives/Inputs/mpi-ranks.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef TEST_UNIT_RUNTIME_COLLECTIVECASES_H
#define TEST_UNIT_RUNTIME_COLLECTIVECASES_H

#include "test/unit/runtime/FakeModule.h"
#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <thread>
#include <vector>

using Ids = std::vector<std::vector<int64_t>>;

/// r = 3 a + b: neither commutative nor associative, so that the order of members matters.
inline void threeAPlusB(const void *a, const void *b, void *r, int64_t first, int64_t last) {
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
  hlo_range_kernel *kernel = threeAPlusB;
};

inline int64_t sizeOf(const std::vector<int64_t> &dims) {
  int64_t size = 1;
  for (int64_t d : dims) {
    size *= d;
  }
  return size;
}

/// The description of an Op in the form of generated code.
struct Description {
  std::vector<int64_t> flat;
  std::vector<hlo_buffer_desc> buffers;
  hlo_range_kernel *kernels[1];
  hlo_rt_collective desc = {};

  explicit Description(const Op &op) : kernels{op.kernel} {
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
    desc.op = {sizeof desc,    1,    1, sizeof(hlo_buffer_desc), op.opcode, op.name.c_str(),
               buffers.data(), 16384};
    desc.kind = op.kind;
    desc.mode = HLO_GROUPS_OF_REPLICAS;
    desc.channel = -1;
    desc.dimension = op.dimension;
    desc.groups = flat.data();
    desc.num_groups = static_cast<uint32_t>(op.groups.size());
    desc.kernels = kernels;
  }
};

/// A collective in two parts, with all that must live until it is finished.
struct Pair {
  Op op;
  uint32_t seed = 0;
  std::vector<uint32_t> in, other;
  bool inPlace = false;
  Description description;
  std::vector<char> state;

  Pair(const Op &theOp, int ranks, size_t landing)
      : op(theOp), description(op), state(HLO_COLLECTIVE_STATE_BYTES(ranks, 1) + landing) {
    description.desc.op.scratch_bytes = state.size();
  }
  Pair(const Pair &) = delete;
  std::vector<uint32_t> &out() { return inPlace ? in : other; }
  hlo_status start(hlo_frame *frame) {
    void *buffers[] = {in.data(), out().data(), state.data()};
    return hlo_rt_collective_start(frame, &description.desc, buffers);
  }
  hlo_status done(hlo_frame *frame) {
    void *buffers[] = {in.data(), out().data(), state.data()};
    hlo_rt_op op = description.desc.op;
    op.num_operands = 2;
    op.num_results = 0;
    return hlo_rt_collective_done(frame, &op, buffers);
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

inline uint32_t valueAt(int rank, uint32_t seed, int64_t i) {
  uint64_t x = (static_cast<uint64_t>(rank) << 40) ^ (static_cast<uint64_t>(seed) << 20) ^
               static_cast<uint64_t>(i);
  x *= UINT64_C(0x9E3779B97F4A7C15);
  return static_cast<uint32_t>(x >> 29);
}

inline std::vector<int64_t> groupOf(const Op &op, int rank, int n) {
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

/// Element i of the result that `rank` must get.
inline uint32_t expectedAt(const Op &op, int rank, int n, uint32_t seed, int64_t i) {
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
  const std::vector<int64_t> &dims = op.kind == HLO_ALL_GATHER ? op.operandDims : op.resultDims;
  for (size_t d = op.dimension < 0 ? dims.size() : static_cast<size_t>(op.dimension);
       d < dims.size(); ++d) {
    inner *= dims[d];
  }
  switch (op.kind) {
  case HLO_ALL_REDUCE: return reduceAt(i);
  case HLO_REDUCE_SCATTER: return reduceAt((i / inner * size + self) * inner + i % inner);
  case HLO_ALL_GATHER: {
    int64_t outer = i / (inner * size), m = i / inner % size;
    return valueAt(member(m), seed, outer * inner + i % inner);
  }
  case HLO_ALL_TO_ALL: {
    int64_t part = inner / size, outer = i / inner, m = i % inner / part;
    return valueAt(member(m), seed, outer * inner + self * part + i % part);
  }
  default: return valueAt(member(0), seed, i);
  }
}

/// A collective of random kind, groups and sizes; the same for the same state of the generator.
inline Op randomOp(std::mt19937 &random, int n) {
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
  case 0: op.dimension = -1; break;
  case 1: op.kind = HLO_ALL_GATHER, op.opcode = "all-gather", op.resultDims = large; break;
  case 2: op.kind = HLO_REDUCE_SCATTER, op.opcode = "reduce-scatter", op.operandDims = large; break;
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

/// Runs `count` random collectives as rank `rank` of `n`, with random delays, some in place.
/// Returns a description of the first error; empty if there is none. Stops early when `stop` says
/// so.
template <typename Stop>
std::string runRandomAs(const hlo_comm *comm, int rank, int n, uint32_t count, bool sharedMemory,
                        Stop stop) {
  RankCall call(comm, sharedMemory);
  std::mt19937 random(7), delays(static_cast<uint32_t>(rank));
  for (uint32_t k = 0; k < count && !stop(); ++k) {
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
    if (status != HLO_OK) {
      return std::string(op.opcode) + " number " + std::to_string(k) + ", rank " +
             std::to_string(rank) + ": " + hlo_status_name(status) + " " + call.module.message;
    }
  }
  return "";
}

/// The same in two parts: up to five are under way at once and finish in any order. In between, the
/// rank computes, executes other collectives, and lies late. Each program is one call.
template <typename Stop>
std::string runRandomPairsAs(const hlo_comm *comm, int rank, int n, uint32_t count,
                             bool sharedMemory, Stop stop) {
  RankCall call(comm, sharedMemory);
  std::mt19937 random(11), delays(static_cast<uint32_t>(rank) + 100);
  std::vector<std::unique_ptr<Pair>> underWay;
  uint32_t begun = 0;
  auto fail = [&](const Op &op, uint32_t seed, hlo_status status) {
    std::string text = std::string(op.opcode) + " number " + std::to_string(seed) + ", rank " +
                       std::to_string(rank) + ": " + hlo_status_name(status) + " ";
    hlo_rt_end(&call.module.frame, status);
    return text + call.module.message;
  };
  auto isRight = [&](const Op &op, const std::vector<uint32_t> &out, uint32_t seed) {
    for (size_t i = 0; i < out.size(); ++i) {
      if (out[i] != expectedAt(op, rank, n, seed, static_cast<int64_t>(i))) {
        return false;
      }
    }
    return true;
  };
  if (hlo_status status = call.module.begin()) {
    return hlo_status_name(status);
  }
  while ((begun < count && !stop()) || !underWay.empty()) {
    uint32_t what = random() % 8;
    if (delays() % 16 == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(delays() % 300));
    }
    if (begun < count && (what < 4 ? underWay.size() < 5 : underWay.empty())) {
      Op op = randomOp(random, n);
      op.name = "op" + std::to_string(begun % 7); // as in a loop
      size_t landing = random() % 3 ? 200000 : random() % 3000;
      underWay.push_back(std::make_unique<Pair>(op, n, landing));
      Pair &pair = *underWay.back();
      pair.seed = begun++;
      pair.in.resize(static_cast<size_t>(sizeOf(op.operandDims)));
      pair.other.assign(static_cast<size_t>(sizeOf(op.resultDims)), 0xdddddddd);
      for (size_t i = 0; i < pair.in.size(); ++i) {
        pair.in[i] = valueAt(rank, pair.seed, static_cast<int64_t>(i));
      }
      pair.inPlace =
          op.kind == HLO_ALL_REDUCE && (pair.seed + static_cast<uint32_t>(rank)) % 3 == 0;
      if (hlo_status status = pair.start(&call.module.frame)) {
        return fail(op, pair.seed, status);
      }
    } else if (what == 7 && begun < count) { // one at once
      Op op = randomOp(random, n);
      op.name = "sync";
      uint32_t seed = begun++;
      std::vector<uint32_t> in(static_cast<size_t>(sizeOf(op.operandDims)));
      std::vector<uint32_t> out(static_cast<size_t>(sizeOf(op.resultDims)));
      for (size_t i = 0; i < in.size(); ++i) {
        in[i] = valueAt(rank, seed, static_cast<int64_t>(i));
      }
      Description description(op);
      void *buffers[] = {in.data(), out.data(), call.scratch.data()};
      hlo_status status = hlo_rt_collective_run(&call.module.frame, &description.desc, buffers);
      if (status == HLO_OK && !isRight(op, out, seed)) {
        status = HLO_UNKNOWN;
      }
      if (status) {
        return fail(op, seed, status);
      }
    } else if (!underWay.empty()) {
      size_t which = random() % underWay.size();
      std::unique_ptr<Pair> pair = std::move(underWay[which]);
      underWay.erase(underWay.begin() + static_cast<std::ptrdiff_t>(which));
      hlo_status status = pair->done(&call.module.frame);
      if (status == HLO_OK && !isRight(pair->op, pair->out(), pair->seed)) {
        status = HLO_UNKNOWN;
      }
      if (status) {
        return fail(pair->op, pair->seed, status);
      }
      // The operand is free, and later collectives must not see it change.
      std::fill(pair->in.begin(), pair->in.end(), 0xeeeeeeee);
    }
  }
  hlo_status status = hlo_rt_end(&call.module.frame, HLO_OK);
  return status ? hlo_status_name(status) : "";
}

#endif
