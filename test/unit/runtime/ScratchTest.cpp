//===- ScratchTest.cpp - Slots of the arena for chunks of tasks -----------===//
//
// A chunk with scratch memory holds a slot while it runs; there are as many slots as threads.
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/FakeModule.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <hlo/pool.h>
#include <mutex>
#include <thread>
#include <vector>

namespace {
constexpr uint64_t planBytes = 256, slotBytes = HLO_SLOT_HEADER_BYTES + 448;

/// A module that needs a slot for each thread, with an executor that runs every index on a thread
/// of its own but declares `threads` threads.
struct ScratchModule : FakeModule {
  std::vector<char> memory;
  hlo_executor everyIndex = {sizeof(hlo_executor), 0, nullptr, runAll};

  explicit ScratchModule(uint32_t threads) {
    desc.arena_bytes = planBytes + slotBytes;
    desc.thread_arena_bytes = slotBytes;
    memory.resize(hlo_arena_bytes(&desc, threads) + 64);
    call.arena = memory.data() + (-reinterpret_cast<uintptr_t>(memory.data()) & 63);
    call.arena_bytes = hlo_arena_bytes(&desc, threads);
    everyIndex.num_threads = threads;
    call.exec = &everyIndex;
  }
  char *slot(uint32_t i) const {
    return static_cast<char *>(call.arena) + planBytes + i * slotBytes + HLO_SLOT_HEADER_BYTES;
  }

  static void runAll(void *, void (*fn)(void *, int64_t), void *arg, int64_t n) {
    std::vector<std::thread> all;
    for (int64_t i = 0; i < n; ++i) {
      all.emplace_back(fn, arg, i);
    }
    for (std::thread &one : all) {
      one.join();
    }
  }
};

/// Tasks that wait until a given number of them run at once, or one more has been refused.
struct Crowd {
  std::mutex lock;
  std::condition_variable changed;
  int64_t wanted, inside = 0;
  std::vector<void *> scratch{};

  static void task(void *args, int64_t, int64_t, void *scratch) {
    auto *crowd = static_cast<Crowd *>(args);
    std::unique_lock<std::mutex> guard(crowd->lock);
    crowd->scratch.push_back(scratch);
    ++crowd->inside;
    crowd->changed.notify_all();
    crowd->changed.wait(guard, [&] { return crowd->inside >= crowd->wanted; });
  }
};

TEST(Scratch, SizesAreForOneThreadAndMore) {
  ScratchModule m(3);
  EXPECT_EQ(hlo_arena_bytes(&m.desc, 0), planBytes + slotBytes);
  EXPECT_EQ(hlo_arena_bytes(&m.desc, 1), planBytes + slotBytes);
  EXPECT_EQ(hlo_arena_bytes(&m.desc, 3), planBytes + 3 * slotBytes);
  m.desc.prepare_arena_bytes = m.desc.prepare_thread_arena_bytes = 128;
  EXPECT_EQ(hlo_prepare_arena_bytes(&m.desc, 4), 512u);
  m.desc.arena_bytes = m.desc.thread_arena_bytes = UINT64_C(1) << 62;
  EXPECT_EQ(hlo_arena_bytes(&m.desc, 3), UINT64_C(3) << 62);
  EXPECT_EQ(hlo_arena_bytes(&m.desc, 4), UINT64_MAX);
  EXPECT_EQ(m.begin(), HLO_ERR_ARENA);
  // A description of a version without slots.
  m.desc.struct_size = offsetof(hlo_module_desc, thread_arena_bytes);
  m.desc.arena_bytes = 256;
  EXPECT_EQ(hlo_arena_bytes(&m.desc, 3), 256u);
  EXPECT_EQ(m.beginAndEnd(), HLO_OK);
}

TEST(Scratch, AnArenaForFewerThreadsIsRefused) {
  ScratchModule m(3);
  m.call.arena_bytes -= 1;
  EXPECT_EQ(m.begin(), HLO_ERR_ARENA);
  EXPECT_STREQ(m.message, "fake: arena: needs 1792 bytes for 3 threads (align 64), given 1791");
  m.call.exec = nullptr;
  EXPECT_EQ(m.beginAndEnd(), HLO_OK);
  m.call.arena_bytes = planBytes;
  EXPECT_EQ(m.begin(), HLO_ERR_ARENA);
  EXPECT_STREQ(m.message, "fake: arena: needs 768 bytes (align 64), given 256");
}

TEST(Scratch, TheCallingThreadHasTheFirstSlot) {
  ScratchModule m(1);
  ASSERT_EQ(m.begin(), HLO_OK);
  EXPECT_EQ(m.frame.scratch, m.slot(0));
  Crowd crowd{{}, {}, 0};
  EXPECT_EQ(hlo_rt_parallel_scratch(&m.frame, Crowd::task, &crowd, 7), HLO_OK);
  EXPECT_EQ(crowd.scratch, std::vector<void *>{m.slot(0)});
  EXPECT_EQ(hlo_rt_parallel_scratch(&m.frame, Crowd::task, &crowd, 0), HLO_OK);
  EXPECT_EQ(crowd.scratch.size(), 1u);
  EXPECT_EQ(hlo_rt_end(&m.frame, HLO_OK), HLO_OK);
}

TEST(Scratch, ChunksAtOnceHaveSlotsOfTheirOwn) {
  ScratchModule m(3);
  ASSERT_EQ(m.begin(), HLO_OK);
  for (int loop = 0; loop < 50; ++loop) {
    Crowd crowd{{}, {}, 3};
    ASSERT_EQ(hlo_rt_parallel_scratch(&m.frame, Crowd::task, &crowd, 3), HLO_OK);
    std::sort(crowd.scratch.begin(), crowd.scratch.end());
    EXPECT_EQ(crowd.scratch, (std::vector<void *>{m.slot(0), m.slot(1), m.slot(2)}));
  }
  EXPECT_EQ(hlo_rt_end(&m.frame, HLO_OK), HLO_OK);
}

TEST(Scratch, OneChunkMoreThanThreadsIsRefused) {
  ScratchModule m(3);
  ASSERT_EQ(m.begin(), HLO_OK);
  // Three chunks wait for a fourth, which must be refused; its thread reports that.
  struct Four {
    Crowd crowd{{}, {}, 4};
    std::atomic<int> left{0};
  } four;
  m.everyIndex.user = &four;
  m.everyIndex.parallel_for = [](void *user, void (*fn)(void *, int64_t), void *arg, int64_t n) {
    EXPECT_EQ(n, 4);
    auto *four = static_cast<Four *>(user);
    std::vector<std::thread> all;
    for (int64_t i = 0; i < n; ++i) {
      all.emplace_back([=] {
        fn(arg, i);
        if (++four->left == 1) {
          std::lock_guard<std::mutex> guard(four->crowd.lock);
          EXPECT_EQ(four->crowd.inside, 3);
          four->crowd.wanted = 0;
          four->crowd.changed.notify_all();
        }
      });
      std::unique_lock<std::mutex> guard(four->crowd.lock);
      four->crowd.changed.wait(guard,
                               [&] { return four->crowd.inside >= std::min<int64_t>(i + 1, 3); });
    }
    for (std::thread &one : all) {
      one.join();
    }
  };
  EXPECT_EQ(hlo_rt_parallel_scratch(&m.frame, Crowd::task, &four.crowd, 4), HLO_ERR_ARENA);
  EXPECT_STREQ(m.message, "fake: the executor has num_threads 3, and ran more chunks at once; the "
                          "arena has no scratch memory for them");
  // The slots have been given back.
  m.everyIndex.parallel_for = ScratchModule::runAll;
  Crowd again{{}, {}, 3};
  EXPECT_EQ(hlo_rt_parallel_scratch(&m.frame, Crowd::task, &again, 3), HLO_OK);
  EXPECT_EQ(hlo_rt_end(&m.frame, HLO_OK), HLO_OK);
}

/// Fills a slot with a number of its own and finds it unchanged.
void writeAll(void *args, int64_t first, int64_t last, void *scratch) {
  auto *wrong = static_cast<std::atomic<int64_t> *>(args);
  auto *numbers = static_cast<volatile int64_t *>(scratch);
  constexpr int64_t count = (slotBytes - HLO_SLOT_HEADER_BYTES) / sizeof(int64_t);
  for (int64_t task = first; task < last; ++task) {
    for (int64_t i = 0; i < count; ++i) {
      numbers[i] = task;
    }
    for (int64_t i = 0; i < count; ++i) {
      *wrong += numbers[i] != task;
    }
  }
}

TEST(Scratch, ManyChunksOnAPool) {
  for (uint32_t threads : {2u, 5u}) {
    ScratchModule m(threads);
    hlo_pool *pool = hlo_pool_create(threads);
    ASSERT_NE(pool, nullptr);
    m.call.exec = hlo_pool_executor(pool);
    std::memset(m.call.arena, 0xff, m.call.arena_bytes);
    std::atomic<int64_t> wrong{0};
    ASSERT_EQ(m.begin(), HLO_OK);
    for (int loop = 0; loop < 300; ++loop) {
      ASSERT_EQ(hlo_rt_parallel_scratch(&m.frame, writeAll, &wrong, 1 + loop % 97), HLO_OK);
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(hlo_rt_end(&m.frame, HLO_OK), HLO_OK);
    hlo_pool_destroy(pool);
  }
}

TEST(Scratch, CancelledLoopsGiveTheirSlotsBack) {
  ScratchModule m(2);
  int32_t cancel = 0;
  m.call.cancel = &cancel;
  ASSERT_EQ(m.begin(), HLO_OK);
  auto stop = [](void *args, int64_t, int64_t, void *) {
    __atomic_store_n(static_cast<int32_t *>(args), 1, __ATOMIC_RELAXED);
  };
  hlo_pool *pool = hlo_pool_create(2);
  m.frame.exec = hlo_pool_executor(pool);
  EXPECT_EQ(hlo_rt_parallel_scratch(&m.frame, stop, &cancel, 100), HLO_CANCELLED);
  cancel = 0;
  std::atomic<int64_t> wrong{0};
  EXPECT_EQ(hlo_rt_parallel_scratch(&m.frame, writeAll, &wrong, 100), HLO_OK);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(hlo_rt_end(&m.frame, HLO_OK), HLO_OK);
  hlo_pool_destroy(pool);
}

TEST(Scratch, TheAllocatorGivesSlotsForAllThreads) {
  ScratchModule m(3);
  struct Asked {
    uint64_t bytes = 0;
    void *gives;
  } asked{0, m.call.arena};
  hlo_allocator allocator = {sizeof(hlo_allocator), 0, &asked,
                             [](void *user, size_t bytes, size_t) {
                               static_cast<Asked *>(user)->bytes = bytes;
                               return static_cast<Asked *>(user)->gives;
                             },
                             [](void *, void *, size_t) {}};
  m.call.arena = nullptr;
  m.call.alloc = &allocator;
  ASSERT_EQ(m.begin(), HLO_OK);
  EXPECT_EQ(asked.bytes, planBytes + 3 * slotBytes);
  EXPECT_EQ(m.frame.scratch, static_cast<char *>(asked.gives) + planBytes + HLO_SLOT_HEADER_BYTES);
  EXPECT_EQ(hlo_rt_end(&m.frame, HLO_OK), HLO_OK);
}
} // namespace
