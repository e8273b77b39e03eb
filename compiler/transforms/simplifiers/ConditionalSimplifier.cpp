//===- ConditionalSimplifier.cpp - Conditionals that need no branch -------===//
//
//   conditional(constant, ..)          ->  the branch it selects (out of range: the last)
//   conditional with one branch        ->  that branch
//   conditional with small branches    ->  all of them, and selects of their results
//   slices of a conditional's result   ->  results, sliced in the branches
//
// Small means a few cheap ops on few elements each, without loops and side effects: computing all
// branches then costs less than leaving the kernel. Inner conditionals come first. The last rule
// saves a copy, and its buffer, in branches that pass on an operand.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Computations.h"
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/analysis/evaluator/Evaluator.h"
#include "compiler/transforms/simplifiers/Inlining.h"
#include "compiler/transforms/simplifiers/Simplifiers.h"
#include "dialect/hlo/Builder.h"

using namespace mlir;
using namespace hlo;

namespace {

/// Limit on the work of all branches together, in element operations: about the cost of a launch.
constexpr int64_t kMaxSelectedWork = 256;
/// Extra cost of an expensive op, however few its elements are: about that of a mispredicted
/// branch. Selecting between sin and exp computes both, which takes longer than to branch.
constexpr int64_t kExpensiveOp = 150;

class ConditionalSimplifierPass
    : public PassWrapper<ConditionalSimplifierPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConditionalSimplifierPass)
  StringRef getArgument() const final { return "hlo-conditional-simplifier"; }
  StringRef getDescription() const final { return "Replace conditionals that need no branch"; }

  void runOnOperation() final {
    if (!getAnalysis<OpsPresent>().has<ConditionalOp>()) {
      return markAllAnalysesPreserved();
    }
    const FailureOr<ComputationGraph> &graph = getAnalysis<ModuleCalls>().graph;
    if (failed(graph)) {
      return signalPassFailure();
    }
    for (ComputationOp computation : graph->postOrder()) {
      for (ConditionalOp conditional :
           llvm::to_vector(computation.getBody().front().getOps<ConditionalOp>())) {
        simplify(sinkSlices(conditional, *graph), *graph);
      }
    }
  }

private:
  /// The cost of computing the branch unconditionally; nothing if that is not allowed.
  static std::optional<int64_t> workOf(ComputationOp branch) {
    int64_t work = 0;
    for (Operation &op : branch.getBody().front().without_terminator()) {
      bool moves = isa<BroadcastOp, ReshapeOp, SliceOp, TransposeOp, IotaOp, DynamicSliceOp,
                       ReverseOp, BitcastOp>(op);
      if (isa<ConstantOp>(op)) {
        continue;
      }
      if (!moves && !isElementwiseOp(&op)) {
        return std::nullopt;
      }
      bool expensive = isExpensiveElementwise(&op);
      work += elementsOf(op.getResult(0)) * (expensive ? 8 : 1) + (expensive ? kExpensiveOp : 0);
    }
    for (Value result : branch.getReturn()->getOperands()) {
      work += elementsOf(result);
    }
    return work;
  }

  static SmallVector<ComputationOp> branchesOf(ConditionalOp op, const ComputationGraph &graph) {
    return llvm::map_to_vector(op.getBranchComputations(), [&](Attribute name) {
      return graph.lookup(cast<FlatSymbolRefAttr>(name));
    });
  }

  /// The slices that read a result, if only slices of at most half of its elements read it; else
  /// none.
  static SmallVector<SliceOp> onlySlices(Value result) {
    SmallVector<SliceOp> slices;
    int64_t elements = 0;
    for (Operation *user : result.getUsers()) {
      auto slice = dyn_cast<SliceOp>(user);
      if (!slice || slice->getBlock() != result.getParentBlock()) {
        return {};
      }
      slices.push_back(slice);
      elements += elementsOf(slice.getResult());
    }
    if (elements > elementsOf(result) / 2) {
      return {};
    }
    // In text order, because the order of a value's users is arbitrary.
    llvm::sort(slices, [](SliceOp a, SliceOp b) { return a->isBeforeInBlock(b); });
    return slices;
  }

  /// Moves slices into the branches for results of which only slices are used. Returns the
  /// conditional that replaces `op`, or `op`.
  static ConditionalOp sinkSlices(ConditionalOp op, const ComputationGraph &graph) {
    SmallVector<ComputationOp> branches = branchesOf(op, graph);
    bool shared =
        llvm::any_of(branches, [&](ComputationOp branch) { return graph.uses(branch) != 1; });
    SmallVector<SmallVector<SliceOp>> slices =
        llvm::map_to_vector(op->getResults(), [](Value result) { return onlySlices(result); });
    if (shared || llvm::all_of(slices, [](auto &ofResult) { return ofResult.empty(); })) {
      return op;
    }
    for (ComputationOp branch : branches) {
      Operation *root = branch.getReturn();
      OpBuilder builder(root);
      SmallVector<Value> operands;
      for (auto [value, ofResult] : llvm::zip(root->getOperands(), slices)) {
        if (ofResult.empty()) {
          operands.push_back(value);
        }
        for (SliceOp slice : ofResult) {
          Operation *inside = builder.clone(*slice);
          inside->setOperand(0, value);
          operands.push_back(inside->getResult(0));
        }
      }
      root->setOperands(operands);
      updateFunctionType(branch);
    }
    OperationState state(op.getLoc(), op->getName());
    state.attributes = op->getAttrs();
    state.addOperands(op->getOperands());
    state.addTypes(branches.front().getReturn()->getOperandTypes());
    Operation *sliced = OpBuilder(op).create(state);
    unsigned next = 0;
    for (auto [result, ofResult] : llvm::zip(op->getResults(), slices)) {
      if (ofResult.empty()) {
        result.replaceAllUsesWith(sliced->getResult(next++));
      }
      for (SliceOp slice : ofResult) {
        slice.getResult().replaceAllUsesWith(sliced->getResult(next++));
        slice.erase();
      }
    }
    op.erase();
    return cast<ConditionalOp>(sliced);
  }

  static void simplify(ConditionalOp op, const ComputationGraph &graph) {
    SmallVector<ComputationOp> branches = branchesOf(op, graph);
    std::optional<ArrayRef<int64_t>> counts = op.getBranchOperandCounts();
    if (!counts || counts->size() != branches.size() || branches.empty()) {
      return;
    }
    int64_t last = branches.size() - 1;
    bool byPred = elementTypeOf(op.getSelector()).isSignlessInteger(1);
    std::optional<int64_t> chosen = constantInteger(op.getSelector());
    if (chosen) {
      // The branches of a pred selector are {true, false}.
      chosen = byPred ? (*chosen ? 0 : 1) : (*chosen < 0 || *chosen > last ? last : *chosen);
    } else if (last == 0) {
      chosen = 0;
    }
    OpBuilder builder(op);
    auto inlineBranch = [&](int64_t i) {
      int64_t first = 0;
      for (int64_t count : counts->take_front(i)) {
        first += count;
      }
      return inlineCopy(builder, branches[i], op.getInputs().slice(first, (*counts)[i]));
    };
    SmallVector<Value> results;
    if (chosen) {
      results = inlineBranch(*chosen);
    } else {
      int64_t work = 0;
      for (ComputationOp branch : branches) {
        std::optional<int64_t> own = workOf(branch);
        if (!own) {
          return;
        }
        work += *own;
      }
      if (work > kMaxSelectedWork) {
        return;
      }
      HloBuilder b(builder, op.getLoc());
      results = inlineBranch(last);
      for (int64_t i = last - 1; i >= 0; --i) {
        Value pred = op.getSelector();
        if (!byPred) {
          pred = b.compare(pred, b.scalar(elementTypeOf(pred), i), "EQ");
        }
        for (auto [result, value] : llvm::zip(results, inlineBranch(i))) {
          result = b.select(b.broadcastLike(pred, value), value, result);
        }
      }
    }
    op->replaceAllUsesWith(results);
    op.erase();
  }
};

} // namespace

std::unique_ptr<Pass> hlo::createConditionalSimplifierPass() {
  return std::make_unique<ConditionalSimplifierPass>();
}
