//===- Watchdog.h - Ends the process when its time is over ----------------===//
#ifndef TOOLS_LIMITS_WATCHDOG_H
#define TOOLS_LIMITS_WATCHDOG_H

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace hlo::tool {

/// Exit code of all tools if --timeout passed.
inline constexpr int exitTimeout = 7;

/// A compilation cannot be interrupted: LLVM has no place to ask. While a Watchdog lives it waits
/// on a thread; after `seconds` it calls `report`, removes the files that are half written and ends
/// the process with exitTimeout. With 0 seconds it does nothing.
class Watchdog {
public:
  Watchdog(double seconds, std::function<void()> report);
  ~Watchdog();
  Watchdog(const Watchdog &) = delete;
  Watchdog &operator=(const Watchdog &) = delete;

private:
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::thread thread;
};

} // namespace hlo::tool

#endif
