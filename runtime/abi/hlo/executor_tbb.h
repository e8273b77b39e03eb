/*===- hlo/executor_tbb.h - Modules on oneTBB's threads ----------------------------===*\
 *
 * C++11, with oneTBB's headers; link with -ltbb.
 *
 *   hlo::tbb_executor executor;        // or executor(8)
 *   call.exec = executor.get();
 *
 *===-------------------------------------------------------------------------===*/
#ifndef HLO_EXECUTOR_TBB_H
#define HLO_EXECUTOR_TBB_H

#include <hlo/rt.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

namespace hlo {

/** A oneTBB arena. It must live as long as calls use it; any number of calls may use it at once,
 * and share its threads. */
class tbb_executor {
 public:
  /** `num_threads`: threads that may work at once, including the caller's; by default oneTBB's
   * number. */
  explicit tbb_executor(int num_threads = tbb::task_arena::automatic)
      : arena_(num_threads), executor_() {
    arena_.initialize();
    executor_.struct_size = static_cast<uint32_t>(sizeof(executor_));
    executor_.num_threads = static_cast<uint32_t>(arena_.max_concurrency());
    executor_.user = &arena_;
    executor_.parallel_for = parallel_for;
  }
  tbb_executor(const tbb_executor &) = delete;
  tbb_executor &operator=(const tbb_executor &) = delete;

  const hlo_executor *get() const { return &executor_; }

 private:
  static void parallel_for(void *user, void (*fn)(void *, int64_t), void *arg, int64_t n) {
    static_cast<tbb::task_arena *>(user)->execute([=] {
      /* The runtime has already split the loop into pieces of task size. */
      tbb::parallel_for(
          tbb::blocked_range<int64_t>(0, n, 1),
          [=](const tbb::blocked_range<int64_t> &range) {
            for (int64_t i = range.begin(); i != range.end(); ++i) {
              fn(arg, i);
            }
          },
          tbb::simple_partitioner());
    });
  }

  tbb::task_arena arena_;
  hlo_executor executor_;
};

} /* namespace hlo */

#endif /* HLO_EXECUTOR_TBB_H */
