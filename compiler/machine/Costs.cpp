//===- Costs.cpp - Cycles of a loop, from a Machine -----------------------===//
#include "compiler/machine/Costs.h"
#include <algorithm>

namespace hlo {

/// Time of a load from L3 or memory whose page is not in L1's TLB, where many such loads overlap:
/// 35 to 40 cycles on Zen 5 (1 x 2048 x 8192 column by column, f32, f16 and s8 alike).
static constexpr double kPageCycles = 35;

double cyclesOfTrip(const Machine &machine, const LoopBody &body) {
  const Issue &issue = machine.issue;
  const Memory &memory = machine.memory;
  double cycles = std::max({body.multiplyAdds / issue.fma, body.loads / issue.load,
                            body.stores / issue.store, body.shuffles / issue.shuffle,
                            (body.multiplyAdds + body.shuffles + body.others) / issue.vector,
                            body.integers / issue.integer, body.chain * issue.fmaLatency});
  if (body.level >= Level::L3) {
    cycles = std::max(cycles, body.pages * kPageCycles);
  }
  if (body.level != Level::L1) {
    cycles = std::max(cycles, body.bytes / memory.bytesPerCycle[static_cast<int>(body.level)]);
  }
  return cycles + memory.unhiddenFill * body.fills + body.extra +
         body.start / std::max(1.0, body.trips);
}

Level levelOf(const Machine &machine, double bytes) {
  const Memory &memory = machine.memory;
  return bytes <= static_cast<double>(memory.l1)   ? Level::L1
         : bytes <= static_cast<double>(memory.l2) ? Level::L2
         : bytes <= static_cast<double>(memory.l3) ? Level::L3
                                                   : Level::Memory;
}

} // namespace hlo
