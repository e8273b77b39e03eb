//===- Cpus.cpp - x86-64 cores by name ------------------------------------===//
//
// LLVM's tables say which instructions a CPU has. This file says what they cost, and how large
// the caches are. Sources:
//
// - What starts in a cycle, and latencies: test/unit/target/CoresTest.cpp compares multiply-adds,
//   loads, stores, shuffles and scalar additions of every row with LLVM 22's scheduling models.
//   It names each difference and why this table is right; where no model or guide is named, none
//   was found.
// - Zen 5 and, for vdpbf16ps, Emerald Rapids were measured (test/performance/NOTES.md, "Cores").
// - Sizes of L1 and L2: cpuid and the vendors' product pages. All have 64 sets of 64-byte lines
//   in L1.
// - The size of L3, and bytes per cycle out of L2, L3 and memory, depend on the model, the clocks
//   and the neighbours of a core. Zen 5's are measured; the others are estimates, good enough to
//   tell the levels apart.
//
//===----------------------------------------------------------------------===//
#include "compiler/machine/x86/Cpus.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace hlo::x86 {

static constexpr int64_t KiB = 1 << 10, MiB = 1 << 20;

/// Shuffles that cross 16 bytes have port 5 alone on Intel's cores; vpmulld takes two
/// multiplications, of port 0 on Haswell, of ports 0 and 1 later. Vectors have ports 0, 1 and 5;
/// those of 64 bytes occupy 0 and 1 together.
static constexpr Core kHaswell{.fmaLatency = 5, .multiply = {.5, 16}, .l2Bytes = 48};
static constexpr Core kSkylake{.l2Bytes = 48};
/// Any CPU of the level x86-64-v3: the latency of most of them, the multiplications of the slowest.
static constexpr Core kAvx2{.multiply = {.5, 16}, .l2Bytes = 48};
/// Servers with AVX-512 multiply by ports 0 and 5. (Of the Xeons those called Bronze and Silver,
/// and some of Gold, lack that of port 5, and cannot be told apart by name.) vdpbf16ps: a product
/// of 1024^3 reaches 114 GFLOP/s by it, and 245 by f32 multiply-adds (measured on Emerald Rapids).
/// L2 gives 64 bytes a cycle at best and some 48 for long (Intel's Optimization Reference Manual,
/// "Cache Parameters of the Skylake Server Microarchitecture").
static constexpr double kIntelBf16 = 2 * 245.0 / 114;
static constexpr Core kSkylakeServer{.fma = {2, 128},
                                     .multiply = {1, 64},
                                     .load = {2, 128},
                                     .store = {1, 64},
                                     .vector = {3, 128},
                                     .bf16PairCost = kIntelBf16,
                                     .l2Bytes = 48};
/// Sunny Cove: two stores a cycle, or one of 64 bytes (the same manual, "Cache Parameters of the
/// Ice Lake Client Microarchitecture").
static constexpr Core kIceLakeServer{.fma = {2, 128},
                                     .multiply = {1, 64},
                                     .load = {2, 128},
                                     .store = {2, 64},
                                     .vector = {3, 128},
                                     .bf16PairCost = kIntelBf16,
                                     .l2Bytes = 48};
/// Cores of clients do not multiply by port 5: one multiply-add of 64 bytes starts in a cycle.
static constexpr Core kIceLakeClient{.load = {2, 128},
                                     .store = {2, 64},
                                     .vector = {3, 128},
                                     .bf16PairCost = kIntelBf16,
                                     .l2Bytes = 48};
/// Golden Cove: three loads, or two of 64 bytes; five integer pipes.
static constexpr Core kGoldenCoveClient{
    .load = {3, 128}, .store = {2, 64}, .vector = {3, 128}, .integer = 5, .l2Bytes = 48};
static constexpr Core kGoldenCove{.fma = {2, 128},
                                  .multiply = {1, 64},
                                  .load = {3, 128},
                                  .store = {2, 64},
                                  .vector = {3, 128},
                                  .integer = 5,
                                  .bf16PairCost = kIntelBf16,
                                  .l2Bytes = 48};

/// AMD's cores. A gather is a program in microcode; widening takes two cycles a register, together
/// with the shift that makes floats of bf16; L2 gives 32 bytes a cycle (AMD's
/// Software Optimization Guide for Zen 4, 57647).
///
/// Zen 1 executes vectors of 32 bytes in halves, shuffles across them in up to eight steps.
static constexpr Core kZen1{.fma = {2, 32},
                            .fmaLatency = 5,
                            .multiply = {1, 8},
                            .load = {2, 32},
                            .store = {1, 16},
                            .shuffle = {2, 32},
                            .vector = {4, 64},
                            .executed = 16,
                            .widen = 2,
                            .gatherBlocks = true};
static constexpr Core kZen2{.fmaLatency = 5,
                            .multiply = {1, 16},
                            .shuffle = {2, 64},
                            .vector = {4, 128},
                            .widen = 2,
                            .gatherBlocks = true};
static constexpr Core kZen3{
    .multiply = {2, 64}, .shuffle = {1, 32}, .vector = {4, 128}, .widen = 2, .gatherBlocks = true};
/// Zen 4 executes vectors of 64 bytes in halves (57647, "Floating-Point Unit", "Load-Store Unit").
/// vdpbf16ps is as fast as a multiply-add of f32. A line takes two cycles from L2, so twice as much
/// of it is not hidden.
static constexpr Core kZen4{.multiply = {2, 64},
                            .vector = {4, 128},
                            .executed = 32,
                            .widen = 2,
                            .gatherBlocks = true,
                            .unhiddenFill = 0.3};
/// Zen 5: six integer pipes; two stores, or one of 64 bytes.
static constexpr Core kZen5{.fma = {2, 128},
                            .multiply = {2, 128},
                            .load = {2, 128},
                            .store = {2, 64},
                            .shuffle = {2, 128},
                            .vector = {4, 256},
                            .integer = 6,
                            .widen = 2,
                            .gatherBlocks = true,
                            .l3 = 32 * MiB,
                            .l2Bytes = 62,
                            .l3Bytes = 27,
                            .memoryBytes = 10.5};

static constexpr Cpu kCpus[] = {
    {"haswell", kHaswell, 32 * KiB, 256 * KiB},
    {"broadwell", kHaswell, 32 * KiB, 256 * KiB},
    {"skylake", kSkylake, 32 * KiB, 256 * KiB},
    {"skylake-avx512", kSkylakeServer, 32 * KiB, 1 * MiB},
    {"cascadelake", kSkylakeServer, 32 * KiB, 1 * MiB},
    {"cooperlake", kSkylakeServer, 32 * KiB, 1 * MiB},
    {"icelake-client", kIceLakeClient, 48 * KiB, 512 * KiB},
    {"icelake-server", kIceLakeServer, 48 * KiB, 1280 * KiB},
    {"tigerlake", kIceLakeClient, 48 * KiB, 1280 * KiB},
    {"rocketlake", kIceLakeClient, 48 * KiB, 512 * KiB},
    {"alderlake", kGoldenCoveClient, 48 * KiB, 1280 * KiB},
    {"raptorlake", kGoldenCoveClient, 48 * KiB, 2 * MiB},
    {"sapphirerapids", kGoldenCove, 48 * KiB, 2 * MiB},
    {"emeraldrapids", kGoldenCove, 48 * KiB, 2 * MiB},
    {"graniterapids", kGoldenCove, 48 * KiB, 2 * MiB},
    {"graniterapids-d", kGoldenCove, 48 * KiB, 2 * MiB},
    {"diamondrapids", kGoldenCove, 48 * KiB, 2 * MiB}, // estimate: those of its predecessor
    {"znver1", kZen1, 32 * KiB, 512 * KiB},
    {"znver2", kZen2, 32 * KiB, 512 * KiB},
    {"znver3", kZen3, 32 * KiB, 512 * KiB},
    {"znver4", kZen4, 32 * KiB, 1 * MiB},
    {"znver5", kZen5, 48 * KiB, 1 * MiB},
    // Any CPU of the level, most of which have half of the common row's L2 or less.
    {"x86-64-v3", kAvx2, 32 * KiB, 512 * KiB},
};

static constexpr Cpu kCommon{"", kSkylakeServer, 32 * KiB, 1 * MiB};

const Cpu &cpuNamed(StringRef name) {
  const Cpu *found = find_if(kCpus, [&](const Cpu &cpu) { return cpu.name == name; });
  return found == std::end(kCpus) ? kCommon : *found;
}

ArrayRef<Cpu> cpus() { return kCpus; }

} // namespace hlo::x86
