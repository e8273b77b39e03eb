//===- Features.cpp - Features of aarch64 and the bits that declare them --===//
//
// In: LLVM's names of features. Out: the bits by which an object declares them (hlo/cpu.h), and
// which of them no code may have.
//
//===----------------------------------------------------------------------===//
#include "compiler/machine/aarch64/AArch64.h"
#include "compiler/machine/aarch64/Capabilities.h"
#include "runtime/abi/hlo/cpu.h"
#include "runtime/abi/hlo/rt.h"
#include "llvm/Support/TargetSelect.h"

using namespace llvm;

namespace hlo::aarch64 {

/// Extensions whose instructions LLVM may choose by itself. SVE and SME need code that does not
/// know the length of a vector.
static ArrayRef<StringLiteral> undeclaredFeatures() {
  static constexpr StringLiteral names[] = {
      "sve",     "sve2",    "sve2p1",   "sme",   "sme2",    "mops",  "cssc",   "hbc",
      "lse2",    "lse128",  "rcpc3",    "d128",  "the",     "lut",   "fp8",    "fp8fma",
      "fp8dot2", "fp8dot4", "faminmax", "fpmr",  "cpa",     "cmpbr", "fprcvt", "f8f16mm",
      "f8f32mm", "lsfe",    "lsui",     "occmo", "pcdphint"};
  return names;
}

static ArrayRef<StringLiteral> callingFeatures() {
  static constexpr StringLiteral names[] = {"call-saved-x8",  "call-saved-x9",  "call-saved-x10",
                                            "call-saved-x11", "call-saved-x12", "call-saved-x13",
                                            "call-saved-x14", "call-saved-x15", "call-saved-x18"};
  return names;
}

static bool isWithheld(StringRef) { return false; }

static uint64_t featureBits(const StringSet<> &features) {
  uint64_t bits = 0;
#define HLO_CPU_ASK(bit, id, name) bits |= features.contains(name) ? HLO_AARCH64_##id : 0;
  HLO_AARCH64_FEATURES(HLO_CPU_ASK)
#undef HLO_CPU_ASK
  return bits;
}

static uint64_t tileBits() { return 0; }

static std::string differences(const StringSet<> &features, const StringSet<> &usual) {
  std::string text;
#define HLO_CPU_COMPARE(bit, id, name)                                                             \
  if (features.contains(name) != usual.contains(name)) {                                           \
    text += (features.contains(name) ? " +" : " -") + std::string(name);                           \
  }
  HLO_AARCH64_FEATURES(HLO_CPU_COMPARE)
#undef HLO_CPU_COMPARE
  return text;
}

static void initialize() {
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
  LLVMInitializeAArch64AsmParser();
}

static Machine describe(StringRef cpu, const StringSet<> &features, StringRef) {
  return machineOf(cpu, features);
}

const Architecture kArchitecture{.llvm = Triple::aarch64,
                                 .number = HLO_ARCH_AARCH64,
                                 .defaultCpu = "generic",
                                 .leastCpu = "generic",
                                 .required = "neon",
                                 .lacks = "vector instructions (neon)",
                                 .initialize = initialize,
                                 .undeclaredFeatures = undeclaredFeatures,
                                 .callingFeatures = callingFeatures,
                                 .isWithheld = isWithheld,
                                 .featureBits = featureBits,
                                 .tileBits = tileBits,
                                 .differences = differences,
                                 .describe = describe};

} // namespace hlo::aarch64
