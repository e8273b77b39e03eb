//===- Processes.h - This process among those of mpirun -------------------===//
#ifndef TOOLS_HLO_RUN_PROCESSES_H
#define TOOLS_HLO_RUN_PROCESSES_H

#include "tools/hlo-run/mpi/plugin.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace hlo::run {

/// One rank of a program that mpirun has started once for each rank. All processes call the same
/// functions in the same order; after an error on one of them, the next function that waits for the
/// others returns an error on each.
class Processes {
public:
  /// Starts MPI. `name`: of the module, for messages. `timeoutSeconds`: limit of a step of the run,
  /// which bounds how long to wait for others; 0: for ever, because one may compile for long.
  static llvm::Expected<std::unique_ptr<Processes>> start(llvm::StringRef name,
                                                          double timeoutSeconds);
  /// Ends MPI, when all processes do.
  ~Processes();

  uint32_t rank() const { return static_cast<uint32_t>(number); }
  uint32_t size() const { return static_cast<uint32_t>(count); }

  /// Succeeds if `own` is success on all processes. Otherwise an error: `own` with this process's
  /// number, or what another says. `what`: the step, for messages.
  llvm::Error agree(llvm::Error own, const char *what);
  /// agree(success), and an error unless all processes give the same bytes.
  llvm::Error compare(llvm::ArrayRef<char> bytes, const char *what);
  /// The bytes of process 0.
  llvm::Error share(llvm::MutableArrayRef<char> bytes, const char *what);
  /// Sends to another process, or receives what it sends to this one; the two call it at once.
  llvm::Error send(uint32_t to, llvm::ArrayRef<char> bytes, const char *what);
  llvm::Error receive(uint32_t from, llvm::MutableArrayRef<char> bytes, const char *what);

  /// Makes the value for hlo_call.comm, for the program's collectives. `timeoutSeconds` as in
  /// Ranks::create.
  llvm::Error connect(uint32_t partitions, double timeoutSeconds);
  const hlo_comm *comm() const { return program ? mpi->comm(program) : nullptr; }

private:
  Processes() = default;
  llvm::Error exchange(llvm::ArrayRef<int32_t> members, llvm::ArrayRef<hlo_comm_part> send,
                       llvm::ArrayRef<hlo_comm_part> receive, uint64_t tag, const char *what);
  llvm::Error transfer(uint32_t other, hlo_comm_part send, hlo_comm_part receive, const char *what);

  const hlo_run_mpi *mpi = nullptr;
  hlo_mpi *control = nullptr; ///< for the functions above
  hlo_mpi *program = nullptr; ///< for the program's collectives
  int32_t number = 0, count = 1;
  uint64_t steps = 0; ///< functions called that all processes call
  std::string name;
};

} // namespace hlo::run

#endif
