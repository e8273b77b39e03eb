//===- AlgebraicReduce.cpp - Rules of reduce, reduce-window, sort ---------===//
//
// A reduction over zero or one elements still applies its computation to the initial value, which
// need not be the identity.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/SortOrder.h"
#include "compiler/transforms/simplifiers/algebraic/AlgebraicRules.h"

using namespace mlir;
using namespace hlo;

static bool isAll(ArrayRef<int64_t> values, int64_t value) {
  return llvm::all_of(values, [=](int64_t v) { return v == value; });
}

/// Reduces `inputs`, of which op's inputs are transposes by `permutation`, and transposes the
/// results.
static SmallVector<Value> reduceThenTurn(ReduceOp op, ArrayRef<Value> inputs,
                                         ArrayRef<int64_t> permutation, PatternRewriter &rewriter) {
  SmallVector<int64_t> dims, kept, shape, places;
  for (auto [d, from] : llvm::enumerate(permutation)) {
    bool isReduced = llvm::is_contained(op.getDimensions(), static_cast<int64_t>(d));
    (isReduced ? dims : kept).push_back(from);
  }
  llvm::sort(dims);
  SmallVector<int64_t> inOrder(kept);
  llvm::sort(inOrder);
  for (int64_t d : inOrder) {
    shape.push_back(shapeOf(inputs[0])[d]);
  }
  for (int64_t d : kept) {
    places.push_back(llvm::find(inOrder, d) - inOrder.begin());
  }
  auto reduce = cast<ReduceOp>(rewriter.clone(*op));
  for (auto [i, input] : llvm::enumerate(inputs)) {
    reduce->setOperand(i, input);
  }
  reduce.setDimensions(dims);
  HloBuilder b(rewriter, op.getLoc());
  SmallVector<Value> results;
  for (Value result : reduce->getResults()) {
    result.setType(HloBuilder::array(shape, elementTypeOf(result)));
    results.push_back(b.transpose(result, places));
  }
  return results;
}

namespace {

/// reduce over dimensions of size one, or none -> to_apply(init, reshape(x)); reduce of nothing ->
/// init
struct UnitReduce : public OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const final {
    unsigned count = op->getNumOperands() / 2;
    if (op->getNumResults() != count) {
      return failure();
    }
    ValueRange inputs = op.getInputs().take_front(count), inits = op.getInputs().drop_front(count);
    ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
    HloBuilder b(rewriter, op.getLoc());
    SmallVector<Value> results;
    if (elementsOf(inputs.front()) == 0) {
      for (Value init : inits) {
        results.push_back(b.broadcastScalar(init, shape));
      }
      rewriter.replaceOp(op, results);
      return success();
    }
    for (int64_t dim : op.getDimensions()) {
      if (shapeOf(inputs.front())[dim] != 1) {
        return failure();
      }
    }
    ComputationOp computation = findElementwise(op, op.getToApplyAttr());
    if (!computation) {
      return failure();
    }
    SmallVector<Value> arguments;
    for (Value init : inits) {
      arguments.push_back(b.broadcastScalar(init, shape));
    }
    for (Value input : inputs) {
      arguments.push_back(b.reshape(input, shape));
    }
    results = applyElementwise(b, computation, arguments);
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// reduce(transpose(x)) -> reduce(x) if the kept dimensions stay in order, else
/// transpose(reduce(x)) if nothing else needs the transposed x
struct ReduceOfTranspose : public OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const final {
    if (op->getNumOperands() != 2) {
      return failure();
    }
    auto transpose = op.getInputs().front().getDefiningOp<TransposeOp>();
    if (!transpose) {
      return failure();
    }
    SmallVector<int64_t> dimensions, kept;
    for (auto [i, dim] : llvm::enumerate(transpose.getDimensions())) {
      bool isReduced = llvm::is_contained(op.getDimensions(), static_cast<int64_t>(i));
      (isReduced ? dimensions : kept).push_back(dim);
    }
    llvm::sort(dimensions);
    if (llvm::is_sorted(kept)) {
      rewriter.modifyOpInPlace(op, [&] {
        op->setOperand(0, transpose.getOperand());
        op.setDimensions(dimensions);
      });
      return success();
    }
    if (!transpose->hasOneUse()) {
      return failure();
    }
    rewriter.replaceOp(
        op, reduceThenTurn(op, {transpose.getOperand()}, transpose.getDimensions(), rewriter));
    return success();
  }
};

/// A value that is transpose(reshape(source)): a transpose, or a reshape of a transpose that only
/// splits dimensions.
struct Turned {
  Value source;
  SmallVector<int64_t> shape;       ///< shape of reshape(source)
  SmallVector<int64_t> permutation; ///< the transpose of reshape(source)
};

static std::optional<Turned> asTurned(Value v) {
  auto reshape = v.getDefiningOp<ReshapeOp>();
  auto transpose = (reshape ? reshape.getOperand() : v).getDefiningOp<TransposeOp>();
  if (!transpose) {
    return std::nullopt;
  }
  // The dimensions of v into which the reshape splits each dimension of the transpose.
  ArrayRef<int64_t> whole = shapeOf(transpose), shape = shapeOf(v);
  SmallVector<SmallVector<int64_t>> split(whole.size());
  size_t d = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    int64_t size = 1;
    while (d < shape.size() && (split[i].empty() || size < whole[i])) {
      size *= shape[d];
      split[i].push_back(d++);
    }
    if (size != whole[i]) {
      return std::nullopt;
    }
  }
  if (d != shape.size()) {
    return std::nullopt;
  }
  Turned turned{transpose.getOperand(), {}, SmallVector<int64_t>(shape.size())};
  for (size_t s = 0; s < whole.size(); ++s) {
    for (int64_t r : split[llvm::find(transpose.getDimensions(), static_cast<int64_t>(s)) -
                           transpose.getDimensions().begin()]) {
      turned.permutation[r] = static_cast<int64_t>(turned.shape.size());
      turned.shape.push_back(shape[r]);
    }
  }
  return turned;
}

/// reduce(f(transpose(x), broadcast(y)), ...) -> transpose(reduce(f(x, broadcast(y)), ...)) for
/// element-wise ops f without other users: x is read in its own order, and the transpose moves to
/// the smaller result, or vanishes
struct ReduceOfTurned : public OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const final {
    size_t count = op->getNumOperands() / 2;
    ValueRange inputs = op.getInputs().take_front(count);
    if (op->getNumResults() != count || (count == 1 && inputs[0].getDefiningOp<TransposeOp>())) {
      return failure();
    }
    std::optional<SmallVector<int64_t>> permutation;
    SmallVector<Value> order; // operands before users
    DenseSet<Value> seen;
    std::function<bool(Value)> visit = [&](Value v) {
      Operation *def = v.getDefiningOp();
      if (!def || !seen.insert(v).second) {
        return def != nullptr;
      }
      bool isOnlyHere = llvm::all_of(def->getUsers(),
                                     [&](Operation *user) { return user == *def->user_begin(); });
      if (std::optional<Turned> turned = asTurned(v)) {
        bool isFirst = !permutation;
        permutation = isFirst ? turned->permutation : permutation;
        order.push_back(v);
        return isOnlyHere && (isFirst || *permutation == turned->permutation);
      }
      if (!isa<BroadcastOp, IotaOp>(def)) {
        if (!isElementwiseOp(def) || !isOnlyHere || def->getNumResults() != 1 ||
            !llvm::all_of(def->getOperands(),
                          [&](Value from) { return rankOf(from) == 0 || visit(from); })) {
          return false;
        }
      }
      order.push_back(v);
      return true;
    };
    auto turnedDims = [&](ArrayRef<int64_t> dims) {
      return llvm::map_to_vector(dims, [&](int64_t d) { return (*permutation)[d]; });
    };
    bool fits = llvm::all_of(inputs, visit) && permutation && llvm::all_of(order, [&](Value v) {
                  auto broadcast = v.getDefiningOp<BroadcastOp>();
                  return !broadcast || llvm::is_sorted(turnedDims(broadcast.getDimensions()));
                });
    if (!fits) {
      return failure();
    }
    HloBuilder b(rewriter, op.getLoc());
    IRMapping mapping;
    for (Value v : order) {
      if (std::optional<Turned> turned = asTurned(v)) {
        mapping.map(v, b.reshape(turned->source, turned->shape));
        continue;
      }
      SmallVector<int64_t> shape(permutation->size());
      for (auto [d, from] : llvm::enumerate(*permutation)) {
        shape[from] = shapeOf(v)[d];
      }
      if (auto broadcast = v.getDefiningOp<BroadcastOp>()) {
        mapping.map(
            v, b.broadcast(broadcast.getOperand(), shape, turnedDims(broadcast.getDimensions())));
      } else if (auto iota = v.getDefiningOp<IotaOp>()) {
        int64_t dimension = iota.getIotaDimension();
        mapping.map(v,
                    b.iota(HloBuilder::array(shape, elementTypeOf(v)), turnedDims(dimension)[0]));
      } else {
        Operation *copy = rewriter.clone(*v.getDefiningOp(), mapping);
        copy->getResult(0).setType(HloBuilder::array(shape, elementTypeOf(v)));
      }
    }
    auto unturned = llvm::map_to_vector(inputs, [&](Value v) { return mapping.lookup(v); });
    rewriter.replaceOp(op, reduceThenTurn(op, unturned, *permutation, rewriter));
    return success();
  }
};

/// reduce of several inputs over a stack (concatenate) of a few arrays -> the computation, applied
/// to the arrays one after the other
struct ReduceOfStack : public OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  static constexpr int64_t kMostArrays = 8;

  /// Element k of v along dimension d, for a v (a stack, an iota, a broadcast) whose elements need
  /// no slice.
  static Value elementAt(HloBuilder &b, Value v, int64_t d, int64_t k, ArrayRef<int64_t> shape) {
    if (auto stack = v.getDefiningOp<ConcatenateOp>()) {
      return b.reshape(stack->getOperand(k), shape);
    }
    if (auto iota = v.getDefiningOp<IotaOp>()) {
      int64_t along = iota.getIotaDimension();
      return along == d
                 ? b.broadcastScalar(b.scalar(elementTypeOf(v), static_cast<double>(k)), shape)
                 : b.iota(HloBuilder::array(shape, elementTypeOf(v)), along - (along > d));
    }
    auto broadcast = v.getDefiningOp<BroadcastOp>();
    auto dims = llvm::map_to_vector(broadcast.getDimensions(),
                                    [&](int64_t along) { return along - (along > d); });
    return b.broadcast(broadcast.getOperand(), shape, dims);
  }

  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const final {
    size_t count = op->getNumOperands() / 2;
    ValueRange inputs = op.getInputs().take_front(count), inits = op.getInputs().drop_front(count);
    if (count < 2 || op->getNumResults() != count || op.getDimensions().size() != 1) {
      return failure();
    }
    int64_t d = op.getDimensions()[0], arrays = shapeOf(inputs[0])[d];
    bool isStack = false;
    bool fits = arrays <= kMostArrays && llvm::all_of(inputs, [&](Value v) {
                  if (auto stack = v.getDefiningOp<ConcatenateOp>()) {
                    isStack = true;
                    return static_cast<int64_t>(stack.getDimension()) == d &&
                           static_cast<int64_t>(stack->getNumOperands()) == arrays;
                  }
                  auto broadcast = v.getDefiningOp<BroadcastOp>();
                  return v.getDefiningOp<IotaOp>() ||
                         (broadcast && !llvm::is_contained(broadcast.getDimensions(), d));
                });
    ComputationOp computation =
        fits && isStack ? findElementwise(op, op.getToApplyAttr()) : ComputationOp();
    if (!computation) {
      return failure();
    }
    HloBuilder b(rewriter, op.getLoc());
    SmallVector<int64_t> shape(shapeOf(op->getResult(0)));
    SmallVector<Value> best =
        llvm::map_to_vector(inits, [&](Value init) { return b.broadcastScalar(init, shape); });
    for (int64_t k = 0; k < arrays; ++k) {
      SmallVector<Value> arguments(best);
      for (Value v : inputs) {
        arguments.push_back(elementAt(b, v, d, k, shape));
      }
      best = applyElementwise(b, computation, arguments);
    }
    rewriter.replaceOp(op, best);
    return success();
  }
};

/// reduce(x) -> reduce(reshape(x)) without x's reduced dimensions of size one
struct SqueezeReduce : public OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const final {
    unsigned count = op->getNumOperands() / 2;
    ArrayRef<int64_t> shape = shapeOf(op.getInputs().front());
    SmallVector<int64_t> squeezed, dimensions;
    for (auto [i, size] : llvm::enumerate(shape)) {
      bool reduced = llvm::is_contained(op.getDimensions(), static_cast<int64_t>(i));
      if (reduced && size == 1) {
        continue;
      }
      if (reduced) {
        dimensions.push_back(squeezed.size());
      }
      squeezed.push_back(size);
    }
    if (squeezed.size() == shape.size() || dimensions.empty()) {
      return failure();
    }
    HloBuilder b(rewriter, op.getLoc());
    SmallVector<Value> operands;
    for (auto [i, operand] : llvm::enumerate(op.getInputs())) {
      operands.push_back(i < count ? b.reshape(operand, squeezed) : operand);
    }
    rewriter.modifyOpInPlace(op, [&] {
      op->setOperands(operands);
      op.setDimensions(dimensions);
    });
    return success();
  }
};

/// reduce-window with windows of one element, all steps one, no padding -> to_apply(init, x)
struct UnitReduceWindow : public OpRewritePattern<ReduceWindowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceWindowOp op, PatternRewriter &rewriter) const final {
    unsigned count = op->getNumOperands() / 2;
    if (op->getNumResults() != count) {
      return failure();
    }
    if (WindowAttr window = op.getWindowAttr()) {
      if (!isAll(window.getSize(), 1) || !isAll(window.getStrides(), 1) ||
          !isAll(window.getPadLow(), 0) || !isAll(window.getPadHigh(), 0) ||
          !isAll(window.getBaseDilations(), 1)) {
        return failure();
      }
    }
    HloBuilder b(rewriter, op.getLoc());
    ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
    if (shape != shapeOf(op.getInputs().front())) {
      return failure();
    }
    ComputationOp computation = findElementwise(op, op.getToApplyAttr());
    if (!computation) {
      return failure();
    }
    SmallVector<Value> arguments;
    for (Value init : op.getInputs().drop_front(count)) {
      arguments.push_back(b.broadcastScalar(init, shape));
    }
    llvm::append_range(arguments, op.getInputs().take_front(count));
    SmallVector<Value> results = applyElementwise(b, computation, arguments);
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// reduce-window with windows that cover some dimensions entirely -> reshape(reduce(x))
struct WholeReduceWindow : public OpRewritePattern<ReduceWindowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceWindowOp op, PatternRewriter &rewriter) const final {
    WindowAttr window = op.getWindowAttr();
    size_t count = op->getNumOperands() / 2;
    if (!window || op->getNumResults() != count || !isAll(window.getPadLow(), 0) ||
        !isAll(window.getPadHigh(), 0) || !isAll(window.getBaseDilations(), 1)) {
      return failure();
    }
    ArrayRef<int64_t> shape = shapeOf(op.getInputs()[0]);
    SmallVector<int64_t> dims, kept;
    for (auto [d, size] : llvm::enumerate(shape)) {
      bool isOne = window.getSize()[d] == 1 && window.getStrides()[d] == 1;
      bool isWhole = window.getSize()[d] == size && window.getWindowDilations()[d] == 1;
      if (!isOne && !isWhole) {
        return failure();
      }
      if (isOne) {
        kept.push_back(size);
      } else {
        dims.push_back(static_cast<int64_t>(d));
      }
    }
    if (dims.empty()) {
      return failure();
    }
    HloBuilder b(rewriter, op.getLoc());
    SmallVector<Type> types;
    for (Value result : op->getResults()) {
      types.push_back(HloBuilder::array(kept, elementTypeOf(result)));
    }
    auto reduce = ReduceOp::create(rewriter, op.getLoc(), types, op.getInputs(),
                                   rewriter.getDenseI64ArrayAttr(dims), op.getToApplyAttr());
    SmallVector<Value> results;
    for (auto [from, to] : llvm::zip(reduce->getResults(), op->getResults())) {
      results.push_back(b.reshape(from, shapeOf(to)));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// sort of dimensions of at most one element -> x
struct UnitSort : public OpRewritePattern<SortOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SortOp op, PatternRewriter &rewriter) const final {
    if (op->getNumResults() != op->getNumOperands() ||
        shapeOf(op->getOperand(0))[op.getDimension()] > 1) {
      return failure();
    }
    rewriter.replaceOp(op, op->getOperands());
    return success();
  }
};

/// True if `v` is an iota along `dimension`.
static bool countsAlong(Value v, int64_t dimension) {
  if (auto iota = v.getDefiningOp<IotaOp>()) {
    return static_cast<int64_t>(iota.getIotaDimension()) == dimension;
  }
  auto broadcast = v.getDefiningOp<BroadcastOp>();
  return broadcast && broadcast.getOperand().getDefiningOp<IotaOp>() &&
         rankOf(broadcast.getOperand()) == 1 && broadcast.getDimensions()[0] == dimension;
}

/// slices of the first k elements of sort(x) or sort(x, iota) along the last dimension, ordered by
/// x itself -> topk
struct SlicedSort : public OpRewritePattern<SortOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SortOp op, PatternRewriter &rewriter) const final {
    RankedTensorType type = arrayType(op->getOperand(0));
    int64_t last = type.getRank() - 1, keep = -1;
    unsigned arrays = op->getNumOperands();
    if (op->getNumResults() != arrays || arrays > 2 || op.getDimension() != (uint64_t)last ||
        !type.hasStaticShape() || layoutOf(type) ||
        (arrays == 2 && (!countsAlong(op->getOperand(1), last) ||
                         !isa<IntegerType>(elementTypeOf(op->getOperand(1)))))) {
      return failure();
    }
    SmallVector<SliceOp> slices;
    for (Operation *user : op->getUsers()) {
      auto slice = dyn_cast<SliceOp>(user);
      if (!slice || !isAll(slice.getStartIndices(), 0) || !isAll(slice.getStrides(), 1)) {
        return failure();
      }
      ArrayRef<int64_t> limits = slice.getLimitIndices();
      if (limits.drop_back() != type.getShape().drop_back() ||
          (keep >= 0 && limits.back() != keep)) {
        return failure();
      }
      keep = limits.back();
      slices.push_back(slice);
    }
    auto comparator = SymbolTable::lookupNearestSymbolFrom<ComputationOp>(op, op.getToApplyAttr());
    SmallVector<SortKey, 2> keys = comparator && keep > 0 && keep < type.getShape().back()
                                       ? findSortKeys(comparator)
                                       : SmallVector<SortKey, 2>();
    // Equal keys that differ (-0 and 0) must keep their order in a stable sort, but topk compares
    // in total order.
    if (keys.size() != 1 || keys[0].operand != 0 || !keys[0].constants.empty() ||
        (!keys[0].isInjective() && op.getIsStable().value_or(false))) {
      return failure();
    }
    Type indexType = IntegerType::get(op.getContext(), 32, IntegerType::Signed);
    SmallVector<int64_t> shape(type.getShape());
    shape.back() = keep;
    auto topk =
        TopkOp::create(rewriter, op.getLoc(),
                       TypeRange{RankedTensorType::get(shape, type.getElementType()),
                                 RankedTensorType::get(shape, indexType)},
                       op->getOperand(0), rewriter.getI64IntegerAttr(keep),
                       rewriter.getBoolAttr(keys[0].descending), rewriter.getBoolAttr(true));
    for (SliceOp slice : slices) {
      unsigned number = cast<OpResult>(slice.getOperand()).getResultNumber();
      Value result = topk->getResult(number);
      if (result.getType() != slice.getType()) {
        result = ConvertOp::create(rewriter, slice.getLoc(), slice.getType(), result);
      }
      rewriter.replaceOp(slice, result);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void hlo::populateReduceRules(RewritePatternSet &patterns) {
  patterns.add<UnitReduce, ReduceOfTranspose, ReduceOfTurned, ReduceOfStack, SqueezeReduce,
               UnitReduceWindow, WholeReduceWindow, UnitSort, SlicedSort>(patterns.getContext());
}
