// Checks that an adapter keeps hlo_executor's contract, for one caller and for several at once, and
// that a model computes the same results with and without it.
#if defined(WITH_TBB)
#include <hlo/executor_tbb.h>
#elif defined(WITH_OPENMP)
#include <hlo/executor_openmp.h>
#else
#include <hlo/executor_threads.h>
#endif
#include "product.h"
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#if !defined(WITH_TBB) && !defined(WITH_OPENMP)
// A typical thread pool.
class Pool {
public:
  explicit Pool(int count) {
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([this] { serve(); });
    }
  }
  ~Pool() {
    {
      std::lock_guard<std::mutex> guard(mutex);
      ending = true;
    }
    changed.notify_all();
    for (std::thread &thread : threads) {
      thread.join();
    }
  }
  void enqueue(std::function<void()> job) {
    {
      std::lock_guard<std::mutex> guard(mutex);
      jobs.push_back(std::move(job));
    }
    changed.notify_one();
  }

private:
  void serve() {
    std::unique_lock<std::mutex> guard(mutex);
    for (;;) {
      while (jobs.empty()) {
        if (ending) {
          return;
        }
        changed.wait(guard);
      }
      std::function<void()> job = std::move(jobs.front());
      jobs.pop_front();
      guard.unlock();
      job();
      guard.lock();
    }
  }
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> jobs;
  bool ending = false;
  std::vector<std::thread> threads;
};
#endif

struct Loop {
  explicit Loop(size_t n) : counts(n) {}
  std::vector<std::atomic<int>> counts;
  std::atomic<int> inside{0}, most{0};
  static void run(void *arg, int64_t i) {
    Loop *self = static_cast<Loop *>(arg);
    int now = ++self->inside;
    for (int seen = self->most; seen < now && !self->most.compare_exchange_weak(seen, now);) {
    }
    ++self->counts[static_cast<size_t>(i)];
    std::this_thread::yield();
    --self->inside;
  }
};

static std::atomic<int> faults{0};

static void fault(const char *what, long number) {
  std::printf("FAULT: %s: %ld\n", what, number);
  ++faults;
}

static void testContract(const hlo_executor *executor) {
  for (int64_t n : {0, 1, 2, 3, 7, 64, 1000}) {
    Loop loop(static_cast<size_t>(n));
    executor->parallel_for(executor->user, Loop::run, &loop, n);
    for (std::atomic<int> &count : loop.counts) {
      if (count != 1) {
        fault("an index ran so many times", count);
      }
    }
    if (loop.inside != 0 || loop.most > static_cast<int>(executor->num_threads)) {
      fault("threads at once", loop.most);
    }
  }
}

// Counts the loops that a model asks for.
struct Counting {
  explicit Counting(const hlo_executor *inner) : real(inner), executor(*inner), loops(0) {
    executor.user = this;
    executor.parallel_for = run;
  }
  static void run(void *user, void (*fn)(void *, int64_t), void *arg, int64_t n) {
    Counting *self = static_cast<Counting *>(user);
    ++self->loops;
    self->real->parallel_for(self->real->user, fn, arg, n);
  }
  const hlo_executor *real;
  hlo_executor executor;
  int loops;
};

static void testModel(const hlo_executor *given) {
  Counting counting(given);
  const hlo_executor *executor = &counting.executor;
  const size_t elements = hlo_input_at(product_describe(), 0)->bytes / sizeof(double);
  std::vector<double> m(elements), v(elements);
  for (size_t i = 0; i < m.size(); ++i) {
    m[i] = static_cast<double>(i % 7), v[i] = static_cast<double>(i % 5) - 2;
  }
  std::vector<double> results[2][2];
  for (int threaded = 0; threaded < 2; ++threaded) {
    std::vector<double> *out = results[threaded];
    out[0].resize(m.size()), out[1].resize(m.size());
    const hlo_module_desc *desc = product_describe();
    const size_t bytes = hlo_arena_bytes(desc, threaded ? executor->num_threads : 1);
    void *arena = aligned_alloc(64, bytes + 64);
    char message[256] = "";
    hlo_call call = hlo_call_init();
    call.arena = arena, call.arena_bytes = bytes;
    call.exec = threaded ? executor : nullptr;
    call.message = message, call.message_bytes = sizeof message;
    const void *inputs[] = {m.data(), v.data()};
    void *outputs[] = {out[0].data(), out[1].data()};
    if (product_run_buffers(&call, inputs, outputs) != HLO_OK) {
      std::printf("%s\n", message);
      fault("the model failed", threaded);
    }
    free(arena);
  }
  if (counting.loops == 0) {
    fault("the model had no loop for the executor", 0);
  }
  if (results[0][0] != results[1][0] || results[0][1] != results[1][1]) {
    fault("results differ", 0);
  }
}

int main() {
#if defined(WITH_TBB)
  hlo::tbb_executor adapter(3);
  const hlo_executor *executor = adapter.get();
#elif defined(WITH_OPENMP)
  hlo_executor adapter = hlo_openmp_executor(3);
  const hlo_executor *executor = &adapter;
#else
  Pool pool(2);
  hlo::threads_executor adapter(
      3, [&pool](std::function<void()> job) { pool.enqueue(std::move(job)); });
  const hlo_executor *executor = adapter.get();
#endif
  testContract(executor);
  testModel(executor);
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([executor] {
      for (int round = 0; round < 20; ++round) {
        testModel(executor);
      }
    });
  }
  for (std::thread &caller : callers) {
    caller.join();
  }
  std::printf("%u threads, %d faults\n", static_cast<unsigned>(executor->num_threads),
              faults.load());
  return faults != 0;
}
