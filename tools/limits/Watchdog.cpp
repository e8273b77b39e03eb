//===- Watchdog.cpp - Ends the process when its time is over --------------===//
//
// In: a number of seconds. Out: exit code 7 after them. Outputs are written under temporary names
// that LLVM removes when a signal ends the process; the same happens here.
//
//===----------------------------------------------------------------------===//
#include "tools/limits/Watchdog.h"
#include "llvm/Support/Signals.h"
#include <algorithm>
#include <chrono>
#include <unistd.h>

using namespace hlo::tool;

Watchdog::Watchdog(double seconds, std::function<void()> report) {
  if (!(seconds > 0)) {
    return;
  }
  // A thousand days, so that no sum with the clock overflows.
  constexpr double most = 86400e3;
  auto start = std::chrono::steady_clock::now();
  auto end = start + std::chrono::nanoseconds(static_cast<int64_t>(std::min(seconds, most) * 1e9));
  thread = std::thread([this, end, report = std::move(report)] {
    std::unique_lock<std::mutex> lock(mutex);
    if (changed.wait_until(lock, end, [this] { return done; })) {
      return;
    }
    report();
    llvm::sys::RunInterruptHandlers();
    _exit(exitTimeout);
  });
}

Watchdog::~Watchdog() {
  if (!thread.joinable()) {
    return;
  }
  {
    std::lock_guard<std::mutex> lock(mutex);
    done = true;
  }
  changed.notify_all();
  thread.join();
}
