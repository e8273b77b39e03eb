//===- FrameTest.cpp - Calls: checks, arena, floating-point mode, stopping ===//
//
// Drives the functions that generated code calls, with a description made by hand. Every
// error is compared with its whole text.
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/FakeModule.h"
#include "gtest/gtest.h"
#include <atomic>
#include <cstring>
#include <ctime>
#include <hlo/cpu.h>
#include <hlo/pool.h>
#include <vector>
#include <xmmintrin.h>

namespace {
int64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

TEST(Frame, BeginGivesTheArenaAndEndReturnsTheStatus) {
  FakeModule m;
  ASSERT_EQ(m.begin(), HLO_OK);
  EXPECT_EQ(m.frame.arena, m.arena);
  EXPECT_EQ(m.frame.threads, 1u);
  EXPECT_EQ(m.frame.watch, 0u);
  EXPECT_EQ(hlo_rt_end(&m.frame, HLO_OUT_OF_RANGE), HLO_OUT_OF_RANGE);
}

TEST(Frame, NullCallIsSerialWithoutScratch) {
  FakeModule m;
  m.desc.arena_bytes = 0;
  ASSERT_EQ(hlo_rt_begin(nullptr, &m.desc, m.ins, m.outs, &m.frame), HLO_OK);
  EXPECT_EQ(m.frame.arena, nullptr);
  EXPECT_EQ(hlo_rt_poll(&m.frame), HLO_OK);
  EXPECT_EQ(hlo_rt_end(&m.frame, HLO_OK), HLO_OK);
  m.desc.arena_bytes = 1;
  EXPECT_EQ(hlo_rt_begin(nullptr, &m.desc, m.ins, m.outs, &m.frame), HLO_ERR_ARENA);
}

TEST(Frame, ArenaErrorsTellNeedAndGiven) {
  FakeModule m;
  m.call.arena_bytes = 100;
  EXPECT_EQ(m.begin(), HLO_ERR_ARENA);
  EXPECT_STREQ(m.message, "fake: arena: needs 256 bytes (align 64), given 100");
  m.call.arena = nullptr;
  m.call.arena_bytes = 0;
  EXPECT_EQ(m.begin(), HLO_ERR_ARENA);
  EXPECT_STREQ(m.message, "fake: arena: needs 256 bytes (align 64), given neither arena nor alloc");
  m.call.arena = reinterpret_cast<void *>(uintptr_t(0x1008));
  m.call.arena_bytes = 4096;
  EXPECT_EQ(m.begin(), HLO_ERR_ARENA);
  EXPECT_STREQ(m.message, "fake: arena: needs 256 bytes (align 64), given 4096 at 0x1008");
}

TEST(Frame, DrawsAreCountedInEachCall) {
  FakeModule m;
  m.call.rng_seed = 7;
  for (int call = 0; call < 2; ++call) {
    ASSERT_EQ(m.begin(), HLO_OK);
    for (uint64_t draw = 0; draw < 3; ++draw) {
      uint64_t state[2];
      hlo_rt_draw(&m.frame, state);
      EXPECT_EQ(state[0], 7u);
      EXPECT_EQ(state[1], draw);
    }
    EXPECT_EQ(hlo_rt_end(&m.frame, HLO_OK), HLO_OK);
  }
  m.desc.arena_bytes = 0;
  ASSERT_EQ(hlo_rt_begin(nullptr, &m.desc, m.ins, m.outs, &m.frame), HLO_OK);
  uint64_t state[2];
  hlo_rt_draw(&m.frame, state);
  EXPECT_EQ(state[0], 0u);
  EXPECT_EQ(hlo_rt_end(&m.frame, HLO_OK), HLO_OK);
}

TEST(Frame, RandomStatesOutliveCalls) {
  FakeModule m;
  m.desc.needs = HLO_NEEDS_STATE;
  m.desc.state_bytes = 32;
  EXPECT_EQ(m.begin(), HLO_ERR_MISSING);
  EXPECT_STREQ(m.message, "fake: hlo_call has no state");
  uint64_t memory[4] = {};
  m.call.state = reinterpret_cast<hlo_state *>(memory);
  uint64_t state[2];
  for (uint64_t call = 0; call < 3; ++call) {
    ASSERT_EQ(m.begin(), HLO_OK);
    hlo_rt_next_state(&m.frame, 16, 64, state);
    EXPECT_EQ(state[0], 0x7012395u + 64 * call);
    EXPECT_EQ(state[1], 0u);
    EXPECT_EQ(hlo_rt_end(&m.frame, HLO_OK), HLO_OK);
  }
  EXPECT_EQ(memory[0], 0u);
  // Carries into the high word and back, from another seed.
  m.call.rng_seed = 5;
  ASSERT_EQ(m.begin(), HLO_OK);
  hlo_rt_next_state(&m.frame, 0, INT64_MAX, state);
  hlo_rt_next_state(&m.frame, 0, INT64_MAX, state);
  hlo_rt_next_state(&m.frame, 0, -2, state);
  EXPECT_EQ(state[0], 0x7012395u - 2);
  EXPECT_EQ(state[1], 6u);
  hlo_rt_next_state(&m.frame, 0, 0, state);
  EXPECT_EQ(state[0], 0x7012395u - 4);
  EXPECT_EQ(state[1], 6u);
  memory[0] = memory[1] = 0;
  hlo_rt_next_state(&m.frame, 0, -1, state);
  hlo_rt_next_state(&m.frame, 0, 0, state);
  EXPECT_EQ(state[0], 0x7012394u);
  EXPECT_EQ(state[1], 5u);
  EXPECT_EQ(hlo_rt_end(&m.frame, HLO_OK), HLO_OK);
}

/// Counts allocations and frees; returns `memory`.
struct CountingAllocator {
  hlo_allocator vtable = {sizeof(hlo_allocator), 0, this, take, give};
  alignas(64) char memory[512];
  void *gives = memory;
  int taken = 0, given = 0;

  static void *take(void *user, size_t bytes, size_t align) {
    auto *self = static_cast<CountingAllocator *>(user);
    EXPECT_EQ(bytes, 256u);
    EXPECT_EQ(align, 64u);
    ++self->taken;
    return self->gives;
  }
  static void give(void *user, void *memory, size_t bytes) {
    auto *self = static_cast<CountingAllocator *>(user);
    EXPECT_EQ(memory, self->gives);
    EXPECT_EQ(bytes, 256u);
    ++self->given;
  }
};

TEST(Frame, ArenaFromTheAllocatorIsGivenBack) {
  FakeModule m;
  CountingAllocator allocator;
  m.call.arena = nullptr;
  m.call.alloc = &allocator.vtable;
  ASSERT_EQ(m.begin(), HLO_OK);
  EXPECT_EQ(m.frame.arena, allocator.memory);
  EXPECT_EQ(allocator.given, 0);
  EXPECT_EQ(hlo_rt_end(&m.frame, HLO_OK), HLO_OK);
  EXPECT_EQ(allocator.taken, 1);
  EXPECT_EQ(allocator.given, 1);

  allocator.gives = nullptr;
  EXPECT_EQ(m.begin(), HLO_ERR_ALLOC);
  EXPECT_STREQ(m.message, "fake: alloc gave no memory for an arena of 256 bytes (align 64)");
  allocator.gives = allocator.memory + 8;
  EXPECT_EQ(m.begin(), HLO_ERR_ALLOC);
  EXPECT_STREQ(m.message,
               "fake: alloc gave misaligned memory for an arena of 256 bytes (align 64)");
  EXPECT_EQ(allocator.given, 2);
}

TEST(Frame, BufferErrorsNameTheLeaf) {
  FakeModule m;
  m.ins[1] = nullptr;
  EXPECT_EQ(m.begin(), HLO_ERR_NULL);
  EXPECT_STREQ(m.message, "fake: input 1 (rhs) is null, it needs 16 bytes");
  m.inputs[1].bytes = 0;
  EXPECT_EQ(m.beginAndEnd(), HLO_OK) << "a leaf of no bytes may be null";
  m.outs[0] = reinterpret_cast<char *>(m.out0) + 2;
  EXPECT_EQ(m.begin(), HLO_ERR_ALIGN);
  EXPECT_EQ(std::string(m.message).substr(0, 27), "fake: output 0 (sum) is at ");
  EXPECT_NE(std::string(m.message).find(", which is not aligned to 4"), std::string::npos);
  EXPECT_EQ(hlo_rt_begin(&m.call, &m.desc, nullptr, m.outs, &m.frame), HLO_ERR_NULL);
  EXPECT_STREQ(m.message, "fake: the array of inputs is null, it needs 2 pointers");
}

TEST(Frame, SizesOfBoundedDimensionsAreWithinTheBound) {
  FakeModule m;
  int64_t size = 4; // of the array before it, [<=4]
  m.inputs[1] = hlo_buffer_desc();
  m.inputs[1].name = "lhs_size0";
  m.inputs[1].bytes = m.inputs[1].align = 8;
  m.inputs[1].type = HLO_S64;
  m.inputs[1].size_of = 1;
  m.ins[1] = &size;
  for (size = 0; size <= 4; ++size) {
    EXPECT_EQ(m.beginAndEnd(), HLO_OK);
  }
  EXPECT_EQ(m.begin(), HLO_ERR_SIZE);
  EXPECT_STREQ(m.message, "fake: input 1 (lhs_size0) is 5, expected 0 to 4");
  size = INT64_MIN;
  EXPECT_EQ(m.begin(), HLO_ERR_SIZE);
  EXPECT_STREQ(m.message, "fake: input 1 (lhs_size0) is -9223372036854775808, expected 0 to 4");
  EXPECT_STREQ(hlo_status_name(HLO_ERR_SIZE), "HLO_ERR_SIZE");
  EXPECT_EQ(hlo_status_code(HLO_ERR_SIZE), HLO_OUT_OF_RANGE);
}

TEST(Frame, MissingCpuFeaturesAreNamed) {
  FakeModule m;
  m.desc.cpu_features = HLO_X86_SSE3 | HLO_X86_XOP | HLO_X86_TBM;
  if ((hlo_cpu_detect() & (HLO_X86_XOP | HLO_X86_TBM)) != 0) {
    GTEST_SKIP() << "this CPU has them";
  }
  EXPECT_EQ(m.begin(), HLO_ERR_CPU);
  EXPECT_STREQ(
      m.message,
      "fake: this CPU lacks xop, tbm, for which the module was compiled (x86_64 fake-cpu)");
  m.desc.cpu_features = UINT64_C(1) << 62;
  EXPECT_EQ(m.begin(), HLO_ERR_CPU);
  EXPECT_STREQ(m.message, "fake: this CPU lacks a feature unknown to this runtime, for which the "
                          "module was compiled (x86_64 fake-cpu)");
  m.desc.cpu_features = hlo_cpu_detect();
  EXPECT_EQ(m.beginAndEnd(), HLO_OK);
}

TEST(Frame, VersionsThatDoNotFitAreRefused) {
  FakeModule m;
  m.call.abi = 7;
  EXPECT_EQ(m.begin(), HLO_ERR_STRUCT);
  EXPECT_NE(std::strstr(m.message, "hlo_call has abi 7"), nullptr) << m.message;
  // Without hlo_call_init both are zero; the message is at the same place in every version.
  m.call.abi = m.call.struct_size = 0;
  m.message[0] = '\0';
  EXPECT_EQ(m.begin(), HLO_ERR_STRUCT);
  EXPECT_NE(std::strstr(m.message, "(use hlo_call_init)"), nullptr) << m.message;
  m.message[0] = '\0';
  m.call.abi = HLO_ABI;
  m.call.struct_size = 4;
  EXPECT_EQ(m.begin(), HLO_ERR_STRUCT);
  EXPECT_STREQ(m.message, "") << "a struct that ends before its message has none";
  m.call.struct_size = sizeof(hlo_call);
  m.desc.abi = HLO_ABI + 1;
  EXPECT_EQ(m.begin(), HLO_ERR_STRUCT);
  EXPECT_STREQ(m.message,
               ("module has abi " + std::to_string(HLO_ABI + 1) + " and a description of " +
                std::to_string(sizeof(hlo_module_desc)) + " bytes, this runtime expects abi " +
                std::to_string(HLO_ABI) + " and at least 216 bytes")
                   .c_str());
}

TEST(Frame, ServicesWithoutFunctionsAreRefused) {
  FakeModule m;
  hlo_executor exec = {};
  exec.struct_size = sizeof(exec);
  exec.num_threads = 2;
  m.call.exec = &exec;
  EXPECT_EQ(m.begin(), HLO_ERR_NULL);
  EXPECT_STREQ(m.message, "fake: hlo_executor.parallel_for is null");
  m.call.exec = nullptr;
  hlo_allocator alloc = {};
  alloc.struct_size = sizeof(alloc);
  m.call.alloc = &alloc;
  m.call.arena = nullptr;
  EXPECT_EQ(m.begin(), HLO_ERR_NULL);
  EXPECT_STREQ(m.message, "fake: hlo_allocator.alloc is null");
  alloc.alloc = [](void *, size_t, size_t) -> void * { return nullptr; };
  EXPECT_EQ(m.begin(), HLO_ERR_NULL);
  EXPECT_STREQ(m.message, "fake: hlo_allocator.free is null");
}

TEST(Frame, FieldsBeyondTheSizeOfAnOlderCallAreZero) {
  FakeModule m;
  int32_t cancel = 1;
  m.call.cancel = &cancel;
  m.call.struct_size = offsetof(hlo_call, alloc);
  ASSERT_EQ(m.begin(), HLO_OK);
  EXPECT_EQ(m.frame.watch, 0u);
  EXPECT_EQ(hlo_rt_fail(&m.frame, HLO_INTERNAL, "lost"), HLO_INTERNAL);
  EXPECT_STREQ(m.message, "") << "that version has no message";
  EXPECT_EQ(hlo_rt_end(&m.frame, HLO_OK), HLO_OK);
}

TEST(Frame, FloatingPointModeIsTheModulesAndThenTheCallersAgain) {
  FakeModule m;
  constexpr unsigned flushing = 0x1f80 | 0x8040; // FTZ, DAZ
  unsigned before = _mm_getcsr();
  _mm_setcsr(flushing);
  hlo_status begun = m.begin();
  unsigned inside = _mm_getcsr();
  hlo_status ended = hlo_rt_end(&m.frame, HLO_OK);
  unsigned after = _mm_getcsr();
  m.call.arena_bytes = 1;
  hlo_status refused = m.begin();
  unsigned afterError = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(begun, HLO_OK);
  EXPECT_EQ(ended, HLO_OK);
  EXPECT_EQ(refused, HLO_ERR_ARENA);
  EXPECT_EQ(inside, 0x1f80u);
  EXPECT_EQ(after & ~0x3fu, flushing & ~0x3fu);
  EXPECT_EQ(afterError & ~0x3fu, flushing & ~0x3fu);
}

TEST(Frame, FloatingPointModesAreTheCpus) {
  const std::pair<uint32_t, unsigned> modes[] = {
      {0, 0x1f80},
      {HLO_FP_FLUSH_RESULTS, 0x9f80},
      {HLO_FP_ZERO_INPUTS, 0x1fc0},
      {HLO_FP_FLUSH_RESULTS | HLO_FP_ZERO_INPUTS, 0x9fc0},
      {HLO_FP_ROUND_DOWN, _MM_ROUND_DOWN | 0x1f80},
      {HLO_FP_ROUND_UP, _MM_ROUND_UP | 0x1f80},
      {HLO_FP_ROUND_TO_ZERO, _MM_ROUND_TOWARD_ZERO | 0x1f80},
  };
  for (auto [mode, word] : modes) {
    FakeModule m;
    m.desc.fp_mode = mode;
    ASSERT_EQ(m.begin(), HLO_OK);
    unsigned inside = _mm_getcsr();
    EXPECT_EQ(hlo_rt_end(&m.frame, HLO_OK), HLO_OK);
    EXPECT_EQ(inside, word) << mode;
  }
  FakeModule m;
  m.desc.fp_mode = 0x100;
  EXPECT_EQ(m.begin(), HLO_ERR_STRUCT);
  EXPECT_STREQ(m.message, "fake: fp_mode 0x100 is unknown to this runtime");
}

/// A description of a later version: each element has fields that this runtime does not know.
TEST(Frame, ElementsOfALaterVersionAreFoundByTheirStride) {
  struct Longer {
    hlo_buffer_desc known;
    uint64_t unknown[3];
  };
  struct LongerCall {
    hlo_custom_call known;
    uint64_t unknown;
  };
  FakeModule m;
  Longer inputs[2] = {{m.inputs[0], {~0u, ~0u, ~0u}}, {m.inputs[1], {~0u, ~0u, ~0u}}};
  inputs[1].known.name = "second";
  inputs[1].known.align = 32;
  m.desc.inputs = &inputs[0].known;
  m.desc.outputs = &inputs[0].known;
  m.desc.buffer_stride = sizeof(Longer);
  EXPECT_EQ(m.beginAndEnd(), HLO_OK) << m.message;
  m.ins[1] = m.in1 + 1;
  EXPECT_EQ(m.begin(), HLO_ERR_ALIGN);
  EXPECT_NE(std::strstr(m.message, "input 1 (second)"), nullptr) << m.message;
  m.ins[1] = m.in1;
  const char *names[] = {"a", "b", nullptr};
  LongerCall targets[3] = {{{"a", HLO_API_ORIGINAL, 0, nullptr, nullptr}, ~0u},
                           {{"b", HLO_API_ORIGINAL, 0, nullptr, nullptr}, ~0u},
                           {{}, ~0u}};
  LongerCall entries[2] = {{{"a", HLO_API_ORIGINAL, 0, [] {}, nullptr}, ~0u},
                           {{"b", HLO_API_STATUS_RETURNING, 0, [] {}, nullptr}, ~0u}};
  hlo_custom_calls table = {sizeof table, 2, sizeof(LongerCall), 0, &entries[0].known};
  m.desc.custom_calls = names;
  m.desc.custom_call_targets = &targets[0].known;
  m.desc.custom_call_stride = sizeof(LongerCall);
  m.call.custom_calls = &table;
  EXPECT_EQ(m.begin(), HLO_ERR_MISSING);
  EXPECT_STREQ(m.message, "fake: another api version is called of target b");
  entries[1].known.api = HLO_API_ORIGINAL;
  EXPECT_EQ(m.beginAndEnd(), HLO_OK) << m.message;
}

TEST(Frame, StridesBelowAnElementsSizeAreRefused) {
  FakeModule m;
  m.desc.buffer_stride = offsetof(hlo_buffer_desc, layout);
  EXPECT_EQ(m.begin(), HLO_ERR_STRUCT);
  EXPECT_STREQ(m.message,
               "fake: the description's buffer_stride is less than the size of an element");
  // The elements of HLO_ABI 2 as it was first, without shardings.
  m.desc.buffer_stride = offsetof(hlo_buffer_desc, sharding);
  EXPECT_EQ(hlo_has_shardings(&m.desc), 0);
  m.desc.num_inputs = 1; // the first elements are where any stride finds them
  EXPECT_EQ(m.beginAndEnd(), HLO_OK) << m.message;
  m.desc.buffer_stride = sizeof(hlo_buffer_desc);
  EXPECT_EQ(hlo_has_shardings(&m.desc), 1);
  hlo_custom_call entry = {};
  hlo_custom_calls table = {sizeof table, 1, 0, 0, &entry};
  m.call.custom_calls = &table;
  EXPECT_EQ(m.begin(), HLO_ERR_STRUCT);
  EXPECT_STREQ(m.message, "fake: hlo_custom_calls has struct_size 24 and entry_stride 0, "
                          "expected 24 and 32");
}

TEST(Frame, ProfilesAddUpToTheCall) {
  struct Longer {
    hlo_profile known;
    uint64_t unknown;
  };
  FakeModule m;
  hlo_op_desc ops[3] = {};
  Longer profile[3] = {};
  m.desc.ops = ops;
  m.desc.num_ops = 3;
  m.desc.op_stride = sizeof(hlo_op_desc);
  m.call.profile = &profile[0].known;
  m.call.profile_count = 2;
  m.call.profile_stride = sizeof(Longer);
  EXPECT_EQ(m.begin(), HLO_ERR_STRUCT);
  EXPECT_STREQ(m.message, "fake: hlo_call.profile: needs 3 entries 32 bytes apart, given 2 entries "
                          "40 bytes apart");
  m.call.profile_count = 3;
  auto wait = [](int64_t ns) {
    for (int64_t end = now() + ns; now() < end;) {
    }
  };
  int64_t start = now();
  for (int call = 0; call < 2; ++call) {
    ASSERT_EQ(m.begin(), HLO_OK);
    wait(2000000);
    hlo_rt_count(&m.frame, 1, 100);
    wait(1000000);
    hlo_rt_count(&m.frame, 2, 0);
    hlo_rt_count(&m.frame, 2, 7);
    EXPECT_EQ(hlo_rt_end(&m.frame, HLO_OK), HLO_OK);
  }
  auto wall = static_cast<uint64_t>(now() - start);
  uint64_t sum = 0;
  for (const Longer &one : profile) {
    sum += one.known.ns;
    EXPECT_EQ(one.known.ticks, 0u);
    EXPECT_EQ(one.unknown, 0u);
  }
  EXPECT_LE(sum, wall);
  EXPECT_GE(sum, wall - wall / 50);
  EXPECT_GE(profile[1].known.ns, 3900000u);
  EXPECT_GE(profile[2].known.ns, 1900000u);
  EXPECT_EQ(profile[0].known.calls, 2u);
  EXPECT_EQ(profile[1].known.calls, 2u);
  EXPECT_EQ(profile[1].known.bytes, 200u);
  EXPECT_EQ(profile[2].known.calls, 4u);
  EXPECT_EQ(profile[2].known.bytes, 14u);
  // Without one, nothing is counted.
  m.call.profile = nullptr;
  ASSERT_EQ(m.begin(), HLO_OK);
  EXPECT_EQ(m.frame.profile, nullptr);
  hlo_rt_count(&m.frame, 1, 100);
  EXPECT_EQ(hlo_rt_end(&m.frame, HLO_OK), HLO_OK);
  EXPECT_EQ(profile[1].known.calls, 2u);
}

TEST(Frame, AnotherArchitectureIsRefused) {
  FakeModule m;
  m.desc.arch = HLO_ARCH_X86_64 + 1;
  EXPECT_EQ(m.begin(), HLO_ERR_CPU);
  EXPECT_STREQ(m.message, "fake: compiled for another architecture (x86_64 fake-cpu)");
}

TEST(Frame, CancellationAndDeadline) {
  FakeModule m;
  int32_t cancel = 0;
  m.call.cancel = &cancel;
  ASSERT_EQ(m.begin(), HLO_OK);
  EXPECT_EQ(m.frame.watch, 1u);
  EXPECT_EQ(hlo_rt_poll(&m.frame), HLO_OK);
  cancel = 1;
  EXPECT_EQ(hlo_rt_poll(&m.frame), HLO_CANCELLED);
  EXPECT_STREQ(m.message, "fake: cancelled");
  int runs = 0;
  auto task = [](void *args, int64_t, int64_t) { ++*static_cast<int *>(args); };
  EXPECT_EQ(hlo_rt_parallel_for(&m.frame, task, &runs, 10), HLO_CANCELLED);
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(hlo_rt_end(&m.frame, HLO_CANCELLED), HLO_CANCELLED);

  m.call.cancel = nullptr;
  m.call.deadline_ns = now() + INT64_C(3600) * 1000000000;
  ASSERT_EQ(m.begin(), HLO_OK);
  EXPECT_EQ(hlo_rt_poll(&m.frame), HLO_OK);
  m.call.deadline_ns = now() - 1;
  EXPECT_EQ(hlo_rt_poll(&m.frame), HLO_DEADLINE);
  EXPECT_STREQ(m.message, "fake: deadline passed");
  EXPECT_EQ(hlo_rt_end(&m.frame, HLO_DEADLINE), HLO_DEADLINE);
}

TEST(Frame, FailWritesTheMessageAndCutsIt) {
  FakeModule m;
  ASSERT_EQ(m.begin(), HLO_OK);
  EXPECT_EQ(hlo_rt_fail(&m.frame, HLO_NOT_FOUND, "no such thing"), HLO_NOT_FOUND);
  EXPECT_STREQ(m.message, "fake: no such thing");
  m.call.message_bytes = 8;
  EXPECT_EQ(hlo_rt_fail(&m.frame, HLO_NOT_FOUND, "no such thing"), HLO_NOT_FOUND);
  EXPECT_STREQ(m.message, "fake: n");
  EXPECT_EQ(hlo_rt_end(&m.frame, HLO_OK), HLO_OK);
}

TEST(Frame, SignatureMismatch) {
  FakeModule m;
  m.desc.signature = 0xabcdef;
  EXPECT_EQ(hlo_bad_signature(&m.call, &m.desc, 0x12), HLO_ERR_SIGNATURE);
  EXPECT_STREQ(m.message,
               "fake: header and object do not belong together: args have signature 0x12, "
               "the object has 0xabcdef");
}

TEST(Check, ListsEverythingAtOnce) {
  FakeModule m;
  const char *targets[] = {"known", "unknown", nullptr};
  hlo_custom_call entries[] = {{"known", HLO_API_ORIGINAL, 0, [] {}, nullptr}};
  hlo_custom_calls table = {sizeof(hlo_custom_calls), 1, sizeof(entries[0]), 0, entries};
  m.desc.custom_calls = targets;
  m.desc.needs = HLO_NEEDS_INFEED | HLO_NEEDS_COMM;
  m.call.custom_calls = &table;
  m.call.arena_bytes = 10;
  char text[512];
  EXPECT_EQ(hlo_check(&m.desc, &m.call, text, sizeof(text)), HLO_ERR_MISSING);
  EXPECT_STREQ(text, "fake: hlo_call has no infeed; hlo_call has no comm; "
                     "no custom call target named unknown; "
                     "fake: arena: needs 256 bytes (align 64), given 10");
  EXPECT_EQ(hlo_check(&m.desc, &m.call, nullptr, 0), HLO_ERR_MISSING);
  m.desc.custom_calls = nullptr;
  m.desc.needs = 0;
  EXPECT_EQ(hlo_check(&m.desc, &m.call, text, sizeof(text)), HLO_ERR_ARENA);
  EXPECT_STREQ(text, "fake: arena: needs 256 bytes (align 64), given 10");
  m.call.arena_bytes = 256;
  EXPECT_EQ(hlo_check(&m.desc, &m.call, text, sizeof(text)), HLO_OK);
  EXPECT_STREQ(text, "");
}

TEST(Names, StatusesAndTypes) {
  EXPECT_STREQ(hlo_status_name(HLO_OK), "HLO_OK");
  EXPECT_STREQ(hlo_status_name(HLO_ERR_ARENA), "HLO_ERR_ARENA");
  EXPECT_STREQ(hlo_status_name(HLO_INVALID_ARGUMENT | (99 << 8)), "HLO_INVALID_ARGUMENT");
  EXPECT_STREQ(hlo_status_name(77), "HLO_UNKNOWN");
  EXPECT_EQ(hlo_status_code(HLO_ERR_ARENA), HLO_RESOURCE_EXHAUSTED);
  EXPECT_STREQ(hlo_type_name(HLO_BF16), "bf16");
  EXPECT_EQ(hlo_type_bytes(HLO_C128), 16u);
  EXPECT_EQ(hlo_type_bytes(HLO_S4), 1u);
  EXPECT_EQ(hlo_type_bytes(-1), 0u);
  EXPECT_STREQ(hlo_type_name(1000), "invalid");
  for (int32_t type = 1; type <= HLO_F6E3M2FN; ++type) {
    EXPECT_GT(hlo_type_bytes(type), 0u) << type;
  }
}

TEST(Cpu, NamesAndCertainties) {
  EXPECT_STREQ(hlo_cpu_feature_name(HLO_ARCH_X86_64, HLO_X86_AVX512BF16 | HLO_X86_AMX_TILE),
               "avx512bf16");
  EXPECT_EQ(hlo_cpu_feature_name(HLO_ARCH_X86_64, 0), nullptr);
  EXPECT_STREQ(hlo_cpu_feature_name(HLO_ARCH_AARCH64, HLO_AARCH64_I8MM | HLO_AARCH64_BF16), "i8mm");
  EXPECT_EQ(hlo_cpu_feature_name(HLO_ARCH_RISCV64, 1), nullptr);
  EXPECT_EQ(hlo_cpu_request(hlo_cpu_detect()), hlo_cpu_detect());
  EXPECT_EQ(hlo_cpu_request(HLO_X86_SSE3), hlo_cpu_detect() & HLO_X86_SSE3);
  EXPECT_EQ(hlo_cpu_request(UINT64_C(1) << 62), 0u);
  EXPECT_EQ((hlo_cpu_detect() & HLO_X86_SSE3) != 0, __builtin_cpu_supports("sse3") != 0);
  EXPECT_EQ((hlo_cpu_detect() & HLO_X86_AVX2) != 0, __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ((hlo_cpu_detect() & HLO_X86_FMA) != 0, __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ((hlo_cpu_detect() & HLO_X86_AVX512F) != 0, __builtin_cpu_supports("avx512f") != 0);
  EXPECT_EQ((hlo_cpu_detect() & HLO_X86_AVX512BF16) != 0,
            __builtin_cpu_supports("avx512bf16") != 0);
}
} // namespace
