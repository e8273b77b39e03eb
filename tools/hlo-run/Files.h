//===- Files.h - Inputs and results of a run in files ---------------------===//
#ifndef TOOLS_HLO_RUN_FILES_H
#define TOOLS_HLO_RUN_FILES_H

#include "tools/hlo-run/CommandLine.h"
#include "tools/hlo-run/Ranks.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hlo::run {

/// Fills the inputs of one rank, from its file or from the seed. `names`: of the inputs in the
/// text.
llvm::Error fillInputs(const CommandLine &line, llvm::ArrayRef<std::string> names, uint32_t rank,
                       Program &program);

/// Writes the results of one rank, if a file for them was asked for.
llvm::Error writeOutputs(const CommandLine &line, uint32_t rank, const Program &program);

/// --global: fills the inputs of all ranks of this process with their shards of global arrays.
llvm::Error fillFromGlobal(const CommandLine &line, llvm::ArrayRef<std::string> names,
                           const Ranks &ranks, std::vector<Program> &programs);

/// --global: puts the results of each replica together, on its first rank, and writes those of the
/// first one, or of all if the file's name has %r. `show` is called on the process of rank 0 with
/// the number, the leaf and the data of each result of the first replica.
llvm::Error
writeGlobal(const CommandLine &line, const Ranks &ranks, std::vector<Program> &programs,
            llvm::function_ref<void(uint32_t, const hlo_buffer_desc &, const char *)> show);

/// The same for inputs, which are not written; all ranks must be in this process.
llvm::Error
showGlobalInputs(const Ranks &ranks, std::vector<Program> &programs,
                 llvm::function_ref<void(uint32_t, const hlo_buffer_desc &, const char *)> show);

} // namespace hlo::run

#endif
