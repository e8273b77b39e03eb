//===- CommandLine.cpp - The flags of hlo-compile -------------------------===//
//
// In: argv. Out: options, and the files to write. Mistakes are reported with the nearest names and
// exit code 2. LLVM's own flags are removed.
//
//===----------------------------------------------------------------------===//
#include "CommandLine.h"
#include "compiler/support/NearestNames.h"
#include "tools/hlo-compile/Explain.h"
#include "tools/hlo-compile/OperationTable.h"
#include "tools/limits/BudgetOptions.h"
#include "tools/limits/LlvmFlags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace hlo;
using namespace hlo::tool;
using llvm::StringRef;
namespace cl = llvm::cl;

static constexpr int usageError = 2;

namespace {
struct Kind {
  StringRef name, suffix;
  Emit kind;
};

/// The flags. They exist only while the command line is read.
struct Flags {
  cl::OptionCategory category{"hlo-compile options"};
  cl::opt<std::string> input{cl::Positional, cl::desc("<in.hlo | ->"), cl::cat(category)};
  cl::opt<std::string> output{"o", cl::value_desc("file"), cl::cat(category),
                              cl::desc("Output; its kind by suffix: .o .s .ll .bc .mlir .hlo")};
  cl::opt<std::string> header{"header", cl::value_desc("file.h"), cl::desc("Write the C header"),
                              cl::cat(category)};
  cl::opt<std::string> cxxHeader{"cxx-header", cl::value_desc("file.hpp"), cl::cat(category),
                                 cl::desc("Write a C++17 header: a class with typed views")};
  cl::opt<bool> signature{
      "signature", cl::cat(category),
      cl::desc("Print names, types, layouts and aliases of the parameters and results")};
  cl::opt<bool> listCustomCalls{"list-custom-calls", cl::cat(category),
                                cl::desc("Print the custom call targets that the module needs")};
  cl::opt<std::string> customCallHeader{
      "custom-call-header", cl::value_desc("file.h"), cl::cat(category),
      cl::desc("Write a C header with the prototypes of the custom call targets")};
  cl::list<std::string> emit{"emit", cl::CommaSeparated, cl::value_desc("kind,..."),
                             cl::desc("What to write: obj, asm, llvm, bc, mlir, hlo, none"),
                             cl::cat(category)};
  cl::opt<std::string> name{
      "name", cl::value_desc("id"), cl::cat(category),
      cl::desc("Prefix of exported symbols (default: the input file's name)")};
  cl::opt<std::string> nameFrom{
      "name-from", cl::init("file"), cl::value_desc("file|module"), cl::cat(category),
      cl::desc("Where the prefix comes from without --name: the name of the input file, or the "
               "module's (default: file)")};
  cl::opt<std::string> space{
      "namespace", cl::value_desc("a::b"), cl::cat(category),
      cl::desc("Namespace of the C++ header's class (default: the module's name)")};
  cl::opt<std::string> entryLayout{
      "entry-layout", cl::value_desc("row-major|text"), cl::cat(category),
      cl::desc("Layout of parameters and results: row-major, or as the text says (default: "
               "row-major; text for modules with is_scheduled=true)")};
  cl::opt<bool> placeholderConstants{
      "placeholder-constants", cl::cat(category),
      cl::desc("Use placeholder values for elided constants ('{...}'), for measurements")};
  cl::list<std::string> allowMissingCustomCalls{
      "allow-missing-custom-calls", cl::CommaSeparated, cl::value_desc("target,..."),
      cl::desc("No messages about these custom call targets (globs): the program provides them"),
      cl::cat(category)};
  cl::opt<std::string> target{
      "target", cl::value_desc("triple"), cl::cat(category),
      cl::desc("Target, as aarch64-linux-gnu (default: x86_64-unknown-linux-gnu)")};
  cl::opt<std::string> cpu{"cpu", cl::value_desc("name"), cl::cat(category),
                           cl::desc("CPU, or host (default: x86-64-v3, on aarch64 generic)")};
  cl::list<std::string> dispatch{
      "dispatch", cl::CommaSeparated, cl::value_desc("level,..."), cl::cat(category),
      cl::desc("Compile for several CPU levels, from the least to the most, each named as for "
               "--cpu (x86-64-v3, armv8.2-a+dotprod+fp16); a call runs the highest that its CPU "
               "supports")};
  cl::opt<bool> allKernels{
      "dispatch-all-kernels", cl::cat(category),
      cl::desc(
          "With --dispatch: no level takes a kernel of an earlier one, even if it is as fast")};
  cl::opt<std::string> features{"features", cl::value_desc("+a,-b"), cl::cat(category),
                                cl::desc("CPU features on top of those of the CPU")};
  cl::opt<int> optLevel{
      "O",         cl::Prefix,        cl::value_desc("0..3"),
      cl::init(2), cl::cat(category), cl::desc("Optimization level (default: 2)")};
  cl::opt<unsigned> jobs{"jobs", cl::value_desc("n"), cl::init(0), cl::cat(category),
                         cl::desc("Threads of the compiler; the output does not depend on it "
                                  "(default: one per CPU)")};
  cl::opt<unsigned> replicas{"replicas", cl::value_desc("n"), cl::init(0), cl::cat(category),
                             cl::desc("Number of replicas (default: from the module)")};
  cl::opt<unsigned> partitions{"partitions", cl::value_desc("n"), cl::init(0), cl::cat(category),
                               cl::desc("Partitions of each replica (default: from the module)")};
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
      cl::desc(
          "Parameters that never change (numbers, ranges, names): NAME_prepare computes once what "
          "depends on them alone")};
  cl::list<std::string> bounds{
      "bound", cl::value_desc("name<=n"), cl::cat(category),
      cl::desc(
          "Bound of a size that StableHLO leaves open: b<=64 by name, x:0<=64 by parameter and "
          "dimension, or all<=64; may be repeated")};
  cl::list<std::string> specialize{
      "specialize", cl::value_desc("name=n[:name=n][,...]"), cl::cat(category),
      cl::desc("Sizes that get a version of the program to themselves: b=1,b=8, x:0=8 by "
               "parameter and dimension, b=1:s=128 for both at once; may be repeated")};
  cl::opt<std::string> maxStack{"max-stack", cl::value_desc("bytes"), cl::cat(category),
                                cl::desc("Fail if a call needs more stack (K, M, G allowed)")};
  cl::opt<std::string> maxArena{"max-arena", cl::value_desc("bytes"), cl::cat(category),
                                cl::desc("Fail if a call needs a larger arena (K, M, G allowed)")};
  cl::opt<double> timeout{"timeout", cl::init(0), cl::value_desc("seconds"), cl::cat(category),
                          cl::desc("Stop with exit code 7 after this time")};
  BudgetOptions budget{category};
  cl::opt<std::string> check{"check", cl::ValueOptional, cl::value_desc("syntax"),
                             cl::desc("Check the input and write nothing"), cl::cat(category)};
  cl::opt<std::string> compileTo{"compile-to", cl::value_desc("phase"), cl::cat(category),
                                 cl::desc("Stop after a phase and print the module")};
  cl::opt<std::string> startFrom{
      "start-from", cl::value_desc("phase"), cl::cat(category),
      cl::desc("The input is MLIR, the output of the phase before this one")};
  cl::opt<bool> listOps{"list-ops", cl::cat(category),
                        cl::desc("Print which operations support which element types")};
  cl::opt<std::string> explain{"explain", cl::value_desc("label"), cl::cat(category),
                               cl::desc("Explain the label at the end of a message: dot_c4")};
  cl::opt<bool> dependencies{
      "MD", cl::cat(category),
      cl::desc("Write a rule for make: the outputs depend on the input, and on @files of flags")};
  cl::opt<std::string> dependencyFile{
      "MF", cl::value_desc("file.d"), cl::cat(category),
      cl::desc("With -MD: where to (default: the first output with suffix .d)")};
  cl::list<std::string> dependencyTargets{
      "MT", cl::value_desc("name"), cl::cat(category),
      cl::desc("With -MD: target of the rule; may be repeated (default: the outputs)")};
  cl::opt<bool> phonyTargets{
      "MP", cl::cat(category),
      cl::desc("With -MD: also an empty rule for each file but the module, so that make goes on "
               "if it was deleted")};
  cl::opt<bool> listPhases{"list-phases", cl::desc("Print the names of the phases"),
                           cl::cat(category)};
  cl::opt<std::string> dumpDir{"dump-dir", cl::value_desc("folder"), cl::cat(category),
                               cl::desc("Write the module after each phase to a folder")};
  cl::opt<bool> spmdReport{
      "spmd-report", cl::cat(category),
      cl::desc(
          "Print to stderr how a module of several partitions was partitioned: each collective "
          "with the place that needs it, the bytes that a rank sends and why")};
  cl::opt<bool> memoryReport{
      "memory-report", cl::cat(category),
      cl::desc("Print the arena's buffers and live ranges to standard error")};
  cl::opt<bool> explainPlan{
      "explain-plan", cl::cat(category),
      cl::desc("Print the ways to make each kernel, with modelled cycles, to standard error")};
  cl::list<std::string> plans{
      "plan", cl::value_desc("kernel:candidate"), cl::cat(category),
      cl::desc("Make a kernel in the way that --explain-plan calls so; may be repeated")};
  cl::opt<std::string> timeReport{
      "time-report", cl::ValueOptional, cl::value_desc("json"),
      cl::desc("Print seconds per phase and per module of kernels to standard error"),
      cl::cat(category)};
};
} // namespace

static constexpr Kind kinds[] = {{"obj", ".o", EmitObject},   {"asm", ".s", EmitAssembly},
                                 {"llvm", ".ll", EmitLlvmIr}, {"bc", ".bc", EmitBitcode},
                                 {"mlir", ".mlir", EmitMlir}, {"hlo", ".hlo", EmitHlo},
                                 {"none", "", EmitNone}};

static int complain(const llvm::Twine &message) {
  llvm::errs() << "hlo-compile: error: " << message << '\n';
  return usageError;
}

static const Kind *kindOfSuffix(StringRef path) {
  StringRef suffix = llvm::sys::path::extension(path);
  const Kind *found = llvm::find_if(kinds, [&](const Kind &kind) { return kind.suffix == suffix; });
  return found != std::end(kinds) && !suffix.empty() ? found : nullptr;
}

/// "64M" -> bytes; nullopt if it is not a size.
static std::optional<uint64_t> parseSize(StringRef text) {
  uint64_t factor = 1;
  if (!text.empty()) {
    size_t power = StringRef("KMG").find(llvm::toUpper(text.back()));
    if (power != StringRef::npos) {
      factor = uint64_t(1) << (10 * (power + 1));
      text = text.drop_back();
    }
  }
  uint64_t number;
  if (text.getAsInteger(10, number) || number > UINT64_MAX / factor) {
    return std::nullopt;
  }
  return number * factor;
}

/// Decides which outputs go where, from --emit, -o and the phase to stop at.
static std::optional<int> chooseOutputs(const Flags &flags, CommandLine &line) {
  llvm::SmallVector<const Kind *> wanted;
  for (const std::string &name : flags.emit) {
    const Kind *kind = llvm::find_if(kinds, [&](const Kind &k) { return k.name == name; });
    if (kind == std::end(kinds)) {
      llvm::SmallVector<StringRef> names;
      for (const Kind &known : kinds) {
        names.push_back(known.name);
      }
      return complain("unknown kind of output '" + name + "'" + nearestNames(name, names));
    }
    wanted.push_back(kind);
  }
  bool stopsEarly = line.options.compileTo < Phase::Optimize;
  bool onlyLists = (flags.listCustomCalls || flags.signature) && flags.output.empty();
  if (wanted.empty() && !onlyLists) {
    const Kind *bySuffix = kindOfSuffix(flags.output);
    if (!bySuffix && !flags.output.empty() && flags.output != "-" && flags.output != "/dev/null") {
      return complain("cannot tell the kind of output '" + flags.output +
                      "' from its suffix; use .o, .s, .ll, .bc, .mlir or .hlo, or --emit");
    }
    // A partitioned module is a program that one reads and runs elsewhere, so it is text by
    // default.
    StringRef usual = line.options.compileTo == Phase::Partition ? "hlo"
                      : stopsEarly                               ? "mlir"
                                                                 : "obj";
    wanted.push_back(bySuffix ? bySuffix : llvm::find_if(kinds, [&](const Kind &kind) {
      return kind.name == usual;
    }));
  }
  line.options.emit = EmitNone;
  std::string stem = llvm::sys::path::stem(line.input).str();
  for (const Kind *kind : wanted) {
    if (kind->kind == EmitNone) {
      continue;
    }
    line.options.emit |= kind->kind;
    std::string path = flags.output;
    if (path.empty()) {
      bool binary = kind->kind == EmitObject || kind->kind == EmitBitcode;
      if (binary && line.input == "-") {
        return complain("reading from standard input needs -o FILE");
      }
      path = binary ? stem + kind->suffix.str() : "-";
    } else if (wanted.size() > 1 && path != "-") {
      llvm::SmallString<128> named(path);
      llvm::sys::path::replace_extension(named, kind->suffix);
      path = named.str();
    }
    line.outputs.push_back({kind->kind, path});
  }
  if (flags.signature) {
    line.options.emit |= EmitSignature;
    line.outputs.push_back({EmitSignature, "-"});
  }
  if (flags.listCustomCalls) {
    line.options.emit |= EmitCustomCallList;
    line.outputs.push_back({EmitCustomCallList, "-"});
  }
  if (!flags.customCallHeader.empty()) {
    line.options.emit |= EmitCustomCallHeader;
    line.outputs.push_back({EmitCustomCallHeader, flags.customCallHeader});
  }
  if (!flags.header.empty()) {
    line.options.emit |= EmitHeader;
    line.outputs.push_back({EmitHeader, flags.header});
  }
  if (!flags.cxxHeader.empty()) {
    line.options.emit |= EmitCxxHeader;
    line.outputs.push_back({EmitCxxHeader, flags.cxxHeader});
  }
  return std::nullopt;
}

/// A file name as make reads it.
static std::string quoteForMake(StringRef name) {
  std::string quoted;
  for (auto [i, c] : llvm::enumerate(name)) {
    if (c == ' ' || c == '#') {
      // Backslashes before a space are doubled, elsewhere they mean themselves.
      StringRef before = name.take_front(i);
      quoted.append(before.size() - before.rtrim('\\').size() + 1, '\\');
    } else if (c == '$') {
      quoted += '$';
    }
    quoted += c;
  }
  return quoted;
}

/// Adds the file of -MD to the outputs. `files`: what is read besides the input.
static std::optional<int> addDependencies(const Flags &flags, llvm::ArrayRef<std::string> files,
                                          CommandLine &line) {
  if (!flags.dependencies) {
    bool needless = !flags.dependencyFile.empty() || !flags.dependencyTargets.empty();
    return needless || flags.phonyTargets ? std::optional(complain("-MF, -MT and -MP need -MD"))
                                          : std::nullopt;
  }
  std::vector<std::string> targets(flags.dependencyTargets.begin(), flags.dependencyTargets.end());
  llvm::SmallString<128> path(flags.dependencyFile);
  for (const OutputFile &file : line.outputs) {
    if (file.path == "-") {
      continue;
    }
    if (flags.dependencyTargets.empty()) {
      targets.push_back(file.path);
    }
    if (path.empty()) {
      path = file.path;
      llvm::sys::path::replace_extension(path, ".d");
    }
  }
  if (targets.empty() || path.empty()) {
    return complain("-MD: no output is a file; give the rule's target and file with -MT and -MF");
  }
  std::string rule;
  for (const std::string &target : targets) {
    rule += (rule.empty() ? "" : " ") + quoteForMake(target);
  }
  rule += ':';
  std::string phony;
  if (line.input != "-") {
    rule += ' ' + quoteForMake(line.input);
  }
  for (const std::string &file : files) {
    rule += " \\\n  " + quoteForMake(file);
    phony += quoteForMake(file) + ":\n";
  }
  line.outputs.push_back(
      {EmitNone, path.str().str(), rule + '\n' + (flags.phonyTargets ? phony : "")});
  return std::nullopt;
}

/// Converts the flags to options.
static std::optional<int> interpret(const Flags &flags, CommandLine &line) {
  CompileOptions &options = line.options;
  line.input = flags.input;
  options.cpu = flags.cpu;
  options.features = flags.features;
  options.dispatch.assign(flags.dispatch.begin(), flags.dispatch.end());
  options.keepsAllKernels = flags.allKernels;
  options.replicas = flags.replicas;
  options.partitions = flags.partitions;
  options.triple = flags.target;
  options.name = flags.name;
  if (flags.nameFrom != "file" && flags.nameFrom != "module") {
    return complain("--name-from=" + flags.nameFrom + ": expected file or module");
  }
  options.space = flags.space;
  options.nameFromModule = flags.nameFrom == "module";
  if (flags.entryLayout == "row-major") {
    options.entryLayouts = EntryLayouts::RowMajor;
  } else if (flags.entryLayout == "text") {
    options.entryLayouts = EntryLayouts::Text;
  } else if (flags.entryLayout.getNumOccurrences()) {
    return complain("--entry-layout=" + flags.entryLayout + ": expected row-major or text");
  }
  options.placeholderConstants = flags.placeholderConstants;
  options.allowMissingCustomCalls.assign(flags.allowMissingCustomCalls.begin(),
                                         flags.allowMissingCustomCalls.end());
  options.jobs = flags.jobs;
  options.dumpDir = flags.dumpDir;
  options.spmdReport = flags.spmdReport;
  options.memoryReport = flags.memoryReport;
  options.explainPlan = flags.explainPlan;
  for (const std::string &text : flags.plans) {
    std::optional<PlanRequest> request = parsePlanRequest(text);
    if (!request) {
      return complain("--plan=" + text +
                      ": expected KERNEL:CANDIDATE, as --explain-plan names them");
    }
    options.plans.push_back(*request);
  }
  if (flags.denormals != "keep" && flags.denormals != "flush") {
    return complain("--denormals=" + flags.denormals + ": expected keep or flush");
  }
  options.flushDenormals = flags.denormals == "flush";
  options.quantizeActivations = flags.quantizeActivations;
  options.sizeVersions = flags.sizeVersions;
  options.dynamicBuffers = flags.dynamicBuffers;
  if (flags.immutableParams.getNumOccurrences()) {
    options.immutableParams = flags.immutableParams;
  }
  for (const std::string &text : flags.bounds) {
    if (std::string fault = parseSizeBound(text, options.bounds.emplace_back()); !fault.empty()) {
      return complain("--bound=" + text + ": " + fault);
    }
  }
  for (const std::string &text : flags.specialize) {
    if (std::string fault = parseSpecialSizes(text, options.specialize); !fault.empty()) {
      return complain("--specialize=" + text + ": " + fault);
    }
  }
  options.optLevel = flags.optLevel;
  if (options.optLevel < 0 || options.optLevel > 3) {
    return complain("optimization level must be 0, 1, 2 or 3, not " +
                    llvm::Twine(options.optLevel));
  }
  if (flags.input.empty()) {
    return complain("no input; give a file, or - for standard input");
  }
  for (const cl::opt<std::string> *flag : {&flags.compileTo, &flags.startFrom}) {
    std::optional<Phase> phase = parsePhase(*flag);
    if (!phase && !flag->empty()) {
      std::string near = nearestNames(*flag, phaseNames());
      return complain("--" + flag->ArgStr + ": unknown phase '" + *flag + "'" +
                      (near.empty() ? "; --list-phases prints their names" : near));
    }
    if (phase && flag == &flags.compileTo) {
      options.compileTo = *phase;
    } else if (phase) {
      options.startFrom = phase;
    }
  }
  if (options.startFrom && *options.startFrom > Phase::Emit) {
    return complain("--start-from: nothing is printed before phase '" + flags.startFrom +
                    "' that could be read again; the last is emit");
  }
  flags.budget.apply(options.budget);
  if (!(flags.timeout >= 0)) {
    return complain("--timeout: expected a number of seconds, not negative");
  }
  line.timeoutSeconds = flags.timeout;
  if (!flags.maxArena.empty()) {
    std::optional<uint64_t> size = parseSize(flags.maxArena);
    if (!size) {
      return complain("--max-arena: '" + flags.maxArena + "' is not a size");
    }
    options.maxArenaBytes = *size;
  }
  if (!flags.maxStack.empty()) {
    std::optional<uint64_t> size = parseSize(flags.maxStack);
    if (!size) {
      return complain("--max-stack: '" + flags.maxStack + "' is not a size");
    }
    options.maxStackBytes = *size;
  }
  if (flags.timeReport.getNumOccurrences()) {
    if (!flags.timeReport.empty() && flags.timeReport != "json") {
      return complain("--time-report: unknown form '" + flags.timeReport + "'; only json is known");
    }
    line.timeReport = flags.timeReport == "json" ? TimeReport::Json : TimeReport::Text;
  }
  if (flags.check.getNumOccurrences()) {
    if (!flags.check.empty() && flags.check != "syntax") {
      return complain("--check: unknown form '" + flags.check + "'; only syntax is known");
    }
    options.check = flags.check == "syntax" ? Check::Syntax : Check::Full;
    return std::nullopt;
  }
  return chooseOutputs(flags, line);
}

std::optional<int> hlo::tool::parseCommandLine(int argc, char **argv, CommandLine &line) {
  removeLlvmFlags();
  Flags flags;
  cl::SetVersionPrinter(
      [](llvm::raw_ostream &out) { out << "hlo-compile " HLO_COMPILE_VERSION "\n"; });
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  std::vector<std::string> flagFiles; // as the parser of flags recognizes them
  for (StringRef argument : llvm::ArrayRef(argv, argc).drop_front()) {
    if (argument.consume_front("@") && llvm::sys::fs::exists(argument)) {
      flagFiles.push_back(argument.str());
    }
  }
  if (!cl::ParseCommandLineOptions(argc, argv, "compiles an HLO module to an object\n", &stream)) {
    llvm::errs() << messages;
    return usageError;
  }
  if (!flags.explain.empty()) {
    return explain(flags.explain);
  }
  if (flags.listOps) {
    llvm::outs() << operationTable;
    return 0;
  }
  if (flags.listPhases) {
    for (StringRef name : phaseNames()) {
      llvm::outs() << name << '\n';
    }
    return 0;
  }
  std::optional<int> code = interpret(flags, line);
  return code ? code : addDependencies(flags, flagFiles, line);
}
