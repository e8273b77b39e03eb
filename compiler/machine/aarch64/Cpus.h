//===- Cpus.h - What differs between aarch64 cores of the same features ---===//
#ifndef COMPILER_MACHINE_AARCH64_CPUS_H
#define COMPILER_MACHINE_AARCH64_CPUS_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace hlo::aarch64 {

/// A CPU by LLVM's name: what starts in a cycle, and the data caches of one core.
struct Cpu {
  llvm::StringLiteral name;
  double fma;        ///< multiply-adds of 16-byte vectors
  double load;       ///< loads of 16-byte vectors
  double fmaLatency; ///< from an addend's arrival to the sum
  int64_t l1, l2;
};

/// The row of a CPU; of an unknown one a common row, which has no name.
const Cpu &cpuNamed(llvm::StringRef name);

} // namespace hlo::aarch64

#endif
