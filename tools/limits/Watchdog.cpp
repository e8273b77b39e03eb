//===- Watchdog.cpp - Ends the process when its time is over --------------===//
//
// In: a number of seconds. Out: exit code 7 after that time. Outputs are written under temporary
// names, which LLVM removes if a signal ends the process; the watchdog removes them too.
//
//===----------------------------------------------------------------------===//
#include "tools/limits/Watchdog.h"
#include "llvm/Support/Signals.h"
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <unistd.h>

using namespace hlo::tool;

Watchdog::Watchdog(double seconds, std::function<void()> report) {
  if (!(seconds > 0)) {
    return;
  }
  // A thousand days, so that adding it to a clock cannot overflow.
  constexpr double most = 86400e3;
  auto start = std::chrono::steady_clock::now();
  auto end = start + std::chrono::nanoseconds(static_cast<int64_t>(std::min(seconds, most) * 1e9));
  thread = std::jthread([end, report = std::move(report)](std::stop_token stop) {
    std::mutex mutex;
    std::condition_variable_any timer;
    std::unique_lock<std::mutex> lock(mutex);
    timer.wait_until(lock, stop, end, [] { return false; });
    if (stop.stop_requested()) {
      return;
    }
    report();
    llvm::sys::RunInterruptHandlers();
    _exit(exitTimeout);
  });
}
