//===- Target.cpp - Target descriptions from LLVM's subtarget tables ------===//
//
// Makes a Target from the names a user gives (--cpu, --features, --target). The instructions of a
// CPU are read from LLVM's subtarget tables, so that any CPU name LLVM knows works; what these
// tables do not have is in the folder of the architecture.
//
//===----------------------------------------------------------------------===//
#include "compiler/machine/Target.h"
#include "compiler/machine/x86/X86.h"
#include "compiler/support/NearestNames.h"
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

using namespace llvm;
namespace x86 = hlo::x86;

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

/// An error if a name in "+a,-b" is no feature of the subtarget.
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

/// The features by which this machine differs from other machines of its CPU's name, "+a,-b,...".
/// Only these, since LLVM searches its table for each feature of a subtarget's string, several
/// times per module of kernels. `made` gets the features of such a subtarget, which takes as long
/// to make as a small module to parse.
static std::string hostFeatures(const Triple &triple, StringRef cpu, StringSet<> &made) {
  std::unique_ptr<MCSubtargetInfo> plain = makeSubtarget(triple, cpu, "");
  if (!plain) {
    return "";
  }
  StringMap<bool> machine = sys::getHostCPUFeatures();
  made = featuresOf(*plain);
  std::vector<std::string> all, changed;
  for (auto &feature : machine) {
    std::string name = feature.first().str();
    feature.second = feature.second && !x86::isWithheld(name);
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
  Triple triple(
      Triple::normalize(tripleText.empty() ? StringRef(x86::kDefaultTriple) : tripleText));
  if (triple.getArch() != Triple::x86_64 || !triple.isOSBinFormatELF()) {
    return createStringError("target '" + tripleText +
                             "' is not supported; only x86_64 with ELF objects is");
  }
  Target target;
  target.triple = triple.str();
  target.cpu = cpu.empty() ? x86::kDefaultCpu.str() : cpu.str();
  StringSet<> given;
  if (cpu == "host" || cpu == "native") {
    target.cpu = sys::getHostCPUName().str();
    target.features = hostFeatures(triple, target.cpu, given);
  }
  // An unknown name makes LLVM print to stderr, so ask the table before.
  std::unique_ptr<MCSubtargetInfo> generic = makeSubtarget(triple, x86::kLeastCpu, "");
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
  bool without = false;
  for (StringRef name : x86::undeclaredFeatures()) {
    if (given.contains(name)) {
      target.features += (target.features.empty() ? "-" : ",-") + name.str();
      without = true;
    }
  }
  if (without) {
    given = featuresOf(*makeSubtarget(triple, target.cpu, target.features));
  }
  if (!given.contains("64bit")) {
    return createStringError("CPU '" + target.cpu + "' has no 64-bit mode");
  }
  target.cpuFeatures = x86::featureBits(given);
  target.cpuText =
      target.cpu + x86::differences(given, featuresOf(*makeSubtarget(triple, target.cpu, "")));
  target.machine = x86::describe(target.cpu, given, features.contains("+prefer-256-bit"));
  return target;
}

uint64_t hlo::cpuFeatureBits(const Target &target, bool usesTiles) {
  return usesTiles ? target.cpuFeatures : target.cpuFeatures & ~x86::tileBits();
}
