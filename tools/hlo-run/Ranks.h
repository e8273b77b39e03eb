//===- Ranks.h - A module's replicas and partitions as threads ------------===//
#ifndef TOOLS_HLO_RUN_RANKS_H
#define TOOLS_HLO_RUN_RANKS_H

#include "tools/hlo-run/Program.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <hlo/ranks.h>

namespace hlo::run {

/// The ranks of one run and their connection.
class Ranks {
public:
  /// `timeoutSeconds`: how long a rank waits for another in a collective; 0: two minutes.
  static llvm::Expected<Ranks> create(uint32_t replicas, uint32_t partitions,
                                      double timeoutSeconds);

  uint32_t count() const { return number; }
  /// The value for hlo_call.comm; null for a single rank.
  const hlo_comm *comm(uint32_t rank) const {
    return handle ? hlo_ranks_comm(handle.get(), static_cast<int32_t>(rank)) : nullptr;
  }
  /// Runs body(rank) for every rank, at the same time. Equal errors of several ranks become one.
  llvm::Error forEach(llvm::function_ref<llvm::Error(uint32_t)> body) const;

private:
  struct Destroy {
    void operator()(hlo_ranks *ranks) const { hlo_ranks_destroy(ranks); }
  };
  std::unique_ptr<hlo_ranks, Destroy> handle;
  uint32_t number = 1;
};

/// Runs all programs once, at the same time; returns the longest time in seconds.
llvm::Expected<double> runOnce(const Ranks &ranks, std::vector<Program> &programs);

/// One warm-up run, then as many as fit into `seconds`, at least three; times of rank 0.
llvm::Expected<Timing> bench(const Ranks &ranks, std::vector<Program> &programs, double seconds);

} // namespace hlo::run

#endif
