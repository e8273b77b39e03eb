//===- RiscV64.h - riscv64 for Target.cpp ---------------------------------===//
#ifndef COMPILER_MACHINE_RISCV64_RISCV64_H
#define COMPILER_MACHINE_RISCV64_RISCV64_H

#include "compiler/machine/Architecture.h"

namespace hlo::riscv64 {

extern const Architecture kArchitecture;

} // namespace hlo::riscv64

#endif
