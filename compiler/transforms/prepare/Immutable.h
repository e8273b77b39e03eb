//===- Immutable.h - Which values depend on immutable parameters only -----===//
#ifndef COMPILER_TRANSFORMS_PREPARE_IMMUTABLE_H
#define COMPILER_TRANSFORMS_PREPARE_IMMUTABLE_H

#include "compiler/analysis/Computations.h"
#include "llvm/ADT/DenseSet.h"

namespace hlo {

/// The values of the entry that are the same in every call: immutable leaves, what is prepared,
/// constants, and what pure ops make of those.
class ImmutableValues {
public:
  ImmutableValues(const ComputationGraph &graph, mlir::ModuleOp module);

  bool contains(mlir::Value value) const { return values.contains(value); }
  /// Whether an op could run in the prepare computation, if its operands were there.
  bool isMovable(mlir::Operation *op) const;
  /// Adds the results of an op made later, if it is movable and its operands are immutable.
  void add(mlir::Operation *op);
  /// Erases what is movable and has no use.
  void removeDead(ComputationOp computation) const;

private:
  const ComputationGraph &graph;
  llvm::DenseSet<mlir::Value> values;
};

/// Runs `change` on a module that says which leaves are immutable (none is an answer too); fails if
/// its computations are no graph.
mlir::LogicalResult changeImmutable(mlir::ModuleOp module,
                                    llvm::function_ref<void(const ComputationGraph &graph)> change);

} // namespace hlo

#endif
