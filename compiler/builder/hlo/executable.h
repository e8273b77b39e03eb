//===- hlo/executable.h - Compiling and running computations ---*- C++ -*-===//
//
// Part of the C++ builder. Licensed under Apache-2.0 WITH LLVM-exception.
//
// Status codes are those of the C API: InvalidArgument for errors of the computation, of
// options and of arguments; Unimplemented for valid HLO that is not compiled; ResourceExhausted for
// limits; Cancelled; Internal for faults of the compiler.
//
//===----------------------------------------------------------------------===//
#ifndef HLO_EXECUTABLE_H
#define HLO_EXECUTABLE_H

#include "absl/functional/any_invocable.h"
#include <hlo/compiler.h>
#include <hlo/computation.h>
#include <hlo/literal.h>
#include <hlo/pool.h>

namespace hlo {

/// Options of Compile and Jit. Empty strings and zeros are the defaults of the command line, except
/// that Jit compiles for this machine's CPU. Read during the call only; can be moved, not copied.
struct CompileOptions {
  std::string name;                  ///< prefix of the symbols; default: the computation's name
  std::string target;                ///< triple
  std::string cpu;                   ///< name as for --cpu, or "host"
  std::string features;              ///< "+a,-b"
  std::vector<std::string> dispatch; ///< CPU levels, as for --dispatch
  /// As for --immutable-params. An Executable then needs RunOptions.call.prepared, which
  /// description()->prepare writes.
  std::string immutable_params;
  std::uint32_t emit = 0; ///< sum of HLO_EMIT_*; 0: object and header
  /// Of HLO_EMIT_CXX_HEADER, "a::b"; default: the computation's name.
  std::string cxx_namespace;
  std::uint32_t flags = 0;           ///< sum of HLO_COMPILE_*
  std::uint32_t jobs = 0;            ///< threads of the compiler; 0: one for each CPU
  std::int32_t opt_level = 2;        ///< 0 to 3
  std::uint32_t replicas = 0;        ///< 0: what the module says
  std::uint32_t partitions = 0;      ///< 0: what the module says
  std::uint64_t max_arena_bytes = 0; ///< 0: no limit
  std::uint64_t max_stack_bytes = 0; ///< 0: no limit
  /// If not null, read during the compilation; once it is not 0, that ends soon with Cancelled.
  const std::int32_t *cancel = nullptr;
  /// If not null, called when a phase begins, with zeros, and after each group of kernels: `done`
  /// of `total` groups have machine code. Calls come one at a time, from threads of the compiler.
  absl::AnyInvocable<void(absl::string_view phase, std::uint32_t done, std::uint32_t total) const>
      progress;
};

/// A message of the compiler about the computation.
struct Diagnostic {
  enum Severity {
    kNote = HLO_NOTE,
    kRemark = HLO_REMARK,
    kWarning = HLO_WARNING,
    kError = HLO_ERROR
  };
  Severity severity = kError;
  std::string code; ///< label of the violated rule, or ""
  std::string message;
  std::string file; ///< "" if the message has no place
  std::uint32_t line = 0, column = 0;
};

/// What a compilation made; artifacts that were not asked for are empty.
struct Artifacts {
  std::string prefix;     ///< of the object's symbols
  std::string object;     ///< ELF relocatable
  std::string header;     ///< C header of the object
  std::string cxx_header; ///< C++17 header of the object
  std::string assembly, llvm, bitcode, hlo, signature;
  std::vector<Diagnostic> diagnostics; ///< warnings, and remarks with HLO_COMPILE_REMARKS
};

/// Compiles to an object file. The status of an error has the compiler's messages;
/// FailedPrecondition if there is no computation.
absl::StatusOr<Artifacts> Compile(const XlaComputation &computation,
                                  const CompileOptions &options = CompileOptions());

/// How a computation runs.
struct RunOptions {
  /// Threads, with the caller's; 0: one for each CPU that the process may use.
  std::uint32_t threads = 1;
  /// What else a call may have: custom calls, feeds, ranks, seed, cancellation, deadline. Memory,
  /// executor and message may be null; they are then the Executable's.
  hlo_call call = hlo_call_init();
};

/// A compiled computation in memory. A value: copies share it; it is freed with the last one. Any
/// number of threads may run it at once. Threads and scratch memory are kept for later calls.
class Executable {
public:
  /// Arguments in, results out, copied. One literal per parameter; a tuple parameter takes a tuple.
  /// A tuple result gives one literal for each of its elements. Where the computation has a bound
  /// <=N, arguments have any size up to N, and results the sizes of the run.
  ///
  /// InvalidArgument if arguments do not have the parameters' shapes; otherwise the run's status.
  absl::StatusOr<std::vector<Literal>> Run(absl::Span<const Literal> arguments,
                                           const RunOptions &options = RunOptions()) const;
  absl::StatusOr<std::vector<Literal>> Run(absl::Span<const Literal *const> arguments,
                                           const RunOptions &options = RunOptions()) const;

  /// Without copies: buffers as hlo_module_desc describes them, inputs and outputs, leaves of
  /// tuples depth first, sizes of bounded dimensions at the end. Row-major unless the computation
  /// was compiled with other layouts. They belong to the caller and are used during the call.
  absl::Status RunBuffers(absl::Span<const void *const> inputs, absl::Span<void *const> outputs,
                          const RunOptions &options = RunOptions()) const;

  const ProgramShape &program_shape() const;
  /// Names, sizes and layouts of all buffers. Belongs to the executable.
  const hlo_module_desc *description() const;
  /// The compiler's warnings.
  const std::vector<Diagnostic> &diagnostics() const;

private:
  friend absl::StatusOr<Executable> Jit(const XlaComputation &, const CompileOptions &);
  struct State;
  explicit Executable(std::shared_ptr<State> state) : state(std::move(state)) {}
  std::shared_ptr<State> state;
};

/// Compiles for this machine, in memory. Errors as Compile's.
absl::StatusOr<Executable> Jit(const XlaComputation &computation,
                               const CompileOptions &options = CompileOptions());

} // namespace hlo

#endif
