//===- Main.cpp - hlo-compile: HLO text to an object and a header ---------===//
//
// In: a command line and one HLO module. Out: files, each written under a temporary name and
// renamed once complete, and the exit code (0 done, 1 the input has errors, 2 usage, 3 file, 4
// unsupported, 5 limit, 7 time-out, 70 internal). Everything else is in compiler/driver.
//
//===----------------------------------------------------------------------===//
#include "CommandLine.h"
#include "Output.h"
#include "compiler/driver/Compile.h"
#include "compiler/support/FileKind.h"
#include "compiler/support/Heap.h"
#include "tools/Tools.h"
#include "tools/limits/Watchdog.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace hlo;
using namespace hlo::tool;

/// The compiler recurses on nested modules, which may need more than the usual 8 MiB of stack.
static constexpr unsigned stackBytes = 256u << 20;

/// Lists the kernel modules with the longest times in phase optimize.
static void reportSlowModules(llvm::ArrayRef<ModuleTime> modules, llvm::raw_ostream &out) {
  constexpr size_t shown = 8;
  constexpr size_t nameColumns = 60;
  if (modules.empty()) {
    return;
  }
  out << llvm::formatv("\n{0,10}{1,10}{2,10}  of optimize, seconds on one thread\n", "lower",
                       "passes", "code");
  for (const ModuleTime &module : modules.take_front(shown)) {
    llvm::StringRef names = module.kernels;
    out << llvm::formatv("{0,10:f3}{1,10:f3}{2,10:f3}  {3}{4}\n", module.lowerSeconds,
                         module.passesSeconds, module.codeSeconds, names.take_front(nameColumns),
                         names.size() > nameColumns ? "..." : "");
  }
  if (modules.size() > shown) {
    out << llvm::formatv("and {0} more\n", modules.size() - shown);
  }
}

/// Prints seconds per phase, as a table or as one line of JSON.
static void reportTimes(const Artifacts &artifacts, TimeReport form, llvm::raw_ostream &out) {
  double total = 0;
  for (const auto &[name, seconds] : artifacts.phaseSeconds) {
    total += seconds;
  }
  if (form == TimeReport::Json) {
    out << "{\"phases\":{";
    for (const auto &[i, entry] : llvm::enumerate(artifacts.phaseSeconds)) {
      out << (i ? "," : "") << llvm::formatv("\"{0}\":{1:f6}", entry.first, entry.second);
    }
    out << "},\"modules\":[";
    for (const auto &[i, module] : llvm::enumerate(artifacts.moduleTimes)) {
      out << llvm::formatv(
          "{0}{{\"kernels\":\"{1}\",\"lower_s\":{2:f6},\"passes_s\":{3:f6},\"code_s\":{4:f6}}",
          i ? "," : "", module.kernels, module.lowerSeconds, module.passesSeconds,
          module.codeSeconds);
    }
    out << llvm::formatv("],\"total_s\":{0:f6},\"kernels_before\":{1},\"kernels_after\":{2},"
                         "\"arena_bytes\":{3},\"constant_bytes\":{4},\"object_bytes\":{5},"
                         "\"prepared_bytes\":{6},\"thread_arena_bytes\":{7},"
                         "\"stack_bytes\":{8},\"largest_frame_bytes\":{9},"
                         "\"largest_frame\":\"{10}\"}\n",
                         total, artifacts.kernelsBefore, artifacts.kernelsAfter,
                         artifacts.arenaBytes, artifacts.constantBytes, artifacts.object.size(),
                         artifacts.preparedBytes, artifacts.threadArenaBytes, artifacts.stackBytes,
                         artifacts.largestFrame.second, artifacts.largestFrame.first);
    return;
  }
  for (const auto &[name, seconds] : artifacts.phaseSeconds) {
    out << llvm::formatv("{0,-14}{1,10:f3} s\n", name, seconds);
  }
  out << llvm::formatv("{0,-14}{1,10:f3} s\n", "total", total);
  out << llvm::formatv("{0} launches of {1} kernels, arena {2} bytes, constants {3} bytes\n",
                       artifacts.kernelsBefore, artifacts.kernelsAfter, artifacts.arenaBytes,
                       artifacts.constantBytes);
  if (artifacts.stackBytes) {
    out << llvm::formatv("stack {0} bytes, the largest frame {1} bytes ({2})\n",
                         artifacts.stackBytes, artifacts.largestFrame.second,
                         artifacts.largestFrame.first);
  }
  if (artifacts.preparedBytes) {
    out << llvm::formatv("prepared block {0} bytes, made with an arena of {1} bytes\n",
                         artifacts.preparedBytes, artifacts.prepareArenaBytes);
  }
  reportSlowModules(artifacts.moduleTimes, out);
}

/// Writes the requested outputs; returns an exit code.
static int writeOutputs(const CommandLine &line, const Artifacts &artifacts) {
  for (const OutputFile &file : line.outputs) {
    if (std::string message = writeFile(file.path, contentsOf(artifacts, file)); !message.empty()) {
      llvm::errs() << "hlo-compile: error: cannot write '" << file.path << "': " << message << '\n';
      return static_cast<int>(ErrorKind::File);
    }
  }
  return 0;
}

/// Reports the phase that was running when --timeout passed.
static void reportTimeout(const CommandLine &line, Phase phase) {
  llvm::errs() << (line.input == "-" ? "<stdin>" : line.input) << ": error: phase "
               << phaseName(phase)
               << llvm::formatv(" was not done after {0} s (--timeout)\n", line.timeoutSeconds);
}

static int run(CommandLine &line) {
  takeHugePages();
  std::atomic<Phase> phase = Phase::Parse;
  line.options.onProgress = [&](Phase running, unsigned, unsigned) { phase = running; };
  line.options.isLast = true;
  Watchdog watchdog(line.timeoutSeconds, [&] { reportTimeout(line, phase); });
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(line.input, /*IsText=*/false,
                                                   /*RequiresNullTerminator=*/true);
  if (!buffer) {
    llvm::errs() << "hlo-compile: error: cannot read '" << line.input
                 << "': " << whyUnreadable(buffer.getError()) << '\n';
    return static_cast<int>(ErrorKind::File);
  }
  std::string name = line.input == "-" ? "<stdin>" : line.input;
  Artifacts artifacts;
  (void)compile((*buffer)->getBuffer(), name, line.options, artifacts, llvm::errs());
  if (line.options.spmdReport) {
    llvm::errs() << artifacts.spmdReport;
  }
  if (line.options.memoryReport) {
    llvm::errs() << artifacts.memoryReport;
  }
  if (line.options.explainPlan) {
    llvm::errs() << printPlans(artifacts.plans);
  }
  if (line.timeReport != TimeReport::None) {
    reportTimes(artifacts, line.timeReport, llvm::errs());
  }
  if (artifacts.error == ErrorKind::Internal) {
    llvm::errs() << "hlo-compile: this is a fault of the compiler; the phase and the input above, "
                    "and --dump-dir, help to find it\n";
  }
  if (artifacts.error != ErrorKind::None) {
    return static_cast<int>(artifacts.error);
  }
  return writeOutputs(line, artifacts);
}

int hlo::tool::compileMain(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  CommandLine line;
  if (std::optional<int> code = parseCommandLine(argc, argv, line)) {
    return *code;
  }
  prepareHeap(line.options.jobs);
  llvm::CrashRecoveryContext::Enable();
  int code = static_cast<int>(ErrorKind::Internal);
  llvm::CrashRecoveryContext recovery;
  if (!recovery.RunSafelyOnThread([&] { code = run(line); }, stackBytes)) {
    llvm::errs() << (line.input == "-" ? "<stdin>" : line.input)
                 << ": error: internal error: the compiler crashed (signal "
                 << recovery.RetCode - 128 << ")\n";
    code = static_cast<int>(ErrorKind::Internal);
  }
  llvm::outs().flush();
  return code;
}
