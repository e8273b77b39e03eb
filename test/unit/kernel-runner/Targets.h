//===- Targets.h - The machines that kernels are tested for ---------------===//
#ifndef TEST_UNIT_KERNEL_RUNNER_TARGETS_H
#define TEST_UNIT_KERNEL_RUNNER_TARGETS_H

#include "compiler/machine/Target.h"

#include <optional>
#include <vector>

namespace hlo::testing {

/// The target of a CPU's name; ends the test program if there is no such CPU.
Target targetNamed(const char *cpu);

/// This machine, and the lower levels of x86-64 that it can run.
std::vector<Target> targets();

/// Whether the machine multiplies pairs of bf16 by vectors, however slowly.
bool hasPairs(const Target &target);
/// The same machine, on which that is faster than to widen them.
Target withFastPairs(Target target);
/// The same machine with matrix registers (AMX), which the caller must emulate; nothing if they
/// need more than it has.
std::optional<Target> withTiles(const Target &target);
/// A machine with matrix registers whose products take no time, and with slow vectors, so that
/// small cases use them.
Target withFreeTiles(Target target);

} // namespace hlo::testing

#endif
