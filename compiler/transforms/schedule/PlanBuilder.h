//===- PlanBuilder.h - Top-level computations written out as steps --------===//
#ifndef COMPILER_TRANSFORMS_SCHEDULE_PLANBUILDER_H
#define COMPILER_TRANSFORMS_SCHEDULE_PLANBUILDER_H

#include "compiler/transforms/schedule/Liveness.h"
#include "compiler/transforms/schedule/Plan.h"
#include <functional>

namespace hlo::schedule {

/// Walks the top-level computations in the order of their schedules.
class PlanBuilder {
public:
  PlanBuilder(const ComputationGraph &graph, const LoopSet &doubled, Plan &plan, ComputationOp root)
      : graph(graph), entry(root ? root : graph.entry()), doubled(doubled), plan(plan),
        liveness(plan), invariant(graph) {}

  mlir::LogicalResult run();

private:
  using Environment = llvm::DenseMap<mlir::Value, ValueId>;

  mlir::FailureOr<ValueId> addValue(mlir::Value value);
  mlir::FailureOr<ValueId> constantValue(ConstantOp op);
  SequenceId openSequence(Sequence::Kind kind, SequenceId parent);
  Step &addStep(SequenceId sequence, StepKind kind, mlir::Operation *op);
  /// Appends moves; each target gets its definition, each source a use.
  void addMoves(SequenceId sequence, mlir::Operation *op, llvm::ArrayRef<Move> moves);

  mlir::FailureOr<llvm::SmallVector<ValueId>>
  writeOut(ComputationOp computation, llvm::ArrayRef<ValueId> arguments, SequenceId sequence);
  mlir::LogicalResult writeOp(mlir::Operation *op, Environment &environment, SequenceId sequence);
  mlir::LogicalResult writeLaunch(mlir::Operation *op, Environment &environment,
                                  SequenceId sequence);
  mlir::LogicalResult writeDone(CollectiveDoneOp op, Environment &environment, SequenceId sequence);
  mlir::LogicalResult writeState(RngGetAndUpdateStateOp op, Environment &environment,
                                 SequenceId sequence);
  mlir::LogicalResult writeLoop(WhileOp op, Environment &environment, SequenceId sequence);
  /// The second half of a doubled loop with unknown trip count: evaluates the condition, and runs
  /// the body again if it holds. `values` are the values of the carries.
  mlir::LogicalResult writeSecondHalf(WhileOp op, llvm::ArrayRef<unsigned> written,
                                      llvm::SmallVectorImpl<ValueId> &values, SequenceId sequence);
  /// Writes a branch's steps into a sequence; returns its results.
  using BranchWriter = std::function<mlir::FailureOr<llvm::SmallVector<ValueId>>(SequenceId)>;
  /// Writes one step with a sequence per writer; returns the values of the results, which are as
  /// large as `like`.
  mlir::FailureOr<llvm::SmallVector<ValueId>> writeBranches(mlir::Operation *op, ValueId selector,
                                                            bool predicated, mlir::ValueRange like,
                                                            llvm::ArrayRef<BranchWriter> writers,
                                                            SequenceId sequence);
  mlir::LogicalResult writeConditional(ConditionalOp op, Environment &environment,
                                       SequenceId sequence);
  mlir::FailureOr<llvm::SmallVector<AliasPair>> readPairs(mlir::Operation *op,
                                                          llvm::StringRef name);
  static llvm::SmallVector<ValueId> lookUp(mlir::ValueRange values,
                                           const Environment &environment) {
    return llvm::map_to_vector(values, [&](mlir::Value value) { return environment.at(value); });
  }

  const ComputationGraph &graph;
  ComputationOp entry;
  const LoopSet &doubled;
  Plan &plan;
  Liveness liveness;
  InvariantCarries invariant;
  uint32_t nextPosition = 0;
  llvm::DenseMap<mlir::Operation *, std::vector<mlir::Operation *>> schedules;
  llvm::DenseMap<mlir::Attribute, ValueId> constants;
  /// The scratch memory of runtime ops, as written last.
  llvm::DenseMap<mlir::Operation *, ValueId> begun;
};

} // namespace hlo::schedule

#endif
