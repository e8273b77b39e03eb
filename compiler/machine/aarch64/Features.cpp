//===- Features.cpp - Features of aarch64 and the bits that declare them --===//
//
// In: LLVM's names of features. Out: the bits by which an object declares them (hlo/cpu.h), and
// which of them no code may have.
//
//===----------------------------------------------------------------------===//
#include "compiler/machine/aarch64/AArch64.h"
#include "compiler/machine/aarch64/Capabilities.h"
#include "compiler/machine/aarch64/Cpus.h"
#include "runtime/abi/hlo/cpu.h"
#include "runtime/abi/hlo/rt.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/AArch64TargetParser.h"

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

static SmallVector<StringRef> cpuNames() {
  return map_to_vector(cpus(), [](const Cpu &cpu) -> StringRef { return cpu.name; });
}

static ArrayRef<DeclaredFeature> declaredFeatures() {
#define HLO_CPU_ROW(bit, id, name) {name, HLO_AARCH64_##id},
  static constexpr DeclaredFeature rows[] = {HLO_AARCH64_FEATURES(HLO_CPU_ROW)};
#undef HLO_CPU_ROW
  return rows;
}

static std::optional<std::string> featuresOfVersion(StringRef name) {
  const llvm::AArch64::ArchInfo *version = llvm::AArch64::parseArch(name);
  return version ? std::optional(version->ArchFeature.str()) : std::nullopt;
}

static StringRef extensionNamed(StringRef name) {
  std::optional<llvm::AArch64::ExtensionInfo> known = llvm::AArch64::parseArchExtension(name);
  return known && !known->PosTargetFeature.empty() ? known->PosTargetFeature.drop_front() : name;
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
                                 .featuresOfVersion = featuresOfVersion,
                                 .extensionNamed = extensionNamed,
                                 .initialize = initialize,
                                 .declaredFeatures = declaredFeatures,
                                 .undeclaredFeatures = undeclaredFeatures,
                                 .callingFeatures = callingFeatures,
                                 .cpuNames = cpuNames,
                                 .describe = describe};

} // namespace hlo::aarch64
