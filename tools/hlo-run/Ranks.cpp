//===- Ranks.cpp - A module's replicas and partitions as threads ----------===//
//
// Each rank is a thread, or a process, with its own Program; they interact only in collectives. The
// number of measured runs is fixed in advance, because all ranks must make the same number.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/Ranks.h"
#include "compiler/support/Checked.h"
#include "tools/hlo-run/Error.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <thread>

using namespace llvm;
using namespace hlo::run;

Expected<Ranks> Ranks::create(uint32_t replicas, uint32_t partitions, double timeoutSeconds) {
  Ranks ranks;
  ranks.number = replicas * partitions;
  ranks.numPartitions = partitions;
  if (ranks.number > 1) {
    double seconds = timeoutSeconds > 0 ? timeoutSeconds : 120;
    ranks.handle.reset(hlo_ranks_create(static_cast<int32_t>(replicas),
                                        static_cast<int32_t>(partitions),
                                        hlo::saturatingNanoseconds(seconds)));
    if (!ranks.handle) {
      return makeError(ExitRun, "cannot make " + Twine(ranks.number) + " ranks");
    }
  }
  return std::move(ranks);
}

Expected<Ranks> Ranks::create(Processes &processes, uint32_t partitions, double timeoutSeconds) {
  Ranks ranks;
  ranks.processes = &processes;
  ranks.number = processes.size();
  ranks.numPartitions = partitions;
  if (Error e = processes.connect(partitions, timeoutSeconds > 0 ? timeoutSeconds : 120)) {
    return std::move(e);
  }
  return std::move(ranks);
}

Error Ranks::forEach(function_ref<Error(uint32_t)> body) const {
  if (here() == 1) {
    return body(0);
  }
  std::vector<Error> errors;
  for (uint32_t rank = 0; rank < number; ++rank) {
    errors.push_back(Error::success());
    cantFail(std::move(errors.back())); // checked, so that it can be assigned to
  }
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < number; ++rank) {
    threads.emplace_back([&, rank] { errors[rank] = body(rank); });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  MapVector<std::string, std::pair<int, std::vector<std::string>>, StringMap<unsigned>> texts;
  for (uint32_t rank = 0; rank < number; ++rank) {
    handleAllErrors(std::move(errors[rank]), [&](const RunError &error) {
      auto &[code, list] = texts[error.getText()];
      code = error.getExitCode();
      list.push_back(std::to_string(rank));
    });
  }
  Error all = Error::success();
  for (auto &[text, who] : texts) {
    auto &[code, list] = who;
    all = joinErrors(std::move(all), makeError(code, (list.size() > 1 ? "ranks " : "rank ") +
                                                         join(list, ", ") + ": " + text));
  }
  return all;
}

Expected<double> hlo::run::runOnce(const Ranks &ranks, std::vector<Program> &programs) {
  std::vector<double> seconds(programs.size());
  Error error = ranks.forEach([&](uint32_t rank) -> Error {
    Expected<double> time = programs[rank].run();
    if (!time) {
      return time.takeError();
    }
    seconds[rank] = *time;
    return Error::success();
  });
  if ((error = ranks.agree(std::move(error), "run"))) {
    return std::move(error);
  }
  return *std::max_element(seconds.begin(), seconds.end());
}

Expected<Timing> hlo::run::bench(const Ranks &ranks, std::vector<Program> &programs,
                                 double seconds) {
  if (ranks.count() == 1) {
    return programs.front().bench(seconds);
  }
  Expected<double> warm = runOnce(ranks, programs);
  if (!warm) {
    return warm.takeError();
  }
  constexpr double mostRuns = 1e6;
  uint64_t runs = std::clamp(seconds / std::max(*warm, 1e-6), 3.0, mostRuns);
  if (ranks.others()) {
    MutableArrayRef<char> bytes(reinterpret_cast<char *>(&runs), sizeof runs);
    if (Error e = ranks.others()->share(bytes, "runs")) {
      return std::move(e);
    }
  }
  std::vector<double> times(runs);
  Error error = ranks.forEach([&](uint32_t rank) -> Error {
    for (double &time : times) {
      Expected<double> one = programs[rank].run();
      if (!one) {
        return one.takeError();
      }
      if (rank == 0) {
        time = *one;
      }
    }
    return Error::success();
  });
  if ((error = ranks.agree(std::move(error), "run"))) {
    return std::move(error);
  }
  std::sort(times.begin(), times.end());
  return Timing{times.front(), times[times.size() / 2], times.size()};
}
