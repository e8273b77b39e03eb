//===- Progress.h - A sign of life on a terminal --------------------------===//
#ifndef TOOLS_HLO_RUN_PROGRESS_H
#define TOOLS_HLO_RUN_PROGRESS_H

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace hlo::run {

/// While it lives and stderr is a terminal: a line "compiling model.hlo  12 s" there, from the
/// second second on; wiped at the end. Otherwise nothing at all.
class Progress {
public:
  explicit Progress(std::string what);
  ~Progress();

private:
  void show();
  std::string what;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::thread thread;
};

} // namespace hlo::run

#endif
