//===- Executable.cpp - Compiling and running computations ----------------===//
//
// The C API compiles, and the module runs itself; here are only conversions: statuses, literals to
// buffers and back, and the threads and the scratch memory that calls need.
//
//===----------------------------------------------------------------------===//
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <hlo/executable.h>
#include <hlo/index.h>
#include <limits>
#include <map>
#include <mutex>

namespace hlo {

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

/// The numbers are the same.
static absl::StatusCode codeOf(hlo_status status) {
  return static_cast<absl::StatusCode>(hlo_status_code(status));
}

namespace {
struct FreeCompilation {
  void operator()(hlo_compilation *compilation) const { hlo_compilation_free(compilation); }
};
using Compilation = std::unique_ptr<hlo_compilation, FreeCompilation>;
} // namespace

static std::string artifact(const Compilation &compilation, std::uint32_t which) {
  hlo_bytes bytes = hlo_compilation_artifact(compilation.get(), which);
  return bytes.size ? std::string(static_cast<const char *>(bytes.data), bytes.size)
                    : std::string();
}

static std::vector<Diagnostic> diagnosticsOf(const Compilation &compilation) {
  std::vector<Diagnostic> all;
  for (std::size_t i = 0; i < hlo_compilation_num_diagnostics(compilation.get()); ++i) {
    const hlo_diagnostic *given = hlo_compilation_diagnostic(compilation.get(), i);
    all.push_back({static_cast<Diagnostic::Severity>(given->severity), given->code, given->message,
                   given->file, given->line, given->column});
  }
  return all;
}

static void reportProgress(void *user, const char *phase, std::uint32_t done, std::uint32_t total) {
  static_cast<const CompileOptions *>(user)->progress(phase, done, total);
}

using Compiler = hlo_status (*)(const hlo_computation *, const hlo_compile_options *,
                                hlo_compilation **);

static absl::StatusOr<Compilation> compileWith(Compiler compiler, const XlaComputation &computation,
                                               const CompileOptions &options) {
  if (computation.IsNull()) {
    return absl::FailedPreconditionError("there is no computation");
  }
  auto orNull = [](const std::string &text) { return text.empty() ? nullptr : text.c_str(); };
  std::vector<const char *> levels;
  for (const std::string &level : options.dispatch) {
    levels.push_back(level.c_str());
  }
  std::string file =
      (computation.name().empty() ? "module" : computation.name()) + std::string(".hlo");
  hlo_compile_options given = hlo_compile_options_init();
  given.emit = options.emit;
  given.file = file.c_str();
  given.name = orNull(options.name);
  given.target = orNull(options.target);
  given.cpu = orNull(options.cpu);
  given.features = orNull(options.features);
  given.dispatch = levels.data();
  given.num_dispatch = levels.size();
  given.immutable_params = orNull(options.immutable_params);
  given.cxx_namespace = orNull(options.cxx_namespace);
  given.flags = options.flags;
  given.jobs = options.jobs;
  given.opt_level = options.opt_level;
  given.replicas = options.replicas;
  given.partitions = options.partitions;
  given.max_arena_bytes = options.max_arena_bytes;
  given.max_stack_bytes = options.max_stack_bytes;
  given.cancel = options.cancel;
  if (options.progress) {
    given.progress = reportProgress;
    given.user = const_cast<CompileOptions *>(&options);
  }
  hlo_compilation *result = nullptr;
  hlo_status status = compiler(computation.handle(), &given, &result);
  Compilation compilation(result);
  if (status == HLO_OK) {
    return compilation;
  }
  const char *log = result ? hlo_compilation_log(result) : "";
  std::string message(absl::StripSuffix(log ? log : "", "\n"));
  return absl::Status(codeOf(status), message.empty() ? hlo_status_name(status) : message);
}

absl::StatusOr<Artifacts> Compile(const XlaComputation &computation,
                                  const CompileOptions &options) {
  absl::StatusOr<Compilation> compilation =
      compileWith(hlo_compile_computation, computation, options);
  if (!compilation.ok()) {
    return compilation.status();
  }
  Artifacts result;
  result.prefix = hlo_compilation_prefix(compilation->get());
  result.object = artifact(*compilation, HLO_EMIT_OBJECT);
  result.header = artifact(*compilation, HLO_EMIT_HEADER);
  result.cxx_header = artifact(*compilation, HLO_EMIT_CXX_HEADER);
  result.assembly = artifact(*compilation, HLO_EMIT_ASSEMBLY);
  result.llvm = artifact(*compilation, HLO_EMIT_LLVM);
  result.bitcode = artifact(*compilation, HLO_EMIT_BITCODE);
  result.hlo = artifact(*compilation, HLO_EMIT_HLO);
  result.signature = artifact(*compilation, HLO_EMIT_SIGNATURE);
  result.diagnostics = diagnosticsOf(*compilation);
  return result;
}

//===----------------------------------------------------------------------===//
// What an executable owns
//===----------------------------------------------------------------------===//

namespace {
struct FreeMemory {
  void operator()(void *memory) const { std::free(memory); }
};

/// Memory of one size, aligned as buffers of modules like it.
struct Block {
  std::unique_ptr<void, FreeMemory> memory;
  std::size_t bytes = 0;
};

constexpr std::size_t alignment = 64;

/// An empty block if there is no memory.
Block allocate(std::size_t bytes) {
  std::size_t rounded = std::max<std::size_t>(bytes, 1);
  if (rounded > std::numeric_limits<std::size_t>::max() - alignment) {
    return {};
  }
  rounded = (rounded + alignment - 1) / alignment * alignment;
  Block block;
  block.memory.reset(std::aligned_alloc(alignment, rounded));
  block.bytes = block.memory ? rounded : 0;
  return block;
}

/// Element `i` of a buffer of the module and element `i` of a literal: a byte or more, or packed.
class Elements {
public:
  explicit Elements(const hlo_buffer_desc &desc)
      : type(desc.type), width(primitive_util::ByteWidth(static_cast<PrimitiveType>(desc.type))),
        packed(hlo_type_bits(desc.type) < 8 && hlo_type_bits(desc.type) > 0) {}

  bool isPacked() const { return packed; }
  std::size_t bytes() const { return width; }
  void toBuffer(void *buffer, std::int64_t to, const char *literal, std::int64_t from) const {
    if (packed) {
      hlo_packed_set(buffer, type, to, static_cast<std::uint8_t>(literal[from]));
    } else {
      std::memcpy(static_cast<char *>(buffer) + to * width, literal + from * width, width);
    }
  }
  void toLiteral(char *literal, std::int64_t to, const void *buffer, std::int64_t from) const {
    if (packed) {
      literal[to] = static_cast<char>(hlo_packed_get(buffer, type, from));
    } else {
      std::memcpy(literal + to * width, static_cast<const char *>(buffer) + from * width, width);
    }
  }

private:
  std::int32_t type;
  std::size_t width;
  bool packed;
};

bool isRowMajor(const hlo_buffer_desc &desc) {
  for (std::int32_t i = 0; desc.minor_to_major && i < desc.rank; ++i) {
    if (desc.minor_to_major[i] != desc.rank - 1 - i) {
      return false;
    }
  }
  return true;
}

/// Calls `visit(index in the buffer, index in a row-major array of `sizes`)` for every position of
/// that array.
template <typename F>
void visitElements(const hlo_buffer_desc &desc, const std::vector<std::int64_t> &sizes, F visit) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) {
    return;
  }
  hlo_array buffer = hlo_array_of(&desc), array = buffer;
  array.dims = sizes.data();
  array.minor_to_major = nullptr;
  std::vector<std::int64_t> index(sizes.size());
  std::int64_t i = 0;
  do {
    visit(hlo_linear_index(&buffer, index.data()), i++);
  } while (hlo_next_index(&array, index.data()));
}

bool equalsDims(const hlo_buffer_desc &desc, const std::vector<std::int64_t> &sizes) {
  return std::equal(sizes.begin(), sizes.end(), desc.dims, desc.dims + desc.rank);
}
} // namespace

struct Executable::State {
  ~State() {
    for (auto &[threads, pool] : pools) {
      hlo_pool_destroy(pool);
    }
  }

  Compilation compilation;
  const hlo_module_desc *module = nullptr;
  ProgramShape program;
  std::vector<Diagnostic> diagnostics;

  /// Threads that live as long as this; null if none can be had.
  const hlo_executor *executor(std::uint32_t threads);
  /// Scratch memory of at least this size, from an earlier call if there is some.
  Block takeScratch(std::size_t bytes);
  void keepScratch(Block block);

private:
  std::mutex mutex;
  std::map<std::uint32_t, hlo_pool *> pools;
  std::vector<Block> scratch;
};

const hlo_executor *Executable::State::executor(std::uint32_t threads) {
  std::lock_guard<std::mutex> lock(mutex);
  hlo_pool *&pool = pools[threads];
  if (!pool) {
    pool = hlo_pool_create(threads);
  }
  return pool ? hlo_pool_executor(pool) : nullptr;
}

Block Executable::State::takeScratch(std::size_t bytes) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    for (Block &block : scratch) {
      if (block.bytes >= bytes) {
        Block found = std::move(block);
        block = std::move(scratch.back());
        scratch.pop_back();
        return found;
      }
    }
  }
  return allocate(bytes);
}

void Executable::State::keepScratch(Block block) {
  // As many as threads that have run at once; more would be kept for nothing.
  constexpr std::size_t most = 16;
  std::lock_guard<std::mutex> lock(mutex);
  if (block.memory && scratch.size() < most) {
    scratch.push_back(std::move(block));
  }
}

absl::StatusOr<Executable> Jit(const XlaComputation &computation, const CompileOptions &options) {
  absl::StatusOr<ProgramShape> program = computation.GetProgramShape();
  if (!program.ok()) {
    return program.status();
  }
  absl::StatusOr<Compilation> compilation = compileWith(hlo_jit_computation, computation, options);
  if (!compilation.ok()) {
    return compilation.status();
  }
  auto state = std::make_shared<Executable::State>();
  state->module = hlo_compilation_module(compilation->get());
  state->diagnostics = diagnosticsOf(*compilation);
  state->compilation = *std::move(compilation);
  state->program = *std::move(program);
  return Executable(std::move(state));
}

const ProgramShape &Executable::program_shape() const { return state->program; }
const hlo_module_desc *Executable::description() const { return state->module; }
const std::vector<Diagnostic> &Executable::diagnostics() const { return state->diagnostics; }

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

absl::Status Executable::RunBuffers(absl::Span<const void *const> inputs,
                                    absl::Span<void *const> outputs,
                                    const RunOptions &options) const {
  const hlo_module_desc *module = state->module;
  if (inputs.size() != module->num_inputs || outputs.size() != module->num_outputs) {
    return absl::InvalidArgumentError(absl::StrCat("takes ", module->num_inputs, " inputs and ",
                                                   module->num_outputs, " outputs, got ",
                                                   inputs.size(), " and ", outputs.size()));
  }
  hlo_call call = options.call;
  std::uint32_t threads = options.threads ? options.threads : hlo_pool_cpus();
  if (!call.exec && threads > 1) {
    call.exec = state->executor(threads);
    if (!call.exec) {
      return absl::ResourceExhaustedError(absl::StrCat("cannot start ", threads, " threads"));
    }
  }
  Block scratch;
  if (!call.arena && !call.alloc) {
    std::uint64_t bytes = hlo_arena_bytes(module, call.exec ? call.exec->num_threads : 1);
    if (bytes) {
      scratch = state->takeScratch(bytes);
      if (!scratch.memory) {
        return absl::ResourceExhaustedError(
            absl::StrCat("there is no memory for ", bytes, " bytes of scratch"));
      }
      call.arena = scratch.memory.get();
      call.arena_bytes = scratch.bytes;
    }
  }
  Block ownState;
  if (!call.state && module->state_bytes) {
    ownState = allocate(module->state_bytes);
    if (!ownState.memory) {
      return absl::ResourceExhaustedError("there is no memory for the module's state");
    }
    std::memset(ownState.memory.get(), 0, ownState.bytes);
    call.state = static_cast<hlo_state *>(ownState.memory.get());
  }
  char message[1024] = "";
  if (!call.message) {
    call.message = message;
    call.message_bytes = sizeof message;
  }
  hlo_status status = module->run(&call, inputs.data(), outputs.data());
  state->keepScratch(std::move(scratch));
  if (status == HLO_OK) {
    return absl::OkStatus();
  }
  bool hasMessage = call.message_bytes && call.message[0];
  return absl::Status(codeOf(status), hasMessage ? call.message : hlo_status_name(status));
}

/// The arrays of a literal, depth first.
static void flatten(const Literal &literal, std::vector<const Literal *> &leaves) {
  if (!literal.IsTuple()) {
    leaves.push_back(&literal);
  }
  for (const Literal &element : literal.tuple_elements()) {
    flatten(element, leaves);
  }
}

/// Whether an array of this shape may be passed as the buffer: its sizes, or smaller ones where it
/// has bounds.
static bool fits(const Literal &literal, const Shape &wanted) {
  const Shape &shape = literal.shape();
  if (!shape.IsArray() || !ShapeUtil::SameElementType(shape, wanted) ||
      shape.rank() != wanted.rank()) {
    return false;
  }
  for (int i = 0; i < shape.dimensions_size(); ++i) {
    bool isBound = wanted.is_dynamic_dimension(i);
    if (isBound ? shape.dimensions(i) > wanted.dimensions(i)
                : shape.dimensions(i) != wanted.dimensions(i)) {
      return false;
    }
  }
  return true;
}

static bool sameStructure(const Literal &literal, const Shape &wanted) {
  if (!wanted.IsTuple()) {
    return fits(literal, wanted);
  }
  if (literal.tuple_elements().size() != wanted.tuple_shapes().size() || !literal.IsTuple()) {
    return false;
  }
  for (int i = 0; i < wanted.tuple_shapes_size(); ++i) {
    if (!sameStructure(literal.tuple_elements()[i], wanted.tuple_shapes(i))) {
      return false;
    }
  }
  return true;
}

namespace {
/// The buffers of one call of Run.
class Buffers {
public:
  explicit Buffers(const hlo_module_desc *module) : module(module) {}

  absl::Status setInputs(const std::vector<const Literal *> &leaves);
  absl::Status makeOutputs();
  /// Takes the next leaves of the outputs.
  absl::StatusOr<Literal> takeOutput(const Shape &shape);

  std::vector<const void *> inputs;
  std::vector<void *> outputs;

private:
  void *add(std::size_t bytes) {
    blocks.push_back(allocate(bytes));
    return blocks.back().memory.get();
  }

  const hlo_module_desc *module;
  std::vector<Block> blocks;
  std::uint32_t nextOutput = 0;
};
} // namespace

static absl::Status noMemory(const hlo_buffer_desc &desc) {
  return absl::ResourceExhaustedError(
      absl::StrCat("there is no memory for ", desc.bytes, " bytes of '", desc.name, "'"));
}

absl::Status Buffers::setInputs(const std::vector<const Literal *> &leaves) {
  // Sizes that the module has elsewhere come as leaves of their own.
  for (std::uint32_t i = 0; i < module->num_inputs; ++i) {
    const hlo_buffer_desc &desc = *hlo_input_at(module, i);
    if (desc.size_of) {
      const Literal &array = *leaves[desc.size_of - 1];
      auto *size = static_cast<std::int64_t *>(add(sizeof(std::int64_t)));
      if (!size) {
        return noMemory(desc);
      }
      *size = array.shape().dimensions(desc.size_dim);
      inputs.push_back(size);
      continue;
    }
    if (i >= leaves.size()) {
      return absl::InternalError("the module has more inputs than the computation");
    }
    const Literal &literal = *leaves[i];
    Elements elements(desc);
    const std::vector<std::int64_t> &sizes = literal.shape().dimensions();
    bool isPlain = equalsDims(desc, sizes) && isRowMajor(desc) && !elements.isPacked();
    bool isAligned =
        reinterpret_cast<std::uintptr_t>(literal.untyped_data()) % std::max(desc.align, 1u) == 0;
    if (isPlain && isAligned) {
      inputs.push_back(literal.untyped_data());
      continue;
    }
    void *buffer = add(desc.bytes);
    if (!buffer) {
      return noMemory(desc);
    }
    if (isPlain) {
      std::memcpy(buffer, literal.untyped_data(), literal.size_bytes());
    } else {
      std::memset(buffer, 0, desc.bytes);
      auto *data = static_cast<const char *>(literal.untyped_data());
      visitElements(desc, sizes, [&](std::int64_t at, std::int64_t i) {
        elements.toBuffer(buffer, at, data, i);
      });
    }
    inputs.push_back(buffer);
  }
  return absl::OkStatus();
}

absl::Status Buffers::makeOutputs() {
  for (std::uint32_t i = 0; i < module->num_outputs; ++i) {
    const hlo_buffer_desc &desc = *hlo_output_at(module, i);
    outputs.push_back(add(desc.bytes));
    if (!outputs.back()) {
      return noMemory(desc);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Literal> Buffers::takeOutput(const Shape &shape) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape &element : shape.tuple_shapes()) {
      absl::StatusOr<Literal> literal = takeOutput(element);
      if (!literal.ok()) {
        return literal;
      }
      elements.push_back(*std::move(literal));
    }
    return Literal::MakeTuple(std::move(elements));
  }
  if (!shape.IsArray()) {
    return Literal(shape); // a token has no buffer
  }
  if (nextOutput >= module->num_outputs) {
    return absl::InternalError("the module has fewer outputs than the computation");
  }
  std::uint32_t leaf = nextOutput++;
  const hlo_buffer_desc &desc = *hlo_output_at(module, leaf);
  std::vector<std::int64_t> sizes = shape.dimensions();
  for (std::uint32_t i = 0; i < module->num_outputs; ++i) {
    const hlo_buffer_desc &size = *hlo_output_at(module, i);
    if (size.size_of == static_cast<std::int32_t>(leaf) + 1) {
      sizes[size.size_dim] = *static_cast<const std::int64_t *>(outputs[i]);
    }
  }
  Literal literal{Shape(shape.element_type(), sizes)};
  Elements elements(desc);
  auto *data = static_cast<char *>(literal.untyped_data());
  if (equalsDims(desc, sizes) && isRowMajor(desc) && !elements.isPacked()) {
    std::memcpy(data, outputs[leaf], literal.size_bytes());
  } else {
    visitElements(desc, sizes, [&](std::int64_t at, std::int64_t i) {
      elements.toLiteral(data, i, outputs[leaf], at);
    });
  }
  return literal;
}

absl::StatusOr<std::vector<Literal>> Executable::Run(absl::Span<const Literal *const> arguments,
                                                     const RunOptions &options) const {
  const ProgramShape &program = state->program;
  if (static_cast<int>(arguments.size()) != program.parameters_size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("takes ", program.parameters_size(), " arguments, got ", arguments.size()));
  }
  std::vector<const Literal *> leaves;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Shape &wanted = program.parameters(static_cast<int>(i));
    if (!arguments[i] || !sameStructure(*arguments[i], wanted)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "argument ", i, " (", program.parameter_names()[i], ") must be ", wanted.ToString(),
          ", is ", arguments[i] ? arguments[i]->shape().ToString() : "null"));
    }
    flatten(*arguments[i], leaves);
  }
  Buffers buffers(state->module);
  if (absl::Status status = buffers.setInputs(leaves); !status.ok()) {
    return status;
  }
  if (absl::Status status = buffers.makeOutputs(); !status.ok()) {
    return status;
  }
  if (absl::Status status = RunBuffers(buffers.inputs, buffers.outputs, options); !status.ok()) {
    return status;
  }
  absl::StatusOr<Literal> result = buffers.takeOutput(program.result());
  if (!result.ok()) {
    return result.status();
  }
  std::vector<Literal> results;
  if (program.result().IsTuple()) {
    results = std::move(*result).DecomposeTuple();
  } else {
    results.push_back(*std::move(result));
  }
  return results;
}

absl::StatusOr<std::vector<Literal>> Executable::Run(absl::Span<const Literal> arguments,
                                                     const RunOptions &options) const {
  std::vector<const Literal *> pointers;
  for (const Literal &argument : arguments) {
    pointers.push_back(&argument);
  }
  return Run(absl::MakeConstSpan(pointers), options);
}

} // namespace hlo
