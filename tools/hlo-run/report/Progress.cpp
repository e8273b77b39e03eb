//===- Progress.cpp - A sign of life on a terminal ------------------------===//
//
// A thread that rewrites one line of stderr each second. Started only if stderr is a terminal.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/report/Progress.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <condition_variable>
#include <mutex>

using namespace hlo::run;

Progress::Progress(std::string text) {
  if (llvm::sys::Process::StandardErrIsDisplayed()) {
    thread = std::jthread([what = std::move(text)](std::stop_token stop) { show(what, stop); });
  }
}

void Progress::show(const std::string &what, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any timer;
  std::unique_lock<std::mutex> lock(mutex);
  int seconds = 0;
  for (;;) {
    timer.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
    if (stop.stop_requested()) {
      break;
    }
    if (++seconds > 1) {
      llvm::errs() << "\r" << what << "  " << seconds << " s";
    }
  }
  if (seconds > 1) {
    llvm::errs() << "\r\033[K";
  }
}
