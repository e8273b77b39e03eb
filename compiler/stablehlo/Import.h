//===- Import.h - StableHLO text to the hlo dialect -----------------------===//
#ifndef COMPILER_STABLEHLO_IMPORT_H
#define COMPILER_STABLEHLO_IMPORT_H

#include "compiler/support/Budget.h"
#include "compiler/support/SizeBound.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"
#include <vector>

namespace hlo {

/// Options of parseStablehlo.
struct StablehloOptions {
  /// Limits on leaves and nesting of types.
  Budget budget;
  /// Of sizes that the text leaves open: those of --bound.
  std::vector<SizeBound> bounds;
};

/// Parses and verifies StableHLO text, and converts it to the module that parseHlo makes of the
/// same program in HLO text.
///
/// Errors go to the context's diagnostic engine at places in the text; the result is then null.
/// `text` is followed by a zero byte. Loads the dialects of the text into `context`.
mlir::OwningOpRef<mlir::ModuleOp> parseStablehlo(llvm::StringRef text, llvm::StringRef fileName,
                                                 mlir::MLIRContext *context,
                                                 const StablehloOptions &options = {});

} // namespace hlo

#endif
