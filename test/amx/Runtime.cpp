//===- Runtime.cpp - The runtime's questions about AMX, answered for tests ===//
//
// Linked with --wrap of the two functions by which the runtime detects AMX: if the CPU has none,
// requesting it starts the emulator. With HLO_TEST_AMX=refused in the environment the request is
// refused, as by an older kernel. With HLO_TEST_AMX=count the program says at its end how many
// instructions were emulated.
//
//===----------------------------------------------------------------------===//
#include "runtime/abi/hlo/cpu.h"
#include "test/amx/Emulator.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static std::atomic<uint64_t> emulated{0};

extern "C" {
uint64_t __real_hlo_cpu_detect(void);
uint64_t __real_hlo_cpu_request(uint64_t features);

uint64_t __wrap_hlo_cpu_detect(void) { return __real_hlo_cpu_detect() | emulated; }

uint64_t __wrap_hlo_cpu_request(uint64_t features) {
  const char *wish = std::getenv("HLO_TEST_AMX");
  if (wish && std::strcmp(wish, "refused") == 0) {
    return __wrap_hlo_cpu_detect() & features;
  }
  uint64_t granted = __real_hlo_cpu_request(features);
  if (features & HLO_X86_AMX_TILE & ~granted) {
    hlo::testing::enableAmx();
    if (wish && std::strcmp(wish, "count") == 0 && !emulated) {
      std::atexit([] {
        auto [products, loads, stores] = hlo::testing::amxCounts();
        std::fprintf(stderr, "amx: %llu products, %llu loads, %llu stores\n",
                     static_cast<unsigned long long>(products),
                     static_cast<unsigned long long>(loads),
                     static_cast<unsigned long long>(stores));
      });
    }
    emulated |= HLO_X86_AMX_TILE | HLO_X86_AMX_INT8 | HLO_X86_AMX_BF16;
  }
  return (granted | emulated) & features;
}
}
