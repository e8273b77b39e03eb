//===- AlgebraicSimplifier.cpp - Local rewrites to a fixed point ----------===//
//
// Runs the rules of all op families over every computation, from operands to users, until none
// applies. Rules examine only an op and its operands' ops, so a run takes time proportional to the
// ops times the rewrites of each.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/transforms/simplifiers/Simplifiers.h"
#include "compiler/transforms/simplifiers/algebraic/AlgebraicRules.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace hlo;

ComputationOp hlo::findElementwise(Operation *user, FlatSymbolRefAttr name) {
  auto computation = SymbolTable::lookupNearestSymbolFrom<ComputationOp>(user->getParentOp(), name);
  if (!computation) {
    return {};
  }
  Block &body = computation.getBody().front();
  Operation *root = body.getTerminator();
  if (root->getNumOperands() != user->getNumResults() ||
      !llvm::all_of(body.without_terminator(),
                    [](Operation &op) { return isElementwiseOp(&op) || isa<ConstantOp>(op); })) {
    return {};
  }
  for (auto [result, value] : llvm::zip(user->getResults(), root->getOperands())) {
    if (elementTypeOf(result) != elementTypeOf(value)) {
      return {};
    }
  }
  return computation;
}

SmallVector<Value> hlo::applyElementwise(HloBuilder &b, ComputationOp computation,
                                         ValueRange arguments) {
  Block &body = computation.getBody().front();
  ArrayRef<int64_t> shape = shapeOf(arguments.front());
  IRMapping mapping;
  for (auto [parameter, argument] : llvm::zip(body.getArguments(), arguments)) {
    mapping.map(parameter, b.convert(argument, elementTypeOf(parameter)));
  }
  for (Operation &op : body.without_terminator()) {
    Operation *copy = b.b.clone(op, mapping);
    copy->setLoc(b.loc);
    if (isa<ConstantOp>(op)) {
      mapping.map(op.getResult(0), b.broadcastScalar(copy->getResult(0), shape));
      continue;
    }
    for (OpResult result : copy->getResults()) {
      result.setType(RankedTensorType::get(shape, elementTypeOf(result)));
    }
  }
  return llvm::map_to_vector(body.getTerminator()->getOperands(),
                             [&](Value value) { return mapping.lookup(value); });
}

namespace {

/// Notes whether a rewriter did anything, rules that made ops in vain included.
struct ChangeNoter : RewriterBase::Listener {
  void notifyOperationInserted(Operation *, OpBuilder::InsertPoint) final { changed = true; }
  void notifyOperationModified(Operation *) final { changed = true; }
  void notifyOperationErased(Operation *) final { changed = true; }
  bool changed = false;
};

class AlgebraicSimplifierPass : public SettlingPass<AlgebraicSimplifierPass> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AlgebraicSimplifierPass)
  explicit AlgebraicSimplifierPass(const Machine &machine) : machine(machine) {}
  StringRef getArgument() const final { return "hlo-algebraic-simplifier"; }
  StringRef getDescription() const final { return "Rewrite ops by exact local rules"; }

  FailureOr<bool> change() {
    RewritePatternSet patterns(&getContext());
    populateElementwiseRules(patterns);
    populateBitRules(patterns);
    populatePackedRules(patterns);
    populateQuantizeRules(patterns);
    populateCounterRules(patterns);
    populateShapeRules(patterns);
    populateSliceRules(patterns);
    populateReduceRules(patterns);
    populateDotRules(patterns, machine);
    populateWindowRules(patterns);
    populateIndexRules(patterns);
    GreedyRewriteConfig config;
    // Other passes erase ops (hlo-dce), merge them (CSE) and fold constants; those know loops.
    config.enableFolding(false)
        .enableConstantCSE(false)
        .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled)
        .setUseTopDownTraversal(true)
        .setMaxIterations(8);
    ChangeNoter noter;
    config.setListener(&noter);
    // Stopping after the iteration limit is correct: the remaining rewrites are optional.
    (void)applyPatternsGreedily(getOperation(), std::move(patterns), config);
    return noter.changed;
  }

private:
  Machine machine;
};

} // namespace

std::unique_ptr<Pass> hlo::createAlgebraicSimplifierPass(const Machine &machine) {
  return std::make_unique<AlgebraicSimplifierPass>(machine);
}
