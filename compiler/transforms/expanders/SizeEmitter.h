//===- SizeEmitter.h - Sizes as expressions, computed by ops --------------===//
#ifndef COMPILER_TRANSFORMS_EXPANDERS_SIZEEMITTER_H
#define COMPILER_TRANSFORMS_EXPANDERS_SIZEEMITTER_H

#include "compiler/support/SizeExpr.h"
#include "dialect/hlo/Builder.h"
#include "llvm/ADT/StringMap.h"

namespace hlo {

/// Computes sizes, s32[], from those of their symbols.
class SizeEmitter {
public:
  SizeEmitter(HloBuilder &b, const llvm::StringMap<mlir::Value> &symbols)
      : b(b), symbols(symbols) {}

  /// Null if a symbol has no value.
  mlir::Value emit(const SizeExpr &expr);

private:
  mlir::Value emitAtom(const SizeExpr::Atom &atom);

  HloBuilder &b;
  const llvm::StringMap<mlir::Value> &symbols;
};

} // namespace hlo

#endif
