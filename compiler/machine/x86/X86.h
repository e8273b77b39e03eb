//===- X86.h - x86-64 CPUs from LLVM's names of their features ------------===//
#ifndef COMPILER_MACHINE_X86_X86_H
#define COMPILER_MACHINE_X86_X86_H

#include "compiler/machine/Machine.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include <string>

namespace hlo::x86 {

inline constexpr llvm::StringLiteral kDefaultTriple = "x86_64-unknown-linux-gnu";
/// The default of --cpu, and the CPU whose features every x86-64 CPU has.
inline constexpr llvm::StringLiteral kDefaultCpu = "x86-64-v3", kLeastCpu = "x86-64";

/// Features without a bit in hlo/cpu.h: the runtime could not refuse an object with them, so no
/// code may use them.
llvm::ArrayRef<llvm::StringLiteral> undeclaredFeatures();

/// Whether this machine's CPU has the feature but the operating system does not let programs use
/// it.
bool isWithheld(llvm::StringRef feature);

/// The HLO_X86_* bits of a set of features.
uint64_t featureBits(const llvm::StringSet<> &features);
/// The bits of AMX.
uint64_t tileBits();

/// The features known to hlo/cpu.h that differ from `usual`, as " +a -b".
std::string differences(const llvm::StringSet<> &features, const llvm::StringSet<> &usual);

/// The machine of a CPU with these features. `narrow`: vectors of at most 32 bytes.
Machine describe(llvm::StringRef cpu, const llvm::StringSet<> &features, bool narrow);

} // namespace hlo::x86

#endif
