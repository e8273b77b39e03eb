//===- Immutable.h - Values that depend only on immutable parameters ------===//
#ifndef COMPILER_TRANSFORMS_PREPARE_IMMUTABLE_H
#define COMPILER_TRANSFORMS_PREPARE_IMMUTABLE_H

#include "compiler/analysis/Computations.h"
#include "llvm/ADT/DenseSet.h"

namespace hlo {

/// The values of the entry that are the same in every call: immutable leaves, prepared arrays,
/// constants, and results of pure ops on those.
class ImmutableValues {
public:
  ImmutableValues(const ComputationGraph &graph, mlir::ModuleOp module);

  bool contains(mlir::Value value) const { return values.contains(value); }
  /// True if the op could run in the prepare computation, given its operands.
  bool isMovable(mlir::Operation *op) const;
  /// Adds the results of a new op, if it is movable and its operands are immutable.
  void add(mlir::Operation *op);
  /// Erases movable ops without users.
  void removeDead(ComputationOp computation) const;

private:
  const ComputationGraph &graph;
  llvm::DenseSet<mlir::Value> values;
};

/// Runs `change` on a module that declares its immutable leaves (possibly none); fails if its
/// computations do not form a valid call graph.
mlir::LogicalResult changeImmutable(mlir::ModuleOp module,
                                    llvm::function_ref<void(const ComputationGraph &graph)> change);

} // namespace hlo

#endif
