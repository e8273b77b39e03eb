//===- Main.cpp - hlo-run: compile a module here and run it ---------------===//
//
// Command line of hlo-run: HLO text in; results as .npz, as text for a person, or one
// line of JSON out. Compiles for the host CPU, in this process. Exit codes are in Error.h;
// errors go to stderr, with --json also as {"error": ...} to stdout.
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/Compile.h"
#include "tools/hlo-run/Error.h"
#include "tools/hlo-run/Npz.h"
#include "tools/hlo-run/Print.h"
#include "tools/hlo-run/Progress.h"
#include "tools/hlo-run/Program.h"
#include "tools/hlo-run/Random.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <chrono>
#include <sys/resource.h>
#include <time.h>

using namespace llvm;
using namespace hlo::run;

static cl::OptionCategory category("hlo-run options");
static cl::opt<std::string> inputFile(cl::Positional, cl::desc("<module.hlo | ->"), cl::Required,
                                      cl::cat(category));
static cl::opt<std::string> inputsFile("inputs", cl::value_desc("IN.npz"), cl::cat(category),
                                       cl::desc("Arrays in0, in1, ...: the leaves of the parameters"));
static cl::opt<uint64_t> seed("seed", cl::init(0), cl::value_desc("K"), cl::cat(category),
                              cl::desc("Seed of random inputs, where --inputs is absent (default 0)"));
static cl::opt<std::string> outputsFile("outputs", cl::value_desc("OUT.npz"), cl::cat(category),
                                        cl::desc("Write the results as out0, out1, ..."));
static cl::opt<std::string> threadsFlag("threads", cl::init("1"), cl::value_desc("N|all"),
                                        cl::cat(category),
                                        cl::desc("Threads to run on (default 1)"));
static cl::opt<double> benchSeconds("bench", cl::ValueOptional, cl::init(-1),
                                    cl::value_desc("SECONDS"), cl::cat(category),
                                    cl::desc("Run repeatedly for that long and at least three times"));
static cl::opt<bool> asJson("json", cl::cat(category), cl::desc("Print one line of JSON"));
static cl::opt<double> timeout("timeout", cl::init(0), cl::value_desc("SECONDS"), cl::cat(category),
                               cl::desc("Give up a run (not a compilation) after that long"));
static cl::opt<std::string> cpu("cpu", cl::init("host"), cl::value_desc("NAME|host"),
                                cl::cat(category), cl::desc("CPU to compile for (default host)"));
static cl::opt<unsigned> jobs("jobs", cl::init(0), cl::value_desc("N"), cl::cat(category),
                              cl::desc("Threads of the compiler (default one per CPU)"));
static cl::opt<int> replicas("replicas", cl::init(1), cl::value_desc("N"), cl::cat(category),
                             cl::desc("Replicas to run at once"));
static cl::opt<int> partitions("partitions", cl::init(1), cl::value_desc("N"), cl::cat(category),
                               cl::desc("Partitions to run at once"));
static cl::opt<std::string> infeedFile("infeed", cl::value_desc("F.npz"), cl::cat(category),
                                       cl::desc("Items for infeed: feed0, feed1, ..."));
static cl::opt<std::string> outfeedFile("outfeed", cl::value_desc("F.npz"), cl::cat(category),
                                        cl::desc("Where items from outfeed go"));
static cl::list<std::string> customCalls("custom-calls", cl::CommaSeparated, cl::value_desc("LIB.so"),
                                         cl::cat(category),
                                         cl::desc("Shared libraries with custom call targets"));

namespace {
using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// What this version does not do yet, although the interface has it.
Error checkSupported() {
  auto unsupported = [](StringRef flag) {
    return makeError(ExitUnsupported, "error: --" + flag + " is not supported yet");
  };
  if (replicas < 1 || partitions < 1) {
    return makeError(ExitUsage, "error: --replicas and --partitions take a number of at least 1");
  }
  if (replicas > 1) {
    return unsupported("replicas");
  }
  if (partitions > 1) {
    return unsupported("partitions");
  }
  if (infeedFile.getNumOccurrences()) {
    return unsupported("infeed");
  }
  if (outfeedFile.getNumOccurrences()) {
    return unsupported("outfeed");
  }
  if (customCalls.getNumOccurrences()) {
    return unsupported("custom-calls");
  }
  return Error::success();
}

/// The value of --threads; 0 stands for all CPUs.
Expected<uint32_t> parseThreads() {
  uint32_t threads = 0;
  if (threadsFlag == "all") {
    return hlo_pool_cpus();
  }
  if (StringRef(threadsFlag).getAsInteger(10, threads) || threads < 1 || threads > 4096) {
    return makeError(ExitUsage, "error: --threads=" + threadsFlag +
                                    ": expected a number from 1 to 4096, or all");
  }
  return threads;
}

/// Compiles the file; diagnostics go to stderr as they are.
Expected<hlo::Artifacts> compileFile() {
  ErrorOr<std::unique_ptr<MemoryBuffer>> text = MemoryBuffer::getFileOrSTDIN(inputFile);
  if (!text) {
    return makeError(ExitFile, inputFile + ": error: cannot read: " + text.getError().message());
  }
  hlo::CompileOptions options;
  options.cpu = cpu;
  options.jobs = jobs;
  options.emit = hlo::EmitObject;
  hlo::Artifacts artifacts;
  std::string diagnostics;
  raw_string_ostream os(diagnostics);
  StringRef name = inputFile == "-" ? StringRef("<stdin>") : StringRef(inputFile);
  {
    Progress progress(("compiling " + name).str());
    if (failed(hlo::compile((*text)->getBuffer(), name, options, artifacts, os))) {
      int code = artifacts.error == hlo::ErrorKind::None ? ExitInternal
                                                         : static_cast<int>(artifacts.error);
      return makeError(code, StringRef(diagnostics).rtrim());
    }
  }
  errs() << diagnostics;
  return std::move(artifacts);
}

Error fillInputs(Program &program) {
  const hlo_module_desc &desc = program.describe();
  if (inputsFile.empty()) {
    for (uint32_t i = 0; i < desc.num_inputs; ++i) {
      fillRandom(seed, i, desc.inputs[i], program.input(i));
    }
    return Error::success();
  }
  Expected<ZipReader> archive = ZipReader::open(inputsFile);
  if (!archive) {
    return archive.takeError();
  }
  Error all = Error::success();
  for (uint32_t i = 0; i < desc.num_inputs; ++i) {
    std::string name = "in" + std::to_string(i);
    all = joinErrors(std::move(all), loadLeaf(*archive, name, desc.inputs[i], program.input(i)));
  }
  return all;
}

Error writeOutputs(const Program &program) {
  if (outputsFile.empty()) {
    return Error::success();
  }
  const hlo_module_desc &desc = program.describe();
  Expected<ZipWriter> archive = ZipWriter::create(outputsFile);
  if (!archive) {
    return archive.takeError();
  }
  for (uint32_t i = 0; i < desc.num_outputs; ++i) {
    std::string name = "out" + std::to_string(i);
    if (Error e = saveLeaf(*archive, name, desc.outputs[i], program.output(i))) {
      return e;
    }
  }
  return archive->finish();
}

/// "2 inputs", "1 input".
std::string counted(uint64_t n, StringRef what) {
  return std::to_string(n) + " " + what.str() + (n == 1 ? "" : "s");
}

void printLeaves(const hlo_buffer_desc *leaves, uint32_t count, StringRef prefix,
                 function_ref<const char *(uint32_t)> buffer) {
  constexpr uint32_t most = 12;
  for (uint32_t i = 0; i < count; ++i) {
    if (count > most && i == most - 1) {
      outs() << "... " << counted(count - i, "more leaf") << "\n";
      return;
    }
    std::string position = (prefix + Twine(i)).str();
    outs() << position;
    if (leaves[i].name != position) {
      outs() << " " << leaves[i].name;
    }
    outs() << ": " << typeOf(leaves[i]) << "\n";
    printLeaf(outs(), leaves[i], buffer(i), 2);
  }
}

std::string milliseconds(double seconds) {
  std::string out;
  raw_string_ostream(out) << format("%.3f ms", seconds * 1e3);
  return out;
}

void printJson(const hlo_module_desc &desc, double compileSeconds, const Timing &timing,
               uint32_t threads) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  outs() << json::Value(json::Object{
                {"compile_s", compileSeconds},
                {"run_ms_min", timing.min * 1e3},
                {"run_ms_median", timing.median * 1e3},
                {"runs", static_cast<int64_t>(timing.runs)},
                {"arena_bytes", static_cast<int64_t>(desc.arena_bytes)},
                {"peak_rss_bytes", static_cast<int64_t>(usage.ru_maxrss) * 1024},
                {"threads", static_cast<int64_t>(threads)},
            })
         << "\n";
}

void printTiming(const hlo_module_desc &desc, const Timing &timing, uint32_t threads) {
  outs() << "time: " << milliseconds(timing.min);
  if (timing.runs > 1) {
    outs() << " at best, median " << milliseconds(timing.median) << " of "
           << counted(timing.runs, "run");
  }
  outs() << ", " << counted(threads, "thread") << "; arena " << formatBytes(desc.arena_bytes) << "\n";
}

/// Runs once for the results, and again for the time if that was asked for.
Expected<Timing> execute(Program &program) {
  Expected<double> once = program.run();
  if (!once) {
    return once.takeError();
  }
  if (Error e = writeOutputs(program)) {
    return std::move(e);
  }
  if (!asJson) {
    const hlo_module_desc &desc = program.describe();
    printLeaves(desc.outputs, desc.num_outputs, "out",
                [&](uint32_t i) { return program.output(i); });
  }
  if (benchSeconds.getNumOccurrences() == 0) {
    return Timing{*once, *once, 1};
  }
  return program.bench(benchSeconds < 0 ? 1 : benchSeconds);
}

Error runAll() {
  if (Error e = checkSupported()) {
    return e;
  }
  Expected<uint32_t> threads = parseThreads();
  if (!threads) {
    return threads.takeError();
  }
  Clock::time_point start = Clock::now();
  Expected<hlo::Artifacts> artifacts = compileFile();
  if (!artifacts) {
    return artifacts.takeError();
  }
  Expected<LoadedObject> object = LoadedObject::load(artifacts->object, artifacts->prefix);
  if (!object) {
    return object.takeError();
  }
  double compileSeconds = secondsSince(start);
  *artifacts = {}; // hundreds of megabytes, if the module has such constants
  const hlo_module_desc &desc = object->describe();
  Expected<Program> program = Program::create(desc, *threads);
  if (!program) {
    return program.takeError();
  }
  if (Error e = fillInputs(*program)) {
    return e;
  }
  if (Error e = program->keepInputs()) {
    return e;
  }
  if (!asJson) {
    outs() << inputFile << ": compiled in " << format("%.3f s", compileSeconds) << " for "
           << desc.target << "\n";
    printLeaves(desc.inputs, desc.num_inputs, "in", [&](uint32_t i) { return program->input(i); });
    outs().flush();
  }
  if (timeout > 0) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    program->setDeadline(now.tv_sec * INT64_C(1000000000) + now.tv_nsec +
                         static_cast<int64_t>(timeout * 1e9));
  }
  Expected<Timing> timing = execute(*program);
  if (!timing) {
    return timing.takeError();
  }
  if (asJson) {
    printJson(desc, compileSeconds, *timing, *threads);
  } else {
    printTiming(desc, *timing, *threads);
  }
  return Error::success();
}

/// Reports all errors, and returns the exit code of the first.
int report(Error error) {
  int code = ExitDone;
  std::string text;
  handleAllErrors(std::move(error), [&](const RunError &e) {
    code = code ? code : e.getExitCode();
    text += (text.empty() ? "" : "\n") + e.getText();
  });
  if (code == ExitDone) {
    return code;
  }
  outs().flush();
  errs() << (StringRef(text).contains("error: ") ? "" : "error: ") << text << "\n";
  if (asJson) {
    outs() << json::Value(json::Object{{"error", json::fixUTF8(text)}, {"exit", code}}) << "\n";
  }
  return code;
}
} // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  std::string usage;
  raw_string_ostream usageStream(usage);
  if (!cl::ParseCommandLineOptions(argc, argv, "Compiles an HLO module for this CPU and runs it\n",
                                   &usageStream)) {
    errs() << usage;
    return ExitUsage;
  }
  return report(runAll());
}
