//===- ConditionalSimplifier.cpp - Conditionals that need no branch -------===//
//
//   conditional(constant, ..)          ->  the branch it selects (out of range: the last)
//   conditional with one branch        ->  that branch
//   conditional with small branches    ->  all of them, and selects of their results
//
// Small means a few cheap ops on few elements each, without loops and side
// effects: then computing all of them costs less than leaving the kernel. Inner
// conditionals come first.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Computations.h"
#include "compiler/analysis/Evaluator.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/simplifiers/Inlining.h"
#include "compiler/transforms/simplifiers/Simplifiers.h"
#include "dialect/hlo/Builder.h"

using namespace mlir;
using namespace hlo;

namespace {

/// All branches together, in element operations; a launch costs about as much.
constexpr int64_t kMaxSelectedWork = 256;

class ConditionalSimplifierPass
    : public PassWrapper<ConditionalSimplifierPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConditionalSimplifierPass)
  StringRef getArgument() const final { return "hlo-conditional-simplifier"; }
  StringRef getDescription() const final { return "Replace conditionals that need no branch"; }

  void runOnOperation() final {
    FailureOr<ComputationGraph> graph = ComputationGraph::build(getOperation());
    if (failed(graph)) {
      return signalPassFailure();
    }
    for (ComputationOp computation : graph->postOrder()) {
      for (Operation &op : llvm::make_early_inc_range(computation.getBody().front())) {
        if (auto conditional = dyn_cast<ConditionalOp>(op)) {
          simplify(conditional, *graph);
        }
      }
    }
  }

private:
  /// What computing the branch unconditionally costs; nothing if that must not be done.
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
      work += elementsOf(op.getResult(0)) * (isExpensiveElementwise(&op) ? 8 : 1);
    }
    for (Value result : branch.getReturn()->getOperands()) {
      work += elementsOf(result);
    }
    return work;
  }

  static void simplify(ConditionalOp op, const ComputationGraph &graph) {
    SmallVector<ComputationOp> branches;
    for (Attribute name : op.getBranchComputations()) {
      branches.push_back(graph.lookup(cast<FlatSymbolRefAttr>(name)));
    }
    std::optional<ArrayRef<int64_t>> counts = op.getBranchOperandCounts();
    if (!counts || counts->size() != branches.size() || branches.empty()) {
      return;
    }
    int64_t last = branches.size() - 1;
    bool byPred = elementTypeOf(op.getSelector()).isSignlessInteger(1);
    std::optional<int64_t> chosen = constantInteger(op.getSelector());
    if (chosen) {
      // branch_computations of a pred are {true, false}.
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
