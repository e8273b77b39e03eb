//===- Index.cpp - Rules of gather and scatter ----------------------------===//
//
// Both have an array that is indexed and one of index vectors. gather's result, as scatter's
// update, has the dimensions of a slice (`offset_dims`, `update_window_dims`) and, in the other
// places, the dimensions of the array of index vectors without the vectors' own.
//
//===----------------------------------------------------------------------===//
#include "dialect/stablehlo/rules/Index.h"

using namespace mlir;
using namespace stablehlo;

namespace {
/// Numbers of the constraints, which gather, dynamic_gather and scatter count differently.
struct Labels {
  StringRef rank, vectorDim, mapSize, windowOrder, windowRange, droppedUnique, droppedOrder,
      droppedRange, batchingOrder, batchingRange, indicesUnique, indicesRange, notVector,
      batchingSize, batchingMatch, mapUnique, mapRange;
};
constexpr Labels gatherLabels = {"c1",  "c2",  "c3",  "c4",  "c5",  "c6",  "c7",  "c8", "c10",
                                 "c11", "c13", "c14", "c15", "c16", "c17", "c18", "c19"};
constexpr Labels dynamicGatherLabels = {"c1", "c2", "c3", "c4", "c5", "c6", "c6", "c7", "c6",
                                        "c7", "c3", "c2", "c2", "c3", "c3", "c9", "c10"};
constexpr Labels scatterLabels = {"c2",  "c22", "c19", "c7",  "c8",  "c9",  "c10", "c11", "c12",
                                  "c13", "c14", "c15", "c16", "c17", "c18", "c20", "c21"};

/// The lists of dimensions, by gather's names.
struct Numbers {
  ArrayRef<int64_t> window, dropped, batching, indicesBatching, map;
  int64_t vectorDim;
};
} // namespace

/// Checks the lists against the shapes of the indexed array and of the indices. `windowRank` is the
/// rank of gather's result or of scatter's update.
static bool checkNumbers(Check &check, const Labels &labels, const Numbers &n,
                         RankedTensorType indexed, RankedTensorType indices, int64_t windowRank) {
  int64_t rank = indexed.getRank();
  int64_t total = n.window.size() + n.dropped.size() + n.batching.size();
  bool valid = check.require(total == rank, labels.rank, "the slices have ", total,
                             " dimensions, the indexed array ", rank);
  int64_t vectorDim = n.vectorDim;
  valid &= check.inRange(labels.vectorDim, "index_vector_dim", vectorDim, indices.getRank() + 1);
  valid &= check.sorted(labels.windowOrder, "the list of window dimensions", n.window) &&
           check.unique(labels.windowOrder, "the list of window dimensions", n.window);
  valid &= check.inRange(labels.windowRange, "the list of window dimensions", n.window, windowRank);
  valid &= check.unique(labels.droppedUnique, "the list of collapsed and batching dimensions",
                        joined({n.dropped, n.batching}));
  valid &= check.sorted(labels.droppedOrder, "the list of collapsed dimensions", n.dropped);
  valid &= check.inRange(labels.droppedRange, "the list of collapsed dimensions", n.dropped, rank);
  valid &= check.sorted(labels.batchingOrder, "the list of batching dimensions", n.batching);
  valid &= check.inRange(labels.batchingRange, "the list of batching dimensions", n.batching, rank);
  valid &= check.unique(labels.indicesUnique, "the list of the indices' batching dimensions",
                        n.indicesBatching);
  valid &= check.inRange(labels.indicesRange, "the list of the indices' batching dimensions",
                         n.indicesBatching, indices.getRank());
  valid &=
      check.require(!llvm::is_contained(n.indicesBatching, vectorDim), labels.notVector,
                    "dimension ", vectorDim, " holds index vectors and is a batching dimension");
  valid &= check.require(n.batching.size() == n.indicesBatching.size(), labels.batchingSize,
                         "there are ", n.batching.size(), " batching dimensions of the array, ",
                         n.indicesBatching.size(), " of the indices");
  valid &= check.unique(labels.mapUnique, "the list of indexed and batching dimensions",
                        joined({n.map, n.batching}));
  valid &= check.inRange(labels.mapRange, "the list of indexed dimensions", n.map, rank);
  if (!valid) {
    return false;
  }
  for (auto [dim, indexDim] : llvm::zip(n.batching, n.indicesBatching)) {
    valid &= check.require(sizesAgree(indexed.getDimSize(dim), indices.getDimSize(indexDim)),
                           labels.batchingMatch, "batching dimension ", dim,
                           " of the array has size ", indexed.getDimSize(dim), ", dimension ",
                           indexDim, " of the indices ", indices.getDimSize(indexDim));
  }
  int64_t length = vectorDim < indices.getRank() ? indices.getDimSize(vectorDim) : 1;
  return check.require(sizesAgree(length, static_cast<int64_t>(n.map.size())), labels.mapSize,
                       "index vectors have ", length, " entries, ", n.map.size(),
                       " dimensions are indexed") &&
         valid;
}

/// The shape of gather's result or of an update, from the sizes of a slice.
static SmallVector<int64_t> combinedShape(const Numbers &n, RankedTensorType indices,
                                          ArrayRef<int64_t> slice) {
  SmallVector<int64_t> windows, batch;
  for (auto [dim, size] : llvm::enumerate(slice)) {
    int64_t d = dim;
    if (!llvm::is_contained(n.dropped, d) && !llvm::is_contained(n.batching, d)) {
      windows.push_back(size);
    }
  }
  for (auto [dim, size] : llvm::enumerate(indices.getShape())) {
    if (static_cast<int64_t>(dim) != n.vectorDim) {
      batch.push_back(size);
    }
  }
  SmallVector<int64_t> shape;
  const int64_t *window = windows.begin(), *other = batch.begin();
  for (int64_t i = 0, e = windows.size() + batch.size(); i < e; ++i) {
    bool isWindow = llvm::is_contained(n.window, i) && window != windows.end();
    shape.push_back(isWindow || other == batch.end() ? *window++ : *other++);
  }
  return shape;
}

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

static Numbers numbersOf(GatherDimensionNumbersAttr n) {
  return {n.getOffsetDims(),          n.getCollapsedSliceDims(),
          n.getOperandBatchingDims(), n.getStartIndicesBatchingDims(),
          n.getStartIndexMap(),       n.getIndexVectorDim()};
}

/// `sizes` are those of a slice, `?` where they are not known.
static void checkGather(Check &check, const Labels &labels, const Numbers &n,
                        ArrayRef<int64_t> sizes, bool isDynamic) {
  RankedTensorType operand = check.operand(0), indices = check.operand(1), result = check.result();
  check.require(elementsAgree(operand.getElementType(), result.getElementType()),
                isDynamic ? "c14" : "c23", "the operand is ", operand, ", the result ", result);
  int64_t resultRank =
      n.window.size() + indices.getRank() - (n.vectorDim < indices.getRank() ? 1 : 0);
  if (!checkNumbers(check, labels, n, operand, indices, resultRank) ||
      !check.hasSize(isDynamic ? "c11" : "c20", "slice_sizes", sizes.size(), operand.getRank())) {
    return;
  }
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    int64_t limit = operand.getDimSize(dim), d = dim;
    if (ShapedType::isDynamic(size)) {
      continue;
    }
    check.require(size >= 0 && (ShapedType::isDynamic(limit) || size <= limit),
                  isDynamic ? "c12" : "c21", "slice_sizes has ", size, " for dimension ", dim,
                  " of size ", limit);
    check.require(size <= 1 || !llvm::is_contained(n.dropped, d), isDynamic ? "c8" : "c9",
                  "collapsed dimension ", dim, " has slices of size ", size);
    check.require(size <= 1 || !llvm::is_contained(n.batching, d), isDynamic ? "c8" : "c12",
                  "batching dimension ", dim, " has slices of size ", size);
  }
  check.resultShape(isDynamic ? "c13" : "c22", combinedShape(n, indices, sizes));
}

static void gather(Check &check) {
  auto op = cast<GatherOp>(check.getOp());
  checkGather(check, gatherLabels, numbersOf(op.getDimensionNumbers()), op.getSliceSizes(), false);
}

static void dynamicGather(Check &check) {
  auto op = cast<DynamicGatherOp>(check.getOp());
  RankedTensorType sizes = op.getSliceSizes().getType();
  if (!check.require(isStaticVector(sizes), "i3", "slice_sizes is ", sizes,
                     ", expected a vector of known size")) {
    return;
  }
  SmallVector<int64_t> unknown(std::min<int64_t>(sizes.getDimSize(0), 1 << 10),
                               ShapedType::kDynamic);
  std::optional<SmallVector<int64_t>> known = constantIntegers(op.getSliceSizes());
  checkGather(check, dynamicGatherLabels, numbersOf(op.getDimensionNumbers()),
              known ? *known : unknown, true);
}

ArrayRef<Row> stablehlo::indexRows() {
  static constexpr unsigned indexed[] = {Any, Int};
  static constexpr unsigned sized[] = {Any, Int, Int};
  static const Row rows[] = {
      {"dynamic_gather", sized, Any, dynamicGather},
      {"gather", indexed, Any, gather},
  };
  return rows;
}

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

void stablehlo::checkScatterShapes(Check &check) {
  auto op = cast<ScatterOp>(check.getOp());
  ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
  Numbers n = {numbers.getUpdateWindowDims(),         numbers.getInsertedWindowDims(),
               numbers.getInputBatchingDims(),        numbers.getScatterIndicesBatchingDims(),
               numbers.getScatterDimsToOperandDims(), numbers.getIndexVectorDim()};
  auto typeOf = [](Value value) { return cast<RankedTensorType>(value.getType()); };
  RankedTensorType indices = op.getScatterIndices().getType();
  RankedTensorType input = typeOf(op.getInputs()[0]), update = typeOf(op.getUpdates()[0]);
  check.require((kindOf(indices.getElementType()) & Dimension) != 0, "i2", "scatter_indices is ",
                indices, ", expected integers");
  for (auto [other, otherUpdate] : llvm::zip(op.getInputs(), op.getUpdates())) {
    check.require(shapesAgree(typeOf(other), input), "c1", "the inputs are ", input, " and ",
                  other.getType());
    check.require(shapesAgree(typeOf(otherUpdate), update), "c3", "the updates are ", update,
                  " and ", otherUpdate.getType());
    check.require(
        elementsAgree(typeOf(other).getElementType(), typeOf(otherUpdate).getElementType()), "c6",
        "an input is ", other.getType(), ", its update ", otherUpdate.getType());
  }
  if (!checkNumbers(check, scatterLabels, n, input, indices, update.getRank())) {
    return;
  }
  int64_t rank = n.window.size() + indices.getRank() - (n.vectorDim < indices.getRank() ? 1 : 0);
  if (!check.require(update.getRank() == rank, "c4", "the update has rank ", update.getRank(),
                     ", expected ", rank)) {
    return;
  }
  // Sizes of windows are free, up to those of the input.
  SmallVector<int64_t> expected = combinedShape(n, indices, input.getShape());
  for (auto [dim, size] : llvm::enumerate(update.getShape())) {
    int64_t limit = expected[dim];
    bool isWindow = llvm::is_contained(n.window, static_cast<int64_t>(dim));
    bool fits = isWindow
                    ? ShapedType::isDynamic(limit) || ShapedType::isDynamic(size) || size <= limit
                    : sizesAgree(size, limit);
    check.require(fits, "c4", "dimension ", dim, " of the update has size ", size, ", expected ",
                  isWindow ? "at most " : "", limit);
  }
}
