//===- Capabilities.h - What extensions of aarch64 add to a Machine -------===//
//
// Each function adds what a set of instructions makes possible. Machine.cpp decides which a CPU
// has; Cpus.cpp says what they cost on it.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_MACHINE_AARCH64_CAPABILITIES_H
#define COMPILER_MACHINE_AARCH64_CAPABILITIES_H

#include "compiler/machine/Machine.h"
#include "llvm/ADT/StringSet.h"

namespace hlo::aarch64 {

/// The machine of a CPU with these features.
Machine machineOf(llvm::StringRef cpu, const llvm::StringSet<> &features);

/// Minima and maxima of f32 and f64 that know zeros apart (fmin, fmax), of f16 too if `half`.
void addExtrema(Machine &machine, bool half);
/// Fours of bytes: sdot for signed ones (dotprod); with `matrices` (i8mm) also smmla, and usdot and
/// usmmla for one unsigned side. Costs in multiply-adds of f32: of a dot product, of a product of
/// matrices.
void addByteQuads(Machine &machine, double cost, double matrixCost, bool matrices);
/// Pairs of bf16: bfdot, bfmmla.
void addBf16Pairs(Machine &machine, double cost, double matrixCost);

} // namespace hlo::aarch64

#endif
