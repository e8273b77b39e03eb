//===- Emulator.h - Tiles of AMX on machines without them -----------------===//
#ifndef TEST_AMX_EMULATOR_H
#define TEST_AMX_EMULATOR_H

namespace hlo::testing {

/// Makes instructions of AMX (tiles, bf16, int8) work in this process: by the kernel's permission
/// where the CPU has them, else by a handler of SIGILL that executes them as Intel's manual says.
/// Code around them may need AVX-512. May be called any number of times, from any thread.
void enableAmx();
/// Whether this machine has them, and its kernel permits them.
bool hasNativeAmx();
/// Whether the calling thread has tiles configured; false where they are not emulated.
bool tilesInUse();

} // namespace hlo::testing

#endif
