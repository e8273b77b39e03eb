//===- Target.h - What LLVM is told of the machine it compiles for --------===//
//
// The names and bits by which LLVM and the object's description identify the target, and the
// Machine that kernels ask.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_MACHINE_TARGET_H
#define COMPILER_MACHINE_TARGET_H

#include "compiler/machine/Architecture.h"
#include "compiler/machine/Machine.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace hlo {

/// A target for LLVM's backend. Made by `describeTarget`; a plain value.
struct Target {
  const Architecture *architecture = nullptr; ///< never null
  std::string triple;                         ///< e.g. x86_64-unknown-linux-gnu
  std::string cpu;                            ///< LLVM's name, e.g. x86-64-v3, sapphirerapids
  std::string features;                       ///< LLVM's feature string, "+avx2,+fma,..."
  /// The CPU for reports: its name and, for the host or with `features`, what it has more or less
  /// than a CPU of that name: "rocketlake +amx-bf16 +amx-tile -sha".
  std::string cpuText;
  uint64_t cpuFeatures = 0; ///< bits (runtime/abi/hlo/cpu.h) of all that it has

  Machine machine;
};

/// Fills a Target from LLVM's tables. `cpu` is a name that LLVM knows ("x86-64-v3",
/// "sapphirerapids", "neoverse-n1"), a version of the architecture ("armv8.2-a", "rv64gc"), or
/// "host", which C compilers call "native"; empty: the default of the architecture. Extensions may
/// follow as for C compilers: "armv8.2-a+dotprod+fp16", "znver4+nogfni". `features` is
/// "+name,-name,..." on top of all that; an empty `triple` means x86_64-unknown-linux-gnu. Errors
/// name the nearest known names.
llvm::Expected<Target> describeTarget(llvm::StringRef cpu, llvm::StringRef features = "",
                                      llvm::StringRef triple = "");

/// The CPU that code is made for on a machine whose CPU calls itself `name` (LLVM's name) and has
/// the given features. A hypervisor may give the model of an older CPU beside the features of the
/// machine: then the next CPU of the same maker that has all of them, if there is one.
std::string cpuWithFeatures(const Architecture &architecture, llvm::StringRef triple,
                            llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> features);

/// Makes the backends known to LLVM; may be called any number of times.
void initializeTargets();

/// The set of bits (runtime/abi/hlo/cpu.h) that code for the target may use; those of
/// tiles only if `usesTiles`, since they take a permission of the operating system.
uint64_t cpuFeatureBits(const Target &target, bool usesTiles = true);

} // namespace hlo

#endif
