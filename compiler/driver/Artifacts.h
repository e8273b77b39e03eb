//===- Artifacts.h - Results of a compilation -----------------------------===//
#ifndef COMPILER_DRIVER_ARTIFACTS_H
#define COMPILER_DRIVER_ARTIFACTS_H

#include "compiler/support/KernelPlan.h"
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hlo {

/// Whose fault a failed compilation is; the value is the tools' exit code.
enum class ErrorKind : int {
  None = 0,
  Input = 1,       ///< the text is not valid HLO
  Usage = 2,       ///< an option: unknown CPU, bad name
  File = 3,        ///< `dumpDir` cannot be written
  Unsupported = 4, ///< valid HLO that this version does not compile
  Limit = 5,       ///< a user's limit is exceeded, or a bound of support/Budget.h
  Internal = 70,   ///< the compiler's own fault
  Cancelled = 130  ///< CompileOptions::cancel
};

/// Time that phase optimize spent on one LLVM module of kernels. Several threads work on modules,
/// so the sum may exceed the time of the phase.
struct ModuleTime {
  std::string kernels;      ///< names of the functions, "a, b"; "entry"
  double lowerSeconds = 0;  ///< MLIR to LLVM IR
  double passesSeconds = 0; ///< LLVM's passes over the IR
  double codeSeconds = 0;   ///< instruction selection to object file
  double seconds() const { return lowerSeconds + passesSeconds + codeSeconds; }
};

/// One message of a compilation, as a value; in order, notes after what they belong to.
struct Message {
  enum class Severity { Note, Remark, Warning, Error };
  Severity severity = Severity::Error;
  std::string code;              ///< label of the violated rule, "dot_c3"; empty if there is none
  std::string text;              ///< without place and label
  std::string file;              ///< empty if the message has no place
  unsigned line = 0, column = 0; ///< from 1; 0 if the message has no place
};

/// The results of a compilation. Strings that were not asked for stay empty.
struct Artifacts {
  std::string object;           ///< ELF relocatable, Emit::Object
  std::string assembly;         ///< Emit::Assembly
  std::string llvmIr;           ///< optimized LLVM IR as text, Emit::LlvmIr
  std::string bitcode;          ///< the same as bitcode, Emit::Bitcode
  std::string mlir;             ///< the module when compilation stopped, Emit::Mlir
  std::string hlo;              ///< the same as HLO text, Emit::Hlo
  std::string header;           ///< C header, Emit::Header
  std::string cxxHeader;        ///< C++ header, Emit::CxxHeader
  std::string customCallList;   ///< "TARGET API_VERSION" lines, Emit::CustomCallList
  std::string customCallHeader; ///< C prototypes of the targets, Emit::CustomCallHeader
  std::string signature; ///< names, types, layouts and aliases of the entry's arrays, as text
  /// The names of the entry's parameters in the text, one for each of the object's inputs.
  std::vector<std::string> inputNames;
  std::string
      prefix; ///< prefix of every exported symbol: PREFIX_run, PREFIX_run_buffers, PREFIX_describe
  std::string spmdReport;        ///< what phase partition did; empty if it had nothing to do
  std::string memoryReport;      ///< which buffers are where in the arena, and when
  uint64_t arenaBytes = 0;       ///< for a call on one thread
  uint64_t threadArenaBytes = 0; ///< for each further thread
  uint64_t stackBytes = 0;       ///< bound for a call; 0 if no machine code was made
  std::pair<std::string, uint64_t> largestFrame; ///< function and bytes
  uint64_t constantBytes = 0;
  uint64_t preparedBytes = 0;     ///< of the prepared block; 0: there is none
  uint64_t prepareArenaBytes = 0; ///< scratch of PREFIX_prepare
  unsigned kernelsBefore = 0;     ///< launched kernels
  unsigned kernelsAfter = 0;      ///< functions, after equal kernels are merged
  std::vector<std::pair<std::string, double>> phaseSeconds; ///< name, seconds; in order
  std::vector<ModuleTime> moduleTimes;                      ///< of an object, the slowest first
  std::vector<KernelPlan> plans; ///< of all kernels, in order; CompileOptions::explainPlan
  std::vector<Message> messages; ///< that were written to the diagnostics
  ErrorKind error = ErrorKind::None;
};

} // namespace hlo

#endif
