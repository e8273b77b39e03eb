//===- CommandLine.h - The flags of hlo-compile ---------------------------===//
#ifndef TOOLS_HLO_COMPILE_COMMANDLINE_H
#define TOOLS_HLO_COMPILE_COMMANDLINE_H

#include "compiler/support/Options.h"
#include <optional>
#include <string>
#include <vector>

namespace hlo::tool {

/// One file to write; "-" is standard output.
struct OutputFile {
  Emit kind;
  std::string path;
  std::string text; ///< of kind EmitNone: what to write, the rule of -MD
};

enum class TimeReport { None, Text, Json };

/// A parsed command line.
struct CommandLine {
  std::string input;
  CompileOptions options;
  std::vector<OutputFile> outputs;
  TimeReport timeReport = TimeReport::None;
  double timeoutSeconds = 0; ///< 0: none
};

/// Returns an exit code if there is nothing to compile: after --help and the like, or after
/// reporting a mistake.
std::optional<int> parseCommandLine(int argc, char **argv, CommandLine &line);

} // namespace hlo::tool

#endif
