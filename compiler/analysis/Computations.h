//===- Computations.h - Call graph of a module's computations -------------===//
//
// One walk over a module; afterwards every query is a table look-up.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_ANALYSIS_COMPUTATIONS_H
#define COMPILER_ANALYSIS_COMPUTATIONS_H

#include "dialect/hlo/Dialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace hlo {

/// Calls `visit` for each computation that `op` names, in attribute order.
void forEachCallee(mlir::Operation *op, llvm::function_ref<void(mlir::FlatSymbolRefAttr)> visit);

/// Replaces the names of computations in the attributes of `op`. `rename` gets
/// the old name and returns the new one, or null to keep it.
void renameCallees(mlir::Operation *op,
                   llvm::function_ref<mlir::FlatSymbolRefAttr(mlir::FlatSymbolRefAttr)> rename);

/// True if the callees of `op` run at top level: calls, loops and branches. The callees of all
/// other ops are scalar computations.
bool callsAtTopLevel(mlir::Operation *op);

/// Sets the computation's function type from its parameters and returned values.
void updateFunctionType(ComputationOp computation);

/// Erases the computations that neither the entry nor the prepare computation reaches. Fails as
/// ComputationGraph::build does.
mlir::LogicalResult eraseUnreachable(mlir::ModuleOp module);

/// The computations of a module and the calls between them.
class ComputationGraph {
public:
  /// Reports a missing entry, an unknown callee and recursion at their place.
  static mlir::FailureOr<ComputationGraph> build(mlir::ModuleOp module);

  ComputationOp entry() const { return entryOp; }
  /// The prepare computation (see Prepared.h); null if the module has none.
  ComputationOp prepare() const { return prepareOp; }
  /// Null when there is no such computation.
  ComputationOp lookup(mlir::FlatSymbolRefAttr name) const { return byName.lookup(name.getAttr()); }
  /// The computations reachable from the entry or the prepare computation, callees before callers.
  llvm::ArrayRef<ComputationOp> postOrder() const { return order; }
  /// How many times reachable ops name the computation.
  int64_t uses(ComputationOp computation) const { return useCounts.lookup(computation); }
  bool isReachable(ComputationOp computation) const {
    return computation == entryOp || computation == prepareOp || useCounts.contains(computation);
  }
  /// True if the computation or one of its callees does more than compute its results: feeds,
  /// collectives, calls with side effects.
  bool hasSideEffects(ComputationOp computation) const { return effects.contains(computation); }
  /// The same for one op. A core op without callees has side effects only if it communicates.
  bool hasSideEffects(mlir::Operation *op) const;

private:
  ComputationOp entryOp, prepareOp;
  llvm::DenseMap<mlir::StringAttr, ComputationOp> byName;
  llvm::SmallVector<ComputationOp> order;
  llvm::DenseMap<mlir::Operation *, int64_t> useCounts;
  llvm::DenseSet<mlir::Operation *> effects;
};

} // namespace hlo

#endif
