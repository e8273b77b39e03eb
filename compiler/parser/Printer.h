//===- Printer.h - The hlo dialect to HLO text ----------------------------===//
#ifndef COMPILER_PARSER_PRINTER_H
#define COMPILER_PARSER_PRINTER_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace hlo {

/// Options of printHlo.
struct PrintOptions {
  /// Constants of more elements than this are printed as `{...}`, which loses
  /// their value. 0: all are printed in full.
  uint64_t maxConstantElements = 0;
  /// Print metadata, origins, statistics and stack frames.
  bool metadata = true;
};

/// Prints a module of `hlo.computation`s as HLO text. The text of a module that
/// was parsed parses back to the same module, save for the positions.
///
/// Modules after any pass up to fusion print, too: several results become a
/// tuple and its elements, the bodies of loops and branches get one tuple
/// parameter, and the region of a fusion becomes a computation.
void printHlo(mlir::ModuleOp module, llvm::raw_ostream &os, const PrintOptions &options = {});

} // namespace hlo

#endif
