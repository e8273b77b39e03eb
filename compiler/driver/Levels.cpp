//===- Levels.cpp - One object for several CPU levels ---------------------===//
//
// In: the code of a module for each level, made by a compilation of its own. Out: one object whose
// PREFIX_run_buffers and PREFIX_describe choose a level when they are called
// (runtime/core/levels.c). A level's code is that of an object for this CPU alone, so its results
// have the same bits.
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/Levels.h"
#include "compiler/target/Backend.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/xxhash.h"

using namespace hlo;

std::string hlo::dispatchFault(const CompileOptions &options) {
  constexpr unsigned ofOneLevel = EmitAssembly | EmitLlvmIr | EmitBitcode | EmitMlir;
  if (options.dispatch.empty()) {
    return "";
  }
  if (!options.cpu.empty()) {
    return "--dispatch and --cpu: only one of them can be given";
  }
  if ((options.emit & ofOneLevel) || options.compileTo != Phase::Package) {
    return "--dispatch: only objects have several CPU levels; for text, compile for one with --cpu";
  }
  if (options.startFrom > Phase::Canonicalize) {
    return "--dispatch: the input is past phase canonicalize, in which CPUs begin to differ";
  }
  if (options.explainPlan || !options.plans.empty()) {
    return "--dispatch: plans are made for each CPU level; compile for one of them with --cpu";
  }
  return "";
}

llvm::Expected<std::vector<Target>> hlo::describeLevels(llvm::ArrayRef<std::string> names,
                                                        llvm::StringRef features,
                                                        llvm::StringRef triple) {
  std::vector<Target> levels;
  for (const auto &[i, name] : llvm::enumerate(names)) {
    llvm::Expected<Target> level = describeTarget(name, features, triple);
    if (!level) {
      return level.takeError();
    }
    for (const auto &[k, earlier] : llvm::enumerate(levels)) {
      uint64_t most = earlier.cpuFeatures | level->cpuFeatures;
      if (most == earlier.cpuFeatures) {
        return llvm::createStringError(
            "level '" + name + "' has no instructions that the level '" + names[k] +
            "' before it does not have, which would never be chosen; list levels from the least to "
            "the most");
      }
    }
    levels.push_back(std::move(*level));
  }
  return levels;
}

static void takeMost(ArenaSize &most, const ArenaSize &arena) {
  most.bytes = std::max(most.bytes, arena.bytes - arena.threadBytes);
  most.threadBytes = std::max(most.threadBytes, arena.threadBytes);
}

Description hlo::describeAll(llvm::ArrayRef<Description> levels, std::string flags) {
  Description all = levels.front();
  all.flags = std::move(flags);
  all.levelName.clear();
  all.levelNumber = 0;
  all.arena = all.prepared.arena = {};
  all.sizes = {}; // each level has its own
  for (const Description &level : levels) {
    takeMost(all.arena, level.arena);
    takeMost(all.prepared.arena, level.prepared.arena);
    all.arenaAlign = std::max(all.arenaAlign, level.arenaAlign);
    all.stateBytes = std::max(all.stateBytes, level.stateBytes);
    all.needs |= level.needs;
    Prepared &prepared = all.prepared;
    prepared.bytes = std::max(prepared.bytes, level.prepared.bytes);
    // An input that some level reads must be there.
    for (size_t i = 0; i < std::min(prepared.inputUse.size(), level.prepared.inputUse.size());
         ++i) {
      prepared.inputUse[i] |= level.prepared.inputUse[i];
    }
    prepared.id =
        llvm::xxh3_64bits(std::to_string(prepared.id) + "," + std::to_string(level.prepared.id));
  }
  all.arena.bytes += all.arena.threadBytes;
  all.prepared.arena.bytes += all.prepared.arena.threadBytes;
  return all;
}

/// The constants of all levels, each value once.
static std::vector<ConstantData> uniteConstants(llvm::ArrayRef<LevelCode> levels) {
  std::vector<ConstantData> united;
  llvm::DenseMap<std::pair<uint64_t, uint64_t>, llvm::SmallVector<size_t, 1>> byHash;
  for (const LevelCode &level : levels) {
    for (const ConstantData &constant : level.constants.data) {
      llvm::ArrayRef bytes(reinterpret_cast<const uint8_t *>(constant.bytes.data()),
                           constant.bytes.size());
      llvm::SmallVector<size_t, 1> &candidates =
          byHash[{llvm::xxh3_64bits(bytes) >> 1, constant.size}];
      const size_t *same = llvm::find_if(candidates, [&](size_t i) {
        return united[i].splat == constant.splat && united[i].bytes == constant.bytes;
      });
      if (same != candidates.end()) {
        united[*same].otherNames.push_back(constant.symbol);
        united[*same].alignment = std::max(united[*same].alignment, constant.alignment);
      } else {
        candidates.push_back(united.size());
        united.push_back(constant);
      }
    }
  }
  return united;
}

/// The object with the functions that choose a level. Empty after an internal error.
static ObjectCode makeDispatch(const Target &target, uint64_t cpuFeatures,
                               const Signature &signature, const Description &description) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(target, /*optLevel=*/1);
  llvm::Module module("dispatch", context);
  module.setDataLayout(machine->createDataLayout());
  buildDispatch(signature, description, target, cpuFeatures, module);
  setTarget(module, *machine, target);
  StackUse used;
  return llvm::verifyModule(module)
             ? ObjectCode()
             : generateCode(module, *machine, llvm::CodeGenFileType::ObjectFile, &used);
}

llvm::Expected<std::string> hlo::mergeLevels(llvm::MutableArrayRef<LevelCode> levels,
                                             const Signature &signature, Description description) {
  uint64_t stackBytes = 0;
  for (const LevelCode &level : levels) {
    description.levels.push_back(level.symbols);
    stackBytes = std::max(stackBytes, level.kernels.stackBytes);
  }
  const LevelCode &least = levels.front();
  ObjectCode dispatch = makeDispatch(least.target, least.cpuFeatures, signature, description);
  if (dispatch.empty()) {
    return llvm::createStringError("invalid code for the choice of a level");
  }
  // Below the level's function there are the frames of the function that chooses, which jumps to
  // the runtime and may keep a return address, and of hlo_rt_run_level: registers and an hlo_text.
  constexpr uint64_t kChoiceStackBytes = 256;
  setStackBytes(dispatch, signature, stackBytes + kChoiceStackBytes);
  llvm::SmallVector<llvm::StringRef> parts;
  for (const LevelCode &level : levels) {
    parts.append(level.objects.begin(), level.objects.end());
  }
  parts.push_back(dispatch);
  return mergeObjects(parts, uniteConstants(levels), exportedSymbols(signature, description),
                      importedSymbols(), /*fold=*/true);
}
