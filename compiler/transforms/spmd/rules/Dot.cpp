//===- Dot.cpp - dot, ragged-dot, scaled-dot --------------------------------===//
//
// The factors of a dot are its batch, row, column and contracted dimensions. Contracted ones are
// sums: each partition multiplies its parts of both operands, and the products are added up. The
// padding of an uneven contracted dimension is masked in both operands, since 0 * NaN is NaN.
// Partial sums in 8 or fewer bits would be rounded to 2 or 3 bits of mantissa each; they are added
// up in f32.
//
// ragged-dot. With B[g] and E[g] the begin and the end of group g in the ragged dimension, the
// partition that holds elements [lo, hi) of it has the group
//
//   [clamp(lo, B[g], hi) - lo, clamp(lo, E[g], hi) - lo)
//
// The local groups are consecutive and start at 0 again, so the local op is a ragged-dot. If the
// groups are split, a partition gives the elements before its first group to that group and masks
// them, together with those behind its last group.
//
// scaled-dot. A scale with one element per operand element is split like the operand. One with an
// element per block stays whole, and each partition takes the scales of its part.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/spmd/Partitioner.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

namespace {

/// The dimension numbers of a dot-like op.
struct DotDims {
  ArrayRef<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract;

  template <typename Op> static DotDims of(Op op) {
    ArrayRef<int64_t> none;
    return {op.getLhsBatchDims().value_or(none), op.getRhsBatchDims().value_or(none),
            op.getLhsContractingDims().value_or(none), op.getRhsContractingDims().value_or(none)};
  }
  static DotDims of(Operation *op) {
    if (auto dot = dyn_cast<DotOp>(op)) {
      return of(dot);
    }
    if (auto ragged = dyn_cast<RaggedDotOp>(op)) {
      return of(ragged);
    }
    return of(cast<ScaledDotOp>(op));
  }
};

bool hasZero(Type element) { return !isa<Float8E8M0FNUType>(element); }

/// True if partial sums of the type lose too much: they are added up in f32.
bool isSummedWide(Type element) {
  auto floating = dyn_cast<FloatType>(element);
  return floating && floating.getWidth() < 16;
}

/// The kind of contracted dimensions. Two operands without a zero cannot be masked.
FactorKind contractedKind(Operation *op) {
  if (!hasZero(elementTypeOf(op->getOperand(0))) && !hasZero(elementTypeOf(op->getOperand(1)))) {
    return FactorKind::Whole;
  }
  return isSummedWide(elementTypeOf(op->getResult(0))) ? FactorKind::Special : FactorKind::Sum;
}

/// Adds a factor for a dimension that several arrays share; none for sizes that are never split.
FactorList factorOf(Rule &rule, int64_t size, FactorKind kind = FactorKind::Pass) {
  return size > 1 ? FactorList{rule.addFactor(size, kind)} : FactorList();
}

/// Adds the factors of lhs, rhs and result. Result dimensions start at `first`; `group` is a
/// dimension of rhs that is not in the result, or -1.
void addDotFactors(Rule &rule, Operation *op, int64_t first = 0, int64_t group = -1) {
  DotDims dims = DotDims::of(op);
  ArrayRef<int64_t> lhs = shapeOf(op->getOperand(0)), rhs = shapeOf(op->getOperand(1));
  DimFactors &result = rule.results[0];
  for (auto [l, r] : llvm::zip(dims.lhsBatch, dims.rhsBatch)) {
    rule.operands[0][l] = rule.operands[1][r] = result[first++] = factorOf(rule, lhs[l]);
  }
  FactorKind contracted = contractedKind(op);
  for (auto [l, r] : llvm::zip(dims.lhsContract, dims.rhsContract)) {
    rule.operands[0][l] = rule.operands[1][r] = factorOf(rule, lhs[l], contracted);
  }
  for (auto [dim, size] : llvm::enumerate(lhs)) {
    if (!llvm::is_contained(dims.lhsBatch, dim) && !llvm::is_contained(dims.lhsContract, dim)) {
      rule.operands[0][dim] = result[first++] = factorOf(rule, size);
    }
  }
  for (auto [dim, size] : llvm::enumerate(rhs)) {
    if (!llvm::is_contained(dims.rhsBatch, dim) && !llvm::is_contained(dims.rhsContract, dim) &&
        static_cast<int64_t>(dim) != group) {
      rule.operands[1][dim] = result[first++] = factorOf(rule, size);
    }
  }
}

Rule dotRule(Operation *op) {
  Rule rule = Rule::of(op);
  addDotFactors(rule, op);
  return rule;
}

//===----------------------------------------------------------------------===//
// Contracted dimensions
//===----------------------------------------------------------------------===//

/// What hides an element of an operand, if the elements it is multiplied by are hidden too.
Value neutral(Emitter &e, Type element) { return e.b().scalar(element, hasZero(element) ? 0 : 1); }

/// Masks the padding of contracted dimensions in both operands.
void maskContracted(Site &site) {
  DotDims dims = DotDims::of(site.op);
  Sharding lhs = site.operandSharding(0), rhs = site.operandSharding(1);
  auto mask = [&](unsigned operand, int64_t dim, ArrayRef<Axis> axes) {
    int64_t size = site.operandType(operand).getDimSize(dim);
    if (size % site.e.mesh.count(axes) != 0) {
      Value &value = site.operands[operand];
      value = site.e.maskPadding(value, dim, axes, size, neutral(site.e, elementTypeOf(value)));
    }
  };
  // A zero of an integer hides whatever it is multiplied by.
  bool both = !isa<IntegerType>(elementTypeOf(site.operands[0])) ||
              !isa<IntegerType>(elementTypeOf(site.operands[1]));
  bool first = both || bytesOf(site.operands[0]) <= bytesOf(site.operands[1]);
  for (auto [l, r] : llvm::zip(dims.lhsContract, dims.rhsContract)) {
    if (first) {
      mask(0, l, lhs.dims[l]);
    }
    if (both || !first) {
      mask(1, r, rhs.dims[r]);
    }
  }
}

/// The axes of all factors that are in no result and not Sum: `emit` itself adds up over them.
AxisList wideAxes(const Rule &rule, const FactorAxes &axes) {
  AxisList list;
  for (auto [n, factor] : llvm::enumerate(rule.factors)) {
    bool inResult = llvm::any_of(rule.results[0],
                                 [&](const FactorList &dim) { return llvm::is_contained(dim, n); });
    if (factor.kind == FactorKind::Special && !inResult) {
      llvm::append_range(list, axes[n]);
    }
  }
  return list;
}

/// The local op, with its sums over the axes of Special factors.
SmallVector<Value> emitProduct(Site &site) {
  Operation *op = site.clone();
  Value result = op->getResult(0);
  Type element = elementTypeOf(result);
  AxisList axes = wideAxes(site.rule, site.axes);
  if (axes.empty()) {
    return {result};
  }
  Type wide = site.e.builder.getF32Type();
  result.setType(RankedTensorType::get(shapeOf(result), wide));
  return {site.e.b().convert(site.e.allReduce(result, axes), element)};
}

int64_t productBytes(Operation *op, const Rule &rule, const FactorAxes &axes, const Mesh &mesh) {
  int64_t parts = mesh.count(wideAxes(rule, axes));
  auto type = cast<RankedTensorType>(
      shardType(op->getResult(0).getType(), shardingOf(rule.results[0], axes), mesh));
  return 2 * (parts - 1) * (type.getNumElements() * 4) / parts;
}

FailureOr<SmallVector<Value>> emitDot(Site &site) {
  maskContracted(site);
  return emitProduct(site);
}

//===----------------------------------------------------------------------===//
// Ragged dot
//===----------------------------------------------------------------------===//

/// A ragged-dot's dimensions.
struct Ragged {
  DotDims dims;
  int64_t ragged; ///< of lhs
  int64_t group;  ///< of rhs if the ragged dimension is free, else -1
  bool isBatch, isContracting;
  /// Dimensions of lhs that the group sizes have too, before the groups.
  SmallVector<int64_t> prefix;

  explicit Ragged(RaggedDotOp op) : dims(DotDims::of(op)) {
    ArrayRef<int64_t> none;
    ragged = op.getLhsRaggedDims().value_or(none)[0];
    ArrayRef<int64_t> groups = op.getRhsGroupDims().value_or(none);
    isBatch = llvm::is_contained(dims.lhsBatch, ragged);
    isContracting = llvm::is_contained(dims.lhsContract, ragged);
    group = isBatch || isContracting ? -1 : groups[0];
    if (rankOf(op.getGroupSizes()) == 1) {
      return;
    }
    prefix.assign(dims.lhsBatch.begin(), llvm::find(dims.lhsBatch, ragged));
    if (isBatch) {
      return;
    }
    if (isContracting) {
      prefix.append(dims.lhsContract.begin(), llvm::find(dims.lhsContract, ragged));
      return;
    }
    for (int64_t dim = 0; dim < ragged; ++dim) {
      if (!llvm::is_contained(dims.lhsBatch, dim) && !llvm::is_contained(dims.lhsContract, dim)) {
        prefix.push_back(dim);
      }
    }
  }
};

Rule raggedDotRule(Operation *op) {
  Rule rule = Rule::of(op);
  Ragged ragged(cast<RaggedDotOp>(op));
  addDotFactors(rule, op, ragged.isContracting ? 1 : 0, ragged.group);
  // The group sizes keep all groups: the place of a group follows from the sizes of those before.
  for (auto [to, from] : llvm::enumerate(ragged.prefix)) {
    rule.operands[2][to] = rule.operands[0][from];
  }
  int64_t groups = shapeOf(op->getOperand(2)).back();
  if (ragged.isContracting) {
    rule.results[0][0] = factorOf(rule, groups, FactorKind::Special);
  } else if (ragged.group >= 0) {
    rule.operands[1][ragged.group] = factorOf(
        rule, groups,
        isSummedWide(elementTypeOf(op->getResult(0))) ? FactorKind::Special : FactorKind::Sum);
  }
  for (unsigned factor : rule.operands[0][ragged.ragged]) {
    if (!ragged.isBatch && !ragged.isContracting) {
      rule.factors[factor].kind = FactorKind::Special;
    }
  }
  return rule;
}

/// The sums of group sizes up to each group.
Value groupEnds(Emitter &e, Value sizes) {
  HloBuilder b = e.b();
  Type index = elementTypeOf(sizes);
  int64_t last = rankOf(sizes) - 1;
  SmallVector<int64_t> pairs(shapeOf(sizes));
  pairs.push_back(pairs.back());
  RankedTensorType square = HloBuilder::array(pairs, index);
  SmallVector<int64_t> alongRows = llvm::to_vector(llvm::seq<int64_t>(0, last));
  alongRows.push_back(last + 1);
  Value upTo = b.compare(b.iota(square, last + 1), b.iota(square, last), "LE");
  Value counted = b.select(upTo, b.broadcast(sizes, pairs, alongRows), b.splat(square, 0));
  return ReduceOp::create(
             b.b, b.loc, TypeRange(sizes.getType()), ValueRange{counted, b.scalar(index, 0)},
             b.b.getDenseI64ArrayAttr({last + 1}), e.sumComputation(SumKind::Add, index))
      .getResult(0);
}

/// Replaces the group sizes by those of this partition; masks lhs where the partition has not all
/// groups.
void localizeGroups(Site &site, const Ragged &ragged, ArrayRef<Axis> raggedAxes,
                    ArrayRef<Axis> groupAxes) {
  Emitter &e = site.e;
  HloBuilder b = e.b();
  Value sizes = site.operands[2];
  int64_t last = rankOf(sizes) - 1, groups = shapeOf(sizes)[last];
  if (cast<IntegerType>(elementTypeOf(sizes)).getWidth() < 32) {
    sizes = b.convert(sizes, b.b.getIntegerType(32, true));
  }
  Type index = elementTypeOf(sizes);
  int64_t localGroups = shardSize(groups, e.mesh.count(groupAxes));
  sizes = e.resizeDim(sizes, last, localGroups * e.mesh.count(groupAxes));
  Value ends = groupEnds(e, sizes), begins = b.sub(ends, sizes);
  if (!raggedAxes.empty()) {
    int64_t length = shapeOf(site.operands[0])[ragged.ragged];
    int64_t size = site.operandType(0).getDimSize(ragged.ragged);
    Value lo = b.convert(e.shardOffset(raggedAxes, length), index);
    lo = b.binary<MinimumOp>(lo, b.scalar(index, size));
    Value hi = b.binary<MinimumOp>(b.add(lo, b.scalar(index, length)), b.scalar(index, size));
    Value start = b.broadcastScalar(lo, shapeOf(ends));
    ends = b.sub(b.clamp(lo, ends, hi), start);
    begins = b.sub(b.clamp(lo, begins, hi), start);
  }
  if (!groupAxes.empty()) {
    Value first = e.shardOffset(groupAxes, localGroups);
    ends = e.dynamicSliceDim(ends, last, first, localGroups);
    begins = e.dynamicSliceDim(begins, last, first, localGroups);
    // lhs outside of the partition's groups is masked.
    Value lhs = site.operands[0];
    if (!hasZero(elementTypeOf(lhs))) {
      lhs = b.convert(lhs, b.b.getF32Type());
    }
    SmallVector<int64_t> shape(shapeOf(lhs)), prefixShape(shapeOf(ends).drop_back());
    Value position = b.iota(HloBuilder::array(shape, index), ragged.ragged);
    auto spread = [&](Value bounds, int64_t group) {
      Value one = b.reshape(b.sliceDim(bounds, last, group, group + 1), prefixShape);
      return b.broadcast(one, shape, ragged.prefix);
    };
    Value inside = b.binary<AndOp>(b.compare(position, spread(begins, 0), "GE"),
                                   b.compare(position, spread(ends, localGroups - 1), "LT"));
    site.operands[0] = b.select(inside, lhs, b.splat(HloBuilder::type(lhs), 0));
    // The first group begins at 0.
    Value number = b.iota(HloBuilder::type(begins), last);
    Value zeros = b.splat(HloBuilder::type(begins), 0);
    begins = b.select(b.compare(number, zeros, "EQ"), zeros, begins);
  }
  site.operands[2] = b.sub(ends, begins);
}

FailureOr<SmallVector<Value>> emitRaggedDot(Site &site) {
  auto op = cast<RaggedDotOp>(site.op);
  Ragged ragged(op);
  AxisList raggedAxes = site.operandSharding(0).dims[ragged.ragged], groupAxes;
  if (ragged.isContracting) {
    groupAxes = site.resultSharding(0).dims[0];
  } else if (ragged.group >= 0) {
    groupAxes = site.operandSharding(1).dims[ragged.group];
  }
  maskContracted(site);
  if (!ragged.isBatch && (!raggedAxes.empty() || !groupAxes.empty())) {
    if (!groupAxes.empty() && ragged.group >= 0) {
      // A group of padding has no elements of lhs; its weights are multiplied by zeros.
      Value &rhs = site.operands[1];
      rhs = site.e.maskPadding(rhs, ragged.group, groupAxes,
                               site.operandType(1).getDimSize(ragged.group),
                               neutral(site.e, elementTypeOf(rhs)));
    }
    localizeGroups(site, ragged, raggedAxes, groupAxes);
  }
  return emitProduct(site);
}

//===----------------------------------------------------------------------===//
// Scaled dot
//===----------------------------------------------------------------------===//

/// True if each dimension of the scale divides that of the operand.
bool scaleFits(Value operand, Value scale) {
  return isScalar(scale) ||
         (rankOf(scale) == rankOf(operand) &&
          llvm::all_of(llvm::zip(shapeOf(operand), shapeOf(scale)), [](auto pair) {
            auto [size, scales] = pair;
            return scales > 0 && size % scales == 0;
          }));
}

Rule scaledDotRule(Operation *op) {
  Rule rule = Rule::of(op);
  auto dot = cast<ScaledDotOp>(op);
  if (!scaleFits(dot.getLhs(), dot.getLhsScale()) || !scaleFits(dot.getRhs(), dot.getRhsScale())) {
    rule.replicated = "its scales do not fit the operands";
    return rule;
  }
  addDotFactors(rule, op);
  for (unsigned operand : {0, 1}) {
    ArrayRef<int64_t> sizes = shapeOf(op->getOperand(operand)),
                      scales = shapeOf(op->getOperand(operand + 2));
    for (auto [dim, count] : llvm::enumerate(scales)) {
      if (count == sizes[dim]) {
        rule.operands[operand + 2][dim] = rule.operands[operand][dim];
      }
    }
  }
  return rule;
}

/// Takes the scales of the partition's part of an operand.
void localizeScale(Site &site, unsigned operand) {
  Emitter &e = site.e;
  HloBuilder b = e.b();
  Value &scale = site.operands[operand + 2];
  RankedTensorType type = site.operandType(operand), scaleType = site.operandType(operand + 2);
  Sharding sharding = site.operandSharding(operand);
  Value one = b.scalar(scaleType.getElementType(), 1);
  for (int64_t dim = 0, rank = scaleType.getRank(); dim < rank; ++dim) {
    ArrayRef<Axis> axes = sharding.dims[dim];
    int64_t size = type.getDimSize(dim), count = scaleType.getDimSize(dim);
    int64_t parts = e.mesh.count(axes), local = shardSize(size, parts);
    if (axes.empty() || count == 1) {
      continue;
    }
    if (count == size) {
      scale = e.maskPadding(scale, dim, axes, size, one);
      continue;
    }
    if (count % parts == 0) {
      int64_t blocks = count / parts;
      scale = e.dynamicSliceDim(scale, dim, e.shardOffset(axes, blocks), blocks);
      continue;
    }
    // A part ends inside of a block: one scale per element.
    SmallVector<int64_t> blocks(shapeOf(scale)), dimensions, shape(blocks);
    blocks.insert(blocks.begin() + dim + 1, size / count);
    for (int64_t i = 0; i < rank; ++i) {
      dimensions.push_back(i <= dim ? i : i + 1);
    }
    shape[dim] = size;
    scale = b.reshape(b.broadcast(scale, blocks, dimensions), shape);
    scale = e.resizeDim(scale, dim, parts * local, one);
    scale = e.dynamicSliceDim(scale, dim, e.shardOffset(axes, local), local);
  }
}

FailureOr<SmallVector<Value>> emitScaledDot(Site &site) {
  maskContracted(site);
  localizeScale(site, 0);
  localizeScale(site, 1);
  return emitProduct(site);
}

} // namespace

void hlo::spmd::registerDot(PartitionerTable &table) {
  table["hlo.dot"] = {.rule = dotRule, .emit = emitDot, .bytes = productBytes};
  table["hlo.ragged_dot"] = {.rule = raggedDotRule, .emit = emitRaggedDot, .bytes = productBytes};
  table["hlo.scaled_dot"] = {.rule = scaledDotRule, .emit = emitScaledDot, .bytes = productBytes};
}
