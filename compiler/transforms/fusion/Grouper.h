//===- Grouper.h - Which ops become one kernel ----------------------------===//
#ifndef COMPILER_TRANSFORMS_FUSION_GROUPER_H
#define COMPILER_TRANSFORMS_FUSION_GROUPER_H

#include "compiler/transforms/fusion/Groups.h"
#include <map>

namespace hlo::fusion {

/// The state of the walk over a block. The walk and its rules are in Groups.cpp, how often an op is
/// evaluated in a group in Evaluations.cpp, what makes a row kernel of a loop in RowGroups.cpp.
class Grouper {
public:
  explicit Grouper(mlir::Block &block) : block(block) {}
  Grouping run();

private:
  void place(mlir::Operation *op);
  bool isMovedAcross(Group &group, mlir::Operation *op);
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
  Grouping result;
  /// The numbers of indices: that at which an op asks for an operand, being asked at some index
  /// itself.
  std::map<std::tuple<int64_t, mlir::Operation *, unsigned>, int64_t> indexNumbers;
  /// What evaluating an op that several groups repeat costs, up to where it is stored.
  llvm::DenseMap<mlir::Operation *, int64_t> repeatedCost;
};

} // namespace hlo::fusion

#endif
