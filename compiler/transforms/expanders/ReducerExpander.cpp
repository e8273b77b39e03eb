//===- ReducerExpander.cpp - Computations as a map and a single op --------===//
//
//   reduce(x), to_apply = (a, b) -> max(a, |b|)        ->   reduce(|x|), to_apply = max
//   reduce(x, y), (a, c, b, d) -> (a + b, c ^ d)       ->   reduce(x) by add, reduce(y) by xor
//   scatter(x, at, u), (a, b) -> a - b                 ->   scatter(x, at, -u) by add
//
// If every result of a computation is op(its own accumulator, h(elements)) with an associative op,
// h is computed in advance, as an array, and each result is reduced separately. In the order of the
// text this gives the same result; as a single op the reduction may be done in any order, in lanes
// and parts. Sums and products of narrow floats keep their h, because their computation rounds each
// step.
//
// Integer sums of which only low bits are used are computed in narrower integers.
//
// Other computations that may be applied in any order are marked.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Reduction.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/expanders/OpExpander.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace hlo;

namespace {

/// op(accumulator, term); with `negated`: accumulator - term.
struct Step {
  Operation *op;
  Value term;
  bool negated;
};

/// Collects the ops that compute v, if they are element-wise ops of elements only (the second half
/// of the arguments); else false.
bool collectTerm(Value v, unsigned count, llvm::SetVector<Operation *> &ops) {
  if (auto argument = dyn_cast<BlockArgument>(v)) {
    return argument.getArgNumber() >= count;
  }
  Operation *op = v.getDefiningOp();
  if (ops.contains(op)) {
    return true;
  }
  bool known = isElementwiseOp(op) || isa<ConstantOp>(op);
  if (!known ||
      !llvm::all_of(op->getOperands(), [&](Value from) { return collectTerm(from, count, ops); })) {
    return false;
  }
  ops.insert(op);
  return true;
}

std::optional<Step> stepOf(Value result, unsigned n, unsigned count) {
  Operation *op = result.getDefiningOp();
  if (!isa_and_nonnull<AddOp, MultiplyOp, MaximumOp, MinimumOp, AndOp, OrOp, XorOp, SubtractOp>(
          op)) {
    return std::nullopt;
  }
  auto isOwn = [&](Value v) {
    auto argument = dyn_cast<BlockArgument>(v);
    return argument && argument.getArgNumber() == n;
  };
  bool negated = isa<SubtractOp>(op);
  unsigned own = isOwn(op->getOperand(0)) ? 0 : 1;
  if (!isOwn(op->getOperand(own)) || (negated && own == 1)) {
    return std::nullopt;
  }
  Value term = op->getOperand(1 - own);
  llvm::SetVector<Operation *> ops;
  if (!collectTerm(term, count, ops)) {
    return std::nullopt;
  }
  Type element = elementTypeOf(result);
  if (isa<ComplexType>(element) && !isa<AddOp, SubtractOp>(op)) {
    return std::nullopt;
  }
  auto real = dyn_cast<FloatType>(element);
  bool rounds = real && real.getWidth() < 32 && isa<AddOp, MultiplyOp, SubtractOp>(op);
  if (rounds && (negated || !isa<BlockArgument>(term))) {
    return std::nullopt;
  }
  return Step{op, term, negated};
}

/// Which operands of an op are its arrays of elements.
struct Reduction {
  unsigned count;         ///< number of arrays
  unsigned firstElements; ///< operand number of the first array of elements
};
std::optional<Reduction> reductionOf(Operation *op) {
  unsigned operands = op->getNumOperands();
  if (isa<ReduceOp, ReduceWindowOp>(op)) {
    return Reduction{operands / 2, 0};
  }
  if (isa<ScatterOp>(op)) {
    return Reduction{operands / 2, operands / 2 + 1};
  }
  return std::nullopt;
}

class ReducerExpanderPass : public PassWrapper<ReducerExpanderPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReducerExpanderPass)
  StringRef getArgument() const final { return "hlo-reducer-expander"; }
  StringRef getDescription() const final {
    return "Split reductions into element-wise ops and an associative op";
  }

  void runOnOperation() final {
    if (!getAnalysis<OpsPresent>().has<ReduceOp, ReduceWindowOp, ScatterOp>()) {
      return markAllAnalysesPreserved();
    }
    SymbolTable symbols(getOperation());
    ScalarComputations scalars(getOperation());
    SmallVector<Operation *> all;
    getOperation().walk([&](Operation *op) {
      if (reductionOf(op)) {
        all.push_back(op);
      }
    });
    for (Operation *op : all) {
      op = narrow(op, symbols, scalars);
      expand(op, symbols, scalars);
    }
    markReducers();
  }

private:
  /// Marks the remaining computations that may be applied in any order, so that this is decided
  /// once.
  void markReducers() {
    SymbolTable symbols(getOperation());
    DenseSet<Operation *> seen;
    getOperation().walk([&](ReduceOp op) {
      auto computation = symbols.lookup<ComputationOp>(op.getToApply());
      bool isKnown = computation && associativeOp(computation) &&
                     !isa<ComplexType>(elementTypeOf(op->getResult(0)));
      if (computation && !isKnown && seen.insert(computation).second && isAnyOrder(computation)) {
        computation->setAttr(kAnyOrder, UnitAttr::get(&getContext()));
      }
    });
  }

  /// Computes a sum of converted integers in the integers' own type if only as many bits of it are
  /// used: a u8 of a sum of u8 in u32 (jnp.packbits). Returns the op that replaces `op`.
  static Operation *narrow(Operation *op, SymbolTable &symbols, ScalarComputations &scalars) {
    auto reduce = dyn_cast<ReduceOp>(op);
    if (!reduce || op->getNumResults() != 1 || !op->getResult(0).hasOneUse()) {
      return op;
    }
    auto outer = dyn_cast<ConvertOp>(*op->getResult(0).user_begin());
    auto inner = reduce.getInputs()[0].getDefiningOp<ConvertOp>();
    auto computation = symbols.lookup<ComputationOp>(reduce.getToApply());
    Operation *combine = computation ? associativeOp(computation) : nullptr;
    if (!outer || !inner || !isa_and_nonnull<AddOp, MultiplyOp, AndOp, OrOp, XorOp>(combine)) {
      return op;
    }
    auto from = dyn_cast<IntegerType>(elementTypeOf(inner.getOperand()));
    auto wide = dyn_cast<IntegerType>(elementTypeOf(op->getResult(0)));
    auto to = dyn_cast<IntegerType>(elementTypeOf(outer.getResult()));
    if (!from || !wide || !to || to.isSignless() || wide.isSignless() || to.getWidth() < 8 ||
        to.getWidth() >= wide.getWidth() || from.getWidth() > to.getWidth()) {
      return op;
    }
    OpBuilder builder(op);
    HloBuilder b(builder, op->getLoc());
    OperationState state(op->getLoc(), op->getName(),
                         {b.convert(inner.getOperand(), to), b.convert(reduce.getInputs()[1], to)},
                         outer.getType(), op->getAttrs());
    Operation *sum = builder.create(state);
    sum->setAttr("to_apply", scalars.like(combine->getName().getStringRef(), to));
    outer.getResult().replaceAllUsesWith(sum->getResult(0));
    outer.erase();
    op->erase();
    return sum;
  }

  static void expand(Operation *op, SymbolTable &symbols, ScalarComputations &scalars) {
    auto [count, firstElements] = *reductionOf(op);
    auto computation =
        symbols.lookup<ComputationOp>(op->getAttrOfType<FlatSymbolRefAttr>("to_apply").getValue());
    if (!computation || computation.getNumArguments() != 2 * count ||
        computation.getReturn()->getNumOperands() != count || op->getNumResults() != count ||
        (count == 1 && associativeOp(computation))) {
      return;
    }
    SmallVector<Step> steps;
    for (unsigned n = 0; n < count; ++n) {
      Value result = computation.getReturn()->getOperand(n);
      std::optional<Step> step = stepOf(result, n, count);
      if (!step || elementTypeOf(result) != elementTypeOf(op->getResult(n))) {
        return;
      }
      steps.push_back(*step);
    }
    OpBuilder builder(op);
    HloBuilder b(builder, op->getLoc());
    // Applies h, the element part of the computation, to arrays.
    ArrayRef<int64_t> shape = shapeOf(op->getOperand(firstElements));
    IRMapping mapping;
    for (unsigned n = 0; n < count; ++n) {
      Value argument = computation.getArgument(count + n);
      mapping.map(argument, b.convert(op->getOperand(firstElements + n), elementTypeOf(argument)));
    }
    for (unsigned n = 0; n < count; ++n) {
      auto [combine, term, negated] = steps[n];
      llvm::SetVector<Operation *> ops;
      collectTerm(term, count, ops);
      for (Operation *from : ops) {
        if (mapping.contains(from->getResult(0))) {
          continue;
        }
        Operation *copy = builder.clone(*from, mapping);
        if (isa<ConstantOp>(from)) {
          mapping.map(from->getResult(0), b.broadcastScalar(copy->getResult(0), shape));
          continue;
        }
        copy->getResult(0).setType(HloBuilder::array(shape, elementTypeOf(copy->getResult(0))));
      }
      Value elements = mapping.lookup(term);
      elements = negated ? b.unary<NegateOp>(elements) : elements;
      // The same op for one array.
      SmallVector<Value> operands;
      for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
        bool isElements = i >= firstElements && i < firstElements + count;
        bool isShared = isa<ScatterOp>(op) && i == count; // the indices
        if (isElements ? i == firstElements + n
                       : isShared || i % (count + isa<ScatterOp>(op)) == n) {
          operands.push_back(isElements ? elements : operand);
        }
      }
      OperationState state(op->getLoc(), op->getName(), operands, op->getResult(n).getType(),
                           op->getAttrs());
      Operation *single = builder.create(state);
      single->setAttr("to_apply", scalars.like(negated ? AddOp::getOperationName()
                                                       : combine->getName().getStringRef(),
                                               elementTypeOf(op->getResult(n))));
      op->getResult(n).replaceAllUsesWith(single->getResult(0));
    }
    op->erase();
  }
};

} // namespace

std::unique_ptr<Pass> hlo::createReducerExpanderPass() {
  return std::make_unique<ReducerExpanderPass>();
}
