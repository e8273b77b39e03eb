//===- Cpus.h - What differs between x86-64 cores of the same features ----===//
#ifndef COMPILER_MACHINE_X86_CPUS_H
#define COMPILER_MACHINE_X86_CPUS_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace hlo::x86 {

/// What a family of cores needs for the instructions it has.
struct Core {
  double wideFma = 2;        ///< multiply-adds of 64-byte vectors that start per cycle
  double widen = 1;          ///< see Issue
  bool gatherBlocks = false; ///< see Gather
  double bf16PairCost;       ///< time of vdpbf16ps in multiply-adds of f32
  double shuffle = 1;        ///< see Issue
  double integer = 4;        ///< see Issue
  /// See Memory.
  double integerMultiplyAdd = 2; ///< see Issue
  int64_t l3 = 16 << 20;
  double l2Bytes = 32, l3Bytes = 10, memoryBytes = 4;
};

/// A CPU by LLVM's name: its core, and the sizes of one core's data caches in bytes.
struct Cpu {
  llvm::StringLiteral name;
  const Core &core;
  int64_t l1, l2;
};

/// The row of a CPU; for an unknown CPU a common row, whose name is empty.
const Cpu &cpuNamed(llvm::StringRef name);

} // namespace hlo::x86

#endif
