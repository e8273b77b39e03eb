//===- Emulator.h - Tiles of AMX on machines without them -----------------===//
#ifndef TEST_AMX_EMULATOR_H
#define TEST_AMX_EMULATOR_H

#include <cstdint>

namespace hlo::testing {

/// Makes AMX instructions (tiles, bf16, int8) work in this process: by the kernel's permission if
/// the CPU has them, else by a handler of SIGILL that executes them as Intel's manual says. Code
/// around them may need AVX-512. May be called any number of times, from any thread.
void enableAmx();
/// True if this machine has AMX and its kernel permits it.
bool hasNativeAmx();
/// True if the calling thread has configured tiles; false if AMX is not emulated.
bool tilesInUse();

/// Instructions that all threads have emulated.
struct AmxCounts {
  uint64_t products, loads, stores;
};
AmxCounts amxCounts();

} // namespace hlo::testing

#endif
