//===- Grouper.h - Which ops become one kernel ----------------------------===//
#ifndef COMPILER_TRANSFORMS_FUSION_GROUPER_H
#define COMPILER_TRANSFORMS_FUSION_GROUPER_H

#include "compiler/transforms/fusion/Groups.h"
#include <map>

namespace hlo::fusion {

/// The state of the walk that assigns a block's ops to groups. Groups.cpp has the walk and its
/// rules, Evaluations.cpp how often a group evaluates an op, RowGroups.cpp when a loop becomes a
/// row kernel.
class Grouper {
public:
  Grouper(mlir::Block &block, const Machine &machine) : block(block), machine(machine) {}
  Grouping run();

private:
  void place(mlir::Operation *op);
  bool isMovedAcross(Group &group, mlir::Operation *op);
  bool leavesPair(const Group &group, mlir::Operation *op);
  bool canTake(Group &group, mlir::Operation *op);
  void take(Group &group, mlir::Operation *op);
  void addMember(Group &group, mlir::Operation *op);
  Group &newGroup(mlir::Operation *op);
  double evaluationsIn(Group &group, mlir::Operation *op);
  DimMap mapIn(Group &group, mlir::Value v);
  int64_t indexOf(Group &group, mlir::OpOperand &use);
  int64_t indexIn(Group &group, mlir::Value v);
  size_t operandCountWith(Group &group, mlir::Operation *op);
  bool canBecomeRow(Group &group, ReduceOp op);
  bool leadsToRowReduce(Group &group, mlir::Operation *op);
  bool isAllThatIsNeeded(Group &group, mlir::Operation *op);
  bool isCheapToRepeat(mlir::Operation *op, size_t groups);
  int64_t costWithRepeats(mlir::Operation *op);

  mlir::Block &block;
  const Machine &machine;
  /// Of ops that run beside an asynchronous collective, where that ends.
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> ends;
  Grouping result;
  /// Index numbers: (number of the index at which an op is read, the op, its operand) -> number of
  /// the index at which the op reads that operand.
  std::map<std::tuple<int64_t, mlir::Operation *, unsigned>, int64_t> indexNumbers;
  /// The cost of evaluating an op that several groups repeat, including the repeated ops between it
  /// and a stored result.
  llvm::DenseMap<mlir::Operation *, int64_t> repeatedCost;
};

} // namespace hlo::fusion

#endif
