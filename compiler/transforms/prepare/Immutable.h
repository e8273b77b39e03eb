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
  /// `leaves`: how many arguments of the entry are leaves; those after them are prepared.
  ImmutableValues(const ComputationGraph &graph, mlir::ModuleOp module, unsigned leaves);

  bool contains(mlir::Value value) const { return values.contains(value); }
  /// Whether an op could run in the prepare computation, if its operands were there.
  bool isMovable(mlir::Operation *op) const;
  /// Adds the results of an op made later, if it is movable and its operands are immutable.
  void add(mlir::Operation *op);

private:
  const ComputationGraph &graph;
  llvm::DenseSet<mlir::Value> values;
};

/// Whether the module says which leaves are immutable; none is an answer too.
bool hasImmutableLeaves(mlir::ModuleOp module);

} // namespace hlo

#endif
