//===- Capabilities.h - What extensions of x86 add to a Machine -----------===//
//
// Each function adds the capabilities of one set of instructions. Machine.cpp decides which of
// them a CPU has; Cpus.cpp says what they cost on it.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_MACHINE_X86_CAPABILITIES_H
#define COMPILER_MACHINE_X86_CAPABILITIES_H

#include "compiler/machine/Machine.h"
#include "llvm/ADT/StringSet.h"

namespace hlo::x86 {

/// The machine of a CPU with these features. `narrow`: vectors of 32 bytes, even if it has longer
/// ones.
Machine machineOf(llvm::StringRef cpu, const llvm::StringSet<> &features, bool narrow);

/// AVX's estimate of 1 / sqrt(x), with a relative error below 2^-11.
void addCoarseRoot(Machine &machine);
/// AVX-512's lane functions: estimates with an error of at most 2^-14, exponents and fractions,
/// minima and maxima; with vectors of 64 bytes also conversions with a given rounding mode.
void addMaskedFunctions(Machine &machine);
/// Tables of 8 f32 in a register (AVX2).
void addSmallLookup(Machine &machine);
/// Tables of 32 f32, if `floats`, and of 16 f64, in two registers; with vectors of 64 bytes also of
/// 32 integers of 16 bits in one (AVX-512).
void addLargeLookups(Machine &machine, bool floats);

/// vpmaddwd: pairs of 16-bit integers. `cost` as in Product; `accumulates`: VNNI's vpdpwssd adds to
/// the sums too.
void addWordPairs(Machine &machine, double cost, bool accumulates);
/// vpdpbusd: quads of bytes (AVX512-VNNI).
void addByteQuads(Machine &machine);
/// vpmaddubsw and vpmaddwd: quads of bytes, the unsigned ones of at most 7 bits, since the first of
/// the two sums pairs in 16 bits.
void addFewByteQuads(Machine &machine, double cost);
/// vdpbf16ps: pairs of bf16 (AVX512-BF16).
void addBf16Pairs(Machine &machine, double cost);

/// Tiles of AMX, of bf16 and of bytes.
void addBf16Tiles(Machine &machine);
void addByteTiles(Machine &machine);

} // namespace hlo::x86

#endif
