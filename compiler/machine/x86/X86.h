//===- X86.h - x86-64 CPUs from LLVM's names of their features ------------===//
#ifndef COMPILER_MACHINE_X86_X86_H
#define COMPILER_MACHINE_X86_X86_H

#include "compiler/machine/Machine.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include <string>

namespace hlo::x86 {

inline constexpr llvm::StringLiteral kDefaultTriple = "x86_64-unknown-linux-gnu";
/// What hlo-compile compiles for if nothing else is asked for, and what every CPU has.
inline constexpr llvm::StringLiteral kDefaultCpu = "x86-64-v3", kLeastCpu = "x86-64";

/// Features of instructions that hlo/cpu.h has no bit for, so that the runtime could not refuse an
/// object with them. No code may have them.
llvm::ArrayRef<llvm::StringLiteral> undeclaredFeatures();

/// Whether this machine's CPU has a feature, but its kernel does not let programs use it.
bool isWithheld(llvm::StringRef feature);

/// The HLO_X86_* bits of features.
uint64_t featureBits(const llvm::StringSet<> &features);
/// The bits that AMX takes.
uint64_t tileBits();

/// " +a -b": what `features` have beyond `usual`, and lack, of what hlo/cpu.h knows.
std::string differences(const llvm::StringSet<> &features, const llvm::StringSet<> &usual);

/// The machine of a CPU with these features. `narrow`: vectors of 32 bytes, even if it has longer
/// ones.
Machine describe(llvm::StringRef cpu, const llvm::StringSet<> &features, bool narrow);

} // namespace hlo::x86

#endif
