//===- Groups.h - Which ops become one kernel -----------------------------===//
#ifndef COMPILER_TRANSFORMS_FUSION_GROUPS_H
#define COMPILER_TRANSFORMS_FUSION_GROUPS_H

#include "compiler/machine/Machine.h"
#include "compiler/transforms/fusion/Cost.h"
#include "compiler/transforms/fusion/DimMap.h"

namespace hlo::fusion {

/// The ops between a value and the dot that reads it, all evaluated while the dot reads its
/// operand.
struct Prologue {
  int64_t cost = 0;        ///< cost of these ops for one element
  bool oneArray = true;    ///< each of them has one array operand
  bool relabelled = false; ///< one of them is a reshape that may split or merge dimensions
  bool once = true;        ///< the dot reads each element once
};

/// A kernel in the making: a root, and the producers that are evaluated inside it. Most have a few
/// ops, and a block may have tens of thousands of groups, so the tables are small while they are
/// empty.
struct Group {
  mlir::Operation *root = nullptr;
  mlir::Operation *hero = nullptr; ///< the dot or convolution that the group is built around, or
                                   ///< the root if that is a hero
  Strategy strategy = Strategy::Loop;
  llvm::SetVector<mlir::Operation *> members;  ///< in reverse program order; includes the root
  size_t computing = 0;                        ///< members of nonzero cost
  int64_t code = 0;                            ///< sum of codeOf over all members
  llvm::SmallDenseSet<mlir::Value, 8> outside; ///< values that members read and no member computes
  /// The map of each value of the group, and of each operand, to the iteration space.
  llvm::SmallDenseMap<mlir::Value, DimMap, 8> maps;
  /// The number of the index at which each value is read (see Grouper). Values with the same number
  /// are evaluated once for all their readers.
  llvm::SmallDenseMap<mlir::Value, int64_t, 8> indices;
  /// The number of element evaluations of each member.
  llvm::SmallDenseMap<mlir::Operation *, double, 4> evaluations;
  /// For members that are evaluated while the hero reads its operands: the ops between them and the
  /// hero.
  llvm::DenseMap<mlir::Operation *, Prologue> prologue;
  /// Row kernels: the shape that is reduced, and how many leading dimensions are rows.
  llvm::SmallVector<int64_t> rowSpace;
  int64_t rows = 0;
};

/// All groups of a block, in the order of their roots.
struct Grouping {
  std::vector<std::unique_ptr<Group>> groups;
  /// The groups an op belongs to: none (it stays at top level), one, or several (a cheap op,
  /// cloned).
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Group *, 1>> groupsOf;
  /// Reshapes and bitcasts that stay at top level.
  llvm::SetVector<mlir::Operation *> relabels;
};

/// The identity element of the computation, if partial results of it may be combined in any order.
/// Null if the computation is not a single associative op, or is a sum or product of narrow floats,
/// whose partial results would be rounded more often.
mlir::DenseElementsAttr identityOfParts(ComputationOp computation, mlir::Type element);
/// Whether `op`, or an op that one kernel could compute together with it, reads the array. An
/// update that reads the array it overwrites is computed by one kernel and stored by another;
/// cutting it at each read would make many kernels (a stencil of four neighbours would be five).
bool isComputedFrom(mlir::Operation *op, mlir::Value array);

/// Whether the group of a scatter, which holds all users of `op`, takes `op` (ScatterOperands.cpp).
bool scatterTakes(const Group &group, mlir::Operation *op);

/// The unit attribute of an op that no kernel of another op computes.
inline constexpr llvm::StringLiteral kStoredAttr = "stored";

Grouping groupOps(mlir::Block &block, const Machine &machine);

} // namespace hlo::fusion

#endif
