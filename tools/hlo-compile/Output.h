//===- Output.h - Writing files whole or not at all -----------------------===//
#ifndef TOOLS_HLO_COMPILE_OUTPUT_H
#define TOOLS_HLO_COMPILE_OUTPUT_H

#include "compiler/driver/Compile.h"

namespace hlo::tool {

/// The artefact of one kind.
llvm::StringRef contentsOf(const Artifacts &artifacts, Emit kind);

/// Writes a file under a temporary name beside it and renames it; "-" is standard output, and
/// what exists and is no regular file is written to directly. Returns a message, empty if done.
std::string writeFile(const std::string &path, llvm::StringRef contents);

} // namespace hlo::tool

#endif
