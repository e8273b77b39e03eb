//===- Compiler.cpp - The functions of hlo/compiler.h ---------------------===//
//
// In: text and options of C. Out: an hlo_compilation, which owns all results. A compilation runs on
// a thread of its own, because the compiler recurses on nested modules and the caller's stack may
// be small.
//
//===----------------------------------------------------------------------===//
#include "compiler/api/Compilation.h"
#include "compiler/driver/Compile.h"
#include "compiler/support/FileKind.h"
#include "compiler/support/Options.h"
#include <cstddef>
#include <new>
#include <pthread.h>

using namespace hlo;
using namespace hlo::api;
using llvm::StringRef;

/// Of the compiler's thread. Only the pages that are touched take memory.
static constexpr size_t stackBytes = 256u << 20;

static_assert(HLO_EMIT_OBJECT == unsigned(EmitObject) &&
              HLO_EMIT_ASSEMBLY == unsigned(EmitAssembly) &&
              HLO_EMIT_LLVM == unsigned(EmitLlvmIr) && HLO_EMIT_BITCODE == unsigned(EmitBitcode) &&
              HLO_EMIT_HLO == unsigned(EmitHlo) && HLO_EMIT_HEADER == unsigned(EmitHeader) &&
              HLO_EMIT_SIGNATURE == unsigned(EmitSignature) &&
              HLO_EMIT_CXX_HEADER == unsigned(EmitCxxHeader));

static constexpr unsigned knownEmits = HLO_EMIT_OBJECT | HLO_EMIT_ASSEMBLY | HLO_EMIT_LLVM |
                                       HLO_EMIT_BITCODE | HLO_EMIT_HLO | HLO_EMIT_HEADER |
                                       HLO_EMIT_SIGNATURE | HLO_EMIT_CXX_HEADER;

static hlo_status statusOf(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::None: return HLO_OK;
  case ErrorKind::Input:
  case ErrorKind::Usage: return HLO_INVALID_ARGUMENT;
  case ErrorKind::Unsupported: return HLO_UNIMPLEMENTED;
  case ErrorKind::Limit: return HLO_RESOURCE_EXHAUSTED;
  case ErrorKind::Cancelled: return HLO_CANCELLED;
  case ErrorKind::File:
  case ErrorKind::Internal: break;
  }
  return HLO_INTERNAL;
}

hlo_compilation::hlo_compilation() = default;
hlo_compilation::~hlo_compilation() = default;

/// Adds an error that has no place in the text.
hlo_status hlo_compilation::refuse(hlo_status status, const std::string &message) {
  artifacts.messages.push_back({Message::Severity::Error, "", message, "", 0, 0});
  log += "error: " + message + "\n";
  finish();
  return status;
}

void hlo_compilation::finish() {
  static_assert(
      int(Message::Severity::Note) == HLO_NOTE && int(Message::Severity::Remark) == HLO_REMARK &&
      int(Message::Severity::Warning) == HLO_WARNING && int(Message::Severity::Error) == HLO_ERROR);
  diagnostics.clear();
  for (const Message &message : artifacts.messages) {
    diagnostics.push_back({sizeof(hlo_diagnostic), uint32_t(message.severity), message.code.c_str(),
                           message.text.c_str(), message.file.c_str(), message.line,
                           message.column});
  }
}

/// The caller's options, as far as its `struct_size` reaches. False if it is less than that of the
/// first version, which ended with `user`.
static bool readOptions(const hlo_compile_options *given, hlo_compile_options &options) {
  options = hlo_compile_options_init();
  if (!given) {
    return true;
  }
  constexpr size_t first = offsetof(hlo_compile_options, user) + sizeof(void *);
  if (given->struct_size < first) {
    return false;
  }
  memcpy(&options, given, std::min<size_t>(given->struct_size, sizeof options));
  return true;
}

/// Fills `result`; returns what is wrong with the options, or "".
static std::string translate(const hlo_compile_options &options, CompileOptions &result) {
  auto text = [](const char *given) { return std::string(given ? given : ""); };
  if (options.emit & ~knownEmits) {
    return "hlo_compile_options.emit has an unknown bit";
  }
  constexpr uint32_t knownFlags = 2 * HLO_COMPILE_QUANTIZE_ACTIVATIONS - 1;
  if (options.flags & ~knownFlags) {
    return "hlo_compile_options.flags has an unknown bit";
  }
  if (options.reserved) {
    return "hlo_compile_options.reserved must be 0";
  }
  if (options.opt_level < 0 || options.opt_level > 3) {
    return "hlo_compile_options.opt_level must be 0 to 3";
  }
  if (options.num_dispatch && !options.dispatch) {
    return "hlo_compile_options.dispatch is null";
  }
  auto has = [&](uint32_t flag) { return (options.flags & flag) != 0; };
  if (has(HLO_COMPILE_ENTRY_LAYOUT_TEXT) && has(HLO_COMPILE_ENTRY_LAYOUT_ROW_MAJOR)) {
    return "hlo_compile_options.flags asks for two entry layouts";
  }
  result.name = text(options.name);
  result.triple = text(options.target);
  result.cpu = text(options.cpu);
  result.features = text(options.features);
  result.space = text(options.cxx_namespace);
  for (size_t i = 0; i < options.num_dispatch; ++i) {
    result.dispatch.push_back(text(options.dispatch[i]));
  }
  if (options.immutable_params) {
    result.immutableParams = options.immutable_params;
  }
  if (options.num_bounds && !options.bounds) {
    return "hlo_compile_options.bounds is null";
  }
  for (size_t i = 0; i < options.num_bounds; ++i) {
    std::string bound = text(options.bounds[i]);
    if (std::string fault = parseSizeBound(bound, result.bounds.emplace_back()); !fault.empty()) {
      return "hlo_compile_options.bounds: '" + bound + "': " + fault;
    }
  }
  if (options.specialize) {
    if (std::string fault = parseSpecialSizes(options.specialize, result.specialize);
        !fault.empty()) {
      return "hlo_compile_options.specialize: " + fault;
    }
  }
  if (std::string form = text(options.dynamic_buffers); form == "dense" || form == "bound") {
    result.dynamicBuffers = form == "dense" ? DynamicBuffers::Dense : DynamicBuffers::Bound;
  } else if (!form.empty()) {
    return "hlo_compile_options.dynamic_buffers: '" + form + "' is neither dense nor bound";
  }
  result.flushDenormals = has(HLO_COMPILE_FLUSH_DENORMALS);
  result.entryLayouts = has(HLO_COMPILE_ENTRY_LAYOUT_TEXT)        ? EntryLayouts::Text
                        : has(HLO_COMPILE_ENTRY_LAYOUT_ROW_MAJOR) ? EntryLayouts::RowMajor
                                                                  : EntryLayouts::Auto;
  result.nameFromModule = has(HLO_COMPILE_NAME_FROM_MODULE);
  result.placeholderConstants = has(HLO_COMPILE_PLACEHOLDER_CONSTANTS);
  result.remarks = has(HLO_COMPILE_REMARKS);
  result.check = has(HLO_COMPILE_CHECK_ONLY) ? Check::Full : Check::None;
  result.keepsAllKernels = has(HLO_COMPILE_DISPATCH_ALL_KERNELS);
  result.quantizeActivations = has(HLO_COMPILE_QUANTIZE_ACTIVATIONS);
  result.jobs = options.jobs;
  result.optLevel = options.opt_level;
  result.replicas = options.replicas;
  result.partitions = options.partitions;
  result.maxArenaBytes = options.max_arena_bytes;
  result.maxStackBytes = options.max_stack_bytes;
  result.emit = options.emit;
  result.cancel = options.cancel;
  if (options.progress) {
    result.onProgress = [callback = options.progress,
                         user = options.user](Phase phase, unsigned done, unsigned total) {
      callback(user, phaseName(phase).data(), done, total);
    };
  }
  return "";
}

/// Runs `work` on a thread with a large stack. False if the system gives none; llvm::thread would
/// abort.
static bool runOnThread(llvm::function_ref<void()> work) {
  auto enter = [](void *given) -> void * {
    (*static_cast<llvm::function_ref<void()> *>(given))();
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_t thread;
  if (pthread_attr_init(&attributes)) {
    return false;
  }
  bool isStarted = !pthread_attr_setstacksize(&attributes, stackBytes) &&
                   !pthread_create(&thread, &attributes, enter, &work);
  pthread_attr_destroy(&attributes);
  if (isStarted) {
    pthread_join(thread, nullptr);
  }
  return isStarted;
}

hlo_status hlo::api::compileText(const char *text, size_t bytes, const hlo_compile_options *given,
                                 bool isJit, hlo_compilation **result) {
  if (!result) {
    return HLO_ERR_NULL;
  }
  *result = new (std::nothrow) hlo_compilation;
  if (!*result) {
    return HLO_RESOURCE_EXHAUSTED;
  }
  hlo_compilation &compilation = **result;
  if (!text && bytes) {
    return compilation.refuse(HLO_ERR_NULL, "the text is null");
  }
  hlo_compile_options options;
  if (!readOptions(given, options)) {
    return compilation.refuse(HLO_ERR_STRUCT, "hlo_compile_options.struct_size is too small");
  }
  CompileOptions translated;
  if (std::string fault = translate(options, translated); !fault.empty()) {
    return compilation.refuse(HLO_INVALID_ARGUMENT, fault);
  }
  if (isJit) {
    if (translated.check != Check::None) {
      return compilation.refuse(HLO_INVALID_ARGUMENT,
                                "HLO_COMPILE_CHECK_ONLY makes nothing that can be called");
    }
    translated.emit |= EmitObject;
    if (translated.cpu.empty() && translated.triple.empty() && translated.dispatch.empty()) {
      translated.cpu = "host";
    }
  }
  if (!translated.emit) {
    translated.emit = EmitObject | EmitHeader;
  }
  std::string file = options.file ? options.file : "module.hlo";
  auto work = [&] {
    llvm::raw_string_ostream log(compilation.log);
    StringRef given(text ? text : "", bytes);
    given.consume_front("\xef\xbb\xbf"); // as compile() does
    // MLIR's parser wants a zero byte behind the text, which need not be there.
    std::string terminated = isMlirText(given) ? given.str() : std::string();
    (void)compile(terminated.empty() ? given : StringRef(terminated), file, translated,
                  compilation.artifacts, log);
  };
  if (!runOnThread(work)) {
    return compilation.refuse(HLO_RESOURCE_EXHAUSTED,
                              "the system has no thread or stack for the compiler");
  }
  compilation.finish();
  hlo_status status = statusOf(compilation.artifacts.error);
  if (status != HLO_OK || !isJit) {
    return status;
  }
  return compilation.load(compilation.artifacts.object, compilation.artifacts.prefix);
}

hlo_status hlo_compilation::load(StringRef object, StringRef prefix) {
  llvm::Expected<LoadedObject> loaded = LoadedObject::load(object, prefix);
  if (!loaded) {
    return refuse(HLO_INVALID_ARGUMENT,
                  "the object cannot be loaded: " + llvm::toString(loaded.takeError()));
  }
  module.emplace(std::move(*loaded));
  if (artifacts.prefix.empty()) {
    artifacts.prefix = module->describe().name;
  }
  return HLO_OK;
}

const char *hlo_compiler_version(void) { return HLO_COMPILE_VERSION; }

hlo_status hlo_compile_text(const char *text, size_t bytes, const hlo_compile_options *options,
                            hlo_compilation **result) {
  return compileText(text, bytes, options, /*isJit=*/false, result);
}

hlo_status hlo_jit_text(const char *text, size_t bytes, const hlo_compile_options *options,
                        hlo_compilation **result) {
  return compileText(text, bytes, options, /*isJit=*/true, result);
}

hlo_status hlo_jit_object(const void *object, size_t bytes, const char *prefix,
                          hlo_compilation **result) {
  if (!result) {
    return HLO_ERR_NULL;
  }
  *result = new (std::nothrow) hlo_compilation;
  if (!*result) {
    return HLO_RESOURCE_EXHAUSTED;
  }
  if (!object) {
    return (*result)->refuse(HLO_ERR_NULL, "the object is null");
  }
  return (*result)->load(StringRef(static_cast<const char *>(object), bytes),
                         prefix ? StringRef(prefix) : StringRef());
}

void hlo_compilation_free(hlo_compilation *compilation) { delete compilation; }

const hlo_module_desc *hlo_compilation_module(const hlo_compilation *compilation) {
  return compilation && compilation->module ? &compilation->module->describe() : nullptr;
}

hlo_bytes hlo_compilation_artifact(const hlo_compilation *compilation, uint32_t which) {
  if (!compilation) {
    return {nullptr, 0};
  }
  const Artifacts &artifacts = compilation->artifacts;
  auto bytes = [](const std::string &text) {
    return text.empty() ? hlo_bytes{nullptr, 0} : hlo_bytes{text.c_str(), text.size()};
  };
  switch (which) {
  case HLO_EMIT_OBJECT: return bytes(artifacts.object);
  case HLO_EMIT_ASSEMBLY: return bytes(artifacts.assembly);
  case HLO_EMIT_LLVM: return bytes(artifacts.llvmIr);
  case HLO_EMIT_BITCODE: return bytes(artifacts.bitcode);
  case HLO_EMIT_HLO: return bytes(artifacts.hlo);
  case HLO_EMIT_HEADER: return bytes(artifacts.header);
  case HLO_EMIT_SIGNATURE: return bytes(artifacts.signature);
  case HLO_EMIT_CXX_HEADER: return bytes(artifacts.cxxHeader);
  default: return {nullptr, 0};
  }
}

const char *hlo_compilation_prefix(const hlo_compilation *compilation) {
  return compilation ? compilation->artifacts.prefix.c_str() : "";
}

size_t hlo_compilation_num_diagnostics(const hlo_compilation *compilation) {
  return compilation ? compilation->diagnostics.size() : 0;
}

const hlo_diagnostic *hlo_compilation_diagnostic(const hlo_compilation *compilation, size_t i) {
  return i < hlo_compilation_num_diagnostics(compilation) ? &compilation->diagnostics[i] : nullptr;
}

const char *hlo_compilation_log(const hlo_compilation *compilation) {
  return compilation ? compilation->log.c_str() : "";
}
