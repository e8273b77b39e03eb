//===- Cpus.cpp - aarch64 cores by name -----------------------------------===//
//
// What LLVM's tables of features do not say. None of these figures was measured by this project:
// there was no such machine.
//
// What starts in a cycle: Arm's Software Optimization Guides, tables of ASIMD floating-point
// instructions and of loads, and LLVM 22's scheduling models of these cores (AArch64Sched*.td).
// `fmaLatency` is that of the addend where multiply-adds forward it late: a chain of them runs at
// that rate. Cache sizes: Arm's Technical Reference Manuals; where a size is the integrator's
// choice, the common one of servers. Apple publishes none; sysctl hw.perflevel0 reports them.
//
//===----------------------------------------------------------------------===//
#include "compiler/machine/aarch64/Cpus.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace hlo::aarch64 {

static constexpr int64_t KiB = 1 << 10, MiB = 1 << 20;

static constexpr Cpu kCpus[] = {
    {"cortex-a53", 1, 0.5, 4, 32 * KiB, 512 * KiB},
    {"cortex-a55", 1, 0.5, 4, 32 * KiB, 256 * KiB},
    {"cortex-a72", 1, 1, 3, 32 * KiB, 1 * MiB},
    {"cortex-a76", 2, 2, 2, 64 * KiB, 512 * KiB},
    {"cortex-a78", 2, 2, 2, 64 * KiB, 512 * KiB},
    {"neoverse-n1", 2, 2, 2, 64 * KiB, 1 * MiB},
    {"neoverse-n2", 2, 2, 2, 64 * KiB, 1 * MiB},
    {"neoverse-v1", 4, 3, 2, 64 * KiB, 1 * MiB},
    {"neoverse-v2", 4, 3, 2, 64 * KiB, 2 * MiB},
    {"apple-m1", 4, 3, 4, 128 * KiB, 3 * MiB}, // 12 MiB for four cores
    {"apple-m2", 4, 3, 4, 128 * KiB, 4 * MiB}, // 16 MiB for four cores
};

static constexpr Cpu kCommon{"", 2, 2, 4, 32 * KiB, 512 * KiB};

const Cpu &cpuNamed(StringRef name) {
  const Cpu *found = find_if(kCpus, [&](const Cpu &cpu) { return cpu.name == name; });
  return found == std::end(kCpus) ? kCommon : *found;
}

} // namespace hlo::aarch64
