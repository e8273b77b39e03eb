//===- Watchdog.h - Ends the process when its time is over ----------------===//
#ifndef TOOLS_LIMITS_WATCHDOG_H
#define TOOLS_LIMITS_WATCHDOG_H

#include <functional>
#include <thread>

namespace hlo::tool {

/// Exit code of all tools when --timeout passes.
inline constexpr int exitTimeout = 7;

/// LLVM offers no way to interrupt a compilation. A Watchdog waits on a thread; after `seconds` it
/// calls `report`, removes incomplete files and ends the process with exitTimeout. With 0 seconds
/// it does nothing.
class Watchdog {
public:
  Watchdog(double seconds, std::function<void()> report);

private:
  std::jthread thread; ///< its destructor stops and joins it
};

} // namespace hlo::tool

#endif
