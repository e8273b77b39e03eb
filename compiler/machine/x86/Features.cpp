//===- Features.cpp - Features of x86-64 and the bits that declare them ---===//
//
// Maps LLVM's names of features to the bits by which an object declares them (hlo/cpu.h), and
// says which of them no code may use.
//
//===----------------------------------------------------------------------===//
#include "compiler/machine/x86/X86.h"
#include "runtime/abi/hlo/cpu.h"
#include <sys/syscall.h>
#include <unistd.h>

using namespace llvm;

namespace hlo::x86 {

ArrayRef<StringLiteral> undeclaredFeatures() {
  static constexpr StringLiteral names[] = {"egpr",    "push2pop2", "ppx",      "ndd",
                                            "ccmp",    "nf",        "cf",       "zu",
                                            "avx10.1", "avx10.2",   "cmpccxadd"};
  return names;
}

/// Whether this machine's kernel permits AMX. A CPU may have AMX under a kernel that does not.
static bool permitsAmx() {
#ifdef SYS_arch_prctl
  constexpr int getSupported = 0x1021,
                tileData = 18; // ARCH_GET_XCOMP_SUPP and XFEATURE_XTILEDATA of Linux's x86 headers
  uint64_t features = 0;
  return syscall(SYS_arch_prctl, getSupported, &features) == 0 && (features >> tileData & 1) != 0;
#else
  return false;
#endif
}

bool isWithheld(StringRef feature) { return feature.starts_with("amx-") && !permitsAmx(); }

uint64_t featureBits(const StringSet<> &features) {
  uint64_t bits = 0;
#define HLO_CPU_ASK(bit, id, name) bits |= features.contains(name) ? HLO_X86_##id : 0;
  HLO_X86_FEATURES(HLO_CPU_ASK)
#undef HLO_CPU_ASK
  return bits;
}

uint64_t tileBits() {
  return HLO_X86_AMX_TILE | HLO_X86_AMX_INT8 | HLO_X86_AMX_BF16 | HLO_X86_AMX_FP16;
}

std::string differences(const StringSet<> &features, const StringSet<> &usual) {
  std::string text;
#define HLO_CPU_COMPARE(bit, id, name)                                                             \
  if (features.contains(name) != usual.contains(name)) {                                           \
    text += (features.contains(name) ? " +" : " -") + std::string(name);                           \
  }
  HLO_X86_FEATURES(HLO_CPU_COMPARE)
#undef HLO_CPU_COMPARE
  return text;
}

} // namespace hlo::x86
