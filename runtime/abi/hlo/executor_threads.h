/*===- hlo/executor_threads.h - Modules on a thread pool of the program's own ------===*\
 *
 * C++11. An hlo_executor over anything that runs a std::function<void()> on some thread:
 *
 *   MyPool pool(8);
 *   auto submit = [&pool](std::function<void()> job) { pool.enqueue(std::move(job)); };
 *   hlo::threads_executor executor(8, submit);
 *   call.exec = executor.get();
 *
 * The calling thread works as well, so a busy pool does not delay a call.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef HLO_EXECUTOR_THREADS_H
#define HLO_EXECUTOR_THREADS_H

#include <hlo/rt.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace hlo {

/** It must live as long as calls use it. `submit` must not throw, and must be callable from several
 * threads if calls are made from several. */
class threads_executor {
 public:
  /** `num_threads`: threads of one loop, including the caller's. */
  threads_executor(uint32_t num_threads, std::function<void(std::function<void()>)> submit)
      : submit_(std::move(submit)), executor_() {
    executor_.struct_size = static_cast<uint32_t>(sizeof(executor_));
    executor_.num_threads = num_threads > 0 ? num_threads : 1;
    executor_.user = this;
    executor_.parallel_for = parallel_for;
  }
  threads_executor(const threads_executor &) = delete;
  threads_executor &operator=(const threads_executor &) = delete;

  const hlo_executor *get() const { return &executor_; }

 private:
  typedef void (*task)(void *, int64_t);

  /* Shared with jobs that may start after the loop has ended; those find no index left. */
  struct loop {
    loop(task f, void *a, int64_t count) : fn(f), arg(a), n(count), next(0), done(0) {}
    void work() {
      int64_t finished = 0;
      for (int64_t i; (i = next.fetch_add(1)) < n; ++finished) {
        fn(arg, i);
      }
      if (finished > 0 && done.fetch_add(finished) + finished == n) {
        std::lock_guard<std::mutex> guard(mutex);
        changed.notify_all();
      }
    }
    void wait() {
      std::unique_lock<std::mutex> guard(mutex);
      while (done.load() < n) {
        changed.wait(guard);
      }
    }
    const task fn;
    void *const arg;
    const int64_t n;
    std::atomic<int64_t> next, done;
    std::mutex mutex;
    std::condition_variable changed;
  };

  static void parallel_for(void *user, task fn, void *arg, int64_t n) {
    threads_executor *self = static_cast<threads_executor *>(user);
    if (n <= 0) {
      return;
    }
    const int64_t threads = self->executor_.num_threads;
    const std::shared_ptr<loop> shared = std::make_shared<loop>(fn, arg, n);
    for (int64_t i = 1; i < (n < threads ? n : threads); ++i) {
      self->submit_([shared] { shared->work(); });
    }
    shared->work();
    shared->wait();
  }

  std::function<void(std::function<void()>)> submit_;
  hlo_executor executor_;
};

} /* namespace hlo */

#endif /* HLO_EXECUTOR_THREADS_H */
