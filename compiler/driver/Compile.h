//===- Compile.h - From HLO text to artefacts -----------------------------===//
//
// The whole compiler as one function: no main, no globals, no files but those of `dumpDir`.
// tools/hlo-compile and tools/hlo-run call it.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_DRIVER_COMPILE_H
#define COMPILER_DRIVER_COMPILE_H

#include "compiler/driver/Artifacts.h"
#include "compiler/support/Options.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"
#include "llvm/Support/raw_ostream.h"

namespace hlo {

/// Compiles HLO or StableHLO text; the latter is followed by a zero byte. `fileName` is the name
/// used in diagnostics, which are written to `diagnostics` as `file:line:col: error: ...` with the
/// source line and a caret. Fails iff `artifacts.error` is not None; then at least one error was
/// written.
llvm::LogicalResult compile(llvm::StringRef text, llvm::StringRef fileName,
                            const CompileOptions &options, Artifacts &artifacts,
                            llvm::raw_ostream &diagnostics);

} // namespace hlo

#endif
