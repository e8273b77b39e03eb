//===- Progress.cpp - A sign of life on a terminal ------------------------===//
//
// A thread that rewrites one line of stderr each second. Not started unless stderr is
// a terminal.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/Progress.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace hlo::run;

Progress::Progress(std::string text) : what(std::move(text)) {
  if (llvm::sys::Process::StandardErrIsDisplayed()) {
    thread = std::thread([this] { show(); });
  }
}

Progress::~Progress() {
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

void Progress::show() {
  std::unique_lock<std::mutex> lock(mutex);
  int seconds = 0;
  while (!changed.wait_for(lock, std::chrono::seconds(1), [this] { return done; })) {
    if (++seconds > 1) {
      llvm::errs() << "\r" << what << "  " << seconds << " s";
    }
  }
  if (seconds > 1) {
    llvm::errs() << "\r\033[K";
  }
}
