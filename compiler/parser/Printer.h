//===- Printer.h - The hlo dialect to HLO text ----------------------------===//
#ifndef COMPILER_PARSER_PRINTER_H
#define COMPILER_PARSER_PRINTER_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace hlo {

/// Options of printHlo.
struct PrintOptions {
  /// Constants with more elements than this print as `{...}`, which loses their values. 0: no
  /// limit.
  uint64_t maxConstantElements = 0;
  /// Print metadata, origins, statistics and stack frames.
  bool metadata = true;
};

/// Prints a module of `hlo.computation`s as HLO text. The text of a parsed module parses back to
/// the same module, except for locations.
///
/// Modules after any pass up to fusion can be printed: several results become a tuple and its
/// elements, bodies of loops and branches get one tuple parameter, and the region of a fusion
/// becomes a computation.
void printHlo(mlir::ModuleOp module, llvm::raw_ostream &os, const PrintOptions &options = {});

} // namespace hlo

#endif
