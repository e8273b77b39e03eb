//===- main.cpp - Random programs of the builder --------------------------===//
//
//   fuzz-builder [--seed=N] [--count=N] [--keep=FOLDER] [--print]
//
// Builds `count` random computations, of seeds N, N + 1, ... The text of each is parsed and printed
// again, which must give the same text; the computation and the text are both compiled and run,
// which must give the same bits. The last line reads 'N passed, N failed'.
//
//===----------------------------------------------------------------------===//
#include "RandomComputation.h"
#include "absl/strings/str_cat.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

using namespace hlo;
using namespace fuzz;

/// What the parser and the printer make of a text; an error if it is refused.
static absl::StatusOr<std::string> reprinted(const std::string &text) {
  hlo_compile_options options = hlo_compile_options_init();
  options.emit = HLO_EMIT_HLO;
  hlo_compilation *compilation = nullptr;
  const hlo_status status = hlo_compile_text(text.data(), text.size(), &options, &compilation);
  absl::StatusOr<std::string> again;
  if (status == HLO_OK) {
    const hlo_bytes bytes = hlo_compilation_artifact(compilation, HLO_EMIT_HLO);
    again = std::string(static_cast<const char *>(bytes.data), bytes.size);
  } else {
    again = absl::InternalError(hlo_compilation_log(compilation));
  }
  hlo_compilation_free(compilation);
  return again;
}

static void flatten(const Literal &literal, std::vector<const Literal *> &leaves) {
  if (!literal.IsTuple()) {
    leaves.push_back(&literal);
  }
  for (const Literal &element : literal.tuple_elements()) {
    flatten(element, leaves);
  }
}

/// The outputs of the text's module, run through the C API.
static absl::StatusOr<std::vector<std::string>> runText(const std::string &text,
                                                        const std::vector<Literal> &arguments) {
  hlo_compilation *compilation = nullptr;
  const hlo_status compiled = hlo_jit_text(text.data(), text.size(), nullptr, &compilation);
  if (compiled != HLO_OK) {
    const absl::Status status = absl::InternalError(hlo_compilation_log(compilation));
    hlo_compilation_free(compilation);
    return status;
  }
  const hlo_module_desc *module = hlo_compilation_module(compilation);
  std::vector<const void *> inputs;
  for (const Literal &argument : arguments) {
    inputs.push_back(argument.untyped_data());
  }
  std::vector<std::string> outputs;
  for (std::uint32_t i = 0; i < module->num_outputs; ++i) {
    outputs.emplace_back(hlo_output_at(module, i)->bytes, '\0');
  }
  std::vector<void *> pointers;
  for (std::string &output : outputs) {
    pointers.push_back(output.data());
  }
  char message[512] = "";
  hlo_call call = hlo_call_init();
  const std::size_t arena = (module->arena_bytes + module->arena_align) / 64 * 64 + 64;
  call.arena = std::aligned_alloc(64, arena);
  call.arena_bytes = arena;
  call.message = message;
  call.message_bytes = sizeof message;
  const hlo_status status = module->run(&call, inputs.data(), pointers.data());
  std::free(call.arena);
  hlo_compilation_free(compilation);
  if (status != HLO_OK) {
    return absl::InternalError(absl::StrCat("run: ", message));
  }
  return outputs;
}

/// Empty, or what is wrong with the program.
static std::string check(const Program &program) {
  if (!program.computation.ok()) {
    return absl::StrCat("build: ", program.computation.status().ToString());
  }
  const std::string text = program.computation->ToString();
  const absl::StatusOr<std::string> again = reprinted(text);
  if (!again.ok()) {
    return absl::StrCat("the text is refused: ", again.status().ToString());
  }
  if (*again != text) {
    return absl::StrCat("the text is printed differently:\n", *again);
  }
  const absl::StatusOr<Executable> executable = Jit(*program.computation);
  if (!executable.ok()) {
    return absl::StrCat("compile: ", executable.status().ToString());
  }
  const absl::StatusOr<std::vector<Literal>> results = executable->Run(program.arguments);
  if (!results.ok()) {
    return absl::StrCat("run: ", results.status().ToString());
  }
  const absl::StatusOr<std::vector<std::string>> outputs = runText(text, program.arguments);
  if (!outputs.ok()) {
    return absl::StrCat("run of the text: ", outputs.status().ToString());
  }
  std::vector<const Literal *> leaves;
  for (const Literal &result : *results) {
    flatten(result, leaves);
  }
  if (leaves.size() != outputs->size()) {
    return absl::StrCat(leaves.size(), " results, ", outputs->size(), " outputs of the text");
  }
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const std::string &output = (*outputs)[i];
    if (leaves[i]->size_bytes() != output.size() ||
        std::memcmp(leaves[i]->untyped_data(), output.data(), output.size()) != 0) {
      return absl::StrCat("result ", i, " differs from that of the text");
    }
  }
  return "";
}

/// The value of `--name=` in the argument, or null.
static const char *valueOf(const char *argument, const char *flag) {
  const std::size_t size = std::strlen(flag);
  return std::strncmp(argument, flag, size) == 0 ? argument + size : nullptr;
}

int main(int argc, char **argv) {
  std::uint64_t seed = 1, count = 100;
  std::string keep;
  bool prints = false;
  for (int i = 1; i < argc; ++i) {
    if (const char *value = valueOf(argv[i], "--seed=")) {
      seed = std::strtoull(value, nullptr, 10);
    } else if (const char *number = valueOf(argv[i], "--count=")) {
      count = std::strtoull(number, nullptr, 10);
    } else if (const char *folder = valueOf(argv[i], "--keep=")) {
      keep = folder;
    } else if (std::strcmp(argv[i], "--print") == 0) {
      prints = true;
    } else {
      std::fprintf(stderr, "error: unknown argument: %s\n", argv[i]);
      return 2;
    }
  }
  std::uint64_t failed = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Program program = randomComputation(seed + i);
    const std::string text = program.computation.ok() ? program.computation->ToString() : "";
    if (prints) {
      std::printf("%s\n", text.c_str());
    }
    if (!keep.empty()) { // also if checking it ends the program
      std::ofstream(absl::StrCat(keep, "/builder-", seed + i, ".hlo")) << text;
    }
    const std::string wrong = check(program);
    failed += !wrong.empty();
    if (!wrong.empty()) {
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed + i), wrong.c_str());
    } else if (!keep.empty()) {
      std::remove(absl::StrCat(keep, "/builder-", seed + i, ".hlo").c_str());
    }
    std::fflush(stdout);
  }
  std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(count - failed),
              static_cast<unsigned long long>(failed));
  return failed ? 1 : 0;
}
