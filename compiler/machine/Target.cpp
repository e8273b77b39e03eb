//===- Target.cpp - Target descriptions from LLVM's subtarget tables ------===//
//
// Makes a Target from the names a user gives (--cpu, --features, --target). The instructions of a
// CPU are read from LLVM's subtarget tables, so that any CPU name LLVM knows works; what these
// tables do not have is in the folder of the architecture.
//
//===----------------------------------------------------------------------===//
#include "compiler/machine/Target.h"
#include "compiler/machine/aarch64/AArch64.h"
#include "compiler/machine/riscv64/RiscV64.h"
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
using hlo::Architecture;
using hlo::DeclaredFeature;

/// The first one is the default.
static const Architecture *const kArchitectures[] = {
    &hlo::x86::kArchitecture, &hlo::aarch64::kArchitecture, &hlo::riscv64::kArchitecture};
static constexpr StringLiteral kDefaultTriple = "x86_64-unknown-linux-gnu";
/// What users mean who misspell a triple.
static const StringRef kUsualTriples[] = {
    "x86_64-linux-gnu",   "x86_64-linux-musl",     "x86_64-linux-android", "aarch64-linux-gnu",
    "aarch64-linux-musl", "aarch64-linux-android", "riscv64-linux-gnu"};

void hlo::initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (const Architecture *architecture : kArchitectures) {
      architecture->initialize();
    }
  });
}

/// The user's "+a,-b" without blanks and empty names, which LLVM's tables do not skip; an error if
/// a name is no feature of the subtarget.
static Expected<std::string> readFeatures(StringRef features, const MCSubtargetInfo &subtarget) {
  SmallVector<StringRef> parts;
  features.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef &part : parts) {
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
  return join(parts, ",");
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

std::string hlo::cpuWithFeatures(const Architecture &architecture, StringRef triple, StringRef name,
                                 ArrayRef<StringRef> features) {
  SmallVector<StringRef> names = architecture.cpuNames();
  for (const StringRef *at = find(names, name); at != names.end(); ++at) {
    std::unique_ptr<MCSubtargetInfo> subtarget = makeSubtarget(Triple(triple), *at, "");
    if (!subtarget) {
      break;
    }
    StringSet<> its = featuresOf(*subtarget);
    if (all_of(features, [&](StringRef feature) { return its.contains(feature); })) {
      return at->str();
    }
  }
  return name.str();
}

/// The features by which this machine differs from other machines of its CPU's name, "+a,-b,...".
/// Only these, since LLVM searches its table for each feature of a subtarget's string, several
/// times per module of kernels. `made` gets the features of such a subtarget, which takes as long
/// to make as a small module to parse. `cpu` is replaced where cpuWithFeatures knows a better one.
static std::string hostFeatures(const Architecture &architecture, const Triple &triple,
                                std::string &cpu, StringSet<> &made) {
  std::unique_ptr<MCSubtargetInfo> plain = makeSubtarget(triple, cpu, "");
  if (!plain) {
    return "";
  }
  StringMap<bool> machine = sys::getHostCPUFeatures();
  for (auto &feature : machine) {
    feature.second = feature.second && !architecture.isWithheld(feature.first());
  }
  made = featuresOf(*plain);
  SmallVector<StringRef> declared;
  for (const DeclaredFeature &feature : architecture.declaredFeatures()) {
    if (machine.lookup(feature.name)) {
      declared.push_back(feature.name);
    }
  }
  if (!all_of(declared, [&](StringRef feature) { return made.contains(feature); })) {
    cpu = hlo::cpuWithFeatures(architecture, triple.str(), cpu, declared);
    plain = makeSubtarget(triple, cpu, "");
    made = featuresOf(*plain);
  }
  std::vector<std::string> all, changed;
  for (const auto &feature : machine) {
    std::string name = feature.first().str();
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

/// The first component of the triple that LLVM does not recognize, or of which it recognizes only a
/// prefix; empty if there is none. Missing components, and the systems `none` and `elf`, count as
/// recognized.
static StringRef unknownWord(const Triple &triple) {
  auto isNone = [](StringRef name) {
    return name.empty() || name == "unknown" || name == "none" || name == "elf";
  };
  if (triple.getOS() == Triple::UnknownOS && !isNone(triple.getOSName())) {
    return triple.getOSName();
  }
  StringRef environment = triple.getEnvironmentName();
  // A C library belongs to a system; what stands in its place was taken for a vendor.
  if (triple.getOS() == Triple::UnknownOS && !isNone(environment)) {
    return isNone(triple.getVendorName()) ? environment : triple.getVendorName();
  }
  StringRef known = Triple::getEnvironmentTypeName(triple.getEnvironment());
  bool isKnown = triple.getEnvironment() == Triple::UnknownEnvironment
                     ? isNone(environment)
                     : environment.drop_front(known.size()).find_first_not_of("0123456789.") ==
                           StringRef::npos;
  return isKnown ? "" : environment;
}

/// The architecture of a triple that objects can be made for, or an error that says why there is
/// none.
static Expected<const Architecture *> architectureOf(const Triple &triple, StringRef text) {
  const auto *found = find_if(kArchitectures, [&](const Architecture *architecture) {
    return architecture->llvm == triple.getArch();
  });
  if (found == std::end(kArchitectures)) {
    std::string known;
    for (const Architecture *architecture : kArchitectures) {
      known += (known.empty() ? "" : ", ") + Triple::getArchTypeName(architecture->llvm).str();
    }
    return createStringError("target '" + text + "' is not supported; these are: " + known +
                             hlo::nearestNames(text, kUsualTriples));
  }
  if (!triple.isOSBinFormatELF()) {
    StringRef format = triple.isOSBinFormatMachO() ? "Mach-O"
                       : triple.isOSBinFormatCOFF()
                           ? "COFF"
                           : Triple::getObjectFormatTypeName(triple.getObjectFormat());
    return createStringError("target '" + text + "' has objects of the format " + format +
                             "; only ELF is supported");
  }
  if (triple.isX32() || triple.getEnvironment() == Triple::GNUILP32) {
    return createStringError("target '" + text +
                             "' has pointers of 32 bits; only those of 64 are supported");
  }
  if (StringRef word = unknownWord(triple); !word.empty()) {
    return createStringError("target '" + text + "': unknown system '" + word + "'" +
                             hlo::nearestNames(text, kUsualTriples));
  }
  return *found;
}

/// Splits "CPU+extension+noextension": `cpu` becomes the name of a CPU that LLVM knows, if it can;
/// the rest is returned as "+name,-name".
static std::string takeExtensions(const Architecture &architecture, StringRef &cpu) {
  auto [base, rest] = cpu.split('+');
  std::string features;
  auto add = [&](const Twine &feature) {
    features += (features.empty() ? "" : ",") + feature.str();
  };
  if (std::optional<std::string> version = architecture.featuresOfVersion(base)) {
    add(*version);
    base = architecture.leastCpu;
  }
  SmallVector<StringRef> extensions;
  rest.split(extensions, '+', -1, /*KeepEmpty=*/false);
  for (StringRef extension : extensions) {
    bool removes = extension.consume_front("no");
    add((removes ? "-" : "+") + architecture.extensionNamed(extension));
  }
  cpu = base;
  return features;
}

Expected<hlo::Target> hlo::describeTarget(StringRef cpu, StringRef features, StringRef tripleText) {
  initializeTargets();
  Triple triple(Triple::normalize(tripleText.empty() ? StringRef(kDefaultTriple) : tripleText));
  Expected<const Architecture *> known = architectureOf(triple, tripleText);
  if (!known) {
    return known.takeError();
  }
  const Architecture &architecture = **known;
  Target target;
  target.triple = triple.str();
  target.architecture = &architecture;
  if (cpu.empty()) {
    cpu = architecture.defaultCpu;
  }
  std::string extended = takeExtensions(architecture, cpu);
  if (!features.empty()) {
    extended += (extended.empty() ? "" : ",") + features.str();
  }
  target.cpu = cpu.str();
  StringSet<> given;
  if (cpu == "host" || cpu == "native") {
    if (triple.getArch() != Triple(sys::getProcessTriple()).getArch()) {
      return createStringError("CPU '" + cpu + "' is this machine's, which is not of target '" +
                               tripleText + "'");
    }
    target.cpu = sys::getHostCPUName().str();
    target.features = hostFeatures(architecture, triple, target.cpu, given);
  }
  // An unknown name makes LLVM print to stderr, so ask the table before.
  std::unique_ptr<MCSubtargetInfo> generic = makeSubtarget(triple, architecture.leastCpu, "");
  if (!generic) {
    return createStringError("this build of LLVM has no backend for " + triple.getArchName());
  }
  if (!generic->isCPUStringValid(target.cpu)) {
    SmallVector<StringRef> names{"host"};
    for (const SubtargetSubTypeKV &entry : generic->getAllProcessorDescriptions()) {
      names.push_back(entry.Key);
    }
    return createStringError("unknown CPU '" + target.cpu + "'" + nearestNames(target.cpu, names));
  }
  Expected<std::string> asked = readFeatures(extended, *generic);
  if (!asked) {
    return asked.takeError();
  }
  if (!asked->empty()) {
    target.features += (target.features.empty() ? "" : ",") + *asked;
  }

  if (given.empty() || !asked->empty()) {
    given = featuresOf(*makeSubtarget(triple, target.cpu, target.features));
  }
  bool without = false;
  for (StringRef name : architecture.undeclaredFeatures()) {
    if (given.contains(name)) {
      target.features += (target.features.empty() ? "-" : ",-") + name.str();
      without = true;
    }
  }
  if (without) {
    given = featuresOf(*makeSubtarget(triple, target.cpu, target.features));
  }
  if (!given.contains(architecture.required)) {
    return createStringError("CPU '" + target.cpu + "' has no " + architecture.lacks);
  }
  StringSet<> least = featuresOf(*generic);
  for (StringRef name : architecture.callingFeatures()) {
    if (given.contains(name) != least.contains(name)) {
      return createStringError("CPU feature '" + name + "' cannot be " +
                               (given.contains(name) ? "added" : "removed") +
                               ": it decides how functions are called");
    }
  }
  StringSet<> usual = featuresOf(*makeSubtarget(triple, target.cpu, ""));
  target.cpuText = target.cpu;
  for (const DeclaredFeature &feature : architecture.declaredFeatures()) {
    bool has = given.contains(feature.name);
    target.cpuFeatures |= has ? feature.bit : 0;
    if (has != usual.contains(feature.name)) {
      target.cpuText += (has ? " +" : " -") + feature.name.str();
    }
  }
  target.machine = architecture.describe(target.cpu, given, *asked);
  return target;
}

uint64_t hlo::cpuFeatureBits(const Target &target, bool usesTiles) {
  return usesTiles ? target.cpuFeatures : target.cpuFeatures & ~target.architecture->tileBits();
}
