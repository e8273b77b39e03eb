//===- Main.cpp - hlo-run: compile a module here and run it ---------------===//
//
// In: HLO text. Out: results as .npz, as text, or as one line of JSON. Compiles for the host CPU
// and runs in this process, or for another and under its emulator. Exit codes are in Error.h;
// errors go to stderr, with --json also as {"error":
// ...} to stdout.
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/Compile.h"
#include "compiler/support/Checked.h"
#include "compiler/support/FileKind.h"
#include "compiler/support/Heap.h"
#include "compiler/support/SourceExcerpt.h"
#include "tools/Tools.h"
#include "tools/hlo-run/CommandLine.h"
#include "tools/hlo-run/Dynamic.h"
#include "tools/hlo-run/Error.h"
#include "tools/hlo-run/Files.h"
#include "tools/hlo-run/Program.h"
#include "tools/hlo-run/Ranks.h"
#include "tools/hlo-run/Remote.h"
#include "tools/hlo-run/report/Plans.h"
#include "tools/hlo-run/report/Print.h"
#include "tools/hlo-run/report/Progress.h"
#include "tools/limits/Watchdog.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/thread.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <chrono>
#include <cmath>
#include <hlo/generated.h>
#include <sys/resource.h>
#include <time.h>

using namespace llvm;
using namespace hlo::run;

/// Reports all errors; returns the exit code of the first.
static int report(Error error, bool asJson);

namespace {
using Clock = std::chrono::steady_clock;

/// The module's name for messages.
StringRef displayName(const CommandLine &line) {
  return line.module == "-" ? StringRef("<stdin>") : StringRef(line.module);
}

/// Compiles the file; warnings go to stderr unchanged. `plans`: candidates that kernels shall use.
Expected<hlo::Artifacts> compileFile(const CommandLine &line, ArrayRef<hlo::PlanRequest> plans) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> text = MemoryBuffer::getFileOrSTDIN(line.module);
  if (!text) {
    return makeError(ExitFile,
                     line.module + ": error: cannot read: " + hlo::whyUnreadable(text.getError()));
  }
  hlo::CompileOptions options;
  options.triple = line.triple;
  options.cpu = line.cpu;
  options.dispatch = line.dispatch;
  options.features = line.features;
  options.jobs = line.jobs;
  options.budget = line.budget;
  options.emit = line.signature ? hlo::EmitSignature : hlo::EmitObject;
  options.entryLayouts = line.entryLayouts;
  // With placeholder values the results mean nothing, but the times are valid.
  options.placeholderConstants = true;
  // Custom calls are resolved when the module is loaded; a missing one is an error then. Array
  // files are row-major whatever the entry's layouts are.
  options.allowMissingCustomCalls = {"*"};
  options.remarks = false;
  options.nameFromModule = true; // messages of the program name the module
  options.replicas = line.replicas;
  options.partitions = line.partitions;
  options.flushDenormals = line.flushDenormals;
  options.quantizeActivations = line.quantizeActivations;
  options.sizeVersions = line.sizeVersions;
  options.dynamicBuffers = line.dynamicBuffers;
  options.immutableParams = line.immutableParams;
  options.bounds = line.bounds;
  options.specialize = line.specialize;
  options.explainPlan = line.explainPlan;
  options.plans.assign(plans.begin(), plans.end());
  hlo::Artifacts artifacts;
  std::string diagnostics;
  raw_string_ostream os(diagnostics);
  StringRef name = displayName(line);
  {
    Progress progress(("compiling " + name).str());
    std::atomic<hlo::Phase> phase = hlo::Phase::Parse;
    options.onProgress = [&](hlo::Phase running, unsigned, unsigned) { phase = running; };
    hlo::tool::Watchdog watchdog(line.timeoutSeconds, [&] {
      std::string message;
      raw_string_ostream(message) << name << ": error: phase " << hlo::phaseName(phase)
                                  << " was not done after " << formatv("{0}", line.timeoutSeconds)
                                  << " s (--timeout)";
      (void)report(makeError(ExitTimeout, message), line.json);
      outs().flush();
    });
    LogicalResult result = failure();
    // The compiler recurses on nested modules, which may need more than the usual 8 MiB of stack.
    constexpr unsigned stackBytes = 256u << 20;
    llvm::thread(std::optional<unsigned>(stackBytes), [&] {
      hlo::takeHugePages();
      result = hlo::compile((*text)->getBuffer(), name, options, artifacts, os);
    }).join();
    if (failed(result)) {
      int code = artifacts.error == hlo::ErrorKind::None ? ExitInternal
                                                         : static_cast<int>(artifacts.error);
      return makeError(code, StringRef(diagnostics).rtrim());
    }
  }
  errs() << diagnostics;
  return std::move(artifacts);
}

/// "2 runs", "1 run".
std::string counted(uint64_t n, StringRef what) {
  return std::to_string(n) + " " + what.str() + (n == 1 ? "" : "s");
}

/// Prints array `i` of `count`, or what stands for it and all that follow.
void printOne(uint32_t i, uint32_t count, StringRef prefix, const hlo_buffer_desc &leaf,
              const char *data) {
  constexpr uint32_t most = 12;
  if (count > most && i >= most - 1) {
    if (i == most - 1) {
      outs() << "... and " << count - i << " more, up to " << prefix << count - 1 << "\n";
    }
    return;
  }
  outs() << prefix << i;
  if (!StringRef(leaf.name).starts_with(prefix)) { // the name would repeat the prefix otherwise
    outs() << " " << leaf.name;
  }
  outs() << ": " << typeOf(leaf) << "\n";
  printLeaf(outs(), leaf, data, 2);
}

/// Number of arrays among leaves. Size leaves come last; the shapes show them.
uint32_t countArrays(ArrayRef<hlo_buffer_desc> leaves) {
  return leaves.take_while([](const auto &leaf) { return !isSize(leaf); }).size();
}

Error printLeaves(ArrayRef<hlo_buffer_desc> leaves, StringRef prefix,
                  function_ref<const char *(uint32_t)> buffer) {
  uint32_t count = countArrays(leaves);
  for (uint32_t i = 0; i < count; ++i) {
    Expected<TrueLeaf> cut = cutToSize(leaves, i, buffer);
    if (!cut) {
      return cut.takeError();
    }
    printOne(i, count, prefix, cut->leaf, cut->data);
  }
  return Error::success();
}

std::string milliseconds(double seconds) {
  std::string out;
  raw_string_ostream(out) << format("%.3f ms", seconds * 1e3);
  return out;
}

/// Times of preparing, of all ranks one after another.
struct Preparation {
  uint64_t bytes = 0; ///< per rank; 0: the module does not prepare
  double seconds = 0;
};

void printJson(const hlo_module_desc &desc, double compileSeconds, const Preparation &preparation,
               const Timing &timing, uint32_t threads, ArrayRef<Program> programs) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  json::Object line{
      {"compile_s", compileSeconds},
      {"run_ms_min", timing.min * 1e3},
      {"run_ms_median", timing.median * 1e3},
      {"runs", static_cast<int64_t>(timing.runs)},
      {"arena_bytes", static_cast<int64_t>(programs.front().arenaBytes(threads))},
      {"stack_bytes", static_cast<int64_t>(desc.stack_bytes)},
      {"peak_rss_bytes", static_cast<int64_t>(usage.ru_maxrss) * 1024},
      {"threads", static_cast<int64_t>(threads)},
  };
  if (preparation.bytes) {
    line["prepare_ms"] = preparation.seconds * 1e3;
    line["prepared_bytes"] = static_cast<int64_t>(preparation.bytes);
  }
  if (!programs.front().getProfile().operations.empty()) {
    json::Array profiles;
    for (const Program &program : programs) {
      profiles.push_back(profileJson(desc, program.getProfile()));
    }
    line["profiles"] = std::move(profiles);
  }
  outs() << json::Value(std::move(line)) << "\n";
}

void printTiming(const Program &program, const Preparation &preparation, const Timing &timing,
                 uint32_t threads) {
  if (preparation.bytes > HLO_PREPARED_HEADER_BYTES) {
    outs() << "prepared: " << formatBytes(preparation.bytes) << " in "
           << milliseconds(preparation.seconds) << "\n";
  } else if (preparation.bytes) {
    outs() << "prepared: nothing depends on those parameters alone\n";
  }
  outs() << "time: " << milliseconds(timing.min);
  if (timing.runs > 1) {
    outs() << " at best, median " << milliseconds(timing.median) << " of "
           << counted(timing.runs, "run");
  }
  outs() << ", " << counted(threads, "thread") << "; arena "
         << formatBytes(program.arenaBytes(threads)) << "\n";
}

/// Of so many ranks the arrays and the profiles are printed.
constexpr size_t mostShown = 8;

void printRest(size_t ranks) {
  if (ranks > mostShown) {
    outs() << "... and " << ranks - mostShown << " more ranks\n";
  }
}

/// The arrays of the first few ranks of this process, each with a heading.
Error printRanks(std::vector<Program> &programs, bool isInput) {
  for (size_t rank = 0; rank < std::min(programs.size(), mostShown); ++rank) {
    Program &program = programs[rank];
    const hlo_module_desc &desc = program.describe();
    if (programs.size() > 1) {
      outs() << "rank " << rank << ":\n";
    }
    ArrayRef<hlo_buffer_desc> leaves(isInput ? desc.inputs : desc.outputs,
                                     isInput ? desc.num_inputs : desc.num_outputs);
    if (Error e = printLeaves(leaves, isInput ? "in" : "out", [&](uint32_t i) {
          return isInput ? program.input(i) : program.output(i);
        })) {
      return e;
    }
  }
  printRest(programs.size());
  return Error::success();
}

/// A table for each of the first few ranks.
void printProfiles(const hlo_module_desc &desc, ArrayRef<Program> programs) {
  for (auto [rank, program] : enumerate(programs.take_front(mostShown))) {
    if (programs.size() > 1) {
      outs() << "rank " << rank << ":\n";
    }
    printProfile(outs(), desc, program.getProfile());
  }
  printRest(programs.size());
}

/// Prints the inputs.
Error printInputs(const CommandLine &line, const Ranks &ranks, std::vector<Program> &programs) {
  if (!line.global) {
    return printRanks(programs, /*isInput=*/true);
  }
  if (ranks.others()) {
    return Error::success(); // no process has them all
  }
  const hlo_module_desc &desc = programs.front().describe();
  uint32_t count = countArrays({desc.inputs, desc.num_inputs});
  return showGlobalInputs(ranks, programs,
                          [&](uint32_t i, const hlo_buffer_desc &leaf, const char *data) {
                            printOne(i, count, "in", leaf, data);
                          });
}

/// Writes and prints the results.
Error writeResults(const CommandLine &line, const Ranks &ranks, std::vector<Program> &programs) {
  bool prints = line.prints();
  if (line.global && (!line.outputs.empty() || !line.json)) {
    const hlo_module_desc &desc = programs.front().describe();
    uint32_t count = countArrays({desc.outputs, desc.num_outputs});
    if (Error e = writeGlobal(line, ranks, programs,
                              [&](uint32_t i, const hlo_buffer_desc &leaf, const char *data) {
                                if (prints) {
                                  printOne(i, count, "out", leaf, data);
                                }
                              })) {
      return e;
    }
  }
  for (auto [i, program] : enumerate(programs)) {
    Error written = line.global
                        ? Error::success()
                        : writeOutputs(line, ranks.first() + static_cast<uint32_t>(i), program);
    if (Error e = joinErrors(std::move(written), program.getStreams().finish())) {
      return e;
    }
  }
  return prints && !line.global ? printRanks(programs, /*isInput=*/false) : Error::success();
}

/// Runs once for the results, and again for the time if that was asked for.
Expected<Timing> execute(const CommandLine &line, const Ranks &ranks,
                         std::vector<Program> &programs) {
  auto startProfile = [&] {
    if (line.profile) {
      for_each(programs, [](Program &program) { program.startProfile(); });
    }
  };
  startProfile();
  Expected<double> once = runOnce(ranks, programs);
  if (!once) {
    return once.takeError();
  }
  if (Error e = ranks.agree(writeResults(line, ranks, programs), "results")) {
    return std::move(e);
  }
  if (!line.benchSeconds) {
    return Timing{*once, *once, 1};
  }
  startProfile();
  return bench(ranks, programs, *line.benchSeconds);
}

/// Fills the inputs of the ranks of this process.
Error fillAll(const CommandLine &line, ArrayRef<std::string> names, const Ranks &ranks,
              std::vector<Program> &programs) {
  if (line.global) {
    if (Error e = fillFromGlobal(line, names, ranks, programs)) {
      return e;
    }
  }
  for (auto [i, program] : enumerate(programs)) {
    if (!line.global) {
      if (Error e = fillInputs(line, names, ranks.first() + static_cast<uint32_t>(i), program)) {
        return e;
      }
    }
    if (line.benchSeconds) {
      if (Error e = program.keepInputs()) {
        return e;
      }
    }
  }
  return Error::success();
}

/// Gives a rank's program its streams, handlers and options.
Error prepare(const CommandLine &line, uint32_t rank, const Ranks &ranks, CustomCalls &customCalls,
              Program &program) {
  program.setRngSeed(line.rngSeed);
  program.setCpuLevel(line.cpuLevel);
  program.setCustomCalls(&customCalls);
  program.setComm(ranks.comm(rank));
  Expected<Streams> streams = Streams::open(line.streams, rank);
  if (!streams) {
    return streams.takeError();
  }
  program.setStreams(std::move(*streams));
  return Error::success();
}

/// True if any array of the module is a shard.
bool isSharded(const hlo_module_desc &desc) {
  auto isShard = [](const hlo_buffer_desc &leaf) { return leaf.sharding != nullptr; };
  return any_of(ArrayRef(desc.inputs, desc.num_inputs), isShard) ||
         any_of(ArrayRef(desc.outputs, desc.num_outputs), isShard);
}

/// Number of replicas and partitions to run: from the flags, else from the module. One whose ranks
/// have nothing to do with each other runs once, unless `all` shall run.
std::pair<uint32_t, uint32_t> countRanks(const CommandLine &line, const hlo_module_desc &desc,
                                         bool all = false) {
  if (line.replicas) {
    return {line.replicas, line.partitions};
  }
  bool needsPeers = all || (desc.needs & HLO_NEEDS_COMM) || isSharded(desc);
  return {needsPeers ? desc.num_replicas : 1, needsPeers ? desc.num_partitions : 1};
}

/// Links the object into this process. One of ours that cannot be linked is an internal error.
Expected<hlo::LoadedObject> load(const hlo::Artifacts &artifacts, int32_t cpuLevel) {
  Expected<hlo::LoadedObject> loaded =
      hlo::LoadedObject::load(artifacts.object, artifacts.prefix, cpuLevel);
  if (!loaded) {
    return makeError(ExitInternal, "internal error: cannot load the compiled module: " +
                                       toString(loaded.takeError()));
  }
  return loaded;
}

/// Nanoseconds of a call of the kernel in row `operation` of the profile: the least mean of some
/// rounds.
Expected<double> timeKernel(const CommandLine &line, const hlo::Artifacts &artifacts,
                            uint32_t operation) {
  constexpr int kRounds = 5;
  Expected<hlo::LoadedObject> object = load(artifacts, /*cpuLevel=*/0);
  if (!object) {
    return object.takeError();
  }
  const hlo_module_desc &desc = object->describe();
  auto [replicas, partitions] = countRanks(line, desc);
  if (replicas * partitions > 1) {
    return makeError(ExitUsage, "--measure: the module needs several ranks");
  }
  Expected<Ranks> ranks = Ranks::create(1, 1, line.timeoutSeconds);
  if (!ranks) {
    return ranks.takeError();
  }
  Expected<CustomCalls> customCalls = CustomCalls::load(desc, line.customCalls);
  if (!customCalls) {
    return customCalls.takeError();
  }
  std::vector<Program> programs;
  Expected<Program> program = Program::create(desc, line.threads, line.guard);
  if (!program) {
    return program.takeError();
  }
  programs.push_back(std::move(*program));
  CommandLine timed = line;
  timed.benchSeconds = *line.measureSeconds / kRounds;
  if (Error e = prepare(timed, 0, *ranks, *customCalls, programs.front())) {
    return std::move(e);
  }
  if (Error e = fillAll(timed, artifacts.inputNames, *ranks, programs)) {
    return std::move(e);
  }
  if (Expected<double> seconds = programs.front().prepare(); !seconds) {
    return seconds.takeError();
  }
  double best = std::numeric_limits<double>::quiet_NaN();
  for (int round = 0; round < kRounds; ++round) {
    programs.front().startProfile();
    if (Expected<Timing> timing = bench(*ranks, programs, *timed.benchSeconds); !timing) {
      return timing.takeError();
    }
    const hlo_profile &cost = programs.front().getProfile().operations[operation];
    if (cost.calls > 0) {
      best = std::fmin(best, static_cast<double>(cost.ns) / static_cast<double>(cost.calls));
    }
  }
  return best;
}

/// Prints the candidates of every kernel, and their times if these are asked for.
Error explainPlans(const CommandLine &line, ArrayRef<hlo::KernelPlan> plans) {
  std::vector<MeasuredPlan> measured;
  for (const hlo::KernelPlan &plan : plans) {
    measured.push_back({plan, std::vector<double>(plan.candidates.size(), NAN)});
    if (!line.measureSeconds || plan.candidates.size() < 2) {
      continue;
    }
    for (auto [candidate, ns] : zip_equal(plan.candidates, measured.back().nanoseconds)) {
      std::vector<hlo::PlanRequest> requests = line.plans;
      requests.push_back({plan.kernel, candidate.name});
      Expected<hlo::Artifacts> artifacts = compileFile(line, requests);
      if (!artifacts) {
        return artifacts.takeError();
      }
      auto compiled = find_if(artifacts->plans,
                              [&](const hlo::KernelPlan &p) { return p.kernel == plan.kernel; });
      if (!compiled->operation) {
        continue; // a part of a loop of scalars
      }
      Expected<double> time = timeKernel(line, *artifacts, *compiled->operation);
      if (!time) {
        return time.takeError();
      }
      ns = *time;
    }
  }
  double clock = line.measureSeconds ? measureClock() : 0;
  if (line.json) {
    outs() << json::Value(plansJson(measured, clock)) << "\n";
  } else if (line.measureSeconds) {
    printMeasured(outs(), measured, clock);
  } else {
    outs() << hlo::printPlans(plans);
  }
  return Error::success();
}

/// Loads the object into this process, or into one of its architecture, which --timeout bounds too.
Error loadModule(const CommandLine &line, const hlo::Artifacts &artifacts,
                 std::optional<hlo::LoadedObject> &here, std::unique_ptr<Remote> &there) {
  if (!line.runsRemotely()) {
    Expected<hlo::LoadedObject> loaded = load(artifacts, line.cpuLevel);
    if (!loaded) {
      return loaded.takeError();
    }
    here.emplace(std::move(*loaded));
    return Error::success();
  }
  RemoteOptions options{
      Triple::normalize(line.triple.empty() ? sys::getDefaultTargetTriple() : line.triple),
      line.emulator,
      line.threads,
      line.timeoutSeconds,
      line.customCalls,
      line.cpuLevel};
  hlo::tool::Watchdog watchdog(
      line.timeoutSeconds, [&] {
        std::string message;
        raw_string_ostream(message)
            << displayName(line)
            << ": error: the process that runs the module did not describe it in "
            << formatv("{0}", line.timeoutSeconds) << " s (--timeout)";
        (void)report(makeError(ExitTimeout, message), line.json);
        outs().flush();
      });
  Expected<std::unique_ptr<Remote>> loaded =
      Remote::load(artifacts.object, artifacts.prefix, options);
  if (!loaded) {
    return loaded.takeError();
  }
  there = std::move(*loaded);
  return Error::success();
}

/// What must be the same on all processes of a run.
struct Agreement {
  uint64_t signature;
  uint32_t replicas, partitions;
  uint32_t isGlobal, isTimed, printsJson, writes;
};

/// The ranks of this run: threads, or the processes of which this is one.
Expected<Ranks> makeRanks(const CommandLine &line, const hlo_module_desc &desc,
                          Processes *processes) {
  auto [replicas, partitions] = countRanks(line, desc, processes != nullptr);
  if (!processes) {
    return Ranks::create(replicas, partitions, line.timeoutSeconds);
  }
  Agreement own = {desc.signature,
                   replicas,
                   partitions,
                   line.global,
                   line.benchSeconds.has_value(),
                   line.json,
                   !line.outputs.empty()};
  if (Error e = processes->compare(ArrayRef(reinterpret_cast<const char *>(&own), sizeof own),
                                   "module or flags")) {
    return std::move(e);
  }
  if (processes->size() != static_cast<uint64_t>(replicas) * partitions) {
    return makeError(ExitUsage, "rank " + Twine(processes->rank()) + ": the module runs on " +
                                    counted(replicas, "replica") + " of " +
                                    counted(partitions, "partition") + ", mpirun started " +
                                    Twine(processes->size()) +
                                    (processes->size() == 1 ? " process" : " processes"));
  }
  return Ranks::create(*processes, partitions, line.timeoutSeconds);
}

/// An error for a file that several ranks would write.
Error checkNames(const CommandLine &line, const Ranks &ranks) {
  for (auto [flag, path] : {std::pair("outputs", line.global ? std::string() : line.outputs),
                            std::pair("outfeed", line.streams.outfeed),
                            std::pair("host-send", line.streams.hostSend)}) {
    if (ranks.count() > 1 && !path.empty() && !StringRef(path).contains("%r")) {
      return makeError(ExitUsage, Twine("--") + flag + "=" + path +
                                      ": expected %r in the name, which stands for the rank");
    }
  }
  return Error::success();
}

/// Makes the programs of this process's ranks, with everything that a call needs.
Error makePrograms(const CommandLine &line, const hlo_module_desc &desc,
                   ArrayRef<std::string> inputNames, const Ranks &ranks, Remote *remote,
                   CustomCalls &customCalls, std::vector<Program> &programs) {
  for (uint32_t rank = ranks.first(); rank < ranks.first() + ranks.here(); ++rank) {
    Expected<Program> program = Program::create(desc, line.threads, line.guard, remote, rank);
    if (!program) {
      return program.takeError();
    }
    programs.push_back(std::move(*program));
    if (Error e = prepare(line, rank, ranks, customCalls, programs.back())) {
      return e;
    }
  }
  return fillAll(line, inputNames, ranks, programs);
}

/// Prepares what the module prepares, on each rank of this process.
Expected<Preparation> prepareAll(std::vector<Program> &programs) {
  Preparation preparation;
  for (Program &program : programs) {
    Expected<double> seconds = program.prepare();
    if (!seconds) {
      return seconds.takeError();
    }
    preparation.bytes = program.preparedBytes();
    preparation.seconds += *seconds;
  }
  return preparation;
}

/// `own`, or the error of another process.
Error agree(Processes *processes, Error own, const char *what) {
  return processes ? processes->agree(std::move(own), what) : std::move(own);
}

Error runAll(const CommandLine &line, Processes *processes) {
  Clock::time_point start = Clock::now();
  Expected<hlo::Artifacts> artifacts = compileFile(line, line.plans);
  if (Error e =
          agree(processes, artifacts ? Error::success() : artifacts.takeError(), "compiling")) {
    return e;
  }
  if (line.signature) {
    outs() << artifacts->signature;
    return Error::success();
  }
  if (line.explainPlan) {
    return explainPlans(line, artifacts->plans);
  }
  std::optional<hlo::LoadedObject> object;
  std::unique_ptr<Remote> remote;
  if (Error e = agree(processes, loadModule(line, *artifacts, object, remote), "loading")) {
    return e;
  }
  double compileSeconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::vector<std::string> inputNames = std::move(artifacts->inputNames);
  *artifacts = {}; // may be hundreds of megabytes of constants
  const hlo_module_desc &desc = remote ? remote->describe() : object->describe();
  Expected<Ranks> ranks = makeRanks(line, desc, processes);
  if (!ranks) {
    return ranks.takeError();
  }
  if (Error e = checkNames(line, *ranks)) {
    return e;
  }
  if (remote) {
    if (Error e = remote->start(ranks->count() / ranks->partitions(), ranks->partitions())) {
      return e;
    }
  }
  // Of another architecture, the other process loads them.
  std::vector<std::string> libraries;
  if (!remote) {
    libraries = line.customCalls;
  }
  Expected<CustomCalls> customCalls = CustomCalls::load(desc, libraries);
  std::vector<Program> programs;
  Error made = customCalls ? makePrograms(line, desc, inputNames, *ranks, remote.get(),
                                          *customCalls, programs)
                           : customCalls.takeError();
  if (Error e = ranks->agree(std::move(made), "inputs")) {
    return e;
  }
  if (line.prints()) {
    outs() << displayName(line) << ": compiled in " << format("%.3f s", compileSeconds) << " for "
           << desc.target << "\n";
    if (Error e = printInputs(line, *ranks, programs)) {
      return e;
    }
    outs().flush();
  }
  // The runtime looks at the deadline between operations; one operation may take for ever.
  constexpr double graceSeconds = 1;
  hlo::tool::Watchdog watchdog(
      line.timeoutSeconds > 0 ? line.timeoutSeconds + graceSeconds : 0, [&] {
        std::string message;
        raw_string_ostream(message)
            << displayName(line) << ": error: an operation of the program was not done after "
            << formatv("{0}", line.timeoutSeconds) << " s (--timeout)";
        (void)report(makeError(ExitTimeout, message), line.json);
        outs().flush();
      });
  if (line.timeoutSeconds > 0) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    for (Program &program : programs) {
      int64_t start = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
      program.setDeadline(
          hlo::saturatingAdd(start, hlo::saturatingNanoseconds(line.timeoutSeconds)));
    }
  }
  Expected<Preparation> preparation = prepareAll(programs);
  if (Error e =
          ranks->agree(preparation ? Error::success() : preparation.takeError(), "preparing")) {
    return e;
  }
  Expected<Timing> timing = execute(line, *ranks, programs);
  if (!timing) {
    return timing.takeError();
  }
  if (line.json && !line.silent) {
    printJson(desc, compileSeconds, *preparation, *timing, line.threads, programs);
  } else if (line.prints()) {
    printTiming(programs.front(), *preparation, *timing, line.threads);
    if (line.profile) {
      printProfiles(desc, programs);
    }
  }
  return Error::success();
}
} // namespace

static int report(Error error, bool asJson) {
  int code = ExitDone;
  std::string text;
  handleAllErrors(std::move(error), [&](const RunError &e) {
    code = code ? code : e.getExitCode();
    // The compiler's diagnostics are printable already, and have several lines.
    bool hasLines = StringRef(e.getText()).contains("error: ");
    text += (text.empty() ? "" : "\n") + (hasLines ? e.getText() : hlo::printable(e.getText()));
  });
  if (code == ExitDone) {
    return code;
  }
  outs().flush();
  // In one piece, because other processes may write to the same stream.
  errs() << ((StringRef(text).contains("error: ") ? "" : "hlo-run: error: ") + text + "\n");
  if (asJson) {
    outs() << json::Value(json::Object{{"error", json::fixUTF8(text)}, {"exit", code}}) << "\n";
  }
  return code;
}

int hlo::tool::runMain(int argc, char **argv) {
  setBugReportMsg("hlo-run: internal error; please report it with the module and this trace:\n");
  InitLLVM init(argc, argv);
  CommandLine line;
  if (std::optional<int> code = parseCommandLine(argc, argv, line)) {
    return *code;
  }
  hlo::prepareHeap(line.jobs);
  hlo::takeHugePages();
  std::unique_ptr<Processes> processes;
  if (line.mpi) {
    Expected<std::unique_ptr<Processes>> started =
        Processes::start(displayName(line), line.timeoutSeconds);
    if (!started) {
      return report(started.takeError(), line.json);
    }
    processes = std::move(*started);
    line.silent = processes->rank() != 0;
  }
  // Reported before MPI ends, which stops the others if this process has failed.
  return report(runAll(line, processes.get()), line.json && !line.silent);
}
