//===- CodeGeneration.cpp - Phases emit, optimize and package -------------===//
//
// In: a planned module. Out: one relocatable object, or text. Each group of kernels, and the entry,
// is compiled in its own LLVM context on any free thread. Objects are merged in the order of the
// groups, so the output does not depend on the threads.
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/CodeGeneration.h"
#include "compiler/plans/ExactKernels.h"
#include "compiler/support/Heap.h"
#include "compiler/target/Backend.h"
#include "compiler/target/LowerToLLVM.h"
#include "compiler/target/entry/LoopMemory.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FileSystem.h"
#include <chrono>
#include <unordered_map>

using namespace mlir;
using namespace hlo;

namespace {
/// An LLVM context whose errors do not end the process.
struct QuietContext {
  QuietContext() {
    context.setDiagnosticHandlerCallBack(
        [](const llvm::DiagnosticInfo *info, void *self) {
          if (info->getSeverity() != llvm::DS_Error) {
            return;
          }
          llvm::raw_string_ostream stream(static_cast<QuietContext *>(self)->error);
          llvm::DiagnosticPrinterRawOStream printer(stream);
          info->print(printer);
        },
        this);
  }
  llvm::LLVMContext context;
  std::string error;
};

/// Adds the time since its construction to a total.
class Stopwatch {
public:
  explicit Stopwatch(double &sum) : sum(sum) {}
  ~Stopwatch() {
    sum += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

private:
  double &sum;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};
} // namespace

/// The functions of a group, as "a, b".
static std::string namesOf(ArrayRef<unsigned> indices, ArrayRef<KernelUnit> units) {
  return llvm::join(llvm::map_range(indices, [&](unsigned index) { return units[index].symbol; }),
                    ", ");
}

CodeGeneration::CodeGeneration(const CodeGenerationInput &input, bool single)
    : in(input), single(single) {
  units = collectKernels(in.planned, in.signature.symbols);
  shareKernels();
  groups = groupKernels(units, single);
  if (in.options.explainPlan || !in.options.plans.empty()) {
    for (KernelUnit &unit : units) {
      unit.choice.emplace();
      for (const PlanRequest &request : in.options.plans) {
        if (request.kernel == unit.op.getSymName()) {
          unit.choice->forced = request.candidate;
        }
      }
    }
  }
}

/// Whether two kernels become the same function but for the machine.
static bool areTwins(const KernelUnit &a, const KernelUnit &b) {
  cpurt::KernelOp first = a.op, second = b.op;
  FusionOp one = first.getFusion(), other = second.getFusion();
  return a.calledByRuntime == b.calledByRuntime && a.shared == b.shared &&
         one->getAttrDictionary() == other->getAttrDictionary() &&
         one->getOperandTypes() == other->getOperandTypes() &&
         one->getResultTypes() == other->getResultTypes() &&
         OperationEquivalence::isRegionEquivalentTo(&one.getBody(), &other.getBody(),
                                                    OperationEquivalence::IgnoreLocations);
}

/// Takes kernels of earlier levels where this one would gain nothing. Small loops inline theirs, so
/// what is launched in a loop stays.
void CodeGeneration::shareKernels() {
  if (in.earlier.empty() || in.options.keepsAllKernels) {
    return;
  }
  llvm::StringSet<> inLoops;
  in.planned->walk([&](cpurt::WhileOp loop) {
    loop->walk([&](cpurt::LaunchOp launch) { inLoops.insert(launch.getKernel()); });
  });
  // By types, which few kernels have in common.
  auto keyOf = [](const KernelUnit &unit) {
    cpurt::KernelOp op = unit.op;
    FusionOp fusion = op.getFusion();
    return llvm::hash_combine(
        llvm::hash_combine_range(fusion->operand_type_begin(), fusion->operand_type_end()),
        llvm::hash_combine_range(fusion->result_type_begin(), fusion->result_type_end()));
  };
  std::unordered_map<size_t, SmallVector<std::pair<const LevelKernels *, const KernelUnit *>, 1>>
      known;
  for (const LevelKernels *level : in.earlier) {
    for (const KernelUnit &unit : level->units) {
      known[keyOf(unit)].push_back({level, &unit});
    }
  }
  llvm::erase_if(units, [&](const KernelUnit &unit) {
    cpurt::KernelOp op = unit.op;
    auto candidates = known.find(keyOf(unit));
    if (candidates == known.end() || inLoops.contains(op.getSymName()) ||
        !isExact(op.getFusion())) {
      return false;
    }
    for (auto [level, twin] : candidates->second) {
      cpurt::KernelOp twinOp = twin->op;
      if (areTwins(unit, *twin) &&
          gainsNothing(op.getFusion(), level->machine, in.target.machine)) {
        shared[op.getSymName()] = level->infos.lookup(twinOp.getSymName());
        return true;
      }
    }
    return false;
  });
}

/// Runs body(0) ... body(count - 1) on the available threads; after a cancellation, no more of
/// them. The phase then fails (Compilation::phase).
void CodeGeneration::forEach(size_t count, llvm::function_ref<void(size_t)> body) {
  if (!in.pool || count < 2) {
    for (size_t i = 0; i < count && !in.options.isCancelled(); ++i) {
      body(i);
    }
    return;
  }
  llvm::ThreadPoolTaskGroup tasks(*in.pool);
  for (size_t i = 0; i < count; ++i) {
    tasks.async([this, body, i] {
      takeHugePages();
      if (!in.options.isCancelled()) {
        body(i);
      }
    });
  }
  tasks.wait();
}

LogicalResult CodeGeneration::emit() {
  std::vector<char> ok(groups.size(), false);
  // Errors of several threads appear in the order of the groups.
  ParallelDiagnosticHandler diagnostics(in.planned.getContext());
  forEach(groups.size(), [&](size_t i) {
    diagnostics.setOrderIDForThread(i);
    llvm::CrashRecoveryContext recovery;
    recovery.RunSafely(
        [&] { ok[i] = succeeded(emitGroup(groups[i], units, in.planned, in.target.machine)); });
    diagnostics.eraseOrderIDForThread();
  });
  if (!llvm::all_of(ok, [](char one) { return one; })) {
    return failure();
  }
  for (const KernelUnit &unit : units) {
    auto op = unit.op;
    kernelInfos[op.getSymName()] = {unit.symbol,       unit.tasks,
                                    unit.barriers,     unit.variableBytes,
                                    unit.scratchBytes, opsOfSmallKernel(op.getFusion())};
  }
  for (const auto &kernel : shared) {
    kernelInfos[kernel.first()] = kernel.second;
  }
  if (in.options.optLevel > 0) {
    findLoops();
  }
  operations = makeOperationTable(entry(), in.planned, loops, in.metadata);
  return emitLoopKernels();
}

std::vector<KernelPlan> CodeGeneration::plans() const {
  std::vector<KernelPlan> plans;
  for (const KernelUnit &unit : units) {
    if (!unit.choice) {
      continue;
    }
    cpurt::KernelOp op = unit.op;
    KernelPlan plan{op.getSymName().str(), op.getFusion().getStrategy().value_or("").str(),
                    unit.choice->candidates, unit.choice->chosen, std::nullopt};
    if (auto row = operations.kernels.find(plan.kernel); row != operations.kernels.end()) {
      plan.operation = row->second;
    }
    plans.push_back(std::move(plan));
  }
  return plans;
}

/// Collects small loops into groups of a few. The grouping does not depend on the threads.
void CodeGeneration::findLoops() {
  constexpr size_t loopsPerGroup = 8;
  loops = findSmallLoops(entry(), in.signature.symbols, kernelInfos);
  for (auto &loop : loops) {
    loop.second.scratchBytes =
        loopScratchBytes(cast<cpurt::WhileOp>(loop.first), loop.second.slots, kernelInfos);
    if (loopGroups.empty() || (loopGroups.back().loops.size() == loopsPerGroup && !single)) {
      loopGroups.emplace_back();
    }
    loopGroups.back().loops.push_back(cast<cpurt::WhileOp>(loop.first));
  }
}

uint64_t CodeGeneration::scratchBytes(Operation *root, Operation *except) {
  int64_t most = 0;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto loop = loops.find(op); loop != loops.end()) {
      most = std::max(most, loop->second.scratchBytes);
      return WalkResult::skip();
    }
    if (auto launch = dyn_cast<cpurt::LaunchOp>(op)) {
      most = std::max(most, kernelInfos.lookup(launch.getKernel()).scratchBytes);
    }
    return op == except ? WalkResult::skip() : WalkResult::advance();
  });
  return most;
}

uint64_t CodeGeneration::scratchBytes(bool prepare) {
  uint64_t most = 0;
  for (auto each : in.planned.getOps<cpurt::EntryOp>()) {
    if (each.getPrepare() == prepare) {
      most = std::max(most, scratchBytes(each, nullptr));
    }
  }
  return most;
}

uint64_t CodeGeneration::scratchBytes(cpurt::CaseOp choice, size_t branch) {
  uint64_t most = scratchBytes(choice->getParentOfType<cpurt::EntryOp>(), choice);
  for (Operation &op : choice.getBranches()[branch].front()) {
    most = std::max(most, scratchBytes(&op, nullptr));
  }
  return most;
}

/// Emits the kernels of small loops a second time, for inlining; kernels that only small loops
/// launch are dropped from the other groups. With a single module all kernels are in it already.
LogicalResult CodeGeneration::emitLoopKernels() {
  llvm::MapVector<StringRef, bool> launched = kernelsOf(loops, in.planned);
  if (single || launched.empty()) {
    return success();
  }
  for (LoopGroup &group : loopGroups) {
    llvm::StringSet<> names;
    for (cpurt::WhileOp loop : group.loops) {
      loop->walk([&](cpurt::LaunchOp launch) { names.insert(launch.getKernel()); });
    }
    for (KernelUnit &unit : units) {
      if (names.contains(unit.op.getSymName())) {
        group.kernels.units.push_back(group.units.size());
        group.units.push_back(unit);
      }
    }
    if (failed(emitGroup(group.kernels, group.units, in.planned, in.target.machine))) {
      return failure();
    }
  }
  for (KernelGroup &group : groups) {
    llvm::erase_if(group.units, [&](unsigned index) {
      KernelUnit &unit = units[index];
      auto known = launched.find(unit.op.getSymName());
      bool onlyInLoops = known != launched.end() && !known->second;
      if (onlyInLoops) {
        group.module->lookupSymbol(unit.symbol)->erase();
      }
      return onlyInLoops;
    });
  }
  return success();
}

void CodeGeneration::printKernels(llvm::raw_ostream &out) {
  for (KernelGroup &group : groups) {
    group.module->print(out);
    out << '\n';
  }
}

EntryContext CodeGeneration::entryContext() const {
  return {in.signature, in.description, kernelInfos, in.constants.symbols, loops, operations};
}

void CodeGeneration::dump(llvm::Module &module, const llvm::Twine &name) {
  if (in.options.dumpDir.empty()) {
    return;
  }
  std::error_code error;
  llvm::raw_fd_ostream file((in.options.dumpDir + "/" + name).str(), error);
  if (!error) {
    module.print(file, nullptr);
  }
}

std::unique_ptr<llvm::TargetMachine> CodeGeneration::takeMachine() {
  {
    std::lock_guard<std::mutex> guard(machinesLock);
    if (!machines.empty()) {
      std::unique_ptr<llvm::TargetMachine> machine = std::move(machines.back());
      machines.pop_back();
      return machine;
    }
  }
  return makeTargetMachine(in.target, in.options.optLevel, ownSections());
}

void CodeGeneration::giveBack(std::unique_ptr<llvm::TargetMachine> machine) {
  std::lock_guard<std::mutex> guard(machinesLock);
  machines.push_back(std::move(machine));
}

/// Generates machine code for a finished module. Verifies first, since LLVM's code generator does
/// not.
LogicalResult CodeGeneration::generate(llvm::Module &module, llvm::TargetMachine &machine,
                                       llvm::CodeGenFileType kind, ObjectCode &code,
                                       ModuleTime &time) {
  Stopwatch watch(time.codeSeconds);
  StackUse used;
  code = generateCode(module, machine, kind, &used);
  {
    std::lock_guard<std::mutex> guard(stackLock);
    stack.add(used);
  }
  if (code.empty()) {
    return in.planned.emitError("internal error: the code generator made nothing of ")
           << module.getName();
  }
  return success();
}

/// The LLVM module of a group before any optimization.
static std::unique_ptr<llvm::Module> lowerGroup(ModuleOp group, llvm::LLVMContext &context,
                                                llvm::TargetMachine &machine,
                                                const Target &target) {
  if (failed(lowerToLLVM(group))) {
    group.emitError("internal error: kernels could not be lowered");
    return nullptr;
  }
  std::unique_ptr<llvm::Module> module = translate(group, context, machine);
  if (!module) {
    group.emitError("internal error: kernels could not be translated to LLVM IR");
    return nullptr;
  }
  for (llvm::Function &function : *module) {
    if (!function.isDeclaration() && !function.hasLocalLinkage()) {
      function.setVisibility(llvm::GlobalValue::HiddenVisibility);
    }
  }
  setTarget(*module, machine, target);
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (llvm::verifyModule(*module, &stream)) {
    group.emitError("internal error: invalid LLVM IR: ") << message;
    return nullptr;
  }
  return module;
}

LogicalResult CodeGeneration::compileGroup(size_t index) {
  if (groups[index].units.empty()) {
    return success();
  }
  QuietContext context;
  std::unique_ptr<llvm::TargetMachine> machine = takeMachine();
  ModuleTime &time = times[index];
  time.kernels = namesOf(groups[index].units, units);
  std::unique_ptr<llvm::Module> module;
  {
    Stopwatch watch(time.lowerSeconds);
    module = lowerGroup(*groups[index].module, context.context, *machine, in.target);
    groups[index].module = nullptr;
  }
  if (!module) {
    return failure();
  }
  std::string number = std::to_string(index);
  if (!loops.empty()) {
    removeUnused(*module, *machine);
  }
  dump(*module, "kernels-" + number + ".ll");
  {
    Stopwatch watch(time.passesSeconds);
    optimizeKernels(*module, *machine, in.options.optLevel);
  }
  if (entryIsWithKernels()) {
    if (failed(addEntry(*module))) {
      return failure();
    }
    setTarget(*module, *machine, in.target);
  }
  dump(*module, "kernels-" + number + ".opt.ll");
  if (failed(
          generate(*module, *machine, llvm::CodeGenFileType::ObjectFile, objects[index], time))) {
    return failure();
  }
  if (!context.error.empty()) {
    return in.planned.emitError("internal error: ") << context.error;
  }
  module = nullptr;
  giveBack(std::move(machine));
  return success();
}

LogicalResult CodeGeneration::compileLoops(size_t index) {
  LoopGroup &group = loopGroups[index];
  QuietContext context;
  std::unique_ptr<llvm::TargetMachine> machine = takeMachine();
  ModuleTime &time = times[groups.size() + index];
  time.kernels = "loops with " + namesOf(group.kernels.units, group.units);
  std::unique_ptr<llvm::Module> module;
  {
    Stopwatch watch(time.lowerSeconds);
    module = lowerGroup(*group.kernels.module, context.context, *machine, in.target);
    group.kernels.module = nullptr;
  }
  if (!module) {
    return failure();
  }
  for (llvm::Function &function : *module) {
    if (!function.isDeclaration()) {
      function.setVisibility(llvm::GlobalValue::DefaultVisibility);
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
    }
  }
  addSmallConstants(in.constants, *module);
  for (cpurt::WhileOp loop : group.loops) {
    if (failed(buildLoop(loop, entryContext(), *module))) {
      return failure();
    }
  }
  setTarget(*module, *machine, in.target);
  inlineKernels(*module, *machine);
  for (cpurt::WhileOp loop : group.loops) {
    narrowMaskedAccesses(*module->getFunction(loops.find(loop)->second.symbol));
  }
  removeUnused(*module, *machine);
  std::string number = std::to_string(index);
  dump(*module, "loops-" + number + ".ll");
  {
    Stopwatch watch(time.passesSeconds);
    optimizeKernels(*module, *machine, in.options.optLevel, /*thorough=*/true);
  }
  dump(*module, "loops-" + number + ".opt.ll");
  if (failed(generate(*module, *machine, llvm::CodeGenFileType::ObjectFile,
                      objects[groups.size() + index], time))) {
    return failure();
  }
  module = nullptr;
  giveBack(std::move(machine));
  return success();
}

bool CodeGeneration::entryIsLong() const {
  // An entry with more launches than longEntry, or more ops than longBlock (such as copies of one
  // parameter to many results), is one long block, and the optimizing code generator takes time
  // quadratic in a block's length. Optimized code saves a nanosecond per launch, a third of what a
  // small kernel takes, so an entry that mostly launches those may be longer.
  constexpr unsigned longEntry = 8, longEntryOfSmall = 256, longBlock = 256;
  unsigned launches = 0, smallLaunches = 0, operands = 0;
  ModuleOp(in.planned)->walk([&](Operation *op) {
    if (auto launch = dyn_cast<cpurt::LaunchOp>(op)) {
      ++launches;
      auto kernel = kernelInfos.find(launch.getKernel());
      smallLaunches += kernel != kernelInfos.end() && kernel->second.smallOps;
    }
    operands += isa<cpurt::CopyOp, cpurt::CallOp, cpurt::RandomStateOp>(op) * op->getNumOperands();
  });
  bool isSmall =
      launches <= longEntry || (launches <= longEntryOfSmall && 2 * smallLaunches > launches);
  return !isSmall || operands > longBlock;
}

uint64_t CodeGeneration::cpuFeatures() const {
  bool usesTiles = llvm::any_of(units, [](const KernelUnit &unit) { return unit.usesTiles; });
  return cpuFeatureBits(in.target, usesTiles);
}

LogicalResult CodeGeneration::addEntry(llvm::Module &module) {
  buildDescription(in.signature, in.description, operations.rows, in.target, cpuFeatures(), module);
  for (auto each : in.planned.getOps<cpurt::EntryOp>()) {
    if (failed(buildEntry(each, entryContext(), module))) {
      return failure();
    }
  }
  return success();
}

LogicalResult CodeGeneration::compileEntry() {
  QuietContext context;
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(
      in.target, entryIsLong() ? 0 : std::min(in.options.optLevel, 1), ownSections());
  llvm::Module module("entry", context.context);
  module.setDataLayout(machine->createDataLayout());
  if (failed(addEntry(module))) {
    return failure();
  }
  setTarget(module, *machine, in.target);
  dump(module, "entry.ll");
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (llvm::verifyModule(module, &stream)) {
    return in.planned.emitError("internal error: invalid LLVM IR of the entry: ") << message;
  }
  times.back().kernels = "entry";
  return generate(module, *machine, llvm::CodeGenFileType::ObjectFile, objects.back(),
                  times.back());
}

LogicalResult CodeGeneration::compileObjects() {
  size_t beforeEntry = groups.size() + loopGroups.size();
  objects.resize(beforeEntry + 1);
  times.resize(objects.size());
  std::vector<char> ok(objects.size(), false);
  ParallelDiagnosticHandler diagnostics(in.planned.getContext());
  std::mutex progressLock;
  unsigned done = 0;
  forEach(objects.size(), [&](size_t i) {
    diagnostics.setOrderIDForThread(i);
    llvm::CrashRecoveryContext recovery;
    recovery.RunSafely([&] {
      ok[i] = succeeded(i < groups.size()      ? compileGroup(i)
                        : i < beforeEntry      ? compileLoops(i - groups.size())
                        : entryIsWithKernels() ? success()
                                               : compileEntry());
    });
    diagnostics.eraseOrderIDForThread();
    if (in.options.onProgress) {
      std::lock_guard<std::mutex> guard(progressLock);
      in.options.onProgress(Phase::Optimize, ++done, objects.size());
    }
  });
  return success(llvm::all_of(ok, [](char one) { return one; }));
}

std::vector<ModuleTime> CodeGeneration::moduleTimes() const {
  std::vector<ModuleTime> sorted = times;
  llvm::erase_if(sorted, [](const ModuleTime &time) { return time.kernels.empty(); });
  llvm::sort(sorted, [](const ModuleTime &a, const ModuleTime &b) {
    return std::make_pair(-a.seconds(), a.kernels) < std::make_pair(-b.seconds(), b.kernels);
  });
  return sorted;
}

uint64_t CodeGeneration::stackBytes() const {
  std::vector<std::string> kernels;
  for (const KernelUnit &unit : units) {
    kernels.push_back(unit.symbol);
  }
  uint64_t bytes = stack.boundOf(in.signature.symbols + "_run_buffers", kernels);
  if (in.description.prepared.bytes) {
    bytes = std::max(bytes, stack.boundOf(in.signature.symbols + "_prepare_buffers", kernels));
  }
  // A kernel of an earlier level is called from there too.
  for (const LevelKernels *level : in.earlier) {
    bytes = std::max(bytes, shared.empty() ? 0 : level->stackBytes);
  }
  return llvm::alignTo(bytes, 64);
}

std::vector<ObjectCode> CodeGeneration::takeObjects() {
  // Frame sizes are known only after code generation, and the description is part of that code.
  uint64_t bytes = stackBytes();
  for (ObjectCode &object : objects) {
    setStackBytes(object, in.signature, bytes);
  }
  llvm::erase_if(objects, [](const ObjectCode &object) { return object.empty(); });
  return std::move(objects);
}

LevelKernels CodeGeneration::takeKernels() {
  uint64_t bytes = stackBytes();
  return {in.target.machine, std::move(units), std::move(kernelInfos), bytes};
}

LogicalResult CodeGeneration::package(std::string &object) {
  std::vector<ObjectCode> made = takeObjects();
  SmallVector<StringRef> parts(made.begin(), made.end());
  std::vector<std::string> exported = exportedSymbols(in.signature, in.description);
  llvm::Expected<std::string> merged =
      mergeObjects(parts, in.constants.data, exported, importedSymbols());
  if (!merged) {
    return in.planned.emitError("internal error: objects could not be merged: ")
           << llvm::toString(merged.takeError());
  }
  object = std::move(*merged);
  return success();
}

LogicalResult CodeGeneration::compileText(Artifacts &artifacts) {
  QuietContext context;
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(in.target, in.options.optLevel);
  std::unique_ptr<llvm::Module> module;
  if (groups.empty()) {
    module = std::make_unique<llvm::Module>("kernels", context.context);
    module->setDataLayout(machine->createDataLayout());
  } else {
    module = lowerGroup(*groups[0].module, context.context, *machine, in.target);
    if (!module) {
      return failure();
    }
    for (llvm::Function &function : *module) {
      if (!function.isDeclaration()) {
        function.setVisibility(llvm::GlobalValue::DefaultVisibility);
        function.setLinkage(llvm::GlobalValue::InternalLinkage);
      }
    }
  }
  addConstants(in.constants, *module);
  for (const auto &loop : loops) {
    if (failed(buildLoop(cast<cpurt::WhileOp>(loop.first), entryContext(), *module))) {
      return failure();
    }
  }
  setTarget(*module, *machine, in.target);
  inlineKernels(*module, *machine);
  for (const auto &loop : loops) {
    narrowMaskedAccesses(*module->getFunction(loop.second.symbol));
  }
  optimizeKernels(*module, *machine, in.options.optLevel, /*thorough=*/!loops.empty());
  if (failed(addEntry(*module))) {
    return failure();
  }
  setTarget(*module, *machine, in.target);
  removeUnused(*module, *machine);
  module->setModuleIdentifier(in.signature.prefix);
  module->setSourceFileName(in.signature.prefix);
  if (in.options.emit & EmitLlvmIr) {
    llvm::raw_string_ostream stream(artifacts.llvmIr);
    module->print(stream, nullptr);
  }
  if (in.options.emit & EmitBitcode) {
    llvm::raw_string_ostream stream(artifacts.bitcode);
    llvm::WriteBitcodeToFile(*module, stream);
  }
  if (in.options.emit & EmitAssembly) {
    ObjectCode code;
    ModuleTime time;
    if (failed(generate(*module, *machine, llvm::CodeGenFileType::AssemblyFile, code, time))) {
      return failure();
    }
    artifacts.assembly = code.str().str();
  }
  return success();
}
