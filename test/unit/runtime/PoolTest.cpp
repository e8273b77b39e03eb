//===- PoolTest.cpp - The thread pool and parallel loops ------------------===//
//
// The executor's contract (each index once, all done on return) under load, with more
// threads than CPUs, from several callers at once, nested; and hlo_rt_parallel_for on it.
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/FakeModule.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <hlo/pool.h>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>
#include <xmmintrin.h>

namespace {
struct PoolDeleter {
  void operator()(hlo_pool *pool) const { hlo_pool_destroy(pool); }
};
using Pool = std::unique_ptr<hlo_pool, PoolDeleter>;

struct Counts {
  explicit Counts(int64_t n) : each(n) {}
  std::vector<std::atomic<int>> each;
  static void add(void *self, int64_t i) {
    static_cast<Counts *>(self)->each[i].fetch_add(1, std::memory_order_relaxed);
  }
  bool allAre(int value) const {
    for (const std::atomic<int> &count : each) {
      if (count != value) {
        return false;
      }
    }
    return true;
  }
};

void parallelFor(const Pool &pool, void (*fn)(void *, int64_t), void *arg, int64_t n) {
  const hlo_executor *exec = hlo_pool_executor(pool.get());
  exec->parallel_for(exec->user, fn, arg, n);
}

TEST(Pool, CountsCpus) {
  EXPECT_GE(hlo_pool_cpus(), 1u);
  EXPECT_LE(hlo_pool_cpus(), std::max(1u, std::thread::hardware_concurrency()));
  Pool pool(hlo_pool_create(0));
  ASSERT_TRUE(pool);
  EXPECT_EQ(hlo_pool_executor(pool.get())->num_threads, hlo_pool_cpus());
}

TEST(Pool, EachIndexOnceWhateverTheNumberOfThreads) {
  for (uint32_t threads : {1u, 2u, 3u, 7u, 16u}) {
    Pool pool(hlo_pool_create(threads));
    ASSERT_TRUE(pool);
    for (int64_t n : {0, 1, 2, 3, 10, 1000}) {
      Counts counts(n);
      for (int round = 0; round < 20; ++round) {
        parallelFor(pool, Counts::add, &counts, n);
      }
      EXPECT_TRUE(counts.allAre(20)) << threads << " threads, " << n << " indices";
    }
  }
}

TEST(Pool, ManySmallLoops) {
  Pool pool(hlo_pool_create(2));
  Counts counts(4);
  auto start = std::chrono::steady_clock::now();
  constexpr int rounds = 20000;
  for (int round = 0; round < rounds; ++round) {
    parallelFor(pool, Counts::add, &counts, 4);
  }
  double micros = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() *
                  1e6 / rounds;
  EXPECT_TRUE(counts.allAre(rounds));
  RecordProperty("microseconds_per_loop", std::to_string(micros));
}

TEST(Pool, SleepingWorkersWakeUp) {
  Pool pool(hlo_pool_create(3));
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    Counts counts(30);
    parallelFor(pool, Counts::add, &counts, 30);
    EXPECT_TRUE(counts.allAre(1));
  }
}

TEST(Pool, UnevenTasksAreWaitedFor) {
  Pool pool(hlo_pool_create(4));
  Counts counts(8);
  auto slow = [](void *self, int64_t i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(i % 3));
    Counts::add(self, i);
  };
  for (int round = 0; round < 10; ++round) {
    parallelFor(pool, slow, &counts, 8);
    EXPECT_TRUE(counts.allAre(round + 1));
  }
}

TEST(Pool, SeveralCallersAtOnce) {
  Pool pool(hlo_pool_create(3));
  std::vector<std::thread> callers;
  std::atomic<int> bad{0};
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        Counts counts(17);
        parallelFor(pool, Counts::add, &counts, 17);
        bad += !counts.allAre(1);
      }
    });
  }
  for (std::thread &caller : callers) {
    caller.join();
  }
  EXPECT_EQ(bad, 0);
}

TEST(Pool, NestedLoopsRunOnTheirOwnThread) {
  struct State {
    Pool pool{hlo_pool_create(2)};
    Counts counts{10};
  } state;
  auto outer = [](void *arg, int64_t) {
    auto *state = static_cast<State *>(arg);
    parallelFor(state->pool, Counts::add, &state->counts, 10);
  };
  parallelFor(state.pool, outer, &state, 6);
  EXPECT_TRUE(state.counts.allAre(6));
}

TEST(Pool, WorkersTakeNoSignals) {
  Pool pool(hlo_pool_create(3));
  std::atomic<int> blocked{0};
  auto look = [](void *arg, int64_t) {
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    bool faults = sigismember(&mask, SIGILL) || sigismember(&mask, SIGSEGV);
    *static_cast<std::atomic<int> *>(arg) += sigismember(&mask, SIGINT) && !faults;
  };
  for (int round = 0; round < 100 && blocked == 0; ++round) {
    parallelFor(pool, look, &blocked, 6);
  }
  EXPECT_GT(blocked, 0);
  sigset_t own;
  pthread_sigmask(SIG_BLOCK, nullptr, &own);
  EXPECT_FALSE(sigismember(&own, SIGINT)) << "the caller's mask is as before";
}

/// Sums the covered tasks, and records a task that runs under another floating-point mode.
struct Ranges {
  Counts counts;
  std::atomic<int> wrongMode{0}, ranges{0};
  explicit Ranges(int64_t n) : counts(n) {}
  static void run(void *args, int64_t first, int64_t last) {
    auto *self = static_cast<Ranges *>(args);
    ++self->ranges;
    self->wrongMode += (_mm_getcsr() & ~0x3fu) != 0x9fc0u;
    for (int64_t i = first; i < last; ++i) {
      Counts::add(&self->counts, i);
    }
  }
};

TEST(ParallelFor, CoversAllTasksOnceInTheModulesMode) {
  for (uint32_t threads : {1u, 2u, 5u}) {
    Pool pool(hlo_pool_create(threads));
    FakeModule m;
    m.call.exec = hlo_pool_executor(pool.get());
    m.desc.fp_mode = HLO_FP_FLUSH_RESULTS | HLO_FP_ZERO_INPUTS;
    ASSERT_EQ(m.begin(), HLO_OK);
    EXPECT_EQ(m.frame.threads, threads);
    for (int64_t tasks : {0, 1, 2, 7, 8, 9, 1000}) {
      Ranges ranges(tasks);
      ASSERT_EQ(hlo_rt_parallel_for(&m.frame, Ranges::run, &ranges, tasks), HLO_OK);
      EXPECT_TRUE(ranges.counts.allAre(1));
      EXPECT_EQ(ranges.wrongMode, 0);
      EXPECT_LE(ranges.ranges, static_cast<int>(4 * threads));
      if (threads == 1) {
        EXPECT_EQ(ranges.ranges, tasks > 0);
      }
    }
    EXPECT_EQ(hlo_rt_end(&m.frame, HLO_OK), HLO_OK);
  }
}

// A loop is split into 4 chunks per thread: tests every number of tasks from none to four times the
// chunks, so each remainder; ranges must be in order, with lengths that differ by at most one.
TEST(ParallelFor, CutsEveryNumberOfTasksIntoEvenRanges) {
  struct Cut {
    std::mutex mutex;
    std::vector<std::pair<int64_t, int64_t>> ranges;
    static void run(void *args, int64_t first, int64_t last) {
      auto *self = static_cast<Cut *>(args);
      std::lock_guard<std::mutex> lock(self->mutex);
      self->ranges.push_back({first, last});
    }
  };
  for (uint32_t threads : {2u, 3u, 5u}) {
    Pool pool(hlo_pool_create(threads));
    FakeModule m;
    m.call.exec = hlo_pool_executor(pool.get());
    ASSERT_EQ(m.begin(), HLO_OK);
    int64_t chunks = 4 * static_cast<int64_t>(threads);
    for (int64_t tasks = 0; tasks <= 4 * chunks; ++tasks) {
      Cut cut;
      ASSERT_EQ(hlo_rt_parallel_for(&m.frame, Cut::run, &cut, tasks), HLO_OK);
      std::sort(cut.ranges.begin(), cut.ranges.end());
      ASSERT_EQ(static_cast<int64_t>(cut.ranges.size()), std::min(tasks, chunks)) << tasks;
      int64_t next = 0, shortest = INT64_MAX, longest = 0;
      for (auto [first, last] : cut.ranges) {
        ASSERT_EQ(first, next) << tasks << " tasks";
        next = last;
        shortest = std::min(shortest, last - first);
        longest = std::max(longest, last - first);
      }
      ASSERT_EQ(next, tasks);
      ASSERT_TRUE(tasks == 0 || (shortest > 0 && longest - shortest <= 1)) << tasks << " tasks";
    }
    EXPECT_EQ(hlo_rt_end(&m.frame, HLO_OK), HLO_OK);
  }
}

TEST(ParallelFor, CancelledWithinALoop) {
  Pool pool(hlo_pool_create(2));
  FakeModule m;
  int32_t cancel = 0;
  m.call.exec = hlo_pool_executor(pool.get());
  m.call.cancel = &cancel;
  ASSERT_EQ(m.begin(), HLO_OK);
  auto task = [](void *args, int64_t, int64_t) {
    __atomic_store_n(static_cast<int32_t *>(args), 1, __ATOMIC_RELAXED);
  };
  EXPECT_EQ(hlo_rt_parallel_for(&m.frame, task, &cancel, 8), HLO_CANCELLED);
  EXPECT_STREQ(m.message, "fake: cancelled");
  EXPECT_EQ(hlo_rt_end(&m.frame, HLO_CANCELLED), HLO_CANCELLED);
}

// Runs each of 100 tasks once on `exec`, in a module's own floating-point mode.
void runInModulesMode(const hlo_executor &exec, Ranges &ranges) {
  FakeModule m;
  m.desc.fp_mode = HLO_FP_FLUSH_RESULTS | HLO_FP_ZERO_INPUTS;
  m.call.exec = &exec;
  ASSERT_EQ(m.begin(), HLO_OK);
  EXPECT_EQ(hlo_rt_parallel_for(&m.frame, Ranges::run, &ranges, 100), HLO_OK);
  EXPECT_TRUE(ranges.counts.allAre(1));
  EXPECT_EQ(hlo_rt_end(&m.frame, HLO_OK), HLO_OK);
}

TEST(ParallelFor, TheCallersOwnExecutor) {
  struct Backwards {
    int calls = 0;
    static void run(void *user, void (*fn)(void *, int64_t), void *arg, int64_t n) {
      ++static_cast<Backwards *>(user)->calls;
      while (n-- > 0) {
        fn(arg, n);
      }
    }
  } backwards;
  hlo_executor exec = {sizeof(hlo_executor), 3, &backwards, Backwards::run};
  Ranges ranges(100);
  runInModulesMode(exec, ranges);
  EXPECT_EQ(ranges.ranges, 12);
  EXPECT_EQ(backwards.calls, 1);
}

// A thread of the executor has a floating-point mode of its own, and has it again after its chunk.
TEST(ParallelFor, OtherThreadsRunInTheModulesMode) {
  struct Threads {
    int lost = 0;
    static void run(void *user, void (*fn)(void *, int64_t), void *arg, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        std::thread([=] {
          constexpr unsigned usual = 0x1f80;
          _mm_setcsr(usual);
          fn(arg, i);
          static_cast<Threads *>(user)->lost += (_mm_getcsr() & ~0x3fu) != usual;
        }).join();
      }
    }
  } threads;
  hlo_executor exec = {sizeof(hlo_executor), 2, &threads, Threads::run};
  Ranges ranges(100);
  runInModulesMode(exec, ranges);
  EXPECT_EQ(ranges.wrongMode, 0);
  EXPECT_EQ(threads.lost, 0);
}
} // namespace
