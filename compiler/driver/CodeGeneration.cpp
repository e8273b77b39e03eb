//===- CodeGeneration.cpp - Phases emit, optimize and package -------------===//
//
// In: a planned module. Out: one relocatable object, or text. Each group of kernels goes
// through its own LLVM context on whatever thread is free, and the entry likewise; objects
// are merged in the order of the groups, so that threads leave no trace in the output.
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/CodeGeneration.h"
#include "compiler/target/Backend.h"
#include "compiler/target/LowerToLLVM.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FileSystem.h"
#include <atomic>

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
} // namespace

CodeGeneration::CodeGeneration(const CodeGenerationInput &input, bool single) : in(input) {
  units = collectKernels(in.planned, in.signature.prefix);
  groups = groupKernels(units, single);
  objects.resize(groups.size() + 1);
}

/// body(0) ... body(count - 1), on the threads that there are.
void CodeGeneration::forEach(size_t count, llvm::function_ref<void(size_t)> body) {
  if (!in.pool || count < 2) {
    for (size_t i = 0; i < count; ++i) {
      body(i);
    }
    return;
  }
  llvm::ThreadPoolTaskGroup tasks(*in.pool);
  for (size_t i = 0; i < count; ++i) {
    tasks.async([body, i] { body(i); });
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
    recovery.RunSafely([&] { ok[i] = succeeded(emitGroup(groups[i], units, in.planned, in.target)); });
    diagnostics.eraseOrderIDForThread();
  });
  return success(llvm::all_of(ok, [](char one) { return one; }));
}

void CodeGeneration::printKernels(llvm::raw_ostream &out) {
  for (KernelGroup &group : groups) {
    group.module->print(out);
    out << '\n';
  }
}

llvm::StringMap<KernelInfo> CodeGeneration::kernelInfos() const {
  llvm::StringMap<KernelInfo> infos;
  for (const KernelUnit &unit : units) {
    auto op = unit.op;
    infos[op.getSymName()] = {unit.symbol, unit.tasks};
  }
  return infos;
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

/// Machine code of a finished module; checks first, as LLVM's code generator does not.
LogicalResult CodeGeneration::generate(llvm::Module &module, llvm::TargetMachine &machine,
                                       llvm::CodeGenFileType kind, Code &code) {
  code = generateCode(module, machine, kind);
  if (code.empty()) {
    return in.planned.emitError("internal error: the code generator made nothing of ")
           << module.getName();
  }
  return success();
}

/// What a module of kernels is before any of it is optimized.
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
  QuietContext context;
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(in.target, in.options.optLevel);
  std::unique_ptr<llvm::Module> module =
      lowerGroup(*groups[index].module, context.context, *machine, in.target);
  groups[index].module = nullptr;
  if (!module) {
    return failure();
  }
  std::string number = std::to_string(index);
  dump(*module, "kernels-" + number + ".ll");
  optimizeKernels(*module, *machine, in.options.optLevel);
  dump(*module, "kernels-" + number + ".opt.ll");
  if (failed(generate(*module, *machine, llvm::CodeGenFileType::ObjectFile, objects[index]))) {
    return failure();
  }
  if (!context.error.empty()) {
    return in.planned.emitError("internal error: ") << context.error;
  }
  return success();
}

LogicalResult CodeGeneration::addEntry(llvm::Module &module) {
  buildDescription(in.signature, in.description, in.target, module);
  cpurt::EntryOp entry = *in.planned.getOps<cpurt::EntryOp>().begin();
  return buildEntry(entry, in.signature.prefix, kernelInfos(), in.constants.symbols, module);
}

LogicalResult CodeGeneration::compileEntry() {
  QuietContext context;
  // Little of the entry could be better, and it may be long: 20,000 launches take 1.2 s at -O1 and
  // 0.25 s at -O0, for one nanosecond more per launch.
  constexpr unsigned longEntry = 256;
  unsigned launches = 0;
  in.planned.walk([&](cpurt::LaunchOp) { ++launches; });
  std::unique_ptr<llvm::TargetMachine> machine =
      makeTargetMachine(in.target, launches > longEntry ? 0 : std::min(in.options.optLevel, 1));
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
  return generate(module, *machine, llvm::CodeGenFileType::ObjectFile, objects.back());
}

LogicalResult CodeGeneration::compileObjects() {
  std::vector<char> ok(objects.size(), false);
  ParallelDiagnosticHandler diagnostics(in.planned.getContext());
  forEach(objects.size(), [&](size_t i) {
    diagnostics.setOrderIDForThread(i);
    llvm::CrashRecoveryContext recovery;
    recovery.RunSafely(
        [&] { ok[i] = succeeded(i < groups.size() ? compileGroup(i) : compileEntry()); });
    diagnostics.eraseOrderIDForThread();
  });
  return success(llvm::all_of(ok, [](char one) { return one; }));
}

LogicalResult CodeGeneration::package(std::string &object) {
  SmallVector<StringRef> parts(objects.begin(), objects.end());
  std::vector<std::string> exported = {in.signature.prefix + "_run_buffers",
                                       in.signature.prefix + "_describe"};
  llvm::Expected<std::string> merged = mergeObjects(parts, in.constants.data, exported);
  if (!merged) {
    return in.planned.emitError("internal error: objects could not be merged: ")
           << llvm::toString(merged.takeError());
  }
  object = std::move(*merged);
  return success();
}

/// The constants as global variables, for outputs that are one LLVM module.
static void addConstants(const ConstantPool &pool, llvm::Module &module) {
  llvm::LLVMContext &context = module.getContext();
  for (const ConstantData &data : pool.data) {
    std::string repeated;
    StringRef bytes(data.bytes.data(), data.bytes.size());
    if (data.splat && !bytes.empty()) {
      repeated.reserve(data.size);
      while (repeated.size() < data.size) {
        repeated += bytes;
      }
      bytes = repeated;
    }
    auto *value = llvm::ConstantDataArray::getString(context, bytes, /*AddNull=*/false);
    auto *global = new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true,
                                            llvm::GlobalValue::ExternalLinkage, value, data.symbol);
    global->setVisibility(llvm::GlobalValue::HiddenVisibility);
    global->setAlignment(llvm::Align(data.alignment));
  }
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
    optimizeKernels(*module, *machine, in.options.optLevel);
  }
  addConstants(in.constants, *module);
  if (failed(addEntry(*module))) {
    return failure();
  }
  setTarget(*module, *machine, in.target);
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
    Code code;
    if (failed(generate(*module, *machine, llvm::CodeGenFileType::AssemblyFile, code))) {
      return failure();
    }
    artifacts.assembly = code.str().str();
  }
  return success();
}
