//===- Immutable.h - Values that depend only on immutable parameters ------===//
#ifndef COMPILER_TRANSFORMS_PREPARE_IMMUTABLE_H
#define COMPILER_TRANSFORMS_PREPARE_IMMUTABLE_H

#include "compiler/analysis/Computations.h"
#include "llvm/ADT/DenseSet.h"

namespace hlo {

/// The values of the entry and of branches that are the same in every call: immutable leaves,
/// prepared arrays, constants, and results of pure ops on those. In a module without the attribute
/// `hlo.immutable_leaves` only those that the compiler can compute from constants.
class ImmutableValues {
public:
  ImmutableValues(const ComputationGraph &graph, mlir::ModuleOp module);

  /// The entry, and the branches of its conditionals that nothing else calls: the versions of the
  /// program for some sizes are such branches.
  llvm::ArrayRef<ComputationOp> programs() const { return all; }
  /// The conditional with the program as its branch, and the number of its first operand that is
  /// an argument of the branch. The first operand of a conditional is its selector.
  std::pair<ConditionalOp, unsigned> callOf(ComputationOp branch) const;
  /// What an argument of a branch is in the entry.
  mlir::Value outside(mlir::BlockArgument argument) const;

  bool contains(mlir::Value value) const { return values.contains(value); }
  /// True if the op could run in the prepare computation, given its operands.
  bool isMovable(mlir::Operation *op) const;
  /// Adds the results of a new op, if it is movable and its operands are immutable.
  void add(mlir::Operation *op);
  /// Erases movable ops without users from the programs.
  void removeDead() const;
  void removeDead(ComputationOp computation) const;

private:
  void findPrograms();

  const ComputationGraph &graph;
  llvm::DenseSet<mlir::Value> values;
  llvm::SmallVector<ComputationOp> all;
  llvm::DenseMap<mlir::Operation *, ConditionalOp> calls; ///< of branches
  bool onlyConstants;
};

/// Whether the module declares its immutable leaves (possibly none): there is a prepare
/// computation.
bool declaresImmutable(mlir::ModuleOp module);

/// Runs `change` on a module that declares its immutable leaves, or which has large
/// constants; fails if its computations do not form a valid call graph.
mlir::LogicalResult changeImmutable(mlir::ModuleOp module,
                                    llvm::function_ref<void(const ComputationGraph &graph)> change);

} // namespace hlo

#endif
