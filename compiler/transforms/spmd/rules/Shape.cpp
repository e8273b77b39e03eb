//===- Shape.cpp - Transposes, reshapes, bitcasts --------------------------===//
//
// The factors of a reshape are the common refinement of the two shapes in row-major order:
//
//   [6,4] -> [24]       6, 4        operand [6][4]      result [6 4]
//   [2,12] -> [6,4]     2, 3, 4     operand [2][3 4]    result [2 3][4]
//   [6,4] -> [8,3]      2, rest     operand [2 3][4]    result [2 4][3]
//
// In the last example 3 and 4 do not refine each other: 2 can be split, the rest stays whole. A
// shard of a dimension is a run of its elements, so not all axes of a dimension with several
// factors make each factor's part a run: acceptsFactors says which do. Then a shard of the result
// is a reshape of the operand's shard.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/spmd/Partitioner.h"
#include "dialect/hlo/Shapes.h"

#include <numeric>

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

static Rule transposeRule(Operation *op) {
  Rule rule = Rule::of(op);
  rule.passesThrough = true;
  auto transpose = cast<TransposeOp>(op);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(transpose.getType()).getShape();
  for (auto [to, from] : llvm::enumerate(transpose.getDimensions())) {
    if (shape[to] > 1) {
      rule.results[0][to] = rule.operands[0][from] = {rule.addFactor(shape[to])};
    }
  }
  return rule;
}

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

namespace {

/// Cuts the dimensions of a shape into factors, the most significant first.
class Cutter {
public:
  Cutter(ArrayRef<int64_t> shape, DimFactors &factors) : shape(shape), factors(factors) {}

  /// What is left of the first dimension that is not cut up; 1 at the end of the shape.
  int64_t left() {
    while (rest == 1 && next < shape.size()) {
      rest = shape[next++];
    }
    return rest;
  }
  /// Cuts a factor of this size off the dimension.
  void cut(unsigned factor, int64_t size) {
    factors[next - 1].push_back(factor);
    rest /= size;
  }

private:
  ArrayRef<int64_t> shape;
  DimFactors &factors;
  size_t next = 0;
  int64_t rest = 1;
};

} // namespace

/// Adds the factors that the dimensions `from` and `to`, whose products are equal, have in common.
static void refine(Rule &rule, ArrayRef<int64_t> from, ArrayRef<int64_t> to, DimFactors &operand,
                   DimFactors &result) {
  Cutter source(from, operand), target(to, result);
  while (source.left() != 1 && target.left() != 1) {
    int64_t a = source.left(), b = target.left(), common = std::gcd(a, b);
    if (common > 1) {
      unsigned factor = rule.addFactor(common);
      source.cut(factor, common);
      target.cut(factor, common);
      if (common == a || common == b) {
        continue;
      }
    }
    // Neither dimension ends where the other does: whole up to the next place where both end.
    int64_t sourceSize = 1, targetSize = 1;
    auto takeWhole = [&](Cutter &cutter, int64_t &size) {
      int64_t left = cutter.left();
      if (left > 1) {
        cutter.cut(rule.addFactor(left, FactorKind::Whole), left);
      }
      size *= left;
      return left > 1;
    };
    bool more = takeWhole(source, sourceSize) && takeWhole(target, targetSize);
    while (more && sourceSize != targetSize) {
      more =
          sourceSize < targetSize ? takeWhole(source, sourceSize) : takeWhole(target, targetSize);
    }
  }
}

/// Factors that share a dimension with others need the check of acceptsFactors.
static void markShared(Rule &rule) {
  for (auto *lists : {&rule.operands, &rule.results}) {
    for (const DimFactors &dims : *lists) {
      for (const FactorList &factors : dims) {
        for (unsigned factor : factors) {
          if (factors.size() > 1 && rule.factors[factor].kind == FactorKind::Pass) {
            rule.factors[factor].kind = FactorKind::Special;
          }
        }
      }
    }
  }
}

static Rule reshapeRule(Operation *op) {
  Rule rule = Rule::of(op);
  rule.passesThrough = true;
  auto operand = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (operand && result && operand.hasStaticShape() && result.hasStaticShape() &&
      operand.getNumElements() == result.getNumElements() && result.getNumElements() > 0) {
    refine(rule, operand.getShape(), result.getShape(), rule.operands[0], rule.results[0]);
    markShared(rule);
  }
  return rule;
}

/// Whether a run of elements of the dimension, as a sharding cuts it, is a run of each factor:
///
///   factors 0 .. j-1 split into single elements, j into parts, j+1 .. whole
///
/// and the cuts are at the same places. Shards past the end of the first factor hold the padding of
/// the dimension, and so may the last shard that is not past it.
static bool isRunOfEach(const FactorList &factors, const Rule &rule, const FactorAxes &axes,
                        const Mesh &mesh) {
  if (factors.size() < 2) {
    return true;
  }
  int64_t wholeSize = 1, wholeCount = 1, local = 1;
  bool isCut = false; // before the factor at hand
  for (auto [i, factor] : llvm::enumerate(factors)) {
    int64_t size = rule.factors[factor].size, count = mesh.count(axes[factor]);
    if (count > 1 && (isCut || (i > 0 && size % count != 0))) {
      return false;
    }
    isCut |= count < size;
    wholeSize *= size;
    wholeCount *= count;
    local *= shardSize(size, count);
  }
  return shardSize(wholeSize, wholeCount) == local;
}

static bool acceptsFactors(Operation *, const Rule &rule, const FactorAxes &axes,
                           const Mesh &mesh) {
  auto isRun = [&](const DimFactors &dims) {
    return llvm::all_of(
        dims, [&](const FactorList &factors) { return isRunOfEach(factors, rule, axes, mesh); });
  };
  return llvm::all_of(rule.operands, isRun) && llvm::all_of(rule.results, isRun);
}

static FailureOr<SmallVector<Value>> emitReshape(Site &site) {
  return SmallVector<Value>{
      site.e.b().reshape(site.operands[0], site.localResultType(0).getShape())};
}

//===----------------------------------------------------------------------===//
// Bitcasts
//===----------------------------------------------------------------------===//

/// A bitcast is a reshape; if the width of elements changes, one of bytes:
///
///   f32[6,2] -> f16[24]     [6,2] of 4 -> [24] of 2     6, 2, 2, 2
///
/// A factor of which an element's bytes are a part stays whole.
static Rule bitcastRule(Operation *op) {
  auto operand = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!operand || !result || operand.getNumElements() == result.getNumElements()) {
    return reshapeRule(op);
  }
  Rule rule = Rule::of(op);
  rule.passesThrough = true;
  std::optional<int64_t> from = byteSize(operand), to = byteSize(result);
  if (!from || from != to || *from == 0 || *from % operand.getNumElements() != 0 ||
      *to % result.getNumElements() != 0) {
    return rule;
  }
  auto bytesOf = [&](RankedTensorType type) {
    SmallVector<int64_t> shape(type.getShape());
    shape.push_back(*from / type.getNumElements());
    return shape;
  };
  DimFactors source(operand.getRank() + 1), target(result.getRank() + 1);
  refine(rule, bytesOf(operand), bytesOf(result), source, target);
  for (DimFactors *dims : {&source, &target}) {
    for (unsigned factor : dims->pop_back_val()) {
      rule.factors[factor].kind = FactorKind::Whole;
    }
  }
  rule.operands[0] = source;
  rule.results[0] = target;
  markShared(rule);
  return rule;
}

/// One factor per dimension but the one that a change of width adds or removes.
static Rule bitcastConvertRule(Operation *op) {
  Rule rule = Rule::of(op);
  rule.passesThrough = true;
  auto operand = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!operand || !result) {
    return rule;
  }
  for (int64_t dim = 0; dim < std::min(operand.getRank(), result.getRank()); ++dim) {
    if (result.getDimSize(dim) > 1) {
      unsigned factor = rule.addFactor(result.getDimSize(dim));
      rule.operands[0][dim] = rule.results[0][dim] = {factor};
    }
  }
  return rule;
}

static Rule dynamicReshapeRule(Operation *op) {
  Rule rule = Rule::of(op);
  rule.replicated = "the sizes of the result are known at run time only";
  return rule;
}

void hlo::spmd::registerShape(PartitionerTable &table) {
  table["hlo.transpose"].rule = transposeRule;
  table["hlo.reshape"] = {.rule = reshapeRule, .emit = emitReshape, .accepts = acceptsFactors};
  table["hlo.bitcast"] = {.rule = bitcastRule, .accepts = acceptsFactors};
  table["hlo.bitcast_convert"].rule = bitcastConvertRule;
  table["hlo.dynamic_reshape"].rule = dynamicReshapeRule;
}
