//===- ViewTest.cpp - Calls with buffers whose sizes are known ------------===//
//
// hlo_run_checked and hlo_prepare_checked: every reason to refuse, with its text; and they accept
// everything that M_run_buffers accepts.
//
//===----------------------------------------------------------------------===//
#include "FakeModule.h"
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace {
int runs;

hlo_status countRun(const hlo_call *, const void *const *, void *const *) {
  ++runs;
  return HLO_OK;
}

hlo_status countPrepare(const hlo_call *, const void *const *, void *, size_t) {
  ++runs;
  return HLO_OK;
}

/// FakeModule with views of its buffers; its call has an arena of its own.
struct ViewModule : FakeModule {
  hlo_view in[2] = {view(in0, 16), view(in1, 16)};
  hlo_view out[1] = {view(out0, 16)};

  ViewModule() {
    desc.run = countRun;
    runs = 0;
  }
  static hlo_view view(void *data, uint64_t bytes) {
    hlo_view v = {};
    v.struct_size = sizeof(v);
    v.data = data;
    v.bytes = bytes;
    return v;
  }
  hlo_status run() { return hlo_run_checked(&desc, &call, in, 2, out, 1); }
  void expect(hlo_status wanted, const char *text) {
    EXPECT_EQ(run(), wanted) << hlo_status_name(wanted);
    EXPECT_STREQ(message, text);
    EXPECT_EQ(runs, 0);
  }
};

TEST(View, FittingBuffersRun) {
  ViewModule m;
  EXPECT_EQ(m.run(), HLO_OK) << m.message;
  const int64_t dims[] = {4}, order[] = {0};
  for (hlo_view *v : {&m.in[0], &m.in[1], &m.out[0]}) {
    v->type = HLO_F32;
    v->dims = dims;
    v->minor_to_major = order;
    v->rank = 1;
    v->bytes = 17; // more than needed
  }
  EXPECT_EQ(m.run(), HLO_OK) << m.message;
  EXPECT_EQ(runs, 2);
}

TEST(View, ShortAndMissingBuffersAreNamed) {
  ViewModule m;
  m.in[1].bytes = 15;
  m.expect(HLO_ERR_VIEW, "fake: input 1 (rhs) needs 16 bytes, given 15");
  m.in[1].bytes = 16;
  m.out[0].bytes = 0;
  m.expect(HLO_ERR_VIEW, "fake: output 0 (sum) needs 16 bytes, given 0");
  m.out[0].data = nullptr;
  m.expect(HLO_ERR_NULL, "fake: output 0 (sum) is null, it needs 16 bytes");
  m.outputs[0].bytes = 0;
  EXPECT_EQ(m.run(), HLO_OK) << m.message;
}

TEST(View, CountsAndVersions) {
  ViewModule m;
  EXPECT_EQ(hlo_run_checked(&m.desc, &m.call, m.in, 1, m.out, 1), HLO_ERR_VIEW);
  EXPECT_STREQ(m.message, "fake: needs 2 inputs, given 1");
  EXPECT_EQ(hlo_run_checked(&m.desc, &m.call, m.in, 2, m.out, UINT32_MAX), HLO_ERR_VIEW);
  EXPECT_STREQ(m.message, "fake: needs 1 outputs, given 4294967295");
  EXPECT_EQ(hlo_run_checked(&m.desc, &m.call, nullptr, 2, m.out, 1), HLO_ERR_VIEW);
  EXPECT_STREQ(m.message, "fake: needs 2 inputs, given 0");
  m.in[0].struct_size = 8;
  m.expect(HLO_ERR_STRUCT, "fake: input 0 (lhs): its view has struct_size 8, expected 48");
  m.in[0].struct_size = sizeof(hlo_view);
  m.in[1].struct_size = sizeof(hlo_view) + 8;
  m.expect(HLO_ERR_STRUCT, "fake: input 1 (rhs): its view has struct_size 56, expected 48");
  m.in[1].struct_size = sizeof(hlo_view);
  m.call.abi = 1;
  EXPECT_EQ(m.run(), HLO_ERR_STRUCT);
  m.call.abi = HLO_ABI;
  EXPECT_EQ(hlo_run_checked(nullptr, &m.call, m.in, 2, m.out, 1), HLO_ERR_NULL);
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(hlo_run_checked(&m.desc, nullptr, m.in, 2, m.out, 1), HLO_OK);
}

TEST(View, StatedTypesShapesAndLayoutsAreCompared) {
  ViewModule m;
  const int64_t two[] = {2, 2}, five[] = {5}, negative[] = {-4}, order[] = {0}, other[] = {1};
  m.in[0].type = HLO_S32;
  m.expect(HLO_ERR_VIEW, "fake: input 0 (lhs) has elements of f32, given s32");
  m.in[0].type = HLO_F32;
  m.in[0].dims = five;
  m.in[0].rank = 1;
  m.expect(HLO_ERR_VIEW, "fake: input 0 (lhs) has the shape [4], given [5]");
  m.in[0].dims = negative;
  m.expect(HLO_ERR_VIEW, "fake: input 0 (lhs) has the shape [4], given [-4]");
  m.in[0].dims = two;
  m.in[0].rank = 2;
  m.expect(HLO_ERR_VIEW, "fake: input 0 (lhs) has the shape [4], given rank 2");
  m.in[0].rank = 0; // a scalar
  m.expect(HLO_ERR_VIEW, "fake: input 0 (lhs) has the shape [4], given rank 0");
  // With another rank the sizes, which cannot be read here, are not read.
  const auto *unmapped = reinterpret_cast<const int64_t *>(8);
  m.in[0].dims = unmapped;
  m.in[0].rank = INT32_MAX;
  m.expect(HLO_ERR_VIEW, "fake: input 0 (lhs) has the shape [4], given rank 2147483647");
  m.in[0].rank = INT32_MIN;
  m.expect(HLO_ERR_VIEW, "fake: input 0 (lhs) has the shape [4], given rank -2147483648");
  m.in[0].dims = nullptr;
  m.in[0].minor_to_major = unmapped;
  m.in[0].rank = 3;
  m.expect(HLO_ERR_VIEW, "fake: input 0 (lhs) has the shape [4], given rank 3");
  m.in[0].rank = 1;
  m.in[0].minor_to_major = other;
  m.expect(HLO_ERR_VIEW, "fake: input 0 (lhs) has the layout {0}, given {1}");
  m.in[0].minor_to_major = order;
  EXPECT_EQ(m.run(), HLO_OK) << m.message;
}

TEST(View, OverlapsAreRefused) {
  ViewModule m;
  alignas(64) char memory[512];
  m.in[0].data = m.in[1].data = memory; // inputs may
  m.out[0].data = memory + 16;
  EXPECT_EQ(m.run(), HLO_OK) << m.message;
  runs = 0;
  m.out[0].data = memory + 12;
  m.expect(HLO_ERR_OVERLAP, "fake: output 0 (sum) shares memory with input 0 (lhs)");
  m.out[0].data = memory;
  EXPECT_EQ(m.run(), HLO_ERR_OVERLAP);
  m.in[1].data = memory + 64;
  m.out[0].data = memory + 76;
  m.expect(HLO_ERR_OVERLAP, "fake: output 0 (sum) shares memory with input 1 (rhs)");
  m.out[0].data = m.arena + 240;
  m.expect(HLO_ERR_OVERLAP, "fake: output 0 (sum) shares memory with the arena");
  m.out[0].data = m.out0;
  m.in[0].data = m.arena;
  m.expect(HLO_ERR_OVERLAP, "fake: the arena shares memory with input 0 (lhs)");
  m.in[0].data = memory;
  hlo_state *state = reinterpret_cast<hlo_state *>(memory + 8);
  m.desc.state_bytes = 16;
  m.call.state = state;
  m.expect(HLO_ERR_OVERLAP, "fake: the state shares memory with input 0 (lhs)");
  m.call.state = nullptr;
  m.in[0].data = reinterpret_cast<void *>(UINTPTR_MAX - 7); // the end of the address space
  m.out[0].data = reinterpret_cast<void *>(UINTPTR_MAX - 3);
  EXPECT_EQ(m.run(), HLO_ERR_OVERLAP);
}

TEST(View, AnOutputMayBeInTheBufferOfItsInputExactly) {
  ViewModule m;
  alignas(64) char memory[64];
  m.inputs[0].alias = 0;
  m.outputs[0].alias = 0;
  m.in[0].data = m.out[0].data = memory;
  EXPECT_EQ(m.run(), HLO_OK) << m.message;
  runs = 0;
  m.out[0].data = memory + 4;
  m.expect(HLO_ERR_OVERLAP, "fake: output 0 (sum) shares memory with input 0 (lhs)");
  m.out[0].data = memory;
  m.in[1].data = memory; // the other input is overwritten as well
  m.expect(HLO_ERR_OVERLAP, "fake: output 0 (sum) shares memory with input 1 (rhs)");
}

TEST(View, InputsThatNobodyReadsAreNotLookedAt) {
  ViewModule m;
  const uint8_t use[] = {HLO_READ_BY_PREPARE | HLO_IMMUTABLE, HLO_READ_BY_RUN};
  alignas(64) char block[128];
  m.desc.input_use = use;
  m.in[0].data = nullptr;
  m.in[0].bytes = 0;
  EXPECT_EQ(m.run(), HLO_OK) << m.message;
  m.in[0].data = m.out0; // also where the output is
  EXPECT_EQ(m.run(), HLO_OK) << m.message;
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(hlo_prepare_checked(&m.desc, &m.call, m.in, 2, block, 128), HLO_FAILED_PRECONDITION);
  m.desc.prepare = countPrepare;
  m.desc.prepared_bytes = 128;
  EXPECT_EQ(hlo_prepare_checked(&m.desc, &m.call, m.in, 2, block, 128), HLO_ERR_VIEW);
  EXPECT_STREQ(m.message, "fake: input 0 (lhs) needs 16 bytes, given 0");
  m.in[0].bytes = 16;
  m.in[1].bytes = 0;
  EXPECT_EQ(hlo_prepare_checked(&m.desc, &m.call, m.in, 2, block, 128), HLO_OK) << m.message;
  EXPECT_EQ(runs, 3);
  m.in[0].data = block + 112;
  EXPECT_EQ(hlo_prepare_checked(&m.desc, &m.call, m.in, 2, block, 128), HLO_ERR_OVERLAP);
  EXPECT_STREQ(m.message, "fake: the prepared block shares memory with input 0 (lhs)");
  EXPECT_EQ(runs, 3);
}

/// Against the definition, for numbers of leaves on both sides of the stack limit; memory comes
/// from the caller's allocator and is freed.
TEST(View, OverlapsOfManyBuffers) {
  struct Heap {
    int64_t taken = 0;
    static void *take(void *user, size_t bytes, size_t) {
      static_cast<Heap *>(user)->taken += static_cast<int64_t>(bytes);
      return ::operator new(bytes);
    }
    static void give(void *user, void *memory, size_t bytes) {
      static_cast<Heap *>(user)->taken -= static_cast<int64_t>(bytes);
      ::operator delete(memory);
    }
  } heap;
  hlo_allocator alloc = {sizeof alloc, 0, &heap, Heap::take, Heap::give};
  std::mt19937 random(1);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    ViewModule m;
    uint32_t inputs = random() % 60, outputs = random() % 60;
    std::vector<hlo_buffer_desc> in(inputs, m.inputs[0]), out(outputs, m.outputs[0]);
    std::vector<hlo_view> ins, outs;
    std::vector<char> memory(1 << 20);
    auto views = [&](std::vector<hlo_buffer_desc> &leaves, std::vector<hlo_view> &list) {
      for (hlo_buffer_desc &leaf : leaves) {
        leaf.bytes = 4 * (random() % 16);
        size_t at = 64 * (random() % 16384);
        list.push_back(ViewModule::view(memory.data() + at, 64 * (1 + random() % 2)));
        leaf.bytes *= random() % 4 ? 1 : 2; // some reach to the next place
        list.back().bytes = 128;
      }
    };
    views(in, ins);
    views(out, outs);
    bool overlap = false;
    auto cross = [&](uint32_t a, const hlo_view &other, uint64_t bytes) {
      const char *x = static_cast<const char *>(outs[a].data);
      const char *y = static_cast<const char *>(other.data);
      overlap |= out[a].bytes && bytes && x < y + bytes && y < x + out[a].bytes;
    };
    for (uint32_t a = 0; a < outputs; ++a) {
      for (uint32_t b = 0; b < inputs; ++b) {
        cross(a, ins[b], in[b].bytes);
      }
      for (uint32_t b = 0; b < a; ++b) {
        cross(a, outs[b], out[b].bytes);
      }
    }
    m.desc.num_inputs = inputs;
    m.desc.num_outputs = outputs;
    m.desc.inputs = in.data();
    m.desc.outputs = out.data();
    m.call.alloc = round % 2 ? &alloc : nullptr;
    hlo_status status = hlo_run_checked(&m.desc, &m.call, ins.data(), inputs, outs.data(), outputs);
    ASSERT_EQ(status, overlap ? HLO_ERR_OVERLAP : HLO_OK) << m.message;
    ASSERT_EQ(runs, overlap ? 0 : 1);
    ASSERT_EQ(heap.taken, 0);
    refused += overlap;
  }
  EXPECT_GT(refused, 50);
  EXPECT_LT(refused, 1950);
}
} // namespace
