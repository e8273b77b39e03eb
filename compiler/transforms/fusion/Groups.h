//===- Groups.h - Which ops become one kernel -----------------------------===//
#ifndef COMPILER_TRANSFORMS_FUSION_GROUPS_H
#define COMPILER_TRANSFORMS_FUSION_GROUPS_H

#include "compiler/transforms/fusion/Cost.h"
#include "compiler/transforms/fusion/DimMap.h"

namespace hlo::fusion {

/// A producer of an operand of a dot, evaluated where the operand is read.
struct Prologue {
  int64_t cost = 0;        ///< of the ops from here to the dot, for one element
  bool oneArray = true;    ///< they have one array operand each
  bool relabelled = false; ///< a reshape among them may split or merge dimensions
  bool once = true;        ///< the dot reads each element once
};

/// A kernel to be: a root, and the producers that are evaluated inside it.
struct Group {
  mlir::Operation *root = nullptr;
  mlir::Operation *hero =
      nullptr; ///< the dot or convolution whose epilogue this is, or the root hero
  Strategy strategy = Strategy::Loop;
  llvm::SetVector<mlir::Operation *> members; ///< in reverse order of the text; includes the root
  size_t computing = 0;                       ///< members that cost something
  int64_t code = 0;                           ///< of all members; see codeOf
  llvm::DenseSet<mlir::Value> outside;        ///< what members read that none of them makes
  /// How each value of the group (and each operand) follows the iteration space.
  llvm::DenseMap<mlir::Value, DimMap> maps;
  /// The index that each value is read at, by number: what has the same is evaluated once for both.
  llvm::DenseMap<mlir::Value, int64_t> indices;
  /// How often an element of each member is evaluated, summed over all elements.
  llvm::DenseMap<mlir::Operation *, double> evaluations;
  /// Members before the hero.
  llvm::DenseMap<mlir::Operation *, Prologue> prologue;
  /// Row kernels: the shape that is reduced, and how many leading dimensions are rows.
  llvm::SmallVector<int64_t> rowSpace;
  int64_t rows = 0;
};

/// All groups of a block, in the order of their roots.
struct Grouping {
  std::vector<std::unique_ptr<Group>> groups;
  /// Groups an op belongs to: none (stays at top level), one, or several (cheap ops, cloned).
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Group *, 1>> groupsOf;
  /// Ops that relabel memory at top level.
  llvm::SetVector<mlir::Operation *> relabels;
};

/// The identity, if the computation is one associative op whose parts may be put together: not a
/// sum or product of narrow floats, which would be rounded more often.
mlir::DenseElementsAttr identityOfParts(ComputationOp computation, mlir::Type element);
/// Whether what one kernel could compute up to `op` reads the array. Such an update is cut off as a
/// whole, and not where it reads: one kernel computes all of it and one stores it (a stencil of
/// four neighbours was five kernels).
bool isComputedFrom(mlir::Operation *op, mlir::Value array);

/// Whether the group of a scatter takes `op`, which all its users being in the group allows
/// (ScatterOperands.cpp).
bool scatterTakes(const Group &group, mlir::Operation *op);

Grouping groupOps(mlir::Block &block);

} // namespace hlo::fusion

#endif
