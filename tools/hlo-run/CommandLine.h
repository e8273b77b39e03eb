//===- CommandLine.h - The flags of hlo-run -------------------------------===//
#ifndef TOOLS_HLO_RUN_COMMANDLINE_H
#define TOOLS_HLO_RUN_COMMANDLINE_H

#include "compiler/support/Options.h"
#include "tools/hlo-run/Feeds.h"
#include "tools/hlo-run/GuardPages.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hlo::run {

/// A parsed command line.
struct CommandLine {
  std::string module;          ///< HLO text; "-" is standard input
  std::string inputs, outputs; ///< .npz files; empty: random inputs, no file
  uint64_t seed = 0;           ///< of random inputs
  uint64_t rngSeed = 0;        ///< hlo_call.rng_seed
  uint32_t threads = 1;
  uint32_t replicas = 0, partitions = 0; ///< 0: what the module says
  std::optional<double> benchSeconds;    ///< absent: run once
  double timeoutSeconds = 0;             ///< of a run; 0: none
  bool json = false;
  bool global = false; ///< files hold whole arrays, of which the ranks have shards
  bool mpi = false;    ///< this process is one rank of those that mpirun has started
  bool silent = false; ///< another process prints
  bool prints() const { return !json && !silent; } ///< text on stdout
  bool profile = false;                            ///< print what each operation costs
  bool signature = false;                          ///< print names and types, and do not run
  bool explainPlan = false;             ///< print the candidates of each kernel, and do not run
  std::optional<double> measureSeconds; ///< of each candidate; absent: candidates are not measured
  std::vector<PlanRequest> plans;       ///< candidates that kernels shall use
  EntryLayouts entryLayouts = EntryLayouts::Auto;
  std::string triple;   ///< to compile for; empty: this machine's
  std::string emulator; ///< command that runs programs of `triple`; empty: the usual one
  std::string cpu;      ///< to compile for; empty: the default of `triple`
  std::string features; ///< on top of those of the CPU, "+a,-b"
  std::vector<std::string> dispatch; ///< CPU levels to compile for, instead of `cpu`
  int32_t cpuLevel = 0;              ///< one of them, from 1; 0: what the CPU supports
  StreamPaths streams;
  std::vector<std::string> customCalls; ///< libraries
  bool flushDenormals = false;
  bool quantizeActivations = false;
  unsigned sizeVersions = 0; ///< as in CompileOptions
  DynamicBuffers dynamicBuffers = DynamicBuffers::Auto;
  GuardSide guard = GuardSide::None;          ///< of all buffers
  std::optional<std::string> immutableParams; ///< as for hlo-compile
  std::vector<SizeBound> bounds;              ///< as for hlo-compile
  std::vector<SpecialSizes> specialize;       ///< as for hlo-compile
  /// Whether the module runs in a process of its own: see Remote.h.
  bool runsRemotely() const { return !triple.empty() || !emulator.empty(); }
  unsigned jobs = 0; ///< threads of the compiler; 0: one per CPU
  Budget budget;     ///< bounds of the compilation
};

/// Returns an exit code if there is nothing to run: after --help and the like, or after reporting a
/// mistake or an unsupported flag.
std::optional<int> parseCommandLine(int argc, char **argv, CommandLine &line);

} // namespace hlo::run

#endif
