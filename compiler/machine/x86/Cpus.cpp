//===- Cpus.cpp - x86-64 cores by name ------------------------------------===//
//
// LLVM's tables say which instructions a CPU has. This file says what they cost, and how large
// the caches are. A figure has one of these sources:
//
// What is the same for all rows, and so no column: two loads and one store of whole vectors a
// cycle, multiply-adds of 32 bytes twice a cycle, with a latency of 4 cycles (every core since
// Skylake and Zen 2; 5 before), lines of 64 bytes, an L1 of 64 sets.
//
// The size of L3, and bytes per cycle out of it and memory, depend on the model, the clocks and the
// neighbours of a core. Only Zen 5's are measured; the others are estimates, good enough to tell
// the levels apart.
//
//===----------------------------------------------------------------------===//
#include "compiler/machine/x86/Cpus.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace hlo::x86 {

static constexpr int64_t KiB = 1 << 10, MiB = 1 << 20;

/// Intel's cores, and those that are not known. vdpbf16ps: a product of 1024^3 reaches 114 GFLOP/s
/// by it, and 245 by f32 multiply-adds (measured on Emerald Rapids). vpmulld is two multiplications
/// of port 0. Shuffles of 64 bytes have port
/// 5 alone; L2 gives 64 bytes a cycle at best and some 48 for long (Intel's Optimization Reference
/// Manual, "Cache Parameters of the Skylake Server Microarchitecture").
static constexpr Core kIntel{
    .bf16PairCost = 2 * 245.0 / 114, .integerMultiplyAdd = 4, .l2Bytes = 48};

/// AMD's cores. A gather is a program in microcode; widening takes two cycles a register, together
/// with the shift that makes floats of bf16; vdpbf16ps is as fast as a multiply-add of f32; two
/// pipes shuffle; L2 gives 32 bytes a cycle (AMD's Software Optimization Guide for Zen 4, 57647).
static constexpr Core kZen{.widen = 2, .gatherBlocks = true, .bf16PairCost = 1, .shuffle = 2};
/// Zen 4 executes vectors of 64 bytes in halves (57647, "Floating-Point Unit").
static constexpr Core kZen4{.wideFma = 1, .widen = 2, .gatherBlocks = true, .bf16PairCost = 1};
/// Zen 5: vpmulld and vpaddd as often as a multiply-add (a product of 1x1000x1000 of s8, widened,
/// takes 0.9 cycles a vector); six integer pipes (AMD's Software Optimization Guide for Zen 5,
/// 58455); bytes per cycle measured on an EPYC at 4.09 GHz by sums of 64-byte loads over 768 KiB, 8
/// MiB and 128 MiB.
static constexpr Core kZen5{.widen = 2,
                            .gatherBlocks = true,
                            .bf16PairCost = 1,
                            .shuffle = 2,
                            .integer = 6,
                            .integerMultiplyAdd = 1,
                            .l3 = 32 * MiB,
                            .l2Bytes = 62,
                            .l3Bytes = 27,
                            .memoryBytes = 10.5};

static constexpr Cpu kCpus[] = {
    {"haswell", kIntel, 32 * KiB, 256 * KiB},
    {"broadwell", kIntel, 32 * KiB, 256 * KiB},
    {"skylake", kIntel, 32 * KiB, 256 * KiB},
    {"skylake-avx512", kIntel, 32 * KiB, 1 * MiB},
    {"cascadelake", kIntel, 32 * KiB, 1 * MiB},
    {"cooperlake", kIntel, 32 * KiB, 1 * MiB},
    {"icelake-client", kIntel, 48 * KiB, 512 * KiB},
    {"icelake-server", kIntel, 48 * KiB, 1280 * KiB},
    {"tigerlake", kIntel, 48 * KiB, 1280 * KiB},
    {"alderlake", kIntel, 48 * KiB, 1280 * KiB},
    {"raptorlake", kIntel, 48 * KiB, 2 * MiB},
    {"sapphirerapids", kIntel, 48 * KiB, 2 * MiB},
    {"emeraldrapids", kIntel, 48 * KiB, 2 * MiB},
    {"graniterapids", kIntel, 48 * KiB, 2 * MiB},
    {"graniterapids-d", kIntel, 48 * KiB, 2 * MiB},
    {"diamondrapids", kIntel, 48 * KiB, 2 * MiB}, // estimate: those of its predecessor
    {"znver1", kZen, 32 * KiB, 512 * KiB},
    {"znver2", kZen, 32 * KiB, 512 * KiB},
    {"znver3", kZen, 32 * KiB, 512 * KiB},
    {"znver4", kZen4, 32 * KiB, 1 * MiB},
    {"znver5", kZen5, 48 * KiB, 1 * MiB},
    // Any CPU of the level, most of which have half of the common row's L2 or less.
    {"x86-64-v3", kIntel, 32 * KiB, 512 * KiB},
};

static constexpr Cpu kCommon{"", kIntel, 32 * KiB, 1 * MiB};

const Cpu &cpuNamed(StringRef name) {
  const Cpu *found = find_if(kCpus, [&](const Cpu &cpu) { return cpu.name == name; });
  return found == std::end(kCpus) ? kCommon : *found;
}

} // namespace hlo::x86
