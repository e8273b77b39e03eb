//===- Places.h - Where ops stand in the text, and where they come from ---===//
#ifndef COMPILER_STABLEHLO_PLACES_H
#define COMPILER_STABLEHLO_PLACES_H

#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/SourceMgr.h"
#include <string>

namespace hlo::stable {

/// Gives every op and block argument of `module` its place in the text as location. What the text
/// itself says in `loc(...)` stays beside it: `originOf` finds it.
void locateInText(mlir::ModuleOp module, const mlir::AsmParserState &state,
                  const llvm::SourceMgr &sources, llvm::StringRef fileName);

/// What `loc(...)` says of an op.
struct Origin {
  std::string name; ///< "jit(f)/sin", or a parameter's; empty if the text names nothing
  std::string file; ///< of the Python program
  unsigned line = 0;

  /// The last step of `name`.
  llvm::StringRef step() const;
  /// `{op_name="..." source_file="..." source_line=1}`, or "" if nothing is known.
  std::string metadata() const;
};

/// The origin of an op or argument that locateInText has placed, or of one made from it.
Origin originOf(mlir::Location location);

/// The place in the text of such a location.
mlir::Location placeOf(mlir::Location location);

} // namespace hlo::stable

#endif
