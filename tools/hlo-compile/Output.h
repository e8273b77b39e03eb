//===- Output.h - Writing files whole or not at all -----------------------===//
#ifndef TOOLS_HLO_COMPILE_OUTPUT_H
#define TOOLS_HLO_COMPILE_OUTPUT_H

#include "CommandLine.h"
#include "compiler/driver/Compile.h"

namespace hlo::tool {

/// What to write to a file.
llvm::StringRef contentsOf(const Artifacts &artifacts, const OutputFile &file);

/// Writes a file under a temporary name next to it and renames it. "-" is standard output; an
/// existing path that is not a regular file is written directly. Returns a message, empty on
/// success.
std::string writeFile(const std::string &path, llvm::StringRef contents);

} // namespace hlo::tool

#endif
