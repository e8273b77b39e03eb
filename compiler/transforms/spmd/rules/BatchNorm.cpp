//===- BatchNorm.cpp - Batch normalization -----------------------------------===//
//
// Features are independent of each other, and inference is element-wise. Training and gradient take
// sums over all other dimensions; where those are split, the op becomes the arithmetic of
// BatchNormExpander.cpp with sums over the shards, masked, and all-reduces:
//
//   training   mean = sum(x) / n, var = sum((x - mean)^2) / n
//   gradient   t = sum(dy * (x - mean)), doffset = sum(dy)
//
// Types narrower than f32 are computed and sent in f32.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/spmd/rules/Other.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

namespace {

int64_t featureOf(Operation *op) {
  return op->getAttrOfType<IntegerAttr>("feature_index").getInt();
}

/// Arrays of the operand's rank share all dimensions, the others are one per feature.
Rule batchNormRule(Operation *op) {
  Rule rule = Rule::of(op);
  int64_t feature = featureOf(op);
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
  bool hasSums = !isa<BatchNormInferenceOp>(op);
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (size <= 1) {
      continue;
    }
    bool isFeature = static_cast<int64_t>(dim) == feature;
    unsigned factor =
        rule.addFactor(size, hasSums && !isFeature ? FactorKind::Special : FactorKind::Pass);
    auto give = [&](DimFactors &dims, Value value, bool isOperand) {
      if (isOperand) {
        dims[dim] = {factor};
      } else if (isFeature && rankOf(value) == 1) {
        dims[0] = {factor};
      }
    };
    bool isGradient = isa<BatchNormGradOp>(op);
    for (auto [n, operand] : llvm::enumerate(op->getOperands())) {
      give(rule.operands[n], operand, n == 0 || (isGradient && n == 4));
    }
    for (auto [n, result] : llvm::enumerate(op->getResults())) {
      give(rule.results[n], result, n == 0);
    }
  }
  return rule;
}

/// The arithmetic on shards.
struct BatchNorm {
  Site &site;
  Emitter &e;
  HloBuilder b;
  int64_t feature;
  Sharding sharding;
  Type compute;
  AxisList summed; ///< the axes of all dimensions but the features

  explicit BatchNorm(Site &site)
      : site(site), e(site.e), b(site.e.b()), feature(featureOf(site.op)),
        sharding(site.operandSharding(0)) {
    Type element = elementTypeOf(site.operands[0]);
    compute = element.getIntOrFloatBitWidth() < 32 ? Type(b.b.getF32Type()) : element;
    for (auto [dim, axes] : llvm::enumerate(sharding.dims)) {
      if (static_cast<int64_t>(dim) != feature) {
        llvm::append_range(summed, axes);
      }
    }
  }

  Value operand(unsigned i) { return b.convert(site.operands[i], compute); }
  Value spread(Value perFeature) {
    return b.broadcast(perFeature, shapeOf(site.operands[0]), {feature});
  }
  Value perFeature(double value) {
    return b.splat(HloBuilder::array({shapeOf(site.operands[0])[feature]}, compute), value);
  }
  /// The sums over all elements of a feature.
  Value sum(Value value) {
    SmallVector<int64_t> dimensions;
    for (auto [dim, axes] : llvm::enumerate(sharding.dims)) {
      if (static_cast<int64_t>(dim) != feature) {
        dimensions.push_back(dim);
        value =
            e.maskPadding(value, dim, axes, site.operandType(0).getDimSize(dim), e.zero(compute));
      }
    }
    FlatSymbolRefAttr add = e.sumComputation(SumKind::Add, compute);
    auto reduce = ReduceOp::create(
        b.b, b.loc, TypeRange(HloBuilder::array({shapeOf(value)[feature]}, compute)),
        ValueRange{value, e.zero(compute)}, b.b.getDenseI64ArrayAttr(dimensions), add);
    return e.allReduce(reduce.getResult(0), summed, add);
  }
  /// The number of elements of a feature.
  Value elements() {
    double n = 1;
    for (auto [dim, size] : llvm::enumerate(site.operandType(0).getShape())) {
      n *= static_cast<int64_t>(dim) == feature ? 1 : size;
    }
    return perFeature(n);
  }
  /// Epsilon is an f32 number, whatever the type of the operands.
  Value epsilon() {
    return perFeature(static_cast<float>(
        site.op->getAttrOfType<FloatAttr>("epsilon").getValue().convertToDouble()));
  }
  FailureOr<SmallVector<Value>> results(std::initializer_list<Value> values) {
    SmallVector<Value> converted;
    for (auto [n, value] : llvm::enumerate(values)) {
      converted.push_back(b.convert(value, site.resultType(n).getElementType()));
    }
    return converted;
  }
};

FailureOr<SmallVector<Value>> emitTraining(Site &site) {
  BatchNorm norm(site);
  HloBuilder &b = norm.b;
  if (norm.summed.empty()) {
    return SmallVector<Value>(site.clone()->getResults());
  }
  Value x = norm.operand(0), n = norm.elements();
  Value mean = b.div(norm.sum(x), n);
  Value centered = b.sub(x, norm.spread(mean));
  Value variance = b.div(norm.sum(b.mul(centered, centered)), n);
  Value deviation = b.unary<RsqrtOp>(b.add(variance, norm.epsilon()));
  Value normal = b.mul(centered, norm.spread(deviation));
  Value scaled = b.mul(normal, norm.spread(norm.operand(1)));
  return norm.results({b.add(scaled, norm.spread(norm.operand(2))), mean, variance});
}

FailureOr<SmallVector<Value>> emitGradient(Site &site) {
  BatchNorm norm(site);
  HloBuilder &b = norm.b;
  if (norm.summed.empty()) {
    return SmallVector<Value>(site.clone()->getResults());
  }
  Value scale = norm.operand(1), variance = norm.operand(3), dy = norm.operand(4);
  Value centered = b.sub(norm.operand(0), norm.spread(norm.operand(2)));
  Value shifted = b.add(variance, norm.epsilon()), s = b.unary<RsqrtOp>(shifted);
  Value t = norm.sum(b.mul(dy, centered)), gradOffset = norm.sum(dy), n = norm.elements();
  Value inner = b.sub(b.sub(b.mul(norm.spread(n), dy), norm.spread(gradOffset)),
                      b.mul(centered, norm.spread(b.div(t, shifted))));
  Value factor = b.div(b.mul(scale, s), n);
  return norm.results({b.mul(norm.spread(factor), inner), b.mul(t, s), gradOffset});
}

/// Two all-reduces of one number per feature.
int64_t batchNormBytes(Operation *op, const Rule &rule, const FactorAxes &axes, const Mesh &mesh) {
  Sharding sharding = shardingOf(rule.operands[0], axes);
  int64_t feature = featureOf(op), parts = 1;
  for (auto [dim, list] : llvm::enumerate(sharding.dims)) {
    parts *= static_cast<int64_t>(dim) == feature ? 1 : mesh.count(list);
  }
  int64_t features =
      shardSize(shapeOf(op->getOperand(0))[feature], mesh.count(sharding.dims[feature]));
  int64_t width = std::max<int64_t>(4, elementBytes(elementTypeOf(op->getOperand(0))));
  return 2 * 2 * (parts - 1) * features * width / parts;
}

} // namespace

void hlo::spmd::registerBatchNorm(PartitionerTable &table) {
  table["hlo.batch_norm_inference"].rule = batchNormRule;
  table["hlo.batch_norm_training"] = {
      .rule = batchNormRule, .emit = emitTraining, .bytes = batchNormBytes};
  table["hlo.batch_norm_grad"] = {
      .rule = batchNormRule, .emit = emitGradient, .bytes = batchNormBytes};
}
