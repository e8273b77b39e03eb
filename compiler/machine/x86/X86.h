//===- X86.h - x86-64 for Target.cpp --------------------------------------===//
#ifndef COMPILER_MACHINE_X86_X86_H
#define COMPILER_MACHINE_X86_X86_H

#include "compiler/machine/Architecture.h"

namespace hlo::x86 {

extern const Architecture kArchitecture;

} // namespace hlo::x86

#endif
