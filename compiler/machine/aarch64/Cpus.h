//===- Cpus.h - What differs between aarch64 cores of the same features ---===//
#ifndef COMPILER_MACHINE_AARCH64_CPUS_H
#define COMPILER_MACHINE_AARCH64_CPUS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace hlo::aarch64 {

/// A CPU by LLVM's name. Instructions are those on 16-byte vectors unless said otherwise.
struct Cpu {
  llvm::StringLiteral name;
  /// What starts in a cycle; `integer`: additions of scalars.
  struct {
    double fma, load, store, shuffle, integer;
  } perCycle;
  double fmaLatency; ///< from an addend's arrival to the sum
  double widen;      ///< cycles to widen integers, for a register of results
  /// The time of one, in multiply-adds of f32: `mla` of 32-bit integers, dot products of groups in
  /// a lane, products of small matrices.
  double multiplyAdd, dot, matrix;
  /// Caches of one core, in bytes, or what one core may use of a shared one.
  int64_t l1, l1Ways, l2;
  int64_t line;
};

/// The row of a CPU; of an unknown one a common row, which has no name.
const Cpu &cpuNamed(llvm::StringRef name);

/// All rows but the common one.
llvm::ArrayRef<Cpu> cpus();

} // namespace hlo::aarch64

#endif
