//===- Compile.cpp - From the text of a module to artefacts ---------------===//
//
// In: HLO or StableHLO text, and options. Out: artefacts, or errors in the form `file:line:col:
// error:` with a kind that says whose fault it is. This file runs the phases and records times,
// dumps and kinds of errors. The phases themselves are elsewhere: compiler/parser and
// compiler/stablehlo (parse), compiler/pipeline (canonicalize to plan), CodeGeneration.cpp (emit to
// package).
//
// Up to verification an error is the input's fault; after it an error means "not supported". A
// phase that fails without a diagnostic, or that leaves an invalid module, is the compiler's fault.
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/Compile.h"
#include "compiler/analysis/Expansion.h"
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/analysis/Prepared.h"
#include "compiler/analysis/QuantizedActivations.h"
#include "compiler/analysis/entry/SizeArguments.h"
#include "compiler/driver/Arena.h"
#include "compiler/driver/CodeGeneration.h"
#include "compiler/driver/CustomCallReview.h"
#include "compiler/driver/ImmutableParams.h"
#include "compiler/driver/Levels.h"
#include "compiler/driver/Preflight.h"
#include "compiler/parser/Parser.h"
#include "compiler/parser/Printer.h"
#include "compiler/pipeline/Pipeline.h"
#include "compiler/stablehlo/Import.h"
#include "compiler/support/Checked.h"
#include "compiler/support/FileKind.h"
#include "compiler/support/SizeExpr.h"
#include "compiler/support/SourceExcerpt.h"
#include "compiler/target/MoveScratch.h"
#include "compiler/target/calls/RuntimeCall.h"
#include "compiler/target/header/CustomCallHeader.h"
#include "compiler/target/header/CxxHeader.h"
#include "compiler/target/header/Header.h"
#include "compiler/transforms/schedule/Schedule.h"
#include "dialect/hlo/verify/VerifyModule.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/xxhash.h"
#include <chrono>

using namespace mlir;
using namespace hlo;

namespace {
/// One compilation in progress.
class Compilation {
public:
  Compilation(StringRef text, StringRef fileName, const CompileOptions &options,
              Artifacts &artifacts, llvm::raw_ostream &diagnostics)
      : text(text), fileName(fileName), options(options), artifacts(artifacts), out(diagnostics) {
    // Skips the byte order mark that some editors write.
    this->text.consume_front("\xef\xbb\xbf");
  }

  LogicalResult run();

private:
  LogicalResult fail(ErrorKind kind, const llvm::Twine &message);
  void remark(const llvm::Twine &message);
  LogicalResult runPhases(MLIRContext &context);
  LogicalResult parseAndVerify(MLIRContext &context);
  LogicalResult checkModule();
  LogicalResult runBackend(const Target &target);
  void destroyModule();
  LogicalResult makeDumpDir();
  std::string choosePrefix();
  void fillDescription(Description &description, const Target &target);
  void noteArena(const Description &description);
  LogicalResult checkArena();
  LogicalResult checkStack(const CodeGeneration &generation);
  void makeHeaders(const Signature &signature, const Description &description, std::string target);
  bool stopsAfter(Phase phase) const { return options.compileTo == phase; }

  /// Runs one phase: records its time, counts its errors, dumps its result.
  LogicalResult phase(Phase which, ErrorKind blame, llvm::function_ref<LogicalResult()> body);
  void dumpModule(Phase which);
  void dumpText(StringRef name, StringRef text);

  LogicalResult compileFor(const Target &target);
  LogicalResult compileLevels(llvm::MutableArrayRef<Target> targets);

  StringRef text, fileName;
  CompileOptions options; ///< with CPU levels: those of the current level
  Artifacts &artifacts;
  llvm::raw_ostream &out;
  std::unique_ptr<llvm::ThreadPoolInterface> pool;
  OwningOpRef<ModuleOp> module;
  std::string prefix;
  PythonLines lines; ///< of the custom calls
  InstructionMetadata metadata;
  unsigned errors = 0, internalErrors = 0, boundErrors = 0;
  std::vector<LevelCode> levels;           ///< the compiled ones
  bool isQuiet = false;                    ///< only errors are printed
  std::optional<unsigned> level;           ///< the current one; none: the object has no levels
  std::optional<Signature> plainSignature; ///< with CPU levels: that of the module
  size_t sharedKernels = 0;                ///< with CPU levels: kernels taken from earlier ones
};
} // namespace

/// The message as a value. A label of a violated rule stands at its end, "... [dot_c3]".
static Message messageOf(Message::Severity severity, StringRef text,
                         std::optional<FileLineColLoc> place) {
  Message message{severity, "", printable(text), "", 0, 0};
  StringRef whole = message.text;
  size_t open = whole.rfind(" [");
  StringRef label = open == StringRef::npos ? "" : whole.drop_front(open + 2);
  if (label.consume_back("]") && label.contains("_c") &&
      llvm::all_of(label, [](char c) { return llvm::isAlnum(c) || c == '_'; })) {
    message.code = label.str();
    message.text = whole.take_front(open).str();
  }
  if (place) {
    message.file = place->getFilename().str();
    message.line = place->getLine();
    message.column = place->getColumn();
  }
  return message;
}

static Message messageOf(Diagnostic &diagnostic) {
  auto severity = [&] {
    switch (diagnostic.getSeverity()) {
    case DiagnosticSeverity::Note: return Message::Severity::Note;
    case DiagnosticSeverity::Remark: return Message::Severity::Remark;
    case DiagnosticSeverity::Warning: return Message::Severity::Warning;
    case DiagnosticSeverity::Error: break;
    }
    return Message::Severity::Error;
  };
  std::optional<FileLineColLoc> place;
  if (auto found = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>()) {
    place = found;
  }
  return messageOf(severity(), diagnostic.str(), place);
}

/// Reports an error that has no place in the text.
LogicalResult Compilation::fail(ErrorKind kind, const llvm::Twine &message) {
  out << fileName << ": error: " << message << '\n';
  artifacts.messages.push_back(messageOf(Message::Severity::Error, message.str(), std::nullopt));
  artifacts.error = kind;
  return failure();
}

/// Writes a remark that has no place in the text.
void Compilation::remark(const llvm::Twine &message) {
  out << fileName << ": remark: " << message << '\n';
  artifacts.messages.push_back(messageOf(Message::Severity::Remark, message.str(), std::nullopt));
}

/// HLO text of a module that has only `hlo` ops.
static void printAsHlo(ModuleOp module, std::string &text) {
  llvm::raw_string_ostream stream(text);
  printHlo(module, stream);
}

void Compilation::dumpModule(Phase which) {
  // Phases after plan do not change this module.
  if (options.dumpDir.empty() || !module || which > Phase::Plan) {
    return;
  }
  std::string name = llvm::formatv("{0}/{1,0+2}-{2}.mlir", options.dumpDir,
                                   static_cast<int>(which) + 1, phaseName(which));
  std::error_code error;
  llvm::raw_fd_ostream file(name, error);
  if (!error) {
    module->print(file, OpPrintingFlags().elideLargeElementsAttrs(64));
    file << '\n';
  }
}

void Compilation::dumpText(StringRef name, StringRef text) {
  if (options.dumpDir.empty()) {
    return;
  }
  std::error_code error;
  llvm::raw_fd_ostream file((options.dumpDir + "/" + name).str(), error);
  if (!error) {
    file << text;
  }
}

LogicalResult Compilation::phase(Phase which, ErrorKind blame,
                                 llvm::function_ref<LogicalResult()> body) {
  auto start = std::chrono::steady_clock::now();
  unsigned before = errors;
  if (options.onProgress) {
    options.onProgress(which, 0, 0);
  }
  LogicalResult result = options.isCancelled() ? failure() : body();
  if (options.isCancelled() && artifacts.error == ErrorKind::None) {
    return fail(ErrorKind::Cancelled, "cancelled in phase " + phaseName(which));
  }
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  auto sum = llvm::find_if(artifacts.phaseSeconds,
                           [&](const auto &each) { return each.first == phaseName(which); });
  if (sum == artifacts.phaseSeconds.end()) {
    sum = artifacts.phaseSeconds.emplace(sum, phaseName(which).str(), 0);
  }
  sum->second += seconds.count();
  if (succeeded(result) && errors == before) {
    dumpModule(which);
    return success();
  }
  if (artifacts.error != ErrorKind::None) {
    return failure(); // reported without a place
  }
  if (errors == before) {
    return fail(ErrorKind::Internal,
                "internal error: phase " + phaseName(which) + " failed without a reason");
  }
  artifacts.error = internalErrors                         ? ErrorKind::Internal
                    : boundErrors && boundErrors == errors ? ErrorKind::Limit
                                                           : blame;
  return failure();
}

LogicalResult Compilation::parseAndVerify(MLIRContext &context) {
  if (options.startFrom) {
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context), fileName);
    return success(static_cast<bool>(module));
  }
  if (std::string kind = describeForeignFile(text); !kind.empty()) {
    return fail(ErrorKind::Input, kind);
  }
  if (isMlirText(text)) {
    StablehloOptions importOptions;
    importOptions.budget = options.budget;
    importOptions.bounds = options.bounds;
    module = parseStablehlo(text, fileName, &context, importOptions);
    return checkModule();
  }
  for (const SizeBound &bound : options.bounds) {
    if (bound.name != "all") {
      return fail(ErrorKind::Usage, "--bound=" + bound.name + "<=" + llvm::Twine(bound.bound) +
                                        ": HLO text has its bounds in it, as in f32[<=64]");
    }
  }
  ParseOptions parseOptions;
  parseOptions.budget = options.budget;
  module = parseHlo(text, fileName, &context, parseOptions);
  return checkModule();
}

/// Fails if there is no module, or if it is to be verified and is not valid.
LogicalResult Compilation::checkModule() {
  return success(module && (options.check == Check::Syntax || succeeded(verifyModule(*module))));
}

/// The prefix of the exported symbols: --name, else the file's name; the module's name if there is
/// no file or if --name-from=module. The file comes first because JAX names every lambda
/// jit__lambda.
std::string Compilation::choosePrefix() {
  bool hasFile = !fileName.empty() && fileName != "-" && fileName != "<stdin>";
  std::string chosen =
      cIdentifier(!options.name.empty()                ? StringRef(options.name)
                  : hasFile && !options.nameFromModule ? llvm::sys::path::stem(fileName)
                                                       : module->getSymName().value_or("module"));
  // hlo_arena_bytes and HLO_ARENA_ALIGN would be the runtime's.
  return StringRef(chosen).equals_insensitive("hlo") ? chosen + "_" : chosen;
}

/// The flags that change the output, for the description in the object.
static std::string describeFlags(const CompileOptions &options, const Target &target) {
  std::string flags = "-O" + std::to_string(options.optLevel);
  flags += options.dispatch.empty() ? " --cpu=" + target.cpu
                                    : " --dispatch=" + llvm::join(options.dispatch, ",");
  if (!options.features.empty()) {
    flags += " --features=" + options.features;
  }
  if (options.flushDenormals) {
    flags += " --denormals=flush";
  }
  if (options.quantizeActivations) {
    flags += " --quantize-activations";
  }
  if (options.dynamicBuffers != DynamicBuffers::Auto) {
    bool dense = options.dynamicBuffers == DynamicBuffers::Dense;
    flags += dense ? " --dynamic-buffers=dense" : " --dynamic-buffers=bound";
  }
  if (options.sizeVersions) {
    flags += " --size-versions=" + std::to_string(options.sizeVersions);
  }
  for (const PlanRequest &request : options.plans) {
    flags += " --plan=" + request.kernel + ":" + request.candidate;
  }
  for (const SizeBound &bound : options.bounds) {
    flags += " --bound=" + bound.name + "<=" + std::to_string(bound.bound);
  }
  for (const SpecialSizes &sizes : options.specialize) {
    flags += " --specialize=" + llvm::join(sizes, ":");
  }
  return options.immutableParams ? flags + " --immutable-params=" + *options.immutableParams
                                 : flags;
}

/// Number of ranks that the module is compiled for; nothing if there are too many.
static std::optional<int32_t> ranksOf(ModuleOp module) {
  auto count = [&](StringRef name) -> int64_t {
    auto value = module->getAttrOfType<IntegerAttr>(name);
    return value ? std::max<int64_t>(value.getInt(), 1) : 1;
  };
  return checkedRanks(count("hlo.replica_count"), count("hlo.num_partitions"));
}

/// What the planned module says of its prepared block. The id changes whenever the block's contents
/// may.
static void describePrepared(ModuleOp module, Description &description) {
  auto bytes = module->getAttrOfType<IntegerAttr>(kPreparedBytes);
  if (!bytes) {
    return;
  }
  Prepared &prepared = description.prepared;
  prepared.bytes = llvm::alignTo(bytes.getInt(), 64);
  std::string all = description.sha256 + description.version + description.flags;
  for (auto entry : module.getOps<cpurt::EntryOp>()) {
    if (entry.getPrepare()) {
      prepared.arena = arenaOf(entry, description.arenaAlign);
      for (auto slice : entry.getOps<cpurt::PreparedOp>()) {
        all += "," + std::to_string(slice.getOffset());
      }
    }
  }
  prepared.id = llvm::xxh3_64bits(all);
  if (auto use = module->getAttrOfType<DenseI8ArrayAttr>(kInputUse)) {
    prepared.inputUse.assign(use.asArrayRef().begin(), use.asArrayRef().end());
  }
}

void Compilation::fillDescription(Description &description, const Target &target) {
  llvm::SHA256 hash;
  hash.update(text);
  description.sha256 = llvm::toHex(hash.final(), /*LowerCase=*/true);
  description.version = HLO_COMPILE_VERSION;
  description.flags = describeFlags(options, target);
  description.flushDenormals = options.flushDenormals;
  cpurt::EntryOp entry = *module->getOps<cpurt::EntryOp>().begin();
  description.arenaAlign = std::max<int64_t>(64, entry.getArenaAlign());
  description.arena = arenaOf(entry, description.arenaAlign);
  if (cpurt::CaseOp versions = versionsOf(entry)) {
    description.sizes = describeVersions(versions, description.arenaAlign);
  }
  describePrepared(*module, description);
  collectNeeds(entry, ranksOf(*module).value_or(1) > 1, description);
  entry.walk([&](cpurt::RandomStateOp state) {
    if (std::optional<uint64_t> offset = state.getOffset()) {
      description.stateBytes = std::max<uint64_t>(description.stateBytes, *offset + 16);
      description.needs |= HLO_NEEDS_STATE;
    }
  });
}

void Compilation::noteArena(const Description &description) {
  artifacts.arenaBytes = description.arena.bytes;
  artifacts.threadArenaBytes = description.arena.threadBytes;
  artifacts.prepareArenaBytes = description.prepared.arena.bytes;
  artifacts.preparedBytes = description.prepared.bytes;
}

LogicalResult Compilation::checkArena() {
  uint64_t arenaBytes = std::max(artifacts.arenaBytes, artifacts.prepareArenaBytes);
  if (options.maxArenaBytes && arenaBytes > options.maxArenaBytes) {
    return fail(ErrorKind::Limit, "the program needs an arena of " + llvm::Twine(arenaBytes) +
                                      " bytes, but the limit is " +
                                      llvm::Twine(options.maxArenaBytes));
  }
  return success();
}

LogicalResult Compilation::checkStack(const CodeGeneration &generation) {
  artifacts.stackBytes = std::max(artifacts.stackBytes, generation.stackBytes());
  if (auto frame = generation.largestFrame(); frame.second > artifacts.largestFrame.second) {
    artifacts.largestFrame = std::move(frame);
  }
  if (options.maxStackBytes && artifacts.stackBytes > options.maxStackBytes) {
    return fail(ErrorKind::Limit,
                "a call needs a stack of " + llvm::Twine(artifacts.stackBytes) +
                    " bytes, but the limit is " + llvm::Twine(options.maxStackBytes) +
                    "; the largest frame is " + llvm::Twine(artifacts.largestFrame.second) +
                    " bytes, of " + artifacts.largestFrame.first);
  }
  return success();
}

void Compilation::makeHeaders(const Signature &signature, const Description &description,
                              std::string target) {
  HeaderInfo info{llvm::sys::path::filename(fileName).str(),
                  description.sha256,
                  description.version,
                  description.arena,
                  description.arenaAlign,
                  description.needs,
                  description.customCalls,
                  description.stateBytes,
                  description.prepared,
                  std::move(target)};
  if (options.emit & EmitHeader) {
    artifacts.header = makeHeader(signature, info);
  }
  if (options.emit & EmitCxxHeader) {
    std::string space = options.space.empty()
                            ? cxxNamespace(module->getSymName().value_or("module"), prefix)
                            : options.space;
    artifacts.cxxHeader = makeCxxHeader(signature, info, space);
  }
}

LogicalResult Compilation::runBackend(const Target &target) {
  FailureOr<Signature> signature = failure();
  Description description;
  ConstantPool constants;
  if (failed(phase(Phase::Plan, ErrorKind::Unsupported, [&]() -> LogicalResult {
        if (module->getOps<cpurt::EntryOp>().empty()) {
          return options.startFrom ? fail(ErrorKind::Input, "the input has no cpurt.entry")
                                   : module->emitError("internal error: the plan has no entry");
        }
        fillDescription(description, target);
        signature = makeSignature(*module, prefix, description.sha256);
        if (level && succeeded(signature)) {
          plainSignature = *signature;
          description.levelName = options.cpu;
          description.levelNumber = *level + 1;
          signature->symbols += "." + options.cpu;
        }
        if (std::string message = reviewCustomCalls(*module->getOps<cpurt::EntryOp>().begin(),
                                                    lines, options.allowMissingCustomCalls);
            !message.empty()) {
          return fail(ErrorKind::Usage, "--allow-missing-custom-calls: " + message);
        }
        return failed(signature) ? failure()
                                 : collectConstants(*module, signature->symbols, constants);
      }))) {
    return failure();
  }
  artifacts.constantBytes = constants.totalBytes;
  if (FailureOr<EntryLayout> layout = EntryLayout::get(*module); succeeded(layout)) {
    artifacts.inputNames.clear();
    for (const EntryLeaf &leaf : layout->inputs) {
      artifacts.inputNames.push_back(leaf.name);
    }
  }
  if (options.emit & EmitSignature) {
    artifacts.signature = printSignature(*signature, artifacts.inputNames);
  }
  cpurt::EntryOp planned = *module->getOps<cpurt::EntryOp>().begin();
  if (options.emit & EmitCustomCallList) {
    artifacts.customCallList = listCustomCalls(planned);
  }
  if (options.emit & EmitCustomCallHeader) {
    artifacts.customCallHeader = makeCustomCallHeader(planned, prefix);
  }
  constexpr unsigned ofCode = EmitObject | EmitAssembly | EmitLlvmIr | EmitBitcode;
  bool wantsCode = (options.emit & ofCode) || !options.emit || options.compileTo != Phase::Package;
  if (!wantsCode && !(options.emit & (EmitHeader | EmitCxxHeader))) {
    noteArena(description);
    return checkArena();
  }

  // Not earlier: the phases before run on one thread, and with a thread pool the context takes a
  // lock and one more table lookup for each new attribute.
  if (pool) {
    module->getContext()->setThreadPool(*pool);
  }
  CodeGenerationInput input{*module,     target,    options,  *signature,
                            description, constants, metadata, pool.get()};
  llvm::SmallVector<const LevelKernels *> earlier;
  for (const LevelCode &level : levels) {
    earlier.push_back(&level.kernels);
  }
  input.earlier = earlier;
  bool wantsText = options.emit & (EmitAssembly | EmitLlvmIr | EmitBitcode);
  bool wantsObject = (options.emit & EmitObject) || stopsAfter(Phase::Emit) || !wantsText;
  auto keepLevel = [&](std::vector<ObjectCode> objects) {
    if (level) {
      LevelCode &kept = levels.emplace_back();
      kept.symbols = signature->symbols;
      kept.target = target;
      kept.description = description;
      kept.constants = std::move(constants);
      kept.objects = std::move(objects);
    }
  };
  // Scratch sizes are known only after kernels have been emitted.
  auto emit = [&](CodeGeneration &generation) {
    return phase(Phase::Emit, ErrorKind::Unsupported, [&]() -> LogicalResult {
      if (failed(generation.emit())) {
        return failure();
      }
      artifacts.plans = generation.plans();
      if (std::string message = checkPlanRequests(options.plans, artifacts.plans);
          !message.empty()) {
        return fail(ErrorKind::Usage, message);
      }
      uint64_t ofCollectives = collectiveScratchBytes(*signature, description);
      addScratch(description.arena,
                 std::max(generation.scratchBytes(/*prepare=*/false), ofCollectives));
      cpurt::CaseOp versions = versionsOf(*module->getOps<cpurt::EntryOp>().begin());
      addScratch(description.sizes, [&](size_t version) {
        return std::max(generation.scratchBytes(versions, version), ofCollectives);
      });
      addScratch(description.prepared.arena, generation.scratchBytes(/*prepare=*/true));
      noteArena(description);
      return checkArena();
    });
  };
  if (wantsObject) {
    CodeGeneration generation(input, /*single=*/false);
    if (failed(emit(generation))) {
      return failure();
    }
    if (!level) {
      makeHeaders(*signature, description, target.triple + " " + target.cpuText);
    }
    if (!wantsCode) {
      keepLevel({});
      return success();
    }
    if (stopsAfter(Phase::Emit)) {
      llvm::raw_string_ostream stream(artifacts.mlir);
      generation.printKernels(stream);
      return success();
    }
    if (failed(phase(Phase::Optimize, ErrorKind::Unsupported, [&] {
          return failed(generation.compileObjects()) ? failure() : checkStack(generation);
        }))) {
      return failure();
    }
    llvm::append_range(artifacts.moduleTimes, generation.moduleTimes());
    if (level) {
      keepLevel(generation.takeObjects());
      levels.back().cpuFeatures = generation.cpuFeatures();
      sharedKernels += generation.sharedKernels();
      levels.back().kernels = generation.takeKernels();
      return success();
    }
    if (!stopsAfter(Phase::Optimize) && failed(phase(Phase::Package, ErrorKind::Unsupported, [&] {
          return generation.package(artifacts.object);
        }))) {
      return failure();
    }
  }
  if (!wantsText) {
    return success();
  }
  CodeGeneration generation(input, /*single=*/true);
  if (failed(emit(generation))) {
    return failure();
  }
  makeHeaders(*signature, description, target.triple + " " + target.cpuText);
  return phase(Phase::Optimize, ErrorKind::Unsupported, [&] {
    return failed(generation.compileText(artifacts)) ? failure() : checkStack(generation);
  });
}

LogicalResult Compilation::runPhases(MLIRContext &context) {
  if (std::string fault = dispatchFault(options); !fault.empty()) {
    return fail(ErrorKind::Usage, fault);
  }
  std::vector<std::string> names = options.dispatch;
  if (names.empty()) {
    names.push_back(options.cpu);
  }
  llvm::Expected<std::vector<Target>> targets =
      describeLevels(names, options.features, options.triple);
  if (!targets) {
    return fail(ErrorKind::Usage, llvm::toString(targets.takeError()));
  }
  if (options.flushDenormals && !targets->front().architecture->flushesSubnormals) {
    return fail(ErrorKind::Unsupported, "--denormals=flush: " + targets->front().triple +
                                            " has no mode in which subnormal numbers are zeros");
  }
  if (!options.triple.empty() && names.front().empty() && options.remarks) {
    remark("compiled for CPU '" + targets->front().cpu + "' of " + targets->front().triple +
           ", since --cpu names none");
  }
  if (failed(phase(Phase::Parse, ErrorKind::Input, [&] { return parseAndVerify(context); }))) {
    return failure();
  }
  if (options.check != Check::None) {
    warnOfElidedConstants(*module);
    return success();
  }
  if (options.immutableParams && options.startFrom > Phase::Fuse) {
    return fail(ErrorKind::Usage, "--immutable-params: the input is past phase fuse, in which "
                                  "parameters are prepared");
  }
  // In a module's text these attributes only hint at its producer.
  Builder attributes(&context);
  if (options.replicas) {
    (*module)->setAttr("hlo.replica_count", attributes.getI64IntegerAttr(options.replicas));
  }
  if (options.partitions) {
    (*module)->setAttr("hlo.num_partitions", attributes.getI64IntegerAttr(options.partitions));
  } else if (int64_t implied = impliedPartitions(*module)) {
    (*module)->setAttr("hlo.num_partitions", attributes.getI64IntegerAttr(implied));
  }
  bool isNamed = (*module)->hasAttr(kEntrySizes);
  if (options.dynamicBuffers == DynamicBuffers::Dense ||
      (options.dynamicBuffers == DynamicBuffers::Auto && isNamed)) {
    (*module)->setAttr(kDenseBuffers, attributes.getUnitAttr());
  } else if (options.dynamicBuffers == DynamicBuffers::Bound) {
    (*module)->removeAttr(kDenseBuffers);
  }
  if (options.quantizeActivations) {
    (*module)->setAttr(kQuantizeActivations, attributes.getUnitAttr());
  }
  if (!options.specialize.empty()) {
    SmallVector<Attribute> lists;
    for (const SpecialSizes &sizes : options.specialize) {
      SmallVector<StringRef> texts(sizes.begin(), sizes.end());
      lists.push_back(attributes.getStrArrayAttr(texts));
    }
    (*module)->setAttr(kSpecialSizes, attributes.getArrayAttr(lists));
  }
  if (options.sizeVersions) {
    (*module)->setAttr(kMostSizeVersions, attributes.getI64IntegerAttr(options.sizeVersions));
  }
  if (!ranksOf(*module)) {
    return fail(ErrorKind::Usage,
                "--replicas and --partitions: the product must be at most 2147483647");
  }
  prefix = choosePrefix();
  artifacts.prefix = prefix;
  if (std::string fault = whyNotNamespace(options.space, prefix); !fault.empty()) {
    return fail(ErrorKind::Usage, "--namespace: " + fault);
  }
  // Emits HLO as it came in, unless a later phase is asked for.
  if ((options.emit & EmitHlo) && stopsAfter(Phase::Package)) {
    printAsHlo(*module, artifacts.hlo);
    if (options.emit == EmitHlo) {
      return success();
    }
  }
  OpsPresent ops(*module);
  if (ops.has<CustomCallOp>()) {
    lines = pythonLines(*module);
  }
  metadata = readMetadata(*module);
  if (failed(phase(Phase::Parse, ErrorKind::Input, [&] {
        if ((options.startFrom || ops.has<CustomCallOp>()) &&
            failed(refuseReservedTargets(*module, prefix))) {
          return failure();
        }
        if (options.startFrom) {
          return success();
        }
        return (ops.has<ConstantOp>() &&
                failed(refuseElidedConstants(*module, options.placeholderConstants,
                                             options.budget))) ||
                       failed(checkExpansion(*module, options.budget))
                   ? failure()
                   : applyEntryLayouts(*module, options.entryLayouts);
      }))) {
    return failure();
  }
  return options.dispatch.empty() ? compileFor(targets->front()) : compileLevels(*targets);
}

/// Compiles the parsed module for each level in turn, and merges the objects.
LogicalResult Compilation::compileLevels(llvm::MutableArrayRef<Target> targets) {
  const CompileOptions all = options;
  OwningOpRef<ModuleOp> parsed = std::move(module);
  std::vector<Description> descriptions;
  levels.reserve(targets.size());
  for (const auto &[i, target] : llvm::enumerate(targets)) {
    level = i;
    // Code generation of the level before has set the thread pool.
    parsed->getContext()->disableMultithreading();
    module = parsed->clone();
    options.cpu = all.dispatch[i];
    options.dispatch.clear();
    // The other levels would repeat the remarks and warnings of the first.
    isQuiet = i > 0;
    if (!all.dumpDir.empty()) {
      options.dumpDir = all.dumpDir + "/" + options.cpu;
      if (failed(makeDumpDir())) {
        return failure();
      }
    }
    if (failed(compileFor(target))) {
      return failure();
    }
    if (levels.size() > i) {
      descriptions.push_back(levels.back().description);
      levels.back().module = std::move(module);
    }
    destroyModule();
  }
  options = all;
  module = std::move(parsed);
  if (levels.empty()) {
    return success(); // only what does not depend on the level was asked for
  }
  Description description = describeAll(descriptions, describeFlags(options, targets.front()));
  noteArena(description);
  if (failed(checkArena())) {
    return failure(); // the maximum over levels of each part may exceed a bound that none exceeds
  }
  makeHeaders(*plainSignature, description,
              targets.front().triple + " " + llvm::join(options.dispatch, ", "));
  if (levels.front().objects.empty()) {
    return success();
  }
  return phase(Phase::Package, ErrorKind::Unsupported, [&] {
    llvm::Expected<std::string> merged = mergeLevels(levels, *plainSignature, description);
    if (!merged) {
      return LogicalResult((*module)->emitError("internal error: levels could not be merged: ")
                           << llvm::toString(merged.takeError()));
    }
    artifacts.object = std::move(*merged);
    if (options.remarks) {
      size_t kernels = 0;
      for (const LevelCode &each : levels) {
        kernels += each.kernels.infos.size();
      }
      remark(llvm::Twine(levels.size()) + " CPU levels in " + llvm::Twine(artifacts.object.size()) +
             " bytes; of their " + llvm::Twine(kernels) + " kernels, " +
             llvm::Twine(sharedKernels) + " are those of an earlier level, which are as fast");
    }
    for (LevelCode &level : levels) {
      module = std::move(level.module);
      destroyModule();
    }
    return success();
  });
}

/// Phases canonicalize to package of a parsed module, for one CPU.
LogicalResult Compilation::compileFor(const Target &target) {
  PartitionReport partitioned;
  for (Phase which : {Phase::Parse, Phase::Partition, Phase::Canonicalize, Phase::Layout,
                      Phase::Fuse, Phase::Plan}) {
    auto body = [&] {
      return success(succeeded(runPhase(*module, which, target.machine, &partitioned)) &&
                     (which != Phase::Fuse || succeeded(checkKernels(*module, options.budget))));
    };
    bool runs = which != Phase::Parse && (!options.startFrom || which >= *options.startFrom);
    if (runs && failed(phase(which, ErrorKind::Unsupported, body))) {
      return failure();
    }
    std::string message;
    if (which == Phase::Partition && options.spmdReport && (!level || *level == 0)) {
      artifacts.spmdReport = describePartition(partitioned);
    }
    if (which == Phase::Canonicalize && options.immutableParams && !stopsAfter(Phase::Parse) &&
        failed(markImmutableLeaves(*module, *options.immutableParams, message))) {
      return fail(ErrorKind::Usage, "--immutable-params: " + message);
    }
    if (which == Phase::Plan && (options.memoryReport || !options.dumpDir.empty())) {
      std::string report = memoryReport(*module);
      dumpText("memory.txt", report);
      artifacts.memoryReport += level ? options.cpu + ":\n" + report : report;
    }
    // The last whole module: the phases after plan have MLIR of single kernels.
    bool printsHere = (options.emit & EmitMlir) && which == Phase::Plan && !stopsAfter(Phase::Emit);
    if (!stopsAfter(which) && !printsHere) {
      continue;
    }
    if (options.emit & EmitHlo) {
      if (which == Phase::Plan) {
        return fail(ErrorKind::Usage, "a planned module has no HLO text; ask for MLIR");
      }
      printAsHlo(*module, artifacts.hlo);
    } else if (options.emit & EmitMlir) {
      llvm::raw_string_ostream stream(artifacts.mlir);
      module->print(stream);
      stream << '\n';
    }
    if (stopsAfter(which) || options.emit == EmitMlir) {
      return success();
    }
  }
  unsigned launches = 0;
  module->walk([&](cpurt::LaunchOp) { ++launches; });
  auto kernels = module->getOps<cpurt::KernelOp>();
  artifacts.kernelsBefore = launches;
  artifacts.kernelsAfter = std::distance(kernels.begin(), kernels.end());
  return runBackend(target);
}

/// Erases innermost ops first: MLIR visits all ops inside an op once per level around it.
void Compilation::destroyModule() {
  if (module) {
    module->walk([](Operation *op) {
      for (Region &region : op->getRegions()) {
        region.dropAllReferences();
        region.getBlocks().clear();
      }
    });
  }
  module = nullptr;
}

LogicalResult Compilation::makeDumpDir() {
  if (options.dumpDir.empty()) {
    return success();
  }
  std::error_code error = llvm::sys::fs::create_directories(options.dumpDir);
  return error ? fail(ErrorKind::File,
                      "cannot make folder '" + options.dumpDir + "': " + error.message())
               : success();
}

LogicalResult Compilation::run() {
  if (failed(makeDumpDir())) {
    return failure();
  }
  DialectRegistry registry;
  registerAllDialects(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  // The user's source line says more than the op made from it.
  context.printOpOnDiagnostic(false);
  // Dialects must not be loaded on threads, and several threads build ops of most dialects.
  context.loadAllAvailableDialects();
  // LLVM counts threads as int: with 2^31 or more no thread starts, and the wait for them does not
  // end.
  constexpr unsigned maxJobs = 1024;
  llvm::ThreadPoolStrategy strategy = llvm::hardware_concurrency(std::min(options.jobs, maxJobs));
  if (strategy.compute_thread_count() > 1) {
    pool = std::make_unique<llvm::DefaultThreadPool>(strategy);
  }

  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(text, fileName, /*RequiresNullTerminator=*/false),
      llvm::SMLoc());
  std::string rendered;
  llvm::raw_string_ostream capture(rendered);
  SourceMgrDiagnosticHandler printer(sources, &context, capture);
  ScopedDiagnosticHandler counter(&context, [&](Diagnostic &diagnostic) {
    bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
    if (!isError &&
        (isQuiet || (diagnostic.getSeverity() == DiagnosticSeverity::Remark && !options.remarks))) {
      return success(); // handled: not printed
    }
    if (isError) {
      ++errors;
      internalErrors += StringRef(diagnostic.str()).contains("internal error");
      boundErrors += StringRef(diagnostic.str()).contains(kBoundMark);
    }
    printer.emitDiagnostic(diagnostic.getLocation(), printable(diagnostic.str()),
                           diagnostic.getSeverity());
    artifacts.messages.push_back(messageOf(diagnostic));
    for (Diagnostic &note : diagnostic.getNotes()) {
      artifacts.messages.push_back(messageOf(note));
      printer.emitDiagnostic(note.getLocation(), printable(note.str()), note.getSeverity());
    }
    return success();
  });
  LogicalResult result = runPhases(context);
  out << shortenSourceLines(rendered);
  if (options.isLast) {
    // Still reachable, so that leak checkers do not report it.
    static void *kept [[maybe_unused]];
    kept = module.release();
  }
  destroyModule();
  return result;
}

LogicalResult hlo::compile(StringRef text, StringRef fileName, const CompileOptions &options,
                           Artifacts &artifacts, llvm::raw_ostream &diagnostics) {
  return Compilation(text, fileName, options, artifacts, diagnostics).run();
}
