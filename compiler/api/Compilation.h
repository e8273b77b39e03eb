//===- Compilation.h - What an hlo_compilation owns -------------*- C++ -*-===//
#ifndef COMPILER_API_COMPILATION_H
#define COMPILER_API_COMPILATION_H

#include "compiler/driver/Artifacts.h"
#include "compiler/jit/Load.h"
#include <hlo/compiler.h>
#include <optional>
#include <string>
#include <vector>

/// The type behind the C API's pointer.
struct hlo_compilation {
  hlo_compilation();
  ~hlo_compilation();
  hlo::Artifacts artifacts;
  std::string log;
  std::vector<hlo_diagnostic> diagnostics; ///< refer to artifacts.messages
  std::optional<hlo::LoadedObject> module;

  hlo_status refuse(hlo_status status, const std::string &message);
  /// Makes the diagnostics, once the messages are there.
  void finish();
  /// Makes the module of an object callable.
  hlo_status load(llvm::StringRef object, llvm::StringRef prefix);
};

namespace hlo::api {

/// hlo_compile_text and hlo_jit_text.
hlo_status compileText(const char *text, size_t bytes, const hlo_compile_options *options,
                       bool isJit, hlo_compilation **result);

} // namespace hlo::api

#endif
