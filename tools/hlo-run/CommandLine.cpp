//===- CommandLine.cpp - The flags of hlo-run -----------------------------===//
//
// In: argv. Out: a CommandLine. Mistakes are reported with exit code 2. LLVM's own flags are
// removed.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/CommandLine.h"
#include "compiler/support/NearestNames.h"
#include "tools/hlo-run/Error.h"
#include "tools/limits/BudgetOptions.h"
#include "tools/limits/LlvmFlags.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include <hlo/pool.h>

using namespace hlo::run;
using llvm::StringRef;
namespace cl = llvm::cl;

namespace {
/// The flags. They exist only while the command line is read.
struct Flags {
  cl::OptionCategory category{"hlo-run options"};
  cl::opt<std::string> module{cl::Positional, cl::desc("<module.hlo | ->"), cl::Required,
                              cl::cat(category)};
  cl::opt<std::string> inputs{"inputs", cl::value_desc("in.npz"), cl::cat(category),
                              cl::desc("Arrays in0, in1, ... or named as the parameters (.npz), or "
                                       "the only parameter's array (.npy)")};
  cl::opt<uint64_t> seed{"seed", cl::init(0), cl::value_desc("k"), cl::cat(category),
                         cl::desc("Seed of random inputs, used without --inputs (default: 0)")};
  cl::opt<uint64_t> rngSeed{"rng-seed", cl::init(0), cl::value_desc("k"), cl::cat(category),
                            cl::desc("Seed of the module's random numbers (default: 0)")};
  cl::opt<std::string> outputs{"outputs", cl::value_desc("out.npz"), cl::cat(category),
                               cl::desc("Write the results as out0, out1, ...")};
  cl::opt<std::string> threads{"threads", cl::init("1"), cl::value_desc("n|all"), cl::cat(category),
                               cl::desc("Threads to run on (default: 1)")};
  cl::opt<std::string> bench{"bench", cl::ValueOptional, cl::value_desc("seconds"),
                             cl::cat(category),
                             cl::desc("Run for that long (default: 1), at least three times")};
  cl::opt<bool> signature{
      "signature", cl::cat(category),
      cl::desc("Print names, types, layouts and aliases of the parameters and results")};
  cl::opt<std::string> entryLayout{
      "entry-layout", cl::value_desc("row-major|text"), cl::cat(category),
      cl::desc("Layout of the program's own buffers, as for hlo-compile; files are row-major")};
  cl::opt<bool> profile{"profile", cl::cat(category),
                        cl::desc("Print the cost of each operation in the timed runs")};
  cl::opt<bool> explainPlan{
      "explain-plan", cl::cat(category),
      cl::desc("Print the ways to make each kernel, with modelled cycles, and do not run")};
  cl::opt<std::string> measure{
      "measure", cl::ValueOptional, cl::value_desc("seconds"), cl::cat(category),
      cl::desc(
          "With --explain-plan: also compile and run each of them for that long (default: 0.2)")};
  cl::list<std::string> plans{
      "plan", cl::value_desc("kernel:candidate"), cl::cat(category),
      cl::desc("Make a kernel in the way that --explain-plan calls so; may be repeated")};
  cl::opt<bool> json{"json", cl::cat(category), cl::desc("Print one line of JSON")};
  cl::opt<double> timeout{"timeout", cl::init(0), cl::value_desc("seconds"), cl::cat(category),
                          cl::desc("Time limit for compiling, and again for running")};
  cl::opt<std::string> target{
      "target", cl::value_desc("triple"), cl::cat(category),
      cl::desc(
          "Compile for another architecture, as aarch64-linux-gnu, and run under its emulator")};
  cl::opt<std::string> emulator{
      "emulator", cl::value_desc("command"), cl::cat(category),
      cl::desc("Command that runs programs of the target (default: qemu-ARCHITECTURE)")};
  cl::opt<std::string> cpu{
      "cpu", cl::value_desc("name|host"), cl::cat(category),
      cl::desc("CPU to compile for (default: host; with --target as for hlo-compile)")};
  cl::list<std::string> dispatch{
      "dispatch", cl::CommaSeparated, cl::value_desc("level,..."), cl::cat(category),
      cl::desc("CPU levels to compile for, as for hlo-compile, instead of --cpu")};
  cl::opt<std::string> cpuLevel{
      "cpu-level", cl::value_desc("level"), cl::cat(category),
      cl::desc("Run at this level of --dispatch, a name or a number from 1 (default: the highest "
               "that the CPU supports)")};
  cl::opt<std::string> features{"features", cl::value_desc("+a,-b"), cl::cat(category),
                                cl::desc("CPU features on top of those of the CPU")};
  cl::opt<std::string> denormals{
      "denormals", cl::init("keep"), cl::value_desc("keep|flush"), cl::cat(category),
      cl::desc("Keep subnormal numbers, or flush operands and results to zero")};
  cl::opt<bool> quantizeActivations{
      "quantize-activations", cl::cat(category),
      cl::desc(
          "Few rows may be rounded to 8 bits where they are multiplied by weights of 2, 4 or 8 "
          "bits with scales")};
  cl::opt<hlo::DynamicBuffers> dynamicBuffers{
      "dynamic-buffers", cl::init(hlo::DynamicBuffers::Auto), cl::cat(category),
      cl::desc(
          "Buffers of arrays with dimensions '<=N' (default: dense for the symbols of StableHLO)"),
      cl::values(clEnumValN(hlo::DynamicBuffers::Dense, "dense", "Dense for the sizes of the call"),
                 clEnumValN(hlo::DynamicBuffers::Bound, "bound", "Of the bounds' shape"))};
  cl::opt<unsigned> sizeVersions{
      "size-versions", cl::init(0), cl::value_desc("n"), cl::cat(category),
      cl::desc("At most so many versions of the program, each for some sizes of its dimensions "
               "'<=N'; 1: none but the one for all sizes (default: as suits the program)")};
  cl::opt<std::string> immutableParams{
      "immutable-params", cl::value_desc("list|all-but:list|all"), cl::cat(category),
      cl::desc("Parameters that never change, as for hlo-compile: what depends on them alone is "
               "prepared once, before the runs")};
  cl::list<std::string> bounds{
      "bound", cl::value_desc("name<=n"), cl::cat(category),
      cl::desc("Bound of a size that StableHLO leaves open, as for hlo-compile: b<=64, x:0<=64, or "
               "all<=64; may be repeated")};
  cl::list<std::string> specialize{
      "specialize", cl::value_desc("name=n[:name=n][,...]"), cl::cat(category),
      cl::desc("Sizes that get a version of the program to themselves, as for hlo-compile: "
               "b=1,b=8, x:0=8, or b=1:s=128; may be repeated")};
  cl::opt<std::string> guardPages{
      "guard-pages", cl::value_desc("before|after"), cl::cat(category),
      cl::desc("Put each buffer and the arena next to an inaccessible page: just before "
               "its start, or just after its end; inputs cannot be written. With --global, "
               "what shards have beyond their arrays is filled with 1 bits")};
  cl::opt<unsigned> jobs{"jobs", cl::init(0), cl::value_desc("n"), cl::cat(category),
                         cl::desc("Threads of the compiler (default: one per CPU)")};
  cl::opt<unsigned> replicas{
      "replicas", cl::init(1), cl::value_desc("n"), cl::cat(category),
      cl::desc("Replicas to run at once, each on a thread; %r in a file name is the rank, with "
               "--global the replica")};
  cl::opt<unsigned> partitions{
      "partitions", cl::init(1), cl::value_desc("n"), cl::cat(category),
      cl::desc("Partitions of each replica, likewise; rank = replica * partitions + partition")};
  cl::opt<bool> global{
      "global", cl::cat(category),
      cl::desc("The files of inputs and outputs hold whole arrays: each partition gets its shard, "
               "and results are put together")};
  cl::opt<bool> mpi{"mpi", cl::cat(category),
                    cl::desc("This process is one rank, started by mpirun once for each")};
  hlo::tool::BudgetOptions budget{category};
  cl::opt<std::string> infeed{"infeed", cl::value_desc("f.npz"), cl::cat(category),
                              cl::desc("Arrays feed0, feed1, ...: the leaves of infeed items")};
  cl::opt<std::string> outfeed{"outfeed", cl::value_desc("f.npz"), cl::cat(category),
                               cl::desc("Write the leaves of outfeed items as feed0, feed1, ...")};
  cl::opt<std::string> hostRecv{
      "host-recv", cl::value_desc("f.npz"), cl::cat(category),
      cl::desc("Arrays channelN_0, channelN_1, ... that the module receives on channel N")};
  cl::opt<std::string> hostSend{
      "host-send", cl::value_desc("f.npz"), cl::cat(category),
      cl::desc("Write the arrays that the module sends, named in the same way")};
  cl::list<std::string> customCalls{
      "custom-calls", cl::CommaSeparated, cl::value_desc("lib.so,..."),
      cl::desc("Libraries whose functions are custom call targets"), cl::cat(category)};
};

int complain(const llvm::Twine &message, int exitCode = ExitUsage) {
  llvm::errs() << "hlo-run: error: " << message << '\n';
  return exitCode;
}

} // namespace

std::optional<int> hlo::run::parseCommandLine(int argc, char **argv, CommandLine &line) {
  hlo::tool::removeLlvmFlags();
  Flags flags;
  std::string usage;
  llvm::raw_string_ostream os(usage);
  if (!cl::ParseCommandLineOptions(argc, argv, "Compiles an HLO module for this CPU and runs it\n",
                                   &os)) {
    llvm::errs() << usage;
    return ExitUsage;
  }
  constexpr unsigned mostRanks = 1024;
  if (flags.replicas < 1 || flags.partitions < 1 || flags.replicas > mostRanks ||
      flags.partitions > mostRanks || flags.replicas * flags.partitions > mostRanks) {
    return complain("--replicas and --partitions: expected numbers whose product is 1 to 1024");
  }
  if (flags.inputs.getNumOccurrences() && flags.seed.getNumOccurrences()) {
    return complain("--inputs and --seed: only one of them can be given");
  }
  StringRef threads = flags.threads;
  if (threads == "all") {
    line.threads = hlo_pool_cpus();
  } else if (threads.getAsInteger(10, line.threads) || line.threads < 1 || line.threads > 4096) {
    return complain("--threads=" + threads + ": expected a number from 1 to 4096, or all");
  }
  if (flags.bench.getNumOccurrences()) {
    double seconds = 1;
    if (!flags.bench.empty() && (StringRef(flags.bench).getAsDouble(seconds) || !(seconds >= 0))) {
      return complain("--bench=" + flags.bench + ": expected a number of seconds");
    }
    line.benchSeconds = seconds;
  }
  if (!(flags.timeout >= 0)) {
    return complain("--timeout: expected a number of seconds, not negative");
  }
  line.module = flags.module;
  line.inputs = flags.inputs;
  line.outputs = flags.outputs;
  line.streams = {flags.infeed, flags.outfeed, flags.hostSend, flags.hostRecv};
  line.customCalls = flags.customCalls;
  if (flags.replicas.getNumOccurrences() || flags.partitions.getNumOccurrences()) {
    line.replicas = flags.replicas;
    line.partitions = flags.partitions;
  }
  line.seed = flags.seed;
  line.rngSeed = flags.rngSeed;
  line.timeoutSeconds = flags.timeout;
  line.json = flags.json;
  line.global = flags.global;
  line.mpi = flags.mpi;
  line.profile = flags.profile;
  line.signature = flags.signature;
  line.explainPlan = flags.explainPlan;
  if (flags.measure.getNumOccurrences()) {
    double seconds = 0.2;
    if (!flags.measure.empty() &&
        (StringRef(flags.measure).getAsDouble(seconds) || !(seconds >= 0))) {
      return complain("--measure=" + flags.measure + ": expected a number of seconds");
    }
    if (!flags.explainPlan) {
      return complain("--measure: expected with --explain-plan");
    }
    line.measureSeconds = seconds;
  }
  for (const std::string &text : flags.plans) {
    std::optional<hlo::PlanRequest> request = hlo::parsePlanRequest(text);
    if (!request) {
      return complain("--plan=" + text +
                      ": expected KERNEL:CANDIDATE, as --explain-plan names them");
    }
    line.plans.push_back(*request);
  }
  if (flags.entryLayout == "row-major") {
    line.entryLayouts = EntryLayouts::RowMajor;
  } else if (flags.entryLayout == "text") {
    line.entryLayouts = EntryLayouts::Text;
  } else if (flags.entryLayout.getNumOccurrences()) {
    return complain("--entry-layout=" + flags.entryLayout + ": expected row-major or text");
  }
  line.triple = flags.target;
  line.emulator = flags.emulator;
  bool isForHost = !line.runsRemotely() && flags.dispatch.empty();
  line.cpu = flags.cpu.getNumOccurrences() || !isForHost ? std::string(flags.cpu) : "host";
  line.features = flags.features;
  line.dispatch.assign(flags.dispatch.begin(), flags.dispatch.end());
  if (flags.cpuLevel.getNumOccurrences()) {
    auto named = llvm::find(line.dispatch, std::string(flags.cpuLevel));
    if (named != line.dispatch.end()) {
      line.cpuLevel = static_cast<int32_t>(named - line.dispatch.begin()) + 1;
    } else if (StringRef(flags.cpuLevel).getAsInteger(10, line.cpuLevel) || line.cpuLevel < 1 ||
               static_cast<size_t>(line.cpuLevel) > line.dispatch.size()) {
      llvm::SmallVector<StringRef> names(line.dispatch.begin(), line.dispatch.end());
      return complain("--cpu-level=" + flags.cpuLevel + ": expected a level of --dispatch" +
                      hlo::nearestNames(flags.cpuLevel, names));
    }
  }
  line.jobs = flags.jobs;
  flags.budget.apply(line.budget);
  if (flags.denormals != "keep" && flags.denormals != "flush") {
    return complain("--denormals=" + flags.denormals + ": expected keep or flush");
  }
  line.flushDenormals = flags.denormals == "flush";
  line.quantizeActivations = flags.quantizeActivations;
  line.sizeVersions = flags.sizeVersions;
  line.dynamicBuffers = flags.dynamicBuffers;
  if (flags.guardPages == "before") {
    line.guard = GuardSide::Before;
  } else if (flags.guardPages == "after") {
    line.guard = GuardSide::After;
  } else if (flags.guardPages.getNumOccurrences()) {
    return complain("--guard-pages=" + flags.guardPages + ": expected before or after");
  }
  if (line.runsRemotely() && line.guard != GuardSide::None) {
    return complain(
        "--guard-pages: not with --target or --emulator, where buffers are in another process",
        ExitUnsupported);
  }
  if (line.runsRemotely() && line.measureSeconds) {
    return complain("--measure: not with --target or --emulator, whose times are not the CPU's",
                    ExitUnsupported);
  }
  if (line.runsRemotely() && (line.global || line.mpi)) {
    return complain("--global and --mpi: not with --target or --emulator", ExitUnsupported);
  }
  if (line.mpi && (line.signature || line.explainPlan)) {
    return complain("--mpi: not with --signature and --explain-plan, which run nothing");
  }
  if (flags.immutableParams.getNumOccurrences()) {
    line.immutableParams = flags.immutableParams;
  }
  for (const std::string &text : flags.bounds) {
    if (std::string fault = hlo::parseSizeBound(text, line.bounds.emplace_back()); !fault.empty()) {
      return complain("--bound=" + text + ": " + fault);
    }
  }
  for (const std::string &text : flags.specialize) {
    if (std::string fault = hlo::parseSpecialSizes(text, line.specialize); !fault.empty()) {
      return complain("--specialize=" + text + ": " + fault);
    }
  }
  return std::nullopt;
}
