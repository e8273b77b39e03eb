//===- Machine.cpp - The Machine of an aarch64 CPU ------------------------===//
//
// In: LLVM's name of a CPU and of its features. Out: the Machine: which capabilities the features
// make (Functions.cpp, Products.cpp), at the costs of the CPU's row (Cpus.cpp). Vectors are those
// of NEON, which every CPU has; SVE is not used.
//
//===----------------------------------------------------------------------===//
#include "compiler/machine/Machine.h"
#include "compiler/machine/aarch64/Capabilities.h"
#include "compiler/machine/aarch64/Cpus.h"

#include <algorithm>

using namespace llvm;

namespace hlo::aarch64 {

Machine machineOf(StringRef cpu, const StringSet<> &features) {
  auto has = [&](StringRef name) { return features.contains(name); };
  const Cpu &row = cpuNamed(cpu);

  Machine m;
  m.vectors.bytes = 16;
  m.vectors.registers = 32;
  // LLVM's scheduler loads up to so many lanes before their multiply-adds. A tile that leaves one
  // register for them has all its sums copied in every step (llvm-mca, neoverse-n1: 37 cycles for
  // 14 of a tile of 14 x 2).
  m.vectors.loadsAhead = 4;
  m.vectors.laneOperands = true;
  m.issue.fma = row.perCycle.fma;
  m.issue.load = row.perCycle.load;
  m.issue.store = row.perCycle.store;
  m.issue.shuffle = row.perCycle.shuffle;
  // Every vector pipe of these cores multiplies or shuffles.
  m.issue.vector = std::max(row.perCycle.fma, row.perCycle.shuffle);
  m.issue.integer = row.perCycle.integer;
  m.issue.fmaLatency = row.fmaLatency;
  m.issue.widen = row.widen;
  m.issue.integerMultiplyAdd = row.multiplyAdd;
  m.memory.line = row.line;
  m.memory.l1 = row.l1;
  m.memory.l2 = row.l2;
  m.memory.l1Way = row.l1 / row.l1Ways;
  m.gathers.blocks = true; // there is none: lanes are loaded one by one
  m.fma = true;
  m.arithmeticOfHalf = has("fullfp16");

  m.conversions.push_back({kF16, kF32}); // fcvtl, fcvtn
  m.conversions.push_back({kF32, kF16});
  m.conversions.push_back({kU64, kF64}); // ucvtf, fcvtzu
  m.conversions.push_back({kF64, kU64});
  if (has("bf16")) {
    m.conversions.push_back({kF32, kBf16}); // bfcvtn
  }

  addExtrema(m, m.arithmeticOfHalf);
  if (has("dotprod")) {
    addByteQuads(m, row.dot, row.matrix, /*matrices=*/has("i8mm"));
  }
  if (has("bf16")) {
    addBf16Pairs(m, row.dot, row.matrix);
  }
  return m;
}

} // namespace hlo::aarch64
