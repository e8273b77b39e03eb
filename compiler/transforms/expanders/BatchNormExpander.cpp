//===- BatchNormExpander.cpp - Batch normalization as arithmetic ----------===//
//
// With C the feature dimension, n the elements per feature, sums over all
// dimensions but C, and per-feature arrays broadcast along C:
//
//   training   mean = sum(x) / n, var = sum((x - mean)^2) / n, and inference's y
//   inference  y = (x - mean) * rsqrt(var + eps) * scale + offset
//   gradient   s = rsqrt(var + eps), d = x - mean, t = sum(dy * d)
//              dscale = t * s, doffset = sum(dy)
//              dx = scale * s / n * (n * dy - doffset - d * t / (var + eps))
//
// Types narrower than f32 are computed in f32, and each result rounded once.
// The variance takes a second pass over x instead of E[x^2] - E[x]^2, which
// cancels where the mean is large.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/transforms/expanders/OpExpander.h"

using namespace mlir;
using namespace hlo;

namespace {

/// Epsilon is an f32 number, whatever the type of the operands.
template <typename Op> double epsilonOf(Op op) {
  return static_cast<float>(op.getEpsilon().convertToDouble());
}

/// Shared by the three ops: types, and per-feature values.
struct BatchNorm {
  HloBuilder &b;
  ScalarComputations &scalars;
  ArrayRef<int64_t> shape;
  int64_t feature;
  Value count; ///< null: taken from the shape
  Type compute;

  BatchNorm(HloBuilder &b, ScalarComputations &scalars, Value operand, int64_t feature, Value count)
      : b(b), scalars(scalars), shape(HloBuilder::type(operand).getShape()), feature(feature),
        count(count) {
    Type element = HloBuilder::type(operand).getElementType();
    compute = element.getIntOrFloatBitWidth() < 32 ? Type(b.b.getF32Type()) : element;
  }

  Value widen(Value value) { return b.convert(value, compute); }
  Value spread(Value perFeature) { return b.broadcast(perFeature, shape, {feature}); }
  Value featureConstant(double value) {
    return b.splat(HloBuilder::array({shape[feature]}, compute), value);
  }
  Value sum(Value value) {
    SmallVector<int64_t> dimensions;
    for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim) {
      if (dim != feature) {
        dimensions.push_back(dim);
      }
    }
    return ReduceOp::create(b.b, b.loc, TypeRange(HloBuilder::array({shape[feature]}, compute)),
                            ValueRange{value, b.scalar(compute, 0.0)},
                            b.b.getDenseI64ArrayAttr(dimensions), scalars.binary<AddOp>(compute))
        .getResult(0);
  }
  /// The number of elements per feature.
  Value elements() {
    if (count) {
      return b.broadcastScalar(b.convert(count, compute), {shape[feature]});
    }
    double n = 1;
    for (auto [dim, size] : llvm::enumerate(shape)) {
      n *= static_cast<int64_t>(dim) == feature ? 1 : size;
    }
    return featureConstant(n);
  }
  Value reciprocalDeviation(Value variance, double epsilon) {
    return b.unary<RsqrtOp>(b.add(variance, featureConstant(epsilon)));
  }
  Value normalize(Value x, Value scale, Value offset, Value mean, Value variance, double epsilon) {
    Value centered = b.sub(x, spread(mean));
    Value normal = b.mul(centered, spread(reciprocalDeviation(variance, epsilon)));
    return b.add(b.mul(normal, spread(scale)), spread(offset));
  }
};

/// The expansion of each kind.
struct Expansions {
  static SmallVector<Value> expand(BatchNormTrainingOp op, HloBuilder &b,
                                   ScalarComputations &scalars, Value count) {
    BatchNorm norm(b, scalars, op.getOperand(), op.getFeatureIndex(), count);
    Value x = norm.widen(op.getOperand());
    Value n = norm.elements();
    Value mean = b.div(norm.sum(x), n);
    Value centered = b.sub(x, norm.spread(mean));
    Value variance = b.div(norm.sum(b.mul(centered, centered)), n);
    Value y = norm.normalize(x, norm.widen(op.getScale()), norm.widen(op.getOffset()), mean,
                             variance, epsilonOf(op));
    return {y, mean, variance};
  }

  static SmallVector<Value> expand(BatchNormInferenceOp op, HloBuilder &b,
                                   ScalarComputations &scalars, Value count) {
    BatchNorm norm(b, scalars, op.getOperand(), op.getFeatureIndex(), count);
    return {norm.normalize(norm.widen(op.getOperand()), norm.widen(op.getScale()),
                           norm.widen(op.getOffset()), norm.widen(op.getMean()),
                           norm.widen(op.getVariance()), epsilonOf(op))};
  }

  static SmallVector<Value> expand(BatchNormGradOp op, HloBuilder &b, ScalarComputations &scalars,
                                   Value count) {
    BatchNorm norm(b, scalars, op.getOperand(), op.getFeatureIndex(), count);
    double epsilon = epsilonOf(op);
    Value dy = norm.widen(op.getGradOutput());
    Value variance = norm.widen(op.getVariance());
    Value centered = b.sub(norm.widen(op.getOperand()), norm.spread(norm.widen(op.getMean())));
    Value s = norm.reciprocalDeviation(variance, epsilon);
    Value t = norm.sum(b.mul(dy, centered));
    Value gradOffset = norm.sum(dy);
    Value gradScale = b.mul(t, s);
    Value n = norm.elements();
    Value correction = b.div(t, b.add(variance, norm.featureConstant(epsilon)));
    Value inner = b.sub(b.sub(b.mul(norm.spread(n), dy), norm.spread(gradOffset)),
                        b.mul(centered, norm.spread(correction)));
    Value factor = b.div(b.mul(norm.widen(op.getScale()), s), n);
    return {b.mul(norm.spread(factor), inner), gradScale, gradOffset};
  }
};

class BatchNormExpanderPass : public PassWrapper<BatchNormExpanderPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BatchNormExpanderPass)
  StringRef getArgument() const final { return "hlo-batch-norm-expander"; }
  StringRef getDescription() const final { return "Expand batch normalization"; }

  void runOnOperation() final {
    if (!getAnalysis<OpsPresent>()
             .has<BatchNormTrainingOp, BatchNormInferenceOp, BatchNormGradOp>()) {
      return markAllAnalysesPreserved();
    }
    ScalarComputations scalars(getOperation());
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<BatchNormTrainingOp, BatchNormInferenceOp, BatchNormGradOp>(op)) {
        ops.push_back(op);
      }
    });
    for (Operation *op : ops) {
      OpBuilder builder(op);
      HloBuilder b(builder, op->getLoc());
      op->replaceAllUsesWith(ValueRange(expandBatchNorm(op, b, scalars, Value())));
      op->erase();
    }
  }
};

} // namespace

SmallVector<Value> hlo::expandBatchNorm(Operation *op, HloBuilder &b, ScalarComputations &scalars,
                                        Value count) {
  SmallVector<Value> results =
      TypeSwitch<Operation *, SmallVector<Value>>(op)
          .Case<BatchNormTrainingOp, BatchNormInferenceOp, BatchNormGradOp>(
              [&](auto norm) { return Expansions::expand(norm, b, scalars, count); });
  for (auto [old, value] : llvm::zip(op->getResults(), results)) {
    value = b.convert(value, HloBuilder::type(old).getElementType());
  }
  return results;
}

std::unique_ptr<Pass> hlo::createBatchNormExpanderPass() {
  return std::make_unique<BatchNormExpanderPass>();
}
