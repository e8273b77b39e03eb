//===- SingleRankCollectives.cpp - Collectives of one rank are local ------===//
//
// In a module of one replica and one partition, the group of its rank has one member; a text whose
// group has more is an error, not the result of fewer ranks:
//
//   all-reduce, all-gather, reduce-scatter, all-to-all, collective-broadcast(x)  ->  x
//   collective-permute(x)           ->  x if 0 sends to 0, else zeros
//   replica-id(), partition-id()    ->  0
//
// With any number of ranks:
//
//   ragged-all-to-all(x, output, ...)   ->  ragged-all-to-all(convert(x), output, ...)
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/expanders/OpExpander.h"
#include "dialect/hlo/TextAttrs.h"

using namespace mlir;
using namespace hlo;

namespace {

class SingleRankCollectivesPass
    : public PassWrapper<SingleRankCollectivesPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SingleRankCollectivesPass)
  StringRef getArgument() const final { return "hlo-single-rank-collectives"; }
  StringRef getDescription() const final { return "Replace the collectives of one rank"; }

  void runOnOperation() final {
    if (!getAnalysis<OpsPresent>()
             .has<RaggedAllToAllOp, ReplicaIdOp, PartitionIdOp, CollectivePermuteOp, AllReduceOp,
                  AllGatherOp, ReduceScatterOp, AllToAllOp, CollectiveBroadcastOp>()) {
      return markAllAnalysesPreserved();
    }
    getOperation().walk([](RaggedAllToAllOp op) { convertInput(op); });
    auto count = [&](StringRef name) -> int64_t {
      auto attr = getOperation()->getAttrOfType<IntegerAttr>(name);
      return attr ? attr.getInt() : 1;
    };
    if (count("hlo.replica_count") > 1 || count("hlo.num_partitions") > 1) {
      return;
    }
    bool fits = true;
    getOperation().walk([&](Operation *op) { fits &= succeeded(checkGroup(op)); });
    if (!fits) {
      return signalPassFailure();
    }
    getOperation().walk([&](Operation *op) { replace(op); });
  }

private:
  /// Rows are moved as bytes, so the input is converted to the output's type.
  static void convertInput(RaggedAllToAllOp op) {
    OpOperand &input = op->getOpOperand(0);
    Type type = elementTypeOf(op->getOperand(1));
    if (elementTypeOf(input.get()) != type) {
      OpBuilder builder(op);
      input.set(HloBuilder(builder, op->getLoc()).convert(input.get(), type));
    }
  }

  /// Reports an error if the replica group of rank 0 has further members.
  static LogicalResult checkGroup(Operation *op) {
    auto text = op->getAttrOfType<StringAttr>("replica_groups");
    FailureOr<IntegerLists> groups = failure();
    if (text) {
      groups = parseReplicaGroups(text.getValue());
    }
    if (failed(groups)) {
      return success();
    }
    for (ArrayRef<int64_t> group : *groups) {
      const int64_t *other = llvm::find_if(group, [](int64_t member) { return member != 0; });
      if (llvm::is_contained(group, 0) && other != group.end()) {
        return op->emitError() << "the replica group of rank 0 has " << group.size()
                               << " members, among them " << *other
                               << "; the module is compiled for one replica and one partition "
                                  "(--replicas and --partitions set other numbers)";
      }
    }
    return success();
  }

  static void replace(Operation *op) {
    OpBuilder builder(op);
    HloBuilder b(builder, op->getLoc());
    if (isa<ReplicaIdOp, PartitionIdOp>(op)) {
      op->getResult(0).replaceAllUsesWith(b.scalar(elementTypeOf(op->getResult(0)), 0));
      op->erase();
      return;
    }
    bool zeros = false;
    if (auto permute = dyn_cast<CollectivePermuteOp>(op)) {
      if (op->getNumOperands() != op->getNumResults()) {
        return;
      }
      // Only the pair {0,0} names a rank that exists.
      FailureOr<IntegerLists> pairs = parseIntegerLists(permute.getSourceTargetPairs());
      auto isOwn = [](ArrayRef<int64_t> pair) { return pair[0] == 0 && pair[1] == 0; };
      zeros = failed(pairs) || llvm::none_of(*pairs, isOwn);
    } else if (!isa<AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp, CollectiveBroadcastOp>(
                   op)) {
      return;
    }
    unsigned results = op->getNumResults();
    if (op->getNumOperands() < results) {
      return;
    }
    for (unsigned i = 0; i < results; ++i) {
      if (op->getOperand(i).getType() != op->getResult(i).getType()) {
        return;
      }
    }
    for (unsigned i = 0; i < results; ++i) {
      RankedTensorType type = arrayType(op->getResult(i));
      op->getResult(i).replaceAllUsesWith(zeros ? b.splat(type, 0.0) : op->getOperand(i));
    }
    op->erase();
  }
};

} // namespace

std::unique_ptr<Pass> hlo::createSingleRankCollectivesPass() {
  return std::make_unique<SingleRankCollectivesPass>();
}
