//===- SymbolCache.h - Computations by name while a module is verified ----===//
//
// MLIR finds a symbol by a walk over the module, so that verifying n ops that name computations
// costs n times as many. While a SymbolScope lives, one table serves all of them.
//
//===----------------------------------------------------------------------===//
#ifndef DIALECT_HLO_SYMBOLCACHE_H
#define DIALECT_HLO_SYMBOLCACHE_H

#include "dialect/hlo/Dialect.h"
#include "mlir/IR/DialectInterface.h"

namespace hlo {

/// Where verifyOp finds the table; the dialect owns it.
class SymbolCache : public mlir::DialectInterface::Base<SymbolCache> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SymbolCache)
  explicit SymbolCache(mlir::Dialect *dialect) : Base(dialect) {}

  /// The table of the module being verified; null if there is none.
  mutable const mlir::SymbolTable *symbols = nullptr;
};

/// While it lives, the module's computations do not change, and verifyOp looks them up in a table.
class SymbolScope {
public:
  explicit SymbolScope(mlir::ModuleOp module);
  ~SymbolScope();
  SymbolScope(const SymbolScope &) = delete;
  SymbolScope &operator=(const SymbolScope &) = delete;

private:
  mlir::SymbolTable table;
  const SymbolCache *cache; ///< null if the dialect is not loaded
};

/// The computation that `op`, or an op around it, calls by that name; null if there is none.
ComputationOp findComputation(mlir::Operation *op, mlir::StringAttr name);

} // namespace hlo

#endif
