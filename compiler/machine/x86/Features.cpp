//===- Features.cpp - Features of x86-64 and the bits that declare them ---===//
//
// Maps LLVM's names of features to the bits by which an object declares them (hlo/cpu.h), and
// says which of them no code may use.
//
//===----------------------------------------------------------------------===//
#include "compiler/machine/x86/Capabilities.h"
#include "compiler/machine/x86/Cpus.h"
#include "compiler/machine/x86/X86.h"
#include "runtime/abi/hlo/cpu.h"
#include "runtime/abi/hlo/rt.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/TargetSelect.h"
#include <sys/syscall.h>
#include <unistd.h>

using namespace llvm;

namespace hlo::x86 {

static ArrayRef<StringLiteral> undeclaredFeatures() {
  static constexpr StringLiteral names[] = {"egpr",    "push2pop2", "ppx",      "ndd",
                                            "ccmp",    "nf",        "cf",       "zu",
                                            "avx10.1", "avx10.2",   "cmpccxadd"};
  return names;
}

static ArrayRef<StringLiteral> callingFeatures() {
  static constexpr StringLiteral names[] = {"16bit-mode", "32bit-mode", "64bit-mode",
                                            "soft-float", "sse",        "sse2"};
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

static bool isWithheld(StringRef feature) { return feature.starts_with("amx-") && !permitsAmx(); }

static ArrayRef<DeclaredFeature> declaredFeatures() {
#define HLO_CPU_ROW(bit, id, name) {name, HLO_X86_##id},
  static constexpr DeclaredFeature rows[] = {HLO_X86_FEATURES(HLO_CPU_ROW)};
#undef HLO_CPU_ROW
  return rows;
}

static SmallVector<StringRef> cpuNames() {
  return map_to_vector(cpus(), [](const Cpu &cpu) -> StringRef { return cpu.name; });
}

static uint64_t tileBits() {
  return HLO_X86_AMX_TILE | HLO_X86_AMX_INT8 | HLO_X86_AMX_BF16 | HLO_X86_AMX_FP16;
}

static void initialize() {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeX86AsmParser();
}

/// `asked` may ask for vectors of 32 bytes on CPUs that have longer ones.
static Machine describe(StringRef cpu, const StringSet<> &features, StringRef asked) {
  return machineOf(cpu, features, /*narrow=*/asked.contains("+prefer-256-bit"));
}

const Architecture kArchitecture{.llvm = Triple::x86_64,
                                 .number = HLO_ARCH_X86_64,
                                 .defaultCpu = "x86-64-v3",
                                 .leastCpu = "x86-64",
                                 .required = "64bit",
                                 .lacks = "64-bit mode",
                                 .initialize = initialize,
                                 .declaredFeatures = declaredFeatures,
                                 .undeclaredFeatures = undeclaredFeatures,
                                 .callingFeatures = callingFeatures,
                                 .cpuNames = cpuNames,
                                 .isWithheld = isWithheld,
                                 .tileBits = tileBits,
                                 .describe = describe};

} // namespace hlo::x86
