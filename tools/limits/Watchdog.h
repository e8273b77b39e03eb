//===- Watchdog.h - Ends the process when its time is over ----------------===//
#ifndef TOOLS_LIMITS_WATCHDOG_H
#define TOOLS_LIMITS_WATCHDOG_H

#include <functional>
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

private:
  std::jthread thread; ///< told to stop, and waited for, by its destructor
};

} // namespace hlo::tool

#endif
