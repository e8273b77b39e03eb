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
  /// The parser gives up after this many errors.
  unsigned errorLimit = 20;
  /// Limits on leaves, nesting, operands, devices and constant bytes.
  Budget budget;
};

/// Parses a module, a list of computations, or a single instruction in the HLO text format into a
/// `module` of `hlo.computation`s.
///
/// Checks the syntax (see README.md), not the meaning: written result shapes are trusted, and the
/// module is not verified. Errors go to the context's diagnostic engine at `fileName:line:column`,
/// several in one run; the result is then null. Loads the hlo dialect into `context`.
mlir::OwningOpRef<mlir::ModuleOp> parseHlo(llvm::StringRef text, llvm::StringRef fileName,
                                           mlir::MLIRContext *context,
                                           const ParseOptions &options = {});

} // namespace hlo

#endif
