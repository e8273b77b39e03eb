//===- Builder.cpp - The functions of hlo/builder_c.h ---------------------===//
//
// In: instructions of C. Out: an hlo_computation: HLO text and signature. Every builder has a
// context of its own, so builders on several threads share nothing. A computation that another one
// calls is copied into its module; it crosses from context to context as text.
//
//===----------------------------------------------------------------------===//
#include "compiler/api/Compilation.h"
#include "compiler/parser/ComputationBuilder.h"
#include "compiler/parser/Printer.h"
#include "compiler/support/SourceExcerpt.h"
#include "dialect/hlo/Dialect.h"
#include "dialect/hlo/Shapes.h"
#include "dialect/hlo/verify/VerifyModule.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include <cstddef>
#include <hlo/builder_c.h>
#include <map>
#include <memory>

using namespace hlo;
using namespace mlir;
using llvm::StringRef;

namespace {
/// What a computation is outside of its builder; never changes.
struct Finished {
  std::string text, signature;
};
} // namespace

struct hlo_computation {
  std::shared_ptr<const Finished> finished;
};

struct hlo_builder {
  explicit hlo_builder(StringRef name);

  hlo_value enter(Value value);
  /// Null if it is not a value of this builder.
  Value find(hlo_value value) const {
    return value >= 0 && value < hlo_value(values.size()) ? values[value] : Value();
  }
  /// Keeps the first error; `place` is that of the call in work.
  void report(Diagnostic &diagnostic);
  void fail(const CallerPlace &at, StringRef message);
  std::string import(const hlo_computation *computation, bool alwaysCopies);

  MLIRContext context;
  ScopedDiagnosticHandler handler;
  ComputationBuilder builder;
  std::vector<Value> values;
  std::map<const void *, std::string> shapes; ///< by type
  /// Computations that were copied, and the names that they have here.
  std::map<std::shared_ptr<const Finished>, std::string> imported;
  CallerPlace place;
  std::string opcode; ///< of the call in work
  std::string error;
  bool isDone = false;
};

hlo_builder::hlo_builder(StringRef name)
    : context(MLIRContext::Threading::DISABLED), handler(&context,
                                                         [this](Diagnostic &diagnostic) {
                                                           report(diagnostic);
                                                           return success();
                                                         }),
      builder(&context, name) {}

/// `file:line: `, or nothing.
static std::string placeText(StringRef file, unsigned line) {
  return line ? (file + ":" + llvm::Twine(line) + ": ").str() : std::string();
}

void hlo_builder::fail(const CallerPlace &at, StringRef message) {
  if (error.empty()) {
    error = placeText(at.file, at.line) + "error: " + printable(message);
  }
}

void hlo_builder::report(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error || !error.empty()) {
    return;
  }
  // In hlo_builder_build the place is the instruction's.
  CallerPlace at = place;
  if (auto found = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>();
      found && !found.getFilename().empty()) {
    at = {found.getFilename().str(), found.getLine()};
  }
  std::string message = diagnostic.str();
  if (!opcode.empty() && !StringRef(message).contains(opcode)) {
    message = opcode + ": " + message;
  }
  fail(at, message);
  for (Diagnostic &note : diagnostic.getNotes()) {
    auto noted = note.getLocation()->findInstanceOf<FileLineColLoc>();
    bool hasPlace = noted && !noted.getFilename().empty();
    error += "\n" + (hasPlace ? placeText(noted.getFilename(), noted.getLine()) : "") +
             "note: " + printable(note.str());
  }
}

hlo_value hlo_builder::enter(Value value) {
  if (!value) {
    if (error.empty()) {
      fail(place, opcode + ": internal error: refused without a reason");
    }
    return HLO_NO_VALUE;
  }
  values.push_back(value);
  return hlo_value(values.size()) - 1;
}

/// Whether the builder can take a call.
static bool isReady(hlo_builder *builder) {
  return builder && builder->error.empty() && !builder->isDone;
}

static StringRef orEmpty(const char *text) { return text ? StringRef(text) : StringRef(); }

/// Begins a call: errors have this place and opcode.
static void begin(hlo_builder *builder, CallerPlace place, StringRef opcode) {
  builder->place = std::move(place);
  builder->opcode = opcode.str();
}

hlo_builder *hlo_builder_create(const char *name) { return new hlo_builder(orEmpty(name)); }

void hlo_builder_free(hlo_builder *builder) { delete builder; }

hlo_value hlo_builder_parameter(hlo_builder *builder, int64_t number, const char *shape,
                                const char *name, const char *file, uint32_t line) {
  if (!isReady(builder)) {
    return HLO_NO_VALUE;
  }
  begin(builder, {orEmpty(file).str(), line}, "parameter");
  return builder->enter(
      builder->builder.parameter(number, orEmpty(shape), orEmpty(name), builder->place));
}

hlo_value hlo_builder_constant(hlo_builder *builder, const char *shape, const void *data,
                               size_t bytes, const char *name, const char *file, uint32_t line) {
  if (!isReady(builder)) {
    return HLO_NO_VALUE;
  }
  begin(builder, {orEmpty(file).str(), line}, "constant");
  if (!data && bytes) {
    builder->fail(builder->place, "constant: the data is null");
    return HLO_NO_VALUE;
  }
  llvm::ArrayRef<char> contents(static_cast<const char *>(data), bytes);
  return builder->enter(
      builder->builder.constant(orEmpty(shape), contents, orEmpty(name), builder->place));
}

/// The name that the computation's entry has in the builder's module; "" after an error.
std::string hlo_builder::import(const hlo_computation *computation, bool alwaysCopies) {
  if (!computation) {
    fail(place, opcode + ": a computation is null");
    return "";
  }
  const auto &finished = computation->finished;
  if (auto known = imported.find(finished); known != imported.end() && !alwaysCopies) {
    return known->second;
  }
  std::string name = builder.import(finished->text);
  if (name.empty()) {
    fail(place, opcode + ": internal error: a computation could not be copied");
    return "";
  }
  imported.try_emplace(finished, name);
  return name;
}

hlo_value hlo_builder_add(hlo_builder *builder, const hlo_instruction *given) {
  if (!isReady(builder)) {
    return HLO_NO_VALUE;
  }
  constexpr size_t first = offsetof(hlo_instruction, name) + sizeof(const char *);
  if (!given || given->struct_size < first || !given->opcode) {
    builder->fail({}, "hlo_builder_add: hlo_instruction is null, older than this interface, or "
                      "has no opcode");
    return HLO_NO_VALUE;
  }
  begin(builder, {orEmpty(given->file).str(), given->line}, given->opcode);
  if ((given->num_operands && !given->operands) || (given->num_attributes && !given->attributes)) {
    builder->fail(builder->place, builder->opcode + ": operands or attributes are null");
    return HLO_NO_VALUE;
  }
  llvm::SmallVector<Value> operands;
  for (size_t i = 0; i < given->num_operands; ++i) {
    operands.push_back(builder->find(given->operands[i]));
    if (!operands.back()) {
      builder->fail(builder->place, builder->opcode + ": operand " + std::to_string(i) +
                                        " is not a value of this builder");
      return HLO_NO_VALUE;
    }
  }
  llvm::SmallVector<TextAttribute> attributes;
  for (size_t i = 0; i < given->num_attributes; ++i) {
    const hlo_attribute &attribute = given->attributes[i];
    TextAttribute text{orEmpty(attribute.name), orEmpty(attribute.value).str()};
    if (attribute.num_computations && !attribute.computations) {
      builder->fail(builder->place, builder->opcode + ": computations are null");
      return HLO_NO_VALUE;
    }
    std::string names;
    for (size_t c = 0; c < attribute.num_computations; ++c) {
      // Every async-start has a computation of its own.
      std::string name =
          builder->import(attribute.computations[c], builder->opcode == "async-start");
      if (name.empty()) {
        return HLO_NO_VALUE;
      }
      names += (c ? ", " : "") + name;
    }
    bool isList = text.name == "branch_computations" || text.name == "called_computations";
    if (attribute.num_computations) {
      text.value = isList ? "{" + names + "}" : names;
    }
    attributes.push_back(std::move(text));
  }
  return builder->enter(builder->builder.add(given->opcode, operands, orEmpty(given->shape),
                                             attributes, orEmpty(given->name), builder->place));
}

int hlo_builder_annotate(hlo_builder *builder, hlo_value value, const hlo_attribute *attributes,
                         size_t num_attributes, const char *file, uint32_t line) {
  if (!isReady(builder)) {
    return 0;
  }
  begin(builder, {orEmpty(file).str(), line}, "");
  Value found = builder->find(value);
  if (!found || (num_attributes && !attributes)) {
    builder->fail(builder->place, "hlo_builder_annotate: there is no such value, or the attributes "
                                  "are null");
    return 0;
  }
  llvm::SmallVector<TextAttribute> texts;
  for (size_t i = 0; i < num_attributes; ++i) {
    texts.push_back({orEmpty(attributes[i].name), orEmpty(attributes[i].value).str()});
  }
  return succeeded(builder->builder.annotate(found, texts));
}

int hlo_builder_module_attribute(hlo_builder *builder, const char *name, const char *value) {
  if (!isReady(builder)) {
    return 0;
  }
  begin(builder, {}, orEmpty(name));
  return succeeded(builder->builder.moduleAttribute(orEmpty(name), orEmpty(value), builder->place));
}

const char *hlo_builder_shape(hlo_builder *builder, hlo_value value) {
  Value found = builder && !builder->isDone ? builder->find(value) : Value();
  if (!found) {
    return nullptr;
  }
  Type type = found.getType();
  auto [known, isNew] = builder->shapes.try_emplace(type.getAsOpaquePointer());
  if (isNew) {
    known->second = hloText(type);
  }
  return known->second.c_str();
}

void hlo_builder_fail(hlo_builder *builder, const char *file, uint32_t line, const char *message) {
  if (builder) {
    builder->fail({orEmpty(file).str(), line}, orEmpty(message));
  }
}

const char *hlo_builder_error(const hlo_builder *builder) {
  return builder ? builder->error.c_str() : "";
}

/// "(x: f32[8], f32[]) -> f32[]".
static std::string signatureOf(ComputationOp entry) {
  std::string text = "(";
  for (BlockArgument argument : entry.getBody().getArguments()) {
    text += argument.getArgNumber() ? ", " : "";
    if (auto name = dyn_cast<NameLoc>(argument.getLoc())) {
      text += name.getName().str() + ": ";
    }
    text += hloText(argument.getType());
  }
  return text + ") -> " + hloText(entry.getResultTypes()[0]);
}

hlo_computation *hlo_builder_build(hlo_builder *builder, hlo_value root) {
  if (!isReady(builder)) {
    if (builder && builder->error.empty()) {
      builder->fail({}, "hlo_builder_build: the computation has been built already");
    }
    return nullptr;
  }
  begin(builder, {}, "");
  Value result = builder->find(root);
  if (root != HLO_NO_VALUE && !result) {
    builder->fail({}, "hlo_builder_build: the root is not a value of this builder");
    return nullptr;
  }
  builder->isDone = true;
  OwningOpRef<ModuleOp> module = builder->builder.finish(result);
  if (!module || failed(verifyModule(*module))) {
    if (builder->error.empty()) {
      builder->fail({}, "internal error: the module was refused without a reason");
    }
    return nullptr;
  }
  auto finished = std::make_shared<Finished>();
  llvm::raw_string_ostream stream(finished->text);
  printHlo(*module, stream);
  for (ComputationOp op : module->getOps<ComputationOp>()) {
    if (op->hasAttr("entry")) {
      finished->signature = signatureOf(op);
    }
  }
  return new hlo_computation{std::move(finished)};
}

void hlo_computation_free(hlo_computation *computation) { delete computation; }

hlo_bytes hlo_computation_text(const hlo_computation *computation) {
  if (!computation) {
    return {nullptr, 0};
  }
  const std::string &text = computation->finished->text;
  return {text.c_str(), text.size()};
}

const char *hlo_computation_signature(const hlo_computation *computation) {
  return computation ? computation->finished->signature.c_str() : "";
}

static hlo_status compileComputation(const hlo_computation *computation,
                                     const hlo_compile_options *options, bool isJit,
                                     hlo_compilation **result) {
  if (!computation && result) {
    *result = new hlo_compilation;
    return (*result)->refuse(HLO_ERR_NULL, "the computation is null");
  }
  hlo_bytes text = hlo_computation_text(computation);
  return api::compileText(static_cast<const char *>(text.data), text.size, options, isJit, result);
}

hlo_status hlo_compile_computation(const hlo_computation *computation,
                                   const hlo_compile_options *options, hlo_compilation **result) {
  return compileComputation(computation, options, /*isJit=*/false, result);
}

hlo_status hlo_jit_computation(const hlo_computation *computation,
                               const hlo_compile_options *options, hlo_compilation **result) {
  return compileComputation(computation, options, /*isJit=*/true, result);
}
