//===- Architecture.h - What an architecture's folder answers to Target.cpp -===//
//
// One value for each instruction set: how a CPU of it is named, which of LLVM's features an object
// declares by which bit, and the Machine of a CPU.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_MACHINE_ARCHITECTURE_H
#define COMPILER_MACHINE_ARCHITECTURE_H

#include "compiler/machine/Machine.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/TargetParser/Triple.h"
#include <optional>
#include <string>

namespace hlo {

/// A feature by LLVM's name, and the bit by which an object declares it (hlo/cpu.h).
struct DeclaredFeature {
  llvm::StringLiteral name;
  uint64_t bit;
};

/// An answer with a default is that of an architecture about which there is nothing to say.
struct Architecture {
  llvm::Triple::ArchType llvm;
  uint32_t number; ///< HLO_ARCH_* (runtime/abi/hlo/rt.h)
  /// defaultCpu: the CPU if the user names none. leastCpu: its features are a subset of every other
  /// CPU's.
  llvm::StringLiteral defaultCpu, leastCpu;
  /// required: a feature without which no object can be compiled. lacks: what the message says that
  /// a CPU without it lacks.
  llvm::StringLiteral required, lacks;

  /// There is a mode in which subnormal numbers count as zeros.
  bool flushesSubnormals = true;

  /// LLVM's features of a version of the architecture, by the name that C compilers know it by,
  /// "+a,+b"; none if it is no version.
  std::optional<std::string> (*featuresOfVersion)(llvm::StringRef name) = [](llvm::StringRef) {
    return std::optional<std::string>();
  };
  /// LLVM's name of an extension, by the name that C compilers know it by; other names as they are.
  llvm::StringRef (*extensionNamed)(llvm::StringRef name) = [](llvm::StringRef name) {
    return name;
  };

  /// Makes LLVM's backend known; may be called once only.
  void (*initialize)();
  /// The features that objects declare, in the order of their bits.
  llvm::ArrayRef<DeclaredFeature> (*declaredFeatures)() = [] {
    return llvm::ArrayRef<DeclaredFeature>();
  };
  /// Features of instructions that hlo/cpu.h has no bit for, so that the runtime could not refuse
  /// an object with them. No code may have them.
  llvm::ArrayRef<llvm::StringLiteral> (*undeclaredFeatures)();
  /// Features that an object has if `leastCpu` has them, whatever the CPU: they decide in which
  /// mode a CPU runs and in which registers functions pass and keep values.
  llvm::ArrayRef<llvm::StringLiteral> (*callingFeatures)();
  /// The CPUs whose costs are known, those of one maker in the order of their age.
  llvm::SmallVector<llvm::StringRef> (*cpuNames)() = [] {
    return llvm::SmallVector<llvm::StringRef>();
  };
  /// Whether this machine's CPU has a feature, but its kernel does not let programs use it.
  bool (*isWithheld)(llvm::StringRef feature) = [](llvm::StringRef) { return false; };
  /// The bits of matrix registers that need a permission of the operating system.
  uint64_t (*tileBits)() = []() -> uint64_t { return 0; };
  /// The Machine of a CPU with these features. `asked` is what the user wrote beside the CPU's
  /// name.
  Machine (*describe)(llvm::StringRef cpu, const llvm::StringSet<> &features,
                      llvm::StringRef asked);
};

} // namespace hlo

#endif
