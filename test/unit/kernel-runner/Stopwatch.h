//===- Stopwatch.h - Seconds that a call takes ----------------------------===//
#ifndef TEST_UNIT_KERNEL_RUNNER_STOPWATCH_H
#define TEST_UNIT_KERNEL_RUNNER_STOPWATCH_H

#include <algorithm>
#include <ctime>
#include <functional>

namespace hlo::testing {

/// CPU seconds of this thread, which other programs disturb less.
inline double threadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

/// The best of at least three calls that take `total` seconds together, after one warm-up call.
inline double secondsOf(const std::function<void()> &body, double total = 0.3) {
  body();
  double best = 1e9, spent = 0;
  for (int i = 0; i < 3 || (spent < total && i < 1000); ++i) {
    double start = threadSeconds();
    body();
    double seconds = threadSeconds() - start;
    best = std::min(best, seconds);
    spent += seconds;
  }
  return best;
}

} // namespace hlo::testing

#endif
