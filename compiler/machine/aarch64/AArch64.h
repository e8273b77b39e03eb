//===- AArch64.h - aarch64 for Target.cpp ---------------------------------===//
#ifndef COMPILER_MACHINE_AARCH64_AARCH64_H
#define COMPILER_MACHINE_AARCH64_AARCH64_H

#include "compiler/machine/Architecture.h"

namespace hlo::aarch64 {

extern const Architecture kArchitecture;

} // namespace hlo::aarch64

#endif
