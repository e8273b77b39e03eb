//===- SymbolCache.h - Symbols by name while a module is verified ---------===//
//
// MLIR finds a symbol by walking the module, and the module by walking the regions around the op.
// Verifying n ops that refer to symbols would take n walks of both. While a SymbolScope lives, one
// table serves all of them.
//
//===----------------------------------------------------------------------===//
#ifndef DIALECT_HLO_VERIFY_SYMBOLCACHE_H
#define DIALECT_HLO_VERIFY_SYMBOLCACHE_H

#include "dialect/hlo/Dialect.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/IR/SymbolTable.h"
#include <optional>

namespace hlo {

/// Holds the table for verifiers; the dialect owns it.
class SymbolCache : public mlir::DialectInterface::Base<SymbolCache> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SymbolCache)
  explicit SymbolCache(mlir::Dialect *dialect) : Base(dialect) {}

  /// The table of the module being verified; null if there is none.
  mutable const mlir::SymbolTable *symbols = nullptr;
};

/// While it lives, the module's symbols must not change, and findSymbol looks them up in a table.
class SymbolScope {
public:
  explicit SymbolScope(mlir::ModuleOp module);
  /// Uses a table of the caller's, which outlives it.
  explicit SymbolScope(const mlir::SymbolTable &given);
  ~SymbolScope();
  SymbolScope(const SymbolScope &) = delete;
  SymbolScope &operator=(const SymbolScope &) = delete;

private:
  std::optional<mlir::SymbolTable> table;
  const SymbolCache *cache; ///< null if the dialect is not loaded
};

/// The symbol named `name` that is visible from `op`; null if there is none.
mlir::Operation *findSymbol(mlir::Operation *op, mlir::StringAttr name);
template <typename Op> Op findSymbol(mlir::Operation *op, mlir::StringAttr name) {
  return llvm::dyn_cast_if_present<Op>(findSymbol(op, name));
}

} // namespace hlo

#endif
