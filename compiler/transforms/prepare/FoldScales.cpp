//===- FoldScales.cpp - hlo-fold-scales: scales go into weights -----------===//
//
// In: a canonical module with immutable leaves. Out: if the result of a dot or convolution with an
// immutable operand is scaled and shifted by immutable values that vary only along a dimension of
// that operand (output features), a scaled operand and one shift remain:
//
//   (conv(x, w) + b - mean) * rsqrt(var + eps) * gamma + beta   =>   conv(x, w * s) + t
//   s = rsqrt(var + eps) * gamma,  t = (b - mean) * s + beta
//
// Rounding changes: the products w * s are rounded once, where results were rounded after each
// step. The user of --immutable-params accepts that. It is done only in f32 and f64, where the
// difference is about that of another order of summation.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Prepared.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/prepare/Immutable.h"
#include "compiler/transforms/prepare/Prepare.h"
#include "dialect/hlo/Builder.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace hlo;

/// Largest operand that is copied to save an operation per element of the result.
static constexpr int64_t mostOperandBytes = 64 << 20;

namespace {
/// An immutable operand of a dot or convolution, and the dimension of the result that only it has.
struct Weights {
  unsigned operand;
  int64_t dimension;       ///< in the operand
  int64_t resultDimension; ///< in the result
};

/// The ops after the hero as r * scale + shift, with r the hero's result. Null: 1 and 0.
struct Affine {
  Value scale, shift;
  SmallVector<Operation *> ops;
};

class Folder {
public:
  Folder(ModuleOp module, const ComputationGraph &graph) : immutable(graph, module) {}
  void run();

private:
  std::optional<Weights> weightsOf(Operation *hero);
  Value perFeature(Value value, int64_t dimension, OpBuilder &b);
  bool extend(Affine &affine, Value at, Operation *user, int64_t dimension, OpBuilder &b);
  void fold(Operation *hero, Weights weights);

  ImmutableValues immutable;
};
} // namespace

/// The only dimension that is in none of the lists; -1 if there are none or several.
static int64_t onlyFree(int64_t rank, ArrayRef<int64_t> batch, ArrayRef<int64_t> contracting) {
  int64_t free = -1;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contracting, dim)) {
      if (free >= 0) {
        return -1;
      }
      free = dim;
    }
  }
  return free;
}

std::optional<Weights> Folder::weightsOf(Operation *hero) {
  Type element = elementTypeOf(hero->getResult(0));
  if (!element.isF32() && !element.isF64()) {
    return std::nullopt;
  }
  auto fits = [&](unsigned operand) {
    return immutable.contains(hero->getOperand(operand)) &&
           !immutable.contains(hero->getOperand(1 - operand)) &&
           elementTypeOf(hero->getOperand(operand)) == element &&
           bytesOf(hero->getOperand(operand)) <= mostOperandBytes;
  };
  if (auto conv = dyn_cast<ConvolutionOp>(hero)) {
    ConvDimsAttr dims = conv.getDimLabels();
    if (!fits(1)) {
      return std::nullopt;
    }
    return Weights{1, dims.getKernelOutputFeature(), dims.getOutputFeature()};
  }
  auto dot = dyn_cast<DotOp>(hero);
  if (!dot) {
    return std::nullopt;
  }
  auto list = [](std::optional<ArrayRef<int64_t>> dims) {
    return dims.value_or(ArrayRef<int64_t>());
  };
  int64_t rank = rankOf(dot.getResult());
  int64_t rhs = onlyFree(rankOf(dot.getRhs()), list(dot.getRhsBatchDims()),
                         list(dot.getRhsContractingDims()));
  if (rhs >= 0 && fits(1)) {
    return Weights{1, rhs, rank - 1};
  }
  int64_t lhs = onlyFree(rankOf(dot.getLhs()), list(dot.getLhsBatchDims()),
                         list(dot.getLhsContractingDims()));
  if (lhs >= 0 && fits(0)) {
    return Weights{0, lhs, static_cast<int64_t>(list(dot.getLhsBatchDims()).size())};
  }
  return std::nullopt;
}

/// An immutable value that varies only along `dimension`, as an array of that dimension; else null.
Value Folder::perFeature(Value value, int64_t dimension, OpBuilder &builder) {
  if (!immutable.contains(value)) {
    return {};
  }
  HloBuilder b(builder, value.getLoc());
  int64_t size = shapeOf(value)[dimension];
  Value source = value;
  if (auto constant = value.getDefiningOp<ConstantOp>()) {
    auto literal = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (literal && literal.isSplat()) {
      return b.constant(literal.resizeSplat(HloBuilder::array({size}, elementTypeOf(value))));
    }
  }
  if (auto broadcast = value.getDefiningOp<BroadcastOp>()) {
    source = broadcast.getOperand();
    for (auto [i, dim] : llvm::enumerate(broadcast.getDimensions())) {
      if (dim != dimension && shapeOf(source)[i] != 1) {
        return {};
      }
    }
    if (elementsOf(source) == 1) {
      return b.broadcastScalar(b.reshape(source, {}), {size});
    }
  } else if (elementsOf(value) != size) {
    return {};
  }
  // Versions of the program for some sizes share what they compute in the same way.
  while (auto reshape = source.getDefiningOp<ReshapeOp>()) {
    source = reshape.getOperand();
  }
  return b.reshape(source, {size});
}

/// Adds one more op to the form r * scale + shift; false if that is not possible.
bool Folder::extend(Affine &affine, Value at, Operation *user, int64_t dimension,
                    OpBuilder &builder) {
  HloBuilder b(builder, user->getLoc());
  auto negated = [&](Value value) { return b.unary<NegateOp>(value); };
  if (isa<NegateOp>(user)) {
    Value one = b.splat(HloBuilder::array({shapeOf(at)[dimension]}, elementTypeOf(at)), -1.0);
    affine.scale = affine.scale ? negated(affine.scale) : one;
    affine.shift = affine.shift ? negated(affine.shift) : Value();
    return true;
  }
  if (!isa<AddOp, SubtractOp, MultiplyOp, DivideOp>(user)) {
    return false;
  }
  bool isFirst = user->getOperand(0) == at;
  Value other = perFeature(user->getOperand(isFirst ? 1 : 0), dimension, builder);
  if (!other || (isa<DivideOp>(user) && !isFirst)) {
    return false;
  }
  if (isa<MultiplyOp, DivideOp>(user)) {
    auto times = [&](Value value) {
      return isa<MultiplyOp>(user) ? b.mul(value, other) : b.div(value, other);
    };
    Value one = b.splat(HloBuilder::type(other), 1.0);
    affine.scale = affine.scale ? times(affine.scale) : isa<MultiplyOp>(user) ? other : times(one);
    affine.shift = affine.shift ? times(affine.shift) : Value();
    return true;
  }
  if (isa<SubtractOp>(user) && isFirst) {
    other = negated(other);
  } else if (isa<SubtractOp>(user)) {
    Value one = b.splat(HloBuilder::type(other), -1.0);
    affine.scale = affine.scale ? negated(affine.scale) : one;
    affine.shift = affine.shift ? negated(affine.shift) : Value();
  }
  affine.shift = affine.shift ? b.add(affine.shift, other) : other;
  return true;
}

void Folder::fold(Operation *hero, Weights weights) {
  Affine affine;
  Value at = hero->getResult(0);
  // New ops are inserted before the hero's first user. Their immutable operands are moved before
  // the hero first, so that they are computed by then.
  OpBuilder b(hero->getContext());
  SmallVector<Value> vectors;
  while (at.hasOneUse()) {
    Operation *user = *at.user_begin();
    b.setInsertionPoint(user);
    if (user->getNumResults() != 1 || !extend(affine, at, user, weights.resultDimension, b)) {
      break;
    }
    affine.ops.push_back(user);
    at = user->getResult(0);
  }
  if (!affine.scale || affine.ops.size() < 1) {
    return;
  }
  // The hero moves to the end of the chain.
  b.setInsertionPointAfter(affine.ops.back());
  HloBuilder h(b, hero->getLoc());
  Value operand = hero->getOperand(weights.operand);
  Value scaled = h.mul(operand, h.broadcast(affine.scale, shapeOf(operand), {weights.dimension}));
  IRMapping mapping;
  mapping.map(operand, scaled);
  Operation *copy = b.clone(*hero, mapping);
  Value result = copy->getResult(0);
  if (affine.shift) {
    HloBuilder last(b, at.getLoc());
    result =
        last.add(result, last.broadcast(affine.shift, shapeOf(result), {weights.resultDimension}));
  }
  at.replaceAllUsesWith(result);
  for (Operation *op : llvm::reverse(affine.ops)) {
    op->erase();
  }
  hero->erase();
}

void Folder::run() {
  SmallVector<Operation *> heroes;
  for (ComputationOp program : immutable.programs()) {
    for (Operation &op : program.getBody().front()) {
      if (isa<DotOp, ConvolutionOp>(op)) {
        heroes.push_back(&op);
      }
    }
  }
  for (Operation *hero : heroes) {
    if (std::optional<Weights> weights = weightsOf(hero)) {
      fold(hero, *weights);
    }
  }
  // Removes the ops made for chains that did not fold, and the ops of folded chains.
  immutable.removeDead();
}

namespace {
class FoldScalesPass : public PassWrapper<FoldScalesPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FoldScalesPass)
  StringRef getArgument() const final { return "hlo-fold-scales"; }
  StringRef getDescription() const final {
    return "Fold scales and shifts behind dots and convolutions into immutable operands";
  }

  void runOnOperation() final {
    // Other roundings, which only users of --immutable-params accept.
    if (!declaresImmutable(getOperation())) {
      return;
    }
    if (failed(changeImmutable(getOperation(), [&](const ComputationGraph &graph) {
          Folder(getOperation(), graph).run();
        }))) {
      signalPassFailure();
    }
  }
};
} // namespace

std::unique_ptr<Pass> hlo::createFoldScalesPass() { return std::make_unique<FoldScalesPass>(); }
