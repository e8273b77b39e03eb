//===- Remote.h - A module of another architecture, under an emulator ------===//
#ifndef TOOLS_HLO_RUN_REMOTE_H
#define TOOLS_HLO_RUN_REMOTE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <hlo/rt.h>
#include <memory>
#include <string>
#include <vector>

namespace hlo::run {

/// Where and how a module runs that this process cannot call.
struct RemoteOptions {
  std::string triple;   ///< normalized, of the module
  std::string emulator; ///< a command with arguments; empty: the usual one of the architecture
  uint32_t threads = 1; ///< of each rank
  double timeoutSeconds = 0;
  std::vector<std::string> customCalls; ///< libraries of that architecture
  int32_t cpuLevel = 0;                 ///< hlo_call.cpu_level
};

/// A compiled module in a process of its own, which the guest (guest/) serves: buffers are sent
/// there and back for each call. The process ends with this.
class Remote {
public:
  /// Links the object for its architecture and asks the guest for its description. The runtime and
  /// the guest are those of lib/ARCH-linux-ENV next to this program.
  static llvm::Expected<std::unique_ptr<Remote>>
  load(llvm::StringRef object, llvm::StringRef prefix, const RemoteOptions &options);
  ~Remote();

  /// Without `run` and `prepare`, which nothing here can call.
  const hlo_module_desc &describe() const;
  /// Starts the process that calls the module, with so many ranks. Call it once.
  llvm::Error start(uint32_t replicas, uint32_t partitions);

  /// hlo_check and then hlo_run_checked, on one thread for each rank. Of `call` it uses feeds,
  /// deadline_ns, rng_seed, profile and message. `seconds`: without the time of sending.
  llvm::Expected<hlo_status> run(uint32_t rank, const hlo_call &call, bool first,
                                 llvm::ArrayRef<hlo_view> inputs, llvm::ArrayRef<hlo_view> outputs,
                                 double &seconds);
  /// hlo_prepare_checked; the prepared block stays there.
  llvm::Expected<hlo_status> prepare(uint32_t rank, const hlo_call &call,
                                     llvm::ArrayRef<hlo_view> inputs, double &seconds);

private:
  struct Impl;
  explicit Remote(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace hlo::run

#endif
