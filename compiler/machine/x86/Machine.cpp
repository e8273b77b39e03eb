//===- Machine.cpp - The Machine of an x86-64 CPU -------------------------===//
//
// Makes the Machine of an x86-64 CPU from LLVM's names of the CPU and its features: the features
// give the capabilities (Functions.cpp, Products.cpp, Tiles.cpp), the CPU's row their costs
// (Cpus.cpp).
//
//===----------------------------------------------------------------------===//
#include "compiler/machine/Machine.h"
#include "compiler/machine/x86/Capabilities.h"
#include "compiler/machine/x86/Cpus.h"

using namespace llvm;

namespace hlo::x86 {

/// The cost of vpmaddwd and an addition, in multiply-adds of f32: measured in a 3x3 convolution of
/// 56x56x64 with vectors of 32 bytes (Zen 4), and of 64. LLVM 22's models of skylake and later
/// agree for 32 bytes: 0.5 + 0.33 cycles to 0.5.
static constexpr double kApartCost = 1.5, kWideApartCost = 2;

Machine machineOf(StringRef cpu, const StringSet<> &features, bool narrow) {
  auto has = [&](StringRef name) { return features.contains(name); };
  const Cpu &row = cpuNamed(cpu);
  const Core &core = row.core;
  // Masked loads and stores of every width take the four groups together.
  bool avx512 = has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl");
  bool vnni = avx512 && has("avx512vnni");

  Machine m;
  // Integer vectors of 32 bytes need AVX2; AVX alone is not worth a second code path. Every CPU
  // with AVX-512 gains from 64 bytes in kernels that are bound by multiply-adds; a tuning flag of
  // LLVM's says otherwise for code that is not, but only the user's counts here.
  m.vectors.bytes = avx512 && !narrow ? 64 : has("avx2") ? 32 : 16;
  bool wide = m.vectors.bytes == 64;
  m.vectors.registers = avx512 ? 32 : 16;
  m.vectors.predicates = avx512 ? Predicates::Masks : Predicates::None;
  // vmaskmovps and vpmaskmovd; AVX-512 has bytes.
  m.vectors.leastMasked = avx512 ? 1 : m.vectors.bytes >= 32 ? 4 : 64;
  m.vectors.halves = m.vectors.bytes > core.executed;
  m.vectors.broadcastOperands = wide;
  m.issue.fma = core.fma.of(m.vectors.bytes);
  m.issue.fmaLatency = core.fmaLatency;
  m.issue.load = core.load.of(m.vectors.bytes);
  m.issue.store = core.store.of(m.vectors.bytes);
  m.issue.widen = core.widen;
  m.issue.shuffle = core.shuffle.of(m.vectors.bytes);
  m.issue.vector = core.vector.of(m.vectors.bytes);
  m.issue.integer = core.integer;
  m.issue.integerMultiplyAdd = m.issue.fma / core.multiply.of(m.vectors.bytes);
  m.memory.l1 = row.l1;
  m.memory.l2 = row.l2;
  m.memory.l3 = core.l3;
  m.memory.bytesPerCycle = {0, core.l2Bytes, core.l3Bytes, core.memoryBytes};
  m.memory.unhiddenFill = core.unhiddenFill;
  m.gathers.blocks = core.gatherBlocks;
  m.gathers.fromWords = avx512;
  m.fma = has("fma");
  m.arithmeticOfHalf = avx512 && has("avx512fp16");

  if (has("f16c")) {
    m.conversions.push_back({kF16, kF32});
    m.conversions.push_back({kF32, kF16});
  }
  if (avx512) {
    m.conversions.push_back({kU64, kF64}); // vcvtuqq2pd
    m.conversions.push_back({kF64, kU64});
  }
  if (avx512 && has("avx512bf16")) {
    m.conversions.push_back({kF32, kBf16}); // vcvtneps2bf16
  }

  if (avx512) {
    addMaskedFunctions(m);
  }
  if (m.fma) {
    addCoarseRoot(m);
  }
  if (avx512) {
    addLargeLookups(m, /*floats=*/m.fma);
  } else if (m.vectors.bytes >= 32 && m.fma) {
    addSmallLookup(m);
  }

  if (m.vectors.bytes >= 32) {
    addWordPairs(m, vnni ? 1 : wide ? kWideApartCost : kApartCost, /*accumulates=*/vnni);
  }
  if (vnni) {
    addByteQuads(m);
  } else if (m.vectors.bytes >= 32) {
    // One instruction more than for pairs.
    addFewByteQuads(m, 1 + (wide ? kWideApartCost : kApartCost));
  }
  if (avx512 && has("avx512bf16")) {
    addBf16Pairs(m, core.bf16PairCost);
  }
  if (has("amx-bf16")) {
    addBf16Tiles(m);
  }
  if (has("amx-int8")) {
    addByteTiles(m);
  }
  return m;
}

} // namespace hlo::x86
