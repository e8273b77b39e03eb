//===- Cpus.cpp - x86-64 cores by name ------------------------------------===//
//
// LLVM's tables say which instructions a CPU has. This file says what they cost, and how large
// the caches are. A figure has one of these sources:
//
// - model: LLVM 22's scheduling model of the CPU (`llvm-mca-22 -mcpu=NAME`), checked for each
//   row;
// - measured: by this compiler's kernels, with the CPU in test/performance/NOTES.md;
// - estimate: neither; the row says so.
//
// Common to all rows, and so not a column:
//
// - multiply-adds of 32 bytes start twice per cycle with a latency of 4 cycles (model: skylake
//   and later, znver3 and later). The model says a latency of 5 for haswell, broadwell, znver1
//   and znver2, and one multiply-add per cycle for znver1; those rows are thus too fast in plans;
// - two loads start per cycle (model). Zen 4 loads 64 bytes as two loads of 32, so that the
//   figure is too high by a factor of two there (Chips and Cheese, "AMD's Zen 4, part 2");
// - lines of 64 bytes, and an L1 of 64 sets: 8 ways of 32 KiB, 12 ways of 48 KiB.
//
// Caches of Intel's client cores and of Skylake's servers: Chips and Cheese, "A Preview of Raptor
// Lake's Improved L2 Caches" (2022), a table from Skylake to Raptor Lake. Those of other cores,
// which that table does not have, are the CPUs' published specifications.
//
//===----------------------------------------------------------------------===//
#include "compiler/machine/x86/Cpus.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace hlo::x86 {

static constexpr int64_t KiB = 1 << 10, MiB = 1 << 20;

/// Intel's cores, and unknown ones. bf16PairCost: measured on Emerald Rapids, where a product of
/// 1024^3 reaches 114 GFLOP/s by vdpbf16ps and 245 by multiply-adds of f32. The model of
/// sapphirerapids agrees: 2 cycles a vdpbf16ps, and half a cycle a multiply-add if both of a
/// server's units count.
static constexpr Core kIntel{.bf16PairCost = 2 * 245.0 / 114};

/// AMD's cores. gatherBlocks: a gather of 8 lanes is 39 operations of microcode on Zen 3, and 5 on
/// Skylake (uops.info; the model has no usable figure). widen: a register of f32 from bf16 takes a
/// vpmovzxwd and a shift, 1.5 to 2 cycles together on znver2 to znver4 (model), one cycle on
/// Intel's cores, which have a port for each; estimate for Zen 5. bf16PairCost: measured on Zen 4,
/// where pairs of bf16 are twice as fast as f32 ("pairs of bf16" in NOTES.md); estimate for Zen 5.
/// The model's 3 cycles are too many.
static constexpr Core kZen{.widen = 2, .gatherBlocks = true, .bf16PairCost = 1};
/// Zen 4 executes vectors of 64 bytes in halves: one multiply-add per cycle (model). Zen 5 has
/// full-width units on desktops and servers (A. Yee, "Zen5's AVX512 Teardown"); its model is Zen
/// 4's.
static constexpr Core kZen4{.wideFma = 1, .widen = 2, .gatherBlocks = true, .bf16PairCost = 1};

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
    {"znver5", kZen, 48 * KiB, 1 * MiB},
    // Any CPU of the level: most have at most half of the common row's L2.
    {"x86-64-v3", kIntel, 32 * KiB, 512 * KiB},
};

static constexpr Cpu kCommon{"", kIntel, 32 * KiB, 1 * MiB};

const Cpu &cpuNamed(StringRef name) {
  const Cpu *found = find_if(kCpus, [&](const Cpu &cpu) { return cpu.name == name; });
  return found == std::end(kCpus) ? kCommon : *found;
}

} // namespace hlo::x86
