//===- Progress.h - A sign of life on a terminal --------------------------===//
#ifndef TOOLS_HLO_RUN_PROGRESS_H
#define TOOLS_HLO_RUN_PROGRESS_H

#include <string>
#include <thread>

namespace hlo::run {

/// While it lives and stderr is a terminal: a line "compiling model.hlo  12 s" there, from the
/// second second on; wiped at the end. Otherwise nothing at all.
class Progress {
public:
  explicit Progress(std::string what);

private:
  static void show(const std::string &what, std::stop_token stop);
  std::jthread thread; ///< told to stop, and waited for, by its destructor
};

} // namespace hlo::run

#endif
