//===- Parser.h - HLO text to the hlo dialect -----------------------------===//
#ifndef COMPILER_PARSER_PARSER_H
#define COMPILER_PARSER_PARSER_H

#include "compiler/support/Budget.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"

namespace hlo {

/// Options of parseHlo.
struct ParseOptions {
  /// After this many errors the parser gives up.
  unsigned errorLimit = 20;
  /// Leaves, nesting, operands, devices and constant bytes are checked here.
  Budget budget;
};

/// Parses a module, a list of computations, or a single instruction in the HLO
/// text format into a `module` of `hlo.computation`s.
///
/// Checks what is syntactic (see README.md), not the meaning: written result
/// shapes are believed, and the module is not verified. Errors are reported to
/// the context's diagnostic engine at `fileName:line:column`, several in one
/// run; then the result is null. Loads the hlo dialect into `context`.
mlir::OwningOpRef<mlir::ModuleOp> parseHlo(llvm::StringRef text, llvm::StringRef fileName,
                                           mlir::MLIRContext *context,
                                           const ParseOptions &options = {});

} // namespace hlo

#endif
