//===- AlgebraicIndex.cpp - Rules of gather and scatter -------------------===//
//
// A gather or scatter of one window becomes a dynamic slice or dynamic update, which needs no array
// of indices and fuses. One difference is handled: both clamp in gather, but a scatter skips a
// window that does not fit, so its update then writes the old elements. Sums of scatter-adds become
// scatter-adds to one array.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Reduction.h"
#include "compiler/analysis/evaluator/Evaluator.h"
#include "compiler/transforms/simplifiers/algebraic/AlgebraicRules.h"

using namespace mlir;
using namespace hlo;

/// Number of index vectors in `indices`.
static int64_t indexVectors(Value indices, int64_t vectorDim) {
  int64_t count = 1;
  for (auto [i, size] : llvm::enumerate(shapeOf(indices))) {
    count *= static_cast<int64_t>(i) == vectorDim ? 1 : size;
  }
  return count;
}

/// The components of the only index vector, as scalars.
static SmallVector<Value> components(HloBuilder &b, Value indices) {
  int64_t count = elementsOf(indices);
  Value flat = b.reshape(indices, {count});
  SmallVector<Value> scalars;
  for (int64_t i = 0; i < count; ++i) {
    scalars.push_back(b.reshape(b.sliceDim(flat, 0, i, i + 1), {}));
  }
  return scalars;
}

/// Start indices for all dimensions: the components at the dimensions in `map`, zero elsewhere.
static SmallVector<Value> startsOf(HloBuilder &b, Value indices, ArrayRef<int64_t> map,
                                   int64_t rank) {
  SmallVector<Value> starts(rank);
  SmallVector<Value> scalars = components(b, indices);
  for (auto [i, dim] : llvm::enumerate(map)) {
    starts[dim] = scalars[i];
  }
  for (Value &start : starts) {
    start = start ? start : b.scalar(elementTypeOf(indices), 0);
  }
  return starts;
}

// gather of one window -> reshape(dynamic-slice)
static Value gatherOfOneWindow(GatherOp op, HloBuilder &b) {
  if (!op.getOperandBatchingDims().value_or(ArrayRef<int64_t>()).empty() ||
      indexVectors(op.getStartIndices(), op.getIndexVectorDim()) != 1) {
    return {};
  }
  Value operand = op.getOperand();
  SmallVector<Value> starts =
      startsOf(b, op.getStartIndices(), op.getStartIndexMap(), rankOf(operand));
  RankedTensorType window = HloBuilder::array(op.getSliceSizes(), elementTypeOf(operand));
  Value slice = DynamicSliceOp::create(b.b, b.loc, window, operand, starts,
                                       b.b.getDenseI64ArrayAttr(op.getSliceSizes()));
  return b.reshape(slice, shapeOf(op.getResult()));
}

/// If each element of v is its predecessor along the last dimension plus one: the first element of
/// each row (of v itself if its rank is one); else nothing.
static std::optional<SmallVector<APInt>> startsOfRuns(Value v) {
  if (auto iota = v.getDefiningOp<IotaOp>()) {
    unsigned width = elementTypeOf(v).getIntOrFloatBitWidth();
    return rankOf(v) == 1 ? std::optional(SmallVector<APInt>{APInt(width, 0)}) : std::nullopt;
  }
  DenseElementsAttr elements = smallConstant(v);
  if (!elements || rankOf(v) == 0 || elements.getNumElements() == 0) {
    return std::nullopt;
  }
  SmallVector<APInt> starts;
  int64_t place = 0, columns = shapeOf(v).back();
  for (const APInt &value : elements.getValues<APInt>()) {
    int64_t column = place++ % columns;
    if (column == 0) {
      starts.push_back(value);
    } else if (value != starts.back() + static_cast<uint64_t>(column)) {
      return std::nullopt;
    }
  }
  return starts;
}

/// The first index of each row if every row of `indices` [rows, columns] counts up by one; else
/// null.
static Value firstOfRows(Value indices, HloBuilder &b) {
  Type element = elementTypeOf(indices);
  if (auto starts = startsOfRuns(indices)) {
    auto type = HloBuilder::array({static_cast<int64_t>(starts->size())}, element);
    return b.constant(DenseElementsAttr::get(type, *starts));
  }
  auto sum = indices.getDefiningOp<AddOp>();
  if (!sum) {
    return {};
  }
  for (auto [rows, columns] :
       {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())}) {
    auto row = rows.getDefiningOp<BroadcastOp>();
    if (!row || row.getDimensions() != ArrayRef<int64_t>{0}) {
      continue;
    }
    if (auto iota = columns.getDefiningOp<IotaOp>(); iota && iota.getIotaDimension() == 1) {
      return row.getOperand();
    }
    auto column = columns.getDefiningOp<BroadcastOp>();
    if (!column || column.getDimensions() != ArrayRef<int64_t>{1}) {
      continue;
    }
    if (auto start = startsOfRuns(column.getOperand())) {
      Value first = b.constant(DenseElementsAttr::get(RankedTensorType::get({}, element), *start));
      return b.add(row.getOperand(), b.broadcastScalar(first, shapeOf(row.getOperand())));
    }
  }
  return {};
}

/// Limits of gatherOfColumns: columns taken, runs of adjacent columns among them, and length of the
/// rows. Longer rows fill a vector, and a lane permutation of whole vectors is faster than slices.
static constexpr size_t kMostTakenColumns = 32, kMostTakenRuns = 16;
static constexpr int64_t kMostColumnsTakenFrom = 12;

// gather of a few constant columns, x[:, [2, 0, 1]] -> reshape(concatenate(slices of x))
static Value gatherOfColumns(GatherOp op, HloBuilder &b) {
  int64_t last = rankOf(op.getOperand()) - 1;
  ArrayRef<int64_t> shape = shapeOf(op.getOperand());
  auto none = [](std::optional<ArrayRef<int64_t>> dims) { return !dims || dims->empty(); };
  if (last < 1 || shape.back() > kMostColumnsTakenFrom ||
      op.getStartIndexMap() != ArrayRef<int64_t>{last} ||
      op.getCollapsedSliceDims() != ArrayRef<int64_t>{last} || !none(op.getOperandBatchingDims()) ||
      !none(op.getStartIndicesBatchingDims()) ||
      op.getSliceSizes().drop_back() != shape.drop_back() || op.getSliceSizes().back() != 1 ||
      static_cast<int64_t>(op.getOffsetDims().size()) != last || elementsOf(op.getResult()) == 0) {
    return {};
  }
  for (auto [i, d] : llvm::enumerate(op.getOffsetDims())) {
    if (d != static_cast<int64_t>(i)) {
      return {};
    }
  }
  DenseElementsAttr literal = smallConstant(op.getStartIndices());
  std::optional<SmallVector<int64_t>> taken =
      literal ? constantIntegers(op.getStartIndices()) : std::nullopt;
  if (!taken || taken->empty() || taken->size() > kMostTakenColumns) {
    return {};
  }
  SmallVector<std::pair<int64_t, int64_t>> runs;
  for (int64_t c : *taken) {
    c = std::clamp<int64_t>(c, 0, shape.back() - 1);
    if (!runs.empty() && runs.back().second == c) {
      ++runs.back().second;
    } else {
      runs.push_back({c, c + 1});
    }
  }
  if (runs.size() > kMostTakenRuns) {
    return {};
  }
  SmallVector<Value> parts = llvm::map_to_vector(
      runs, [&](auto run) { return b.sliceDim(op.getOperand(), last, run.first, run.second); });
  Value columns = parts.size() == 1 ? parts[0] : b.concatenate(parts, last);
  return b.reshape(columns, shapeOf(op.getResult()));
}

// gather of elements at start[i] + j, all in bounds -> gather of windows that begin at start[i]:
// frames of a signal, sliding windows
static Value gatherOfRuns(GatherOp op, HloBuilder &b) {
  constexpr int64_t leastColumns = 8;
  Value indices = op.getStartIndices();
  ArrayRef<int64_t> map = op.getStartIndexMap(), collapsed = op.getCollapsedSliceDims();
  if (!op.getOperandBatchingDims().value_or(ArrayRef<int64_t>()).empty() || map.size() != 1 ||
      !llvm::is_contained(collapsed, map[0]) || op.getIndexVectorDim() != 2) {
    return {};
  }
  if (auto reshape = indices.getDefiningOp<ReshapeOp>(); reshape && rankOf(indices) == 3) {
    indices = reshape.getOperand();
  }
  int64_t along = map[0];
  if (rankOf(indices) != 2 || elementsOf(indices) != elementsOf(op.getStartIndices()) ||
      shapeOf(indices)[1] < leastColumns ||
      shapeOf(indices)[0] != shapeOf(op.getStartIndices())[0]) {
    return {};
  }
  std::optional<uint64_t> largest = largestValue(indices);
  if (!largest || *largest >= static_cast<uint64_t>(shapeOf(op.getOperand())[along])) {
    return {};
  }
  // In the result the column dimension follows the row dimension. Windows keep the order of the
  // operand's dimensions.
  SmallVector<int64_t> batch, offsets, kept, sizes(op.getSliceSizes());
  for (int64_t d = 0; d < rankOf(op.getResult()); ++d) {
    if (!llvm::is_contained(op.getOffsetDims(), d)) {
      batch.push_back(d);
    }
  }
  for (int64_t d = 0, next = 0; d < rankOf(op.getOperand()); ++d) {
    if (d == along) {
      offsets.push_back(batch[1]);
    } else if (llvm::is_contained(collapsed, d)) {
      kept.push_back(d);
    } else {
      offsets.push_back(op.getOffsetDims()[next++]);
    }
  }
  if (!llvm::is_sorted(offsets)) {
    return {};
  }
  Value starts = firstOfRows(indices, b);
  if (!starts) {
    return {};
  }
  sizes[along] = shapeOf(indices)[1];
  auto windows = cast<GatherOp>(b.b.clone(*op));
  windows->setOperand(1, starts);
  windows.setOffsetDims(offsets);
  windows.setCollapsedSliceDims(kept);
  windows.setSliceSizes(sizes);
  windows.setIndexVectorDim(1);
  return windows.getResult();
}

/// True if the op adds updates to a single array.
static bool isScatterAdd(ScatterOp op) {
  if (!op || op->getNumResults() != 1) {
    return false;
  }
  ComputationOp combine = findElementwise(op, op.getToApplyAttr());
  return combine && isa_and_nonnull<AddOp>(associativeOp(combine));
}

// scatter-add to x + scatter-add to zeros -> one scatter-add after the other: gradients of several
// lookups in one table need no array of zeros each
static Value sumOfScatters(AddOp op, HloBuilder &b) {
  for (auto [first, second] :
       {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
    auto scatter = second.getDefiningOp<ScatterOp>();
    if (!scatter || !scatter->hasOneUse() || first == second || !isScatterAdd(scatter) ||
        !isScatterAdd(first.getDefiningOp<ScatterOp>())) {
      continue;
    }
    Value zeros = scatter.getInputs()[0];
    if (!isInteger(zeros, 0) && !isFloat(zeros, 0.0) && !isFloat(zeros, -0.0)) {
      continue;
    }
    Operation *both = b.b.clone(*scatter);
    both->setOperand(0, first);
    return both->getResult(0);
  }
  return {};
}

namespace {

/// scatter of one window -> dynamic-update-slice with combine(old window, update), or with the old
/// window if it does not fit
struct ScatterOfOneWindow : public OpRewritePattern<ScatterOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScatterOp op, PatternRewriter &rewriter) const final {
    if (op->getNumOperands() != 3 || op->getNumResults() != 1 ||
        !op.getInputBatchingDims().value_or(ArrayRef<int64_t>()).empty()) {
      return failure();
    }
    Value array = op.getInputs()[0], indices = op.getInputs()[1], update = op.getInputs()[2];
    if (indexVectors(indices, op.getIndexVectorDim()) != 1 || elementsOf(array) == 0 ||
        elementsOf(update) == 0) {
      return failure();
    }
    ComputationOp combine = findElementwise(op, op.getToApplyAttr());
    if (!combine) {
      return failure();
    }
    SmallVector<int64_t> window;
    size_t next = 0;
    for (int64_t dim = 0, rank = rankOf(array); dim < rank; ++dim) {
      bool inserted = llvm::is_contained(op.getInsertedWindowDims(), dim);
      window.push_back(inserted ? 1 : shapeOf(update)[op.getUpdateWindowDims()[next++]]);
    }
    HloBuilder b(rewriter, op.getLoc());
    // True if the window fits: a constant or a computed predicate.
    Value fits;
    bool known = true;
    std::optional<SmallVector<int64_t>> constants = constantIntegers(indices);
    SmallVector<Value> starts =
        startsOf(b, indices, op.getScatterDimsToOperandDims(), rankOf(array));
    bool isSigned = cast<IntegerType>(elementTypeOf(indices)).isSigned();
    for (auto [i, dim] : llvm::enumerate(op.getScatterDimsToOperandDims())) {
      int64_t last = shapeOf(array)[dim] - window[dim];
      if (constants) {
        int64_t start = (*constants)[i];
        known &= start >= 0 && start <= last;
        continue;
      }
      Type element = elementTypeOf(indices);
      unsigned width = element.getIntOrFloatBitWidth();
      uint64_t largest = ~uint64_t(0) >> (64 - width + (isSigned ? 1 : 0));
      if (isSigned) {
        fits = conjunction(b, fits, b.compare(starts[dim], b.scalar(element, 0), "GE"));
      }
      // If the bound exceeds the index type's range, every index is small enough.
      if (static_cast<uint64_t>(last) < largest) {
        fits = conjunction(b, fits, b.compare(starts[dim], b.scalar(element, last), "LE"));
      }
    }
    if (!known) {
      rewriter.replaceOp(op, array);
      return success();
    }
    Value piece = b.reshape(update, window);
    bool overwrites = combine.getReturn()->getOperand(0) == combine.getBody().getArgument(1);
    if (!overwrites || fits) {
      RankedTensorType type = HloBuilder::array(window, elementTypeOf(array));
      Value old = DynamicSliceOp::create(rewriter, op.getLoc(), type, array, starts,
                                         rewriter.getDenseI64ArrayAttr(window));
      piece = applyElementwise(b, combine, {old, piece}).front();
      if (fits) {
        piece = b.select(b.broadcastScalar(fits, window), piece, old);
      }
    }
    rewriter.replaceOpWithNewOp<DynamicUpdateSliceOp>(op, array.getType(), array, piece, starts);
    return success();
  }

private:
  static Value conjunction(HloBuilder &b, Value all, Value one) {
    return all ? b.binary<AndOp>(all, one) : one;
  }
};

/// scatter of no updates -> operands
struct EmptyScatter : public OpRewritePattern<ScatterOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScatterOp op, PatternRewriter &rewriter) const final {
    unsigned count = op->getNumResults();
    if (op->getNumOperands() != 2 * count + 1 || elementsOf(op.getInputs().back()) != 0) {
      return failure();
    }
    rewriter.replaceOp(op, op.getInputs().take_front(count));
    return success();
  }
};

} // namespace

void hlo::populateIndexRules(RewritePatternSet &patterns) {
  addRules<GatherOp>(patterns, {gatherOfOneWindow, gatherOfColumns, gatherOfRuns});
  addRules<AddOp>(patterns, {sumOfScatters});
  patterns.add<ScatterOfOneWindow, EmptyScatter>(patterns.getContext());
}
