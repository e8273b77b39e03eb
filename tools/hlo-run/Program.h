//===- Program.h - A compiled module, loaded and called -------------------===//
#ifndef TOOLS_HLO_RUN_PROGRAM_H
#define TOOLS_HLO_RUN_PROGRAM_H

#include "compiler/jit/Load.h"
#include "tools/hlo-run/CustomCalls.h"
#include "tools/hlo-run/Feeds.h"
#include "tools/hlo-run/Remote.h"
#include "tools/hlo-run/arrays/Leaf.h"
#include "tools/hlo-run/arrays/Packed.h"
#include "tools/hlo-run/report/Profile.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <hlo/pool.h>
#include <hlo/rt.h>
#include <memory>
#include <vector>

namespace hlo::run {

/// Times of successive runs, in seconds.
struct Timing {
  double min = 0, median = 0;
  uint64_t runs = 0;
};

/// A module with everything that a call needs: buffers, arena, threads.
class Program {
public:
  /// Allocates every leaf and the arena. An output that may share its input's buffer does. With a
  /// GuardSide, all of it is next to inaccessible pages on that side, with only the required
  /// alignment, and inputs that no output shares are read-only during a run. With `remote`, whose
  /// description `desc` is, another process calls the module, as its rank `rank`.
  static llvm::Expected<Program> create(const hlo_module_desc &desc, uint32_t threads,
                                        GuardSide guard = GuardSide::None, Remote *remote = nullptr,
                                        uint32_t rank = 0);
  ~Program();
  Program(Program &&);

  /// The module's description, with one element per byte in leaves of smaller types.
  const hlo_module_desc &describe() const { return view.describe(); }
  char *input(uint32_t i) { return (unpackedInputs[i] ? unpackedInputs : inputs)[i].data(); }
  const char *output(uint32_t i) const {
    return unpackedOutputs[i] ? unpackedOutputs[i].data()
                              : static_cast<const char *>(outputPointers[i]);
  }
  /// Copies the inputs that a run overwrites. Call it once they are filled, if there will be more
  /// than one run.
  llvm::Error keepInputs();
  /// Sets a limit of `deadlineNs` after the start (CLOCK_MONOTONIC; 0: none).
  void setDeadline(int64_t deadlineNs) { deadline = deadlineNs; }

  /// Seeds the module's random numbers.
  void setRngSeed(uint64_t seed) { rngSeed = seed; }

  /// Chooses a CPU level of an object that has several: hlo_call.cpu_level.
  void setCpuLevel(int32_t level) { cpuLevel = level; }

  /// Files for infeeds, outfeeds and host transfers.
  void setStreams(Streams files) { streams = std::move(files); }
  Streams &getStreams() { return streams; }
  /// Handlers of custom calls; `calls` must outlive this.
  void setCustomCalls(const CustomCalls *calls) { customCalls = calls; }

  /// Its rank among several; null: a single rank.
  void setComm(const hlo_comm *place) { comm = place; }

  /// Fills the prepared block of a module that has one, once the inputs are filled; returns the
  /// time in seconds. Call it before the first run.
  llvm::Expected<double> prepare();
  uint64_t preparedBytes() const { return desc->prepared_bytes; }

  /// What a run on these inputs needs of the arena.
  uint64_t arenaBytes(uint32_t threads) const;

  /// Starts a new profile of the following runs.
  void startProfile();
  const Profile &getProfile() const { return profile; }

  /// Runs once on the inputs as they were filled; returns the time in seconds.
  llvm::Expected<double> run();
  /// One warm-up run, then as many as fit into `seconds`, at least three.
  llvm::Expected<Timing> bench(double seconds);

private:
  Program() = default;
  void addInput(const hlo_buffer_desc &leaf, const Memory &memory);
  void addOutput(const hlo_buffer_desc &leaf, const Memory &memory);
  llvm::Error takeScratch(uint32_t threads, GuardSide guard);
  llvm::Expected<double> runHere(const hlo_call &call, bool first);
  llvm::Expected<double> runThere(const hlo_call &call, bool first);
  void packInputs();
  void setInputsWritable(bool writable);
  const hlo_module_desc *desc = nullptr;
  Remote *remote = nullptr; ///< null: the module is called here
  GuardSide guard = GuardSide::None;
  uint32_t rank = 0; ///< of `remote`
  hlo_pool *pool = nullptr;
  int64_t deadline = 0;
  uint64_t rngSeed = 0;
  int32_t cpuLevel = 0;
  Streams streams;
  const CustomCalls *customCalls = nullptr;
  const hlo_comm *comm = nullptr;
  hlo_call makeCall(char *message, size_t bytes, bool prepares);
  /// Of the inputs that are sizes.
  std::vector<int64_t> sizes() const;
  /// Before the first run: with guard pages after buffers, moves dense ones to their ends.
  void placeDense();
  Memory arena, state, prepared;
  std::vector<Memory> inputs, outputs;
  UnpackedView view;
  Profile profile;
  std::vector<Memory> unpackedInputs,
      unpackedOutputs; ///< empty where the module's own buffers are not packed
  std::vector<std::pair<uint32_t, Memory>> kept; ///< input number and its original contents
  bool fresh = true;                             ///< inputs are unchanged since they were filled
  std::vector<const void *> inputPointers;
  std::vector<void *> outputPointers;
  std::vector<hlo_view> inputViews, outputViews; ///< the same, with their sizes
};

} // namespace hlo::run

#endif
