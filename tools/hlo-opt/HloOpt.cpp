//===- HloOpt.cpp - The pass driver of this project's tests ---------------===//
//
// mlir-opt with our dialects and passes, and further formats: `--hlo` reads a module as hlo-compile
// does, HLO or StableHLO text, `--print-hlo` prints HLO text. `--emit-kernels` runs the code
// generator on every kernel after the passes and prints the functions.
//
//===----------------------------------------------------------------------===//
#include "compiler/machine/Target.h"
#include "compiler/parser/Parser.h"
#include "compiler/parser/Printer.h"
#include "compiler/pipeline/Kernels.h"
#include "compiler/pipeline/Pipeline.h"
#include "compiler/stablehlo/Import.h"
#include "compiler/stablehlo/Nesting.h"
#include "compiler/stablehlo/refine/Refine.h"
#include "compiler/support/FileKind.h"
#include "dialect/hlo/verify/VerifyModule.h"
#include "dialect/stablehlo/Register.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/ToolUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tools/Tools.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
namespace cl = llvm::cl;

namespace {
/// Options that MlirOptMain does not have.
struct Options {
  cl::OptionCategory category{"hlo-opt options"};
  cl::opt<bool> readHlo{"hlo", cl::desc("Read HLO or StableHLO text"), cl::cat(category)};
  cl::opt<bool> printHlo{"print-hlo", cl::desc("Print HLO text"), cl::cat(category)};
  cl::opt<bool> emitKernels{"emit-kernels", cl::cat(category),
                            cl::desc("After the passes, print the function of every kernel")};
  cl::opt<std::string> cpu{"cpu", cl::desc("CPU that passes and --emit-kernels are for"),
                           cl::cat(category)};
};
} // namespace

/// MLIR's parser has no limit of its own: a deep text would overflow its stack.
static bool isTooDeep(llvm::StringRef text, llvm::StringRef name) {
  std::optional<size_t> deep = hlo::stable::findDeepBracket(text, hlo::stable::kMostBrackets);
  if (deep) {
    llvm::StringRef before = text.take_front(*deep);
    llvm::errs() << name << ":" << before.count('\n') + 1 << ":" << *deep - before.rfind('\n')
                 << ": error: brackets nested deeper than " << hlo::stable::kMostBrackets
                 << " levels\n";
  }
  return deep.has_value();
}

/// Processes one piece of the input: parses, runs the passes, prints.
static LogicalResult processPiece(std::unique_ptr<llvm::MemoryBuffer> buffer,
                                  const MlirOptMainConfig &config, const Options &options,
                                  const hlo::Machine &machine, DialectRegistry &registry,
                                  llvm::raw_ostream &out) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  std::string name = buffer->getBufferIdentifier().str();
  llvm::StringRef text = buffer->getBuffer();
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());

  if (!options.readHlo && isTooDeep(text, name)) {
    return failure();
  }
  auto run = [&]() -> LogicalResult {
    OwningOpRef<ModuleOp> module;
    if (options.readHlo) {
      module = hlo::isMlirText(text) ? hlo::parseStablehlo(text, name, &context)
                                     : hlo::parseHlo(text, name, &context, hlo::ParseOptions());
    } else {
      module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
    }
    if (!module || (options.readHlo && failed(hlo::verifyModule(*module)))) {
      return failure();
    }
    auto passes = PassManager::on<ModuleOp>(&context);
    passes.enableVerifier(config.shouldVerifyPasses());
    if (failed(config.setupPassPipeline(passes)) || failed(passes.run(*module))) {
      return failure();
    }
    if (options.emitKernels) {
      OwningOpRef<ModuleOp> kernels = ModuleOp::create(module->getLoc());
      if (failed(hlo::emitAllKernels(*module, machine, *kernels))) {
        return failure();
      }
      module = std::move(kernels);
    }
    if (options.printHlo) {
      hlo::printHlo(*module, out);
      return success();
    }
    module->print(out);
    out << '\n';
    return success();
  };
  if (config.shouldVerifyDiagnostics()) {
    SourceMgrDiagnosticVerifierHandler handler(*sources, &context);
    (void)run();
    return handler.verify();
  }
  SourceMgrDiagnosticHandler handler(*sources, &context);
  return run();
}

int hlo::tool::optMain(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Options options;
  DialectRegistry registry;
  hlo::registerAllDialects(registry);
  stablehlo::registerStablehloDialects(registry);
  // Filled in once the options are known; no pass is made before.
  hlo::Machine machine;
  hlo::registerAllPasses(machine);
  hlo::registerRefineSizesPass();
  auto [input, output] = registerAndParseCLIOptions(argc, argv, "HLO pass driver", registry);
  llvm::Expected<hlo::Target> target = hlo::describeTarget(options.cpu);
  if (!target) {
    llvm::errs() << "hlo-opt: error: " << llvm::toString(target.takeError()) << '\n';
    return 2;
  }
  machine = target->machine;
  const MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses()) {
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
  }

  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(input, &message);
  std::unique_ptr<llvm::ToolOutputFile> file = buffer ? openOutputFile(output, &message) : nullptr;
  if (!file) {
    llvm::errs() << "hlo-opt: error: " << message << '\n';
    return 3;
  }
  if (!options.readHlo && !options.printHlo && !options.emitKernels) {
    if (isTooDeep(buffer->getBuffer(), buffer->getBufferIdentifier())) {
      return 1;
    }
    LogicalResult done = MlirOptMain(file->os(), std::move(buffer), registry, config);
    if (succeeded(done)) {
      file->keep();
    }
    return asMainReturnCode(done);
  }
  auto process = [&](std::unique_ptr<llvm::MemoryBuffer> piece, llvm::raw_ostream &out) {
    return processPiece(std::move(piece), config, options, machine, registry, out);
  };
  LogicalResult result =
      splitAndProcessBuffer(std::move(buffer), process, file->os(), config.inputSplitMarker(),
                            config.outputSplitMarker());
  if (succeeded(result)) {
    file->keep();
  }
  return asMainReturnCode(result);
}
