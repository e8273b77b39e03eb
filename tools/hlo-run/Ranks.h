//===- Ranks.h - A module's replicas and partitions as threads ------------===//
#ifndef TOOLS_HLO_RUN_RANKS_H
#define TOOLS_HLO_RUN_RANKS_H

#include "tools/hlo-run/Processes.h"
#include "tools/hlo-run/Program.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <hlo/ranks.h>

namespace hlo::run {

/// The ranks of one run and their connection: threads of this process, or processes of which this
/// one is a rank.
class Ranks {
public:
  /// `timeoutSeconds`: how long a rank waits for another in a collective; 0: two minutes.
  static llvm::Expected<Ranks> create(uint32_t replicas, uint32_t partitions,
                                      double timeoutSeconds);

  /// The ranks of a program with so many partitions that are `processes`, which must outlive this.
  static llvm::Expected<Ranks> create(Processes &processes, uint32_t partitions,
                                      double timeoutSeconds);

  uint32_t count() const { return number; }
  /// Those of this process: first(), first() + 1, ..., as many as here().
  uint32_t first() const { return processes ? processes->rank() : 0; }
  uint32_t here() const { return processes ? 1 : number; }
  /// The other processes; null if all ranks are here.
  Processes *others() const { return processes; }
  uint32_t partitions() const { return numPartitions; }
  /// The value for hlo_call.comm; null for a single rank.
  const hlo_comm *comm(uint32_t rank) const {
    return processes ? processes->comm()
           : handle  ? hlo_ranks_comm(handle.get(), static_cast<int32_t>(rank))
                     : nullptr;
  }
  /// Runs body(i) for every rank first() + i of this process, at the same time. Equal errors of
  /// several ranks become one.
  llvm::Error forEach(llvm::function_ref<llvm::Error(uint32_t)> body) const;
  /// Success if `own` and those of all other processes are.
  llvm::Error agree(llvm::Error own, const char *what) const {
    return processes ? processes->agree(std::move(own), what) : std::move(own);
  }

private:
  struct Destroy {
    void operator()(hlo_ranks *ranks) const { hlo_ranks_destroy(ranks); }
  };
  std::unique_ptr<hlo_ranks, Destroy> handle;
  Processes *processes = nullptr;
  uint32_t number = 1, numPartitions = 1;
};

/// Runs the programs of this process's ranks once, at the same time as others; returns the longest
/// time here in seconds.
llvm::Expected<double> runOnce(const Ranks &ranks, std::vector<Program> &programs);

/// One warm-up run, then as many as fit into `seconds`, at least three; times of the first rank
/// here.
llvm::Expected<Timing> bench(const Ranks &ranks, std::vector<Program> &programs, double seconds);

} // namespace hlo::run

#endif
