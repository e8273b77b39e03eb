//===- Target.cpp - Target descriptions from LLVM's subtarget tables ------===//
//
// In: the names a user gives (--cpu, --features, --target). Out: a Target whose fields answer the
// questions of kernel emitters. ISA extensions come from LLVM's subtarget tables, so every CPU name
// of LLVM works. Cache sizes, which LLVM does not have, are in the table below, from the vendors'
// optimization manuals.
//
//===----------------------------------------------------------------------===//
#include "compiler/support/Target.h"
#include "runtime/abi/hlo/cpu.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>
#include <sys/syscall.h>
#include <unistd.h>

using namespace llvm;

namespace {
struct CacheSizes {
  StringRef cpu;
  int64_t l1, l2;
};
} // namespace

static constexpr int64_t KiB = 1 << 10, MiB = 1 << 20;

/// Data cache sizes of one core; CPUs that are not listed get the defaults of Target.
static constexpr CacheSizes cacheSizes[] = {
    {"haswell", 32 * KiB, 256 * KiB},        {"broadwell", 32 * KiB, 256 * KiB},
    {"skylake", 32 * KiB, 256 * KiB},        {"skylake-avx512", 32 * KiB, 1 * MiB},
    {"cascadelake", 32 * KiB, 1 * MiB},      {"cooperlake", 32 * KiB, 1 * MiB},
    {"icelake-client", 48 * KiB, 512 * KiB}, {"icelake-server", 48 * KiB, 1280 * KiB},
    {"tigerlake", 48 * KiB, 1280 * KiB},     {"alderlake", 48 * KiB, 1280 * KiB},
    {"raptorlake", 48 * KiB, 2 * MiB},       {"sapphirerapids", 48 * KiB, 2 * MiB},
    {"emeraldrapids", 48 * KiB, 2 * MiB},    {"graniterapids", 48 * KiB, 2 * MiB},
    {"graniterapids-d", 48 * KiB, 2 * MiB},  {"diamondrapids", 48 * KiB, 2 * MiB},
    {"znver1", 32 * KiB, 512 * KiB},         {"znver2", 32 * KiB, 512 * KiB},
    {"znver3", 32 * KiB, 512 * KiB},         {"znver4", 32 * KiB, 1 * MiB},
    {"znver5", 48 * KiB, 1 * MiB},           {"x86-64-v3", 32 * KiB, 512 * KiB},
};

void hlo::initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
  });
}

std::string hlo::nearestNames(StringRef name, ArrayRef<StringRef> known) {
  SmallVector<std::pair<unsigned, StringRef>> ranked;
  unsigned limit = std::max<size_t>(2, name.size() / 3);
  for (StringRef candidate : known) {
    unsigned distance = name.edit_distance(candidate, /*AllowReplacements=*/true, limit);
    if (distance <= limit) {
      ranked.emplace_back(distance, candidate);
    }
  }
  llvm::sort(ranked);
  std::string text;
  for (const auto &[distance, candidate] : ArrayRef(ranked).take_front(3)) {
    text += (text.empty() ? "; did you mean '" : ", '") + candidate.str() + "'";
  }
  return text.empty() ? text : text + "?";
}

/// Error if a name in "+a,-b" is not a feature of the subtarget.
static Error checkFeatureNames(StringRef features, const MCSubtargetInfo &subtarget) {
  SmallVector<StringRef> parts;
  features.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    part = part.trim();
    if (!part.starts_with("+") && !part.starts_with("-")) {
      return createStringError("feature '" + part + "' must start with + or -");
    }
    StringRef name = part.drop_front();
    SmallVector<StringRef> known;
    for (const SubtargetFeatureKV &feature : subtarget.getAllProcessorFeatures()) {
      known.push_back(feature.Key);
    }
    if (!is_contained(known, name)) {
      return createStringError("unknown CPU feature '" + name + "'" +
                               hlo::nearestNames(name, known));
    }
  }
  return Error::success();
}

static std::unique_ptr<MCSubtargetInfo> makeSubtarget(const Triple &triple, StringRef cpu,
                                                      StringRef features) {
  std::string message;
  const llvm::Target *backend = TargetRegistry::lookupTarget(triple, message);
  return std::unique_ptr<MCSubtargetInfo>(
      backend ? backend->createMCSubtargetInfo(triple, cpu, features) : nullptr);
}

/// Names of all features of a subtarget. Querying names one by one with `checkFeatures` would
/// search LLVM's whole table for each.
static StringSet<> featuresOf(const MCSubtargetInfo &subtarget) {
  StringSet<> names;
  for (const SubtargetFeatureKV &feature : subtarget.getEnabledProcessorFeatures()) {
    names.insert(feature.Key);
  }
  return names;
}

/// True if this machine's kernel grants AMX tiles to programs; the CPU alone does not decide that.
static bool permitsAmx() {
#ifdef SYS_arch_prctl
  constexpr int getSupported = 0x1021, tileData = 18; // ARCH_GET_XCOMP_SUPP, XFEATURE_XTILEDATA
  uint64_t features = 0;
  return syscall(SYS_arch_prctl, getSupported, &features) == 0 && (features >> tileData & 1) != 0;
#else
  return false;
#endif
}

/// The features in which this machine differs from LLVM's model of its CPU, as "+a,-b,...". Only
/// the differences, because LLVM searches its feature table for each name, several times per module
/// of kernels: a full list took a fifth of the time to compile a small module. `made` receives the
/// features of the subtarget, because making a subtarget is as slow as parsing a small module.
static std::string hostFeatures(const Triple &triple, StringRef cpu, StringSet<> &made) {
  std::unique_ptr<MCSubtargetInfo> plain = makeSubtarget(triple, cpu, "");
  if (!plain) {
    return "";
  }
  StringMap<bool> machine = sys::getHostCPUFeatures();
  bool withoutAmx = machine.lookup("amx-tile") && !permitsAmx();
  made = featuresOf(*plain);
  std::vector<std::string> all, changed;
  for (auto &feature : machine) {
    std::string name = feature.first().str();
    if (withoutAmx && feature.first().starts_with("amx-")) {
      feature.second = false;
    }
    all.push_back((feature.second ? "+" : "-") + name);
    if (made.contains(name) != feature.second) {
      changed.push_back(all.back());
    }
  }
  if (changed.empty()) {
    return "";
  }
  llvm::sort(all);
  llvm::sort(changed);
  std::string text = join(changed, ",");
  // A feature may imply others that the machine does not have.
  for (const std::string &change : changed) {
    plain->ApplyFeatureFlag(change);
  }
  made = featuresOf(*plain);
  bool same = llvm::all_of(machine, [&](const auto &feature) {
    return made.contains(feature.first()) == feature.second;
  });
  if (!same) {
    text = join(all, ",");
    made = featuresOf(*makeSubtarget(triple, cpu, text));
  }
  return text;
}

Expected<hlo::Target> hlo::describeTarget(StringRef cpu, StringRef features, StringRef tripleText) {
  initializeTargets();
  Triple triple(Triple::normalize(tripleText.empty() ? "x86_64-unknown-linux-gnu" : tripleText));
  if (triple.getArch() != Triple::x86_64 || !triple.isOSBinFormatELF()) {
    return createStringError("target '" + tripleText +
                             "' is not supported; only x86_64 with ELF objects is");
  }
  Target target;
  target.triple = triple.str();
  target.cpu = cpu.str();
  StringSet<> given;
  if (cpu == "host" || cpu == "native") {
    target.cpu = sys::getHostCPUName().str();
    target.features = hostFeatures(triple, target.cpu, given);
  }
  // LLVM prints unknown names to stderr, so look them up first.
  std::unique_ptr<MCSubtargetInfo> generic = makeSubtarget(triple, "x86-64", "");
  if (!generic) {
    return createStringError("this build of LLVM has no X86 backend");
  }
  if (!generic->isCPUStringValid(target.cpu)) {
    SmallVector<StringRef> known{"host"};
    for (const SubtargetSubTypeKV &entry : generic->getAllProcessorDescriptions()) {
      known.push_back(entry.Key);
    }
    return createStringError("unknown CPU '" + target.cpu + "'" + nearestNames(target.cpu, known));
  }
  if (Error error = checkFeatureNames(features, *generic)) {
    return error;
  }
  if (!features.empty()) {
    target.features += (target.features.empty() ? "" : ",") + features.str();
  }

  if (given.empty() || !features.empty()) {
    given = featuresOf(*makeSubtarget(triple, target.cpu, target.features));
  }
  // True if hlo/cpu.h has no bit for the instructions: the runtime could not refuse such an object.
  bool without = false;
  for (StringRef name : {"egpr", "push2pop2", "ppx", "ndd", "ccmp", "nf", "cf", "zu", "avx10.1",
                         "avx10.2", "cmpccxadd"}) {
    if (given.contains(name)) {
      target.features += (target.features.empty() ? "-" : ",-") + name.str();
      without = true;
    }
  }
  if (without) {
    given = featuresOf(*makeSubtarget(triple, target.cpu, target.features));
  }
  auto has = [&](StringRef name) { return given.contains(name); };
  if (!has("64bit")) {
    return createStringError("CPU '" + target.cpu + "' has no 64-bit mode");
  }
#define HLO_CPU_ASK(bit, id, name) target.cpuFeatures |= has(name) ? HLO_X86_##id : 0;
  HLO_X86_FEATURES(HLO_CPU_ASK)
#undef HLO_CPU_ASK
  target.cpuText = target.cpu;
  StringSet<> usual = featuresOf(*makeSubtarget(triple, target.cpu, ""));
#define HLO_CPU_COMPARE(bit, id, name)                                                             \
  if (has(name) != usual.contains(name)) {                                                         \
    target.cpuText += (has(name) ? " +" : " -") + std::string(name);                               \
  }
  HLO_X86_FEATURES(HLO_CPU_COMPARE)
#undef HLO_CPU_COMPARE
  target.fma = has("fma");
  target.f16c = has("f16c");
  target.avx512 = has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl");
  target.avx512fp16 = target.avx512 && has("avx512fp16");
  target.avx512bf16 = target.avx512 && has("avx512bf16");
  bool isZen = StringRef(target.cpu).starts_with("znver");
  target.fastBf16Dot = target.avx512bf16 && isZen;
  target.slowGathers = isZen;
  target.slowWidening = isZen;
  target.avx512vnni = target.avx512 && has("avx512vnni");
  target.amxBf16 = has("amx-bf16");
  target.amxInt8 = has("amx-int8");
  target.vectorRegisters = target.avx512 ? 32 : 16;
  // Integer vectors of 32 bytes need AVX2; AVX without it gets no code path of its own. With the
  // four AVX-512 groups, FMA-bound kernels gain from 64 bytes on every CPU. LLVM's tuning flag
  // prefer-256-bit is meant for other code, so it counts only if the user sets it.
  bool narrow = features.contains("+prefer-256-bit");
  target.vectorBytes = target.avx512 && !narrow ? 64 : has("avx2") ? 32 : 16;
  target.fmaPerCycle = target.cpu == "znver4" && target.vectorBytes == 64 ? 1 : 2;
  for (const CacheSizes &entry : cacheSizes) {
    if (entry.cpu == target.cpu) {
      target.l1Bytes = entry.l1;
      target.l2Bytes = entry.l2;
    }
  }
  return target;
}

uint64_t hlo::cpuFeatureBits(const Target &target, bool usesAmx) {
  uint64_t amx = HLO_X86_AMX_TILE | HLO_X86_AMX_INT8 | HLO_X86_AMX_BF16 | HLO_X86_AMX_FP16;
  return usesAmx ? target.cpuFeatures : target.cpuFeatures & ~amx;
}
