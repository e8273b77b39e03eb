//===- InferIndex.cpp - Rules of ops that take indices --------------------===//
//
// Dynamic slices, gather and scatter. Indices are values, so only their type and the dimension
// numbers are checked; out-of-range indices are defined at run time.
//
//===----------------------------------------------------------------------===//
#include "dialect/hlo/rules/Rule.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace hlo {

//===----------------------------------------------------------------------===//
// Dynamic slices
//===----------------------------------------------------------------------===//

/// Checks the index operands from `first` on: one integer scalar per dimension,
/// all of one type, or one vector of as many integers.
static LogicalResult checkStarts(RuleContext &context, int64_t first, int64_t rank) {
  int64_t count = context.size() - first;
  RankedTensorType vector = count == 1 ? asArray(context.type(first)) : RankedTensorType();
  if (vector && vector.getRank() == 1) {
    if (!isInteger(vector.getElementType()) || !sizesAgree(vector.getDimSize(0), rank)) {
      return context.failAt({first}, "c1", "the index vector is ", vector, ", must hold ", rank,
                            " integers");
    }
    return success();
  }
  if (count != rank) {
    return context.failAt({0}, "c1", "has ", count, " index operands, the operand's rank is ",
                          rank);
  }
  for (int64_t i = first; i < context.size(); ++i) {
    RankedTensorType index = context.array(i);
    if (!index) {
      return failure();
    }
    if (index.getRank() != 0 || !isInteger(index.getElementType())) {
      (void)context.failAt({i}, "c2", "index ", i - first, " must be an integer scalar, is ",
                           index);
    } else if (context.type(first) != context.type(i)) {
      (void)context.failAt({first, i}, "c3", "indices have different types: index 0 is ",
                           context.type(first), ", index ", i - first, " is ", index);
    }
  }
  return success(!context.hasFailed());
}

static FailureOr<Type> dynamicSlice(RuleContext &context) {
  if (failed(context.expectAtLeast(1))) {
    return failure();
  }
  RankedTensorType operand = context.array(0);
  auto sizes = context.requiredList("dynamic_slice_sizes");
  if (!operand || failed(sizes) || failed(checkStarts(context, 1, operand.getRank()))) {
    return failure();
  }
  if (static_cast<int64_t>(sizes->size()) != operand.getRank()) {
    return context.failAt({0}, "c4", "dynamic_slice_sizes has ", sizes->size(),
                          " entries, the operand's rank is ", operand.getRank());
  }
  ShapeBuilder shape;
  for (auto [dim, size] : llvm::enumerate(*sizes)) {
    int64_t whole = operand.getDimSize(dim);
    if (size < 0 || (!ShapedType::isDynamic(whole) && size > whole)) {
      (void)context.failAt({0}, "c5", "slice size of dim ", dim, " is ", size,
                           ", the operand's size is ", whole);
    }
    shape.add(size, isBounded(operand, dim) && size == whole);
  }
  return context.result(shape.build(operand.getElementType()));
}

static FailureOr<Type> dynamicUpdateSlice(RuleContext &context) {
  if (failed(context.expectAtLeast(2))) {
    return failure();
  }
  RankedTensorType operand = context.array(0), update = context.array(1);
  if (!operand || !update || failed(checkStarts(context, 2, operand.getRank()))) {
    return failure();
  }
  if (operand.getElementType() != update.getElementType()) {
    (void)context.failAt({0, 1}, "c4", "element types differ: operand is ", operand, ", update is ",
                         update);
  }
  if (operand.getRank() != update.getRank()) {
    return context.failAt({0, 1}, "c5", "ranks differ: operand is ", operand, ", update is ",
                          update);
  }
  for (int64_t dim = 0; dim < operand.getRank(); ++dim) {
    int64_t whole = operand.getDimSize(dim), part = update.getDimSize(dim);
    if (!ShapedType::isDynamic(whole) && !ShapedType::isDynamic(part) && part > whole) {
      (void)context.failAt({0, 1}, "c6", "size of dim ", dim, " of the update is ", part,
                           ", the operand's is ", whole);
    }
  }
  return context.result(operand);
}

//===----------------------------------------------------------------------===//
// Gather and scatter
//===----------------------------------------------------------------------===//

/// The dimension numbers of a gather, or of a scatter interpreted as the gather of its windows:
/// both have the same constraints under different names.
struct IndexedWindows {
  StringRef windowName, collapsedName, mapName, operandBatchName, indexBatchName;
  ArrayRef<int64_t> window, collapsed, map, operandBatch, indexBatch;
  int64_t indexVectorDim;
};

static LogicalResult checkSorted(RuleContext &context, StringRef label, StringRef name,
                                 ArrayRef<int64_t> dimensions) {
  if (llvm::is_sorted(dimensions)) {
    return success();
  }
  return context.fail(label, name, " must be sorted, is ", dimensions);
}

/// Appends the sizes of the indices without the index vector dimension.
static void batchDimensions(RankedTensorType indices, int64_t indexVectorDim, ShapeBuilder &shape) {
  for (int64_t dim = 0; dim < indices.getRank(); ++dim) {
    if (dim != indexVectorDim) {
      shape.add(indices, dim);
    }
  }
}

/// Checks the common constraints of gather and scatter. `otherRank` is the rank of the gather's
/// result or of the scatter's updates.
static LogicalResult checkIndexed(RuleContext &context, const IndexedWindows &numbers,
                                  RankedTensorType operand, RankedTensorType indices,
                                  int64_t indicesNumber, int64_t otherRank) {
  int64_t rank = operand.getRank(), indexRank = indices.getRank();
  if (!isInteger(indices.getElementType())) {
    (void)context.failAt({indicesNumber}, "c1", "indices must be integers, are ", indices);
  }
  if (numbers.indexVectorDim < 0 || numbers.indexVectorDim > indexRank) {
    return context.failAt({indicesNumber}, "c2", "index_vector_dim is ", numbers.indexVectorDim,
                          ", the indices' rank is ", indexRank);
  }
  (void)checkSorted(context, "c3", numbers.windowName, numbers.window);
  (void)checkDimensions(context, "c3", numbers.windowName, numbers.window, otherRank);
  int64_t vectorSize =
      numbers.indexVectorDim == indexRank ? 1 : indices.getDimSize(numbers.indexVectorDim);
  if (!sizesAgree(vectorSize, numbers.map.size())) {
    (void)context.failAt({indicesNumber}, "c4", numbers.mapName, " has ", numbers.map.size(),
                         " entries, an index vector has ", vectorSize);
  }
  (void)checkDimensions(context, "c4", numbers.mapName, numbers.map, rank);
  (void)checkSorted(context, "c5", numbers.collapsedName, numbers.collapsed);
  (void)checkDimensions(context, "c5", numbers.collapsedName, numbers.collapsed, rank);
  (void)checkSorted(context, "c6", numbers.operandBatchName, numbers.operandBatch);
  (void)checkDimensions(context, "c6", numbers.operandBatchName, numbers.operandBatch, rank);
  (void)checkDimensions(context, "c7", numbers.indexBatchName, numbers.indexBatch, indexRank);
  if (numbers.operandBatch.size() != numbers.indexBatch.size()) {
    (void)context.fail("c8", numbers.operandBatchName, " has ", numbers.operandBatch.size(),
                       " entries, ", numbers.indexBatchName, " has ", numbers.indexBatch.size());
  }
  if (context.hasFailed()) {
    return failure();
  }
  for (auto [inOperand, inIndices] : llvm::zip(numbers.operandBatch, numbers.indexBatch)) {
    if (llvm::is_contained(numbers.collapsed, inOperand) ||
        llvm::is_contained(numbers.map, inOperand)) {
      context.fail("c9", "dim ", inOperand, " is in ", numbers.operandBatchName, " and in ",
                   llvm::is_contained(numbers.map, inOperand) ? numbers.mapName
                                                              : numbers.collapsedName);
    }
    if (inIndices == numbers.indexVectorDim) {
      context.fail("c9", numbers.indexBatchName, " holds index_vector_dim ", inIndices);
    }
    if (!sizesAgree(operand.getDimSize(inOperand), indices.getDimSize(inIndices))) {
      (void)context.failAt({0, indicesNumber}, "c10", "batch sizes differ: operand dim ", inOperand,
                           " is ", operand.getDimSize(inOperand), ", indices dim ", inIndices,
                           " is ", indices.getDimSize(inIndices));
    }
  }
  int64_t counted = numbers.window.size() + numbers.collapsed.size() + numbers.operandBatch.size();
  if (counted != rank) {
    (void)context.failAt({0}, "c11", numbers.windowName, ", ", numbers.collapsedName, " and ",
                         numbers.operandBatchName, " have ", counted,
                         " entries, the operand's rank is ", rank);
  }
  return success(!context.hasFailed());
}

static FailureOr<Type> gather(RuleContext &context) {
  if (failed(context.expectOperands(2))) {
    return failure();
  }
  RankedTensorType operand = context.array(0), indices = context.array(1);
  auto offset = context.requiredList("offset_dims");
  auto collapsed = context.requiredList("collapsed_slice_dims");
  auto map = context.requiredList("start_index_map");
  auto vectorDim = context.requiredInteger("index_vector_dim");
  auto sizes = context.requiredList("slice_sizes");
  if (!operand || !indices || failed(offset) || failed(collapsed) || failed(map) ||
      failed(vectorDim) || failed(sizes)) {
    return failure();
  }
  IndexedWindows numbers{"offset_dims",
                         "collapsed_slice_dims",
                         "start_index_map",
                         "operand_batching_dims",
                         "start_indices_batching_dims",
                         *offset,
                         *collapsed,
                         *map,
                         context.list("operand_batching_dims"),
                         context.list("start_indices_batching_dims"),
                         *vectorDim};
  ShapeBuilder batch;
  batchDimensions(indices, *vectorDim, batch);
  int64_t resultRank = offset->size() + batch.sizes.size();
  if (failed(checkIndexed(context, numbers, operand, indices, 1, resultRank))) {
    return failure();
  }
  if (static_cast<int64_t>(sizes->size()) != operand.getRank()) {
    return context.failAt({0}, "c12", "slice_sizes has ", sizes->size(),
                          " entries, the operand's rank is ", operand.getRank());
  }
  ShapeBuilder window;
  for (auto [dim, size] : llvm::enumerate(*sizes)) {
    int64_t dimension = dim, whole = operand.getDimSize(dim);
    if (size < 0 || (!ShapedType::isDynamic(whole) && size > whole)) {
      (void)context.failAt({0}, "c13", "slice size of dim ", dim, " is ", size,
                           ", the operand's size is ", whole);
    }
    if (llvm::is_contained(*collapsed, dimension) ||
        llvm::is_contained(numbers.operandBatch, dimension)) {
      if (size > 1) {
        context.fail("c14", "slice size of dim ", dim, " is ", size,
                     ", must be at most 1 where the result has no such dimension");
      }
      continue;
    }
    window.add(size, isBounded(operand, dim) && size == whole);
  }
  ShapeBuilder shape;
  int64_t nextWindow = 0, nextBatch = 0;
  for (int64_t dim = 0; dim < resultRank && !context.hasFailed(); ++dim) {
    bool isWindow = llvm::is_contained(*offset, dim);
    const ShapeBuilder &from = isWindow ? window : batch;
    int64_t position = isWindow ? nextWindow++ : nextBatch++;
    shape.add(from.sizes[position], llvm::is_contained(from.dynamic, position));
  }
  return context.result(shape.build(operand.getElementType()));
}

/// Checks one update array of a scatter against its operand and the indices.
static void checkUpdate(RuleContext &context, const IndexedWindows &numbers,
                        RankedTensorType operand, const ShapeBuilder &batch, int64_t i,
                        RankedTensorType update) {
  SmallVector<int64_t> windowOf;
  for (int64_t dim = 0; dim < operand.getRank(); ++dim) {
    if (!llvm::is_contained(numbers.collapsed, dim) &&
        !llvm::is_contained(numbers.operandBatch, dim)) {
      windowOf.push_back(dim);
    }
  }
  int64_t nextWindow = 0, nextBatch = 0;
  for (int64_t dim = 0; dim < update.getRank(); ++dim) {
    int64_t size = update.getDimSize(dim);
    if (llvm::is_contained(numbers.window, dim)) {
      int64_t inOperand = windowOf[nextWindow++], whole = operand.getDimSize(inOperand);
      if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(whole) && size > whole) {
        (void)context.failAt({0, i}, "c13", "window dim ", dim, " of the update is ", size,
                             ", dim ", inOperand, " of the operand is ", whole);
      }
      continue;
    }
    int64_t expected = batch.sizes[nextBatch++];
    if (!sizesAgree(size, expected)) {
      (void)context.failAt({i}, "c14", "scatter dim ", dim, " of the update is ", size,
                           ", of the indices ", expected);
    }
  }
}

static FailureOr<Type> scatter(RuleContext &context) {
  if (failed(context.expectAtLeast(3))) {
    return failure();
  }
  auto operands = context.arrays();
  auto window = context.requiredList("update_window_dims");
  auto inserted = context.requiredList("inserted_window_dims");
  auto map = context.requiredList("scatter_dims_to_operand_dims");
  auto vectorDim = context.requiredInteger("index_vector_dim");
  auto combiner = context.computation("to_apply");
  if (failed(operands) || failed(window) || failed(inserted) || failed(map) || failed(vectorDim) ||
      failed(combiner)) {
    return failure();
  }
  if (context.size() % 2 == 0) {
    return context.fail("c0", "expects N operands, the indices and N updates, has ", context.size(),
                        " operands");
  }
  int64_t count = context.size() / 2;
  RankedTensorType indices = (*operands)[count];
  IndexedWindows numbers{"update_window_dims",
                         "inserted_window_dims",
                         "scatter_dims_to_operand_dims",
                         "input_batching_dims",
                         "scatter_indices_batching_dims",
                         *window,
                         *inserted,
                         *map,
                         context.list("input_batching_dims"),
                         context.list("scatter_indices_batching_dims"),
                         *vectorDim};
  ShapeBuilder batch;
  batchDimensions(indices, *vectorDim, batch);
  int64_t updateRank = window->size() + batch.sizes.size();
  if (failed(checkIndexed(context, numbers, operands->front(), indices, count, updateRank))) {
    return failure();
  }
  SmallVector<Type> results, elements;
  for (int64_t n = 0; n < count; ++n) {
    RankedTensorType operand = (*operands)[n], update = (*operands)[count + 1 + n];
    if (!sameDims(operand, operands->front())) {
      (void)context.failAt({0, n}, "c12", "sizes differ: operand 0 is ", operands->front(),
                           ", operand ", n, " is ", operand);
    }
    if (update.getRank() != updateRank) {
      (void)context.failAt({count + 1 + n}, "c15", "update ", n, " is ", update,
                           ", its rank must be ", updateRank);
    }
    if (operand.getElementType() != update.getElementType()) {
      (void)context.failAt({n, count + 1 + n}, "c16", "element types differ: operand ", n, " is ",
                           operand, ", update ", n, " is ", update);
    }
    if (context.hasFailed()) {
      return failure();
    }
    RankedTensorType firstUpdate = (*operands)[count + 1];
    if (!sameDims(update, firstUpdate)) {
      (void)context.failAt({count + 1, count + 1 + n}, "c18", "sizes differ: update 0 is ",
                           firstUpdate, ", update ", n, " is ", update);
    }
    checkUpdate(context, numbers, operand, batch, count + 1 + n, update);
    results.push_back(operand);
    elements.push_back(operand.getElementType());
  }
  SmallVector<Type> parameters(elements);
  parameters.append(elements);
  (void)checkScalarComputation(context, "c17", "to_apply", *combiner, parameters, elements);
  return context.result(tupleUnlessSingle(results));
}

Rule indexRule(StringRef opName) {
  return llvm::StringSwitch<Rule>(opName)
      .Case("hlo.dynamic_slice", dynamicSlice)
      .Case("hlo.dynamic_update_slice", dynamicUpdateSlice)
      .Case("hlo.gather", gather)
      .Case("hlo.scatter", scatter)
      .Default(nullptr);
}

} // namespace hlo
