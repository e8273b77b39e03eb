//===- Cpus.h - What differs between x86-64 cores of the same features ----===//
#ifndef COMPILER_MACHINE_X86_CPUS_H
#define COMPILER_MACHINE_X86_CPUS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <cstdint>

namespace hlo::x86 {

/// What starts in a cycle: at most `instructions` instructions, on at most `bytes` bytes of vectors
/// together.
struct Rate {
  double instructions, bytes;
  double of(int vectorBytes) const { return std::min(instructions, bytes / vectorBytes); }
};

/// What a family of cores needs for the instructions it has.
struct Core {
  Rate fma{2, 64}; ///< multiply-adds
  double fmaLatency = 4;
  Rate multiply{1, 32}; ///< 32-bit integers; the addition after it starts elsewhere
  Rate load{2, 64};
  Rate store{1, 32};
  Rate shuffle{1, 64};
  Rate vector{3, 96};        ///< see Issue
  double integer = 4;        ///< see Issue
  int executed = 64;         ///< bytes of the widest register that is not executed in parts
  double widen = 1;          ///< see Issue
  bool gatherBlocks = false; ///< see Gather
  double bf16PairCost = 1;   ///< time of vdpbf16ps in multiply-adds of f32
  /// See Memory.
  int64_t l3 = 16 << 20;
  double l2Bytes = 32, l3Bytes = 10, memoryBytes = 4;
  double unhiddenFill = 0.15;
};

/// A CPU by LLVM's name: its core, and the sizes of one core's data caches in bytes.
struct Cpu {
  llvm::StringLiteral name;
  const Core &core;
  int64_t l1, l2;
};

/// The row of a CPU; for an unknown CPU a common row, whose name is empty.
const Cpu &cpuNamed(llvm::StringRef name);

/// All rows but the common one.
llvm::ArrayRef<Cpu> cpus();

} // namespace hlo::x86

#endif
