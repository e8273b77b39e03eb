//===- Progress.h - A sign of life on a terminal --------------------------===//
#ifndef TOOLS_HLO_RUN_REPORT_PROGRESS_H
#define TOOLS_HLO_RUN_REPORT_PROGRESS_H

#include <string>
#include <thread>

namespace hlo::run {

/// While it exists and stderr is a terminal, shows a line "compiling model.hlo  12 s" there, from
/// the second second on; erases it at the end. Otherwise does nothing.
class Progress {
public:
  explicit Progress(std::string what);

private:
  static void show(const std::string &what, std::stop_token stop);
  std::jthread thread; ///< its destructor stops and joins it
};

} // namespace hlo::run

#endif
