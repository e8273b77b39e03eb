//===- Options.h - Options of a compilation -------------------------------===//
#ifndef COMPILER_SUPPORT_OPTIONS_H
#define COMPILER_SUPPORT_OPTIONS_H

#include "compiler/support/Budget.h"
#include "compiler/support/KernelPlan.h"
#include "compiler/support/SizeBound.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace hlo {

/// The phases of compilation, in order; see compiler/README.md for what holds after each.
enum class Phase { Parse, Partition, Canonicalize, Layout, Fuse, Plan, Emit, Optimize, Package };

/// Names of the phases, in order: "parse", "partition", ...
llvm::ArrayRef<llvm::StringRef> phaseNames();
std::optional<Phase> parsePhase(llvm::StringRef name);
inline llvm::StringRef phaseName(Phase phase) { return phaseNames()[static_cast<size_t>(phase)]; }

/// Kinds of output; a set of them is the bitwise or.
enum Emit : unsigned {
  EmitNone = 0,
  EmitObject = 1,
  EmitAssembly = 2,
  EmitLlvmIr = 4,
  EmitBitcode = 8,
  EmitMlir = 16,
  EmitHlo = 32,
  EmitHeader = 64,
  EmitCustomCallList = 128,
  EmitCustomCallHeader = 256,
  EmitSignature = 512,
  EmitCxxHeader = 1024
};

/// How far to go if only errors are wanted.
enum class Check { None, Syntax, Full };

/// The order of the elements in the entry's parameters and results.
enum class EntryLayouts {
  Auto,     ///< RowMajor; Text for a module with `is_scheduled=true`, dumped after optimization
  RowMajor, ///< row-major, whatever the text says: the behaviour of JAX's runtime
  Text      ///< as `entry_computation_layout` says
};

/// The form of the caller's buffers of arrays with dimensions `<=N`.
enum class DynamicBuffers {
  Auto,  ///< Dense for the symbols of StableHLO, Bound for HLO
  Bound, ///< the bounds' shape
  Dense  ///< dense for the sizes of the call
};

/// Options of one compilation; the defaults are those of hlo-compile.
struct CompileOptions {
  std::string cpu;      ///< LLVM's name, or "host"; empty: see describeTarget
  std::string features; ///< "+name,-name"
  std::string triple;   ///< empty: see describeTarget
  /// CPU levels that the object is for, from the least to the most, each named as `cpu` is; empty:
  /// `cpu` alone. Only for objects and headers.
  std::vector<std::string> dispatch;
  /// With levels: each has all of its kernels, also those that it gains nothing by.
  bool keepsAllKernels = false;
  unsigned replicas = 0;   ///< that the program is for; 0: what the module says
  unsigned partitions = 0; ///< the same of partitions
  unsigned jobs = 0; ///< threads of the compiler; 0: one per CPU. The output does not depend on it
  int optLevel = 2;  ///< 0..3
  std::string name;  ///< prefix of the exported symbols; empty: the file's name without its suffix
  bool nameFromModule = false; ///< the module's name is the prefix, unless `name` is given
  std::string space;           ///< namespace of the C++ header, "a::b"; empty: the module's name
  EntryLayouts entryLayouts = EntryLayouts::Auto;
  bool placeholderConstants =
      false; ///< elided constants `{...}` get placeholder values, with a warning
  /// Custom call targets, by name or glob, that the program supplies: no warning or remark for
  /// them.
  std::vector<std::string> allowMissingCustomCalls;
  Phase compileTo = Phase::Package; ///< stop after this phase; Emit::Mlir or Emit::Hlo print the
                                    ///< module at that point
  std::optional<Phase> startFrom; ///< the text is MLIR, the output of compileTo = the phase before
  unsigned emit = EmitObject;     ///< set of Emit
  Check check = Check::None;
  std::string dumpDir;            ///< if set: NN-phase.mlir, kernels.ll, ... are written there
  bool remarks = true;            ///< remarks are written to the diagnostics
  bool memoryReport = false;      ///< fill Artifacts::memoryReport
  bool spmdReport = false;        ///< fill Artifacts::spmdReport
  bool explainPlan = false;       ///< fill Artifacts::plans
  std::vector<PlanRequest> plans; ///< candidates that kernels shall use
  bool flushDenormals =
      false; ///< subnormal numbers are treated as zero, as operands and as results
  /// Few rows of activations may be rounded to 8 bits where they meet narrow integers with scales.
  bool quantizeActivations = false;
  uint64_t maxArenaBytes = 0; ///< 0: no limit
  Budget budget;              ///< bounds on the expansion of a text
  uint64_t maxStackBytes = 0; ///< 0: no limit
  /// If set, called when a phase begins, and in phase optimize after each module of kernels, with
  /// the number of those that are done and of all. One call at a time, from any thread.
  std::function<void(Phase, unsigned done, unsigned total)> onProgress;
  /// If set, read between and during phases; once it is not 0, the compilation ends with
  /// ErrorKind::Cancelled.
  const int32_t *cancel = nullptr;
  bool isCancelled() const {
    return cancel && std::atomic_ref<int32_t>(const_cast<int32_t &>(*cancel))
                             .load(std::memory_order_relaxed) != 0;
  }
  /// The process ends after this compilation: the module's memory is not given back.
  bool isLast = false;
  /// Parameters whose bytes never change, as the value of --immutable-params (see
  /// driver/ImmutableParams.h). If set, the object has a NAME_prepare.
  std::optional<std::string> immutableParams;
  /// At most how many versions of the program for sizes of its dimensions `<=N`; 0: as many as suit
  /// the program.
  unsigned sizeVersions = 0;
  DynamicBuffers dynamicBuffers = DynamicBuffers::Auto;
  /// Bounds of the sizes that StableHLO leaves open (`tensor<?xf32>`), as of --bound.
  std::vector<SizeBound> bounds;
  /// Sizes with versions of their own, as of --specialize.
  std::vector<SpecialSizes> specialize;
};

} // namespace hlo

#endif
