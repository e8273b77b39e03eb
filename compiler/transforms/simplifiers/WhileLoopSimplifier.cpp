//===- WhileLoopSimplifier.cpp - Trip counts, carries, unrolling ----------===//
//
//   a carry that the body returns unchanged     ->  its result is its start; if that is a
//                                                   constant, the loop uses the constant itself
//   a counted loop (analysis/TripCount.h)       ->  `known_trip_count` = n, and
//                                                   `induction_variable` = [carry, start, step]
//   n = 0                                       ->  the starts
//   n = 1, or few iterations of cheap ops       ->  that many copies of the body
//
// hlo-dce removes carries that lose their users. Outer loops come first, so that constants travel
// inwards in one run.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Computations.h"
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/analysis/TripCount.h"
#include "compiler/transforms/simplifiers/Inlining.h"
#include "compiler/transforms/simplifiers/Simplifiers.h"
#include "dialect/hlo/Builder.h"

using namespace mlir;
using namespace hlo;

namespace {

/// Limits of full unrolling: iterations, and ops in all copies of the body. Large enough for a
/// rolled random generator (5 rounds of about 40 ops).
constexpr int64_t kMaxUnrolledTrips = 16;
constexpr int64_t kMaxUnrolledOps = 800;

class WhileLoopSimplifierPass
    : public PassWrapper<WhileLoopSimplifierPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(WhileLoopSimplifierPass)
  StringRef getArgument() const final { return "hlo-while-loop-simplifier"; }
  StringRef getDescription() const final {
    return "Find trip counts; simplify carries; replace short loops";
  }

  void runOnOperation() final {
    if (!getAnalysis<OpsPresent>().has<WhileOp>()) {
      return markAllAnalysesPreserved();
    }
    const FailureOr<ComputationGraph> &graph = getAnalysis<ModuleCalls>().graph;
    if (failed(graph)) {
      return signalPassFailure();
    }
    for (ComputationOp computation : llvm::reverse(graph->postOrder())) {
      for (Operation &op : llvm::make_early_inc_range(computation.getBody().front())) {
        if (auto loop = dyn_cast<WhileOp>(op)) {
          simplify(loop, *graph);
        }
      }
    }
  }

private:
  static void simplify(WhileOp loop, const ComputationGraph &graph) {
    ComputationOp condition = graph.lookup(loop.getConditionAttr());
    ComputationOp body = graph.lookup(loop.getBodyAttr());
    if (body.getReturn()->getNumOperands() != loop->getNumOperands() ||
        graph.uses(condition) != 1 || graph.uses(body) != 1) {
      return;
    }
    simplifyInvariants(loop, condition, body);
    loop->removeAttr("known_trip_count");
    loop->removeAttr("induction_variable");
    std::optional<TripCount> trips = computeTripCount(loop, condition, body);
    if (!trips) {
      return;
    }
    if (graph.hasSideEffects(condition)) {
      return;
    }
    if (trips->count <= 1 || isWorthUnrolling(body, trips->count)) {
      OpBuilder builder(loop);
      SmallVector<Value> carries(loop->getOperands());
      for (int64_t i = 0; i < trips->count; ++i) {
        carries = inlineCopy(builder, body, carries);
      }
      loop->replaceAllUsesWith(carries);
      loop.erase();
      return;
    }
    Builder builder(loop.getContext());
    loop->setAttr("known_trip_count", builder.getI64IntegerAttr(trips->count));
    loop->setAttr("induction_variable",
                  builder.getDenseI64ArrayAttr({trips->carry, trips->init, trips->step}));
  }

  /// The op that makes `value`, if a copy of it in the body is free; else null.
  static Operation *cheapConstant(Value value) {
    Operation *op = value.getDefiningOp();
    if (llvm::isa_and_present<ConstantOp>(op)) {
      return elementsOf(value) <= 1024 ? op : nullptr;
    }
    return nullptr;
  }

  static void simplifyInvariants(WhileOp loop, ComputationOp condition, ComputationOp body) {
    for (auto [i, init] : llvm::enumerate(loop->getOperands())) {
      if (body.getReturn()->getOperand(i) != body.getBody().getArgument(i)) {
        continue;
      }
      loop->getResult(i).replaceAllUsesWith(init);
      auto broadcast = init.getDefiningOp<BroadcastOp>();
      Operation *scalar = cheapConstant(broadcast ? broadcast.getOperand() : init);
      if (!scalar && !init.getDefiningOp<IotaOp>()) {
        continue;
      }
      for (ComputationOp computation : {condition, body}) {
        BlockArgument argument = computation.getBody().getArgument(i);
        OpBuilder builder = OpBuilder::atBlockBegin(&computation.getBody().front());
        IRMapping mapping;
        if (broadcast) {
          builder.clone(*scalar, mapping);
        }
        Value copy = builder.clone(*init.getDefiningOp(), mapping)->getResult(0);
        // The return keeps the argument, so the carry remains invariant until hlo-dce removes it.
        argument.replaceUsesWithIf(copy,
                                   [](OpOperand &use) { return !isa<ReturnOp>(use.getOwner()); });
      }
    }
  }

  static bool isWorthUnrolling(ComputationOp body, int64_t trips) {
    int64_t ops = 0;
    for (Operation &op : body.getBody().front().without_terminator()) {
      if (isa<ConstantOp>(op)) {
        continue;
      }
      if (!isElementwiseOp(&op) &&
          !isa<BroadcastOp, ReshapeOp, SliceOp, IotaOp, BitcastOp, DynamicSliceOp>(op)) {
        return false;
      }
      ++ops;
    }
    return trips <= kMaxUnrolledTrips && ops * trips <= kMaxUnrolledOps;
  }
};

} // namespace

std::unique_ptr<Pass> hlo::createWhileLoopSimplifierPass() {
  return std::make_unique<WhileLoopSimplifierPass>();
}
