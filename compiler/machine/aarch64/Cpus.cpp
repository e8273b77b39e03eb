//===- Cpus.cpp - aarch64 cores by name -----------------------------------===//
//
// What LLVM's tables of features do not say. None of these figures was measured by this project:
// there was no such machine. What starts in a cycle comes from
//   llvm    LLVM 22's scheduling model of the core (test/aarch64/rows.test asks llvm-mca);
//   guide   Arm's Software Optimization Guide of the core: tables of ASIMD instructions, of loads
//           and stores. LLVM takes another core's model for it;
//   others  D. Johnson's measurements of Firestorm, since LLVM's model is that of an older core.
// A chain of multiply-adds runs at the rate at which the addend is forwarded: the number in
// parentheses in Arm's guides, which LLVM's models of N1, N2, A710 to A720 lack.
// Caches: Arm's Technical Reference Manuals; where a size is the integrator's choice, the common
// one of servers or phones. Apple publishes none; sysctl hw.perflevel0
// reports them, 12 to 16 MiB of L2 for four to six cores. Of A64FX twelve share 8 MiB.
//
//===----------------------------------------------------------------------===//
#include "compiler/machine/aarch64/Cpus.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace hlo::aarch64 {

static constexpr int64_t KiB = 1 << 10, MiB = 1 << 20;

// clang-format off
static constexpr Cpu kCpus[] = {
  // name          fma ld st shuf int  chain wid mla dot mat     l1 ways       l2 line
  {"cortex-a53",   {1, .5, .5, 1, 2},  4, 1,  1, 1, 1,  32 * KiB, 4, 512 * KiB, 64}, // guide
  {"cortex-a55",   {1, .5, .5, 1, 2},  4, 1,  1, 1, 1,  32 * KiB, 4, 256 * KiB, 64}, // guide
  {"cortex-a510",  {2, 2, 1, 2, 3},    4, .5, 1, 1, 1,  32 * KiB, 4, 256 * KiB, 64}, // llvm
  {"cortex-a72",   {1, 1, .5, 1, 2},   3, .5, 2, 1, 1,  32 * KiB, 2,   1 * MiB, 64}, // guide
  {"cortex-a76",   {2, 2, 1, 2, 3},    2, 1,  4, 1, 1,  64 * KiB, 4, 512 * KiB, 64}, // guide
  {"cortex-a78",   {2, 2, 1, 2, 4},    2, 1,  2, 1, 1,  64 * KiB, 4, 512 * KiB, 64}, // guide
  {"cortex-a710",  {2, 3, 2, 2, 4},    2, 1,  2, 1, 1,  64 * KiB, 4, 512 * KiB, 64}, // llvm
  {"cortex-a715",  {2, 3, 2, 2, 4},    2, 1,  2, 1, 1,  64 * KiB, 4, 512 * KiB, 64}, // llvm
  {"cortex-a720",  {2, 3, 2, 2, 4},    2, 1,  2, 1, 1,  64 * KiB, 4, 512 * KiB, 64}, // llvm
  {"cortex-x1",    {4, 3, 2, 4, 4},    2, .5, 2, 1, 1,  64 * KiB, 4,   1 * MiB, 64}, // llvm
  {"cortex-x2",    {4, 3, 2, 4, 6},    2, .5, 2, 1, 1,  64 * KiB, 4,   1 * MiB, 64}, // llvm
  {"cortex-x3",    {4, 3, 2, 4, 6},    2, .5, 2, 1, 1,  64 * KiB, 4,   1 * MiB, 64}, // llvm
  {"cortex-x4",    {4, 3, 2, 4, 8},    2, .25, 2, 1, 1, 64 * KiB, 4,   2 * MiB, 64}, // llvm
  {"cortex-x925",  {4, 3, 2, 4, 8},    2, .25, 2, 1, 1, 64 * KiB, 4,   2 * MiB, 64}, // llvm
  {"neoverse-n1",  {2, 2, 1, 2, 3},    2, 1,  4, 1, 1,  64 * KiB, 4,   1 * MiB, 64}, // llvm
  {"neoverse-n2",  {2, 3, 2, 2, 4},    2, 1,  2, 1, 1,  64 * KiB, 4,   1 * MiB, 64}, // llvm
  {"neoverse-n3",  {2, 3, 2, 2, 4},    2, 1,  2, 1, 1,  64 * KiB, 4,   2 * MiB, 64}, // llvm
  {"neoverse-v1",  {4, 3, 2, 4, 4},    2, .5, 2, 1, 1,  64 * KiB, 4,   1 * MiB, 64}, // llvm
  {"neoverse-v2",  {4, 3, 2, 4, 6},    2, .5, 2, 1, 1,  64 * KiB, 4,   2 * MiB, 64}, // llvm
  {"neoverse-v3",  {4, 3, 2, 4, 8},    2, .25, 2, 1, 1, 64 * KiB, 4,   2 * MiB, 64}, // llvm
  {"ampere1",      {2, 2, 1, 2, 4},    5, .5, 1, 1, 2,  64 * KiB, 4,   2 * MiB, 64}, // llvm
  {"ampere1a",     {2, 2, 1, 2, 4},    5, .5, 1, 1, 2,  64 * KiB, 4,   2 * MiB, 64}, // llvm
  {"ampere1b",     {2, 2, 1, 2, 4},    4, .5, 1, 1, 1,  64 * KiB, 4,   2 * MiB, 64}, // llvm
  {"a64fx",        {2, 2, 2, 1, 4},    9, .5, 1, 1, 1,  64 * KiB, 4, 680 * KiB, 256}, // llvm
  {"apple-m1",     {4, 3, 2, 4, 6},    4, .25, 1, 1, 1, 128 * KiB, 8,  3 * MiB, 128}, // others
  {"apple-m2",     {4, 3, 2, 4, 6},    4, .25, 1, 1, 1, 128 * KiB, 8,  4 * MiB, 128}, // others
  {"apple-m3",     {4, 3, 2, 4, 6},    4, .25, 1, 1, 1, 128 * KiB, 8,  3 * MiB, 128}, // others
  {"apple-m4",     {4, 3, 2, 4, 6},    4, .25, 1, 1, 1, 128 * KiB, 8,  4 * MiB, 128}, // others
};

/// Of a core without a row: what the smaller servers and the larger cores of phones can do.
static constexpr Cpu kCommon =
  {"",             {2, 2, 1, 2, 3},    4, 1,  2, 1, 1,  32 * KiB, 4, 512 * KiB, 64};
// clang-format on

const Cpu &cpuNamed(StringRef name) {
  const Cpu *found = find_if(kCpus, [&](const Cpu &cpu) { return cpu.name == name; });
  return found == std::end(kCpus) ? kCommon : *found;
}

ArrayRef<Cpu> cpus() { return kCpus; }

} // namespace hlo::aarch64
