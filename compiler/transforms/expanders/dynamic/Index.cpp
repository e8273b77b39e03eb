//===- Index.cpp - Slices, gather, scatter of bounded size ----------------===//
//
// With a dynamic dimension of size n:
//
//   dynamic-slice          of the whole dimension: its size; of a part: static
//   dynamic-update-slice   an update of the whole dimension replaces its size; of a smaller one,
//                          only the true elements are written:
//                          update = select(iota < n, update, dynamic-slice(operand))
//   gather                 windows over a whole dimension keep its size, others are static; sizes
//                          of indices become those of the dimensions that correspond to them
//   scatter                sizes of the operands; indices beyond their size become the greatest
//                          number, which is out of bounds, so that nothing is written for them
//
// Starts are clamped by the bounds, as elsewhere.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Reduction.h"
#include "compiler/transforms/expanders/dynamic/Padder.h"

using namespace mlir;
using namespace hlo;

LogicalResult DynamicPadder::visitDynamicSlice(DynamicSliceOp op) {
  DynamicSizes own = sizesOf(op.getOperand());
  for (auto [dim, size] : llvm::enumerate(own)) {
    if (op.getDynamicSliceSizes()[dim] != shapeOf(op.getOperand())[dim]) {
      size = Value();
    }
  }
  bind(op.getResult(), own);
  return success();
}

LogicalResult DynamicPadder::visitDynamicUpdateSlice(DynamicUpdateSliceOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  Value operand = op.getOperand(), update = op.getUpdate();
  DynamicSizes own = sizesOf(operand);
  ArrayRef<int64_t> part = shapeOf(update);
  Value old;
  for (auto [dim, size] : llvm::enumerate(sizesOf(update))) {
    if (!size) {
      continue;
    }
    if (part[dim] == shapeOf(operand)[dim]) {
      own[dim] = size;
      continue;
    }
    if (!old) {
      old = DynamicSliceOp::create(builder, op.getLoc(),
                                   HloBuilder::array(part, elementTypeOf(operand)), operand,
                                   op.getStartIndices(), builder.getDenseI64ArrayAttr(part));
    }
    RankedTensorType indices = HloBuilder::array(part, elementTypeOf(size));
    Value inside = b.compare(b.iota(indices, dim), b.broadcastScalar(size, part), "LT");
    update = b.select(inside, update, old);
  }
  op.getUpdateMutable().assign(update);
  bind(op.getResult(), own);
  return success();
}

LogicalResult DynamicPadder::visitGather(GatherOp op) {
  Value operand = op.getOperand(), indices = op.getStartIndices();
  DynamicSizes own(rankOf(op.getResult()));
  auto isBatching = [](std::optional<ArrayRef<int64_t>> dims, int64_t dim) {
    return dims && llvm::is_contained(*dims, dim);
  };
  size_t window = 0;
  for (int64_t dim = 0, rank = rankOf(operand); dim < rank; ++dim) {
    if (llvm::is_contained(op.getCollapsedSliceDims(), dim) ||
        isBatching(op.getOperandBatchingDims(), dim)) {
      continue;
    }
    int64_t target = op.getOffsetDims()[window++];
    if (op.getSliceSizes()[dim] == shapeOf(operand)[dim]) {
      own[target] = sizeOf(operand, dim);
    }
  }
  int64_t vector = op.getIndexVectorDim(), next = 0;
  if (vector < rankOf(indices) && sizeOf(indices, vector)) {
    return refuse(op, "the dimension of the index vectors");
  }
  for (int64_t dim = 0, rank = rankOf(op.getResult()); dim < rank; ++dim) {
    if (llvm::is_contained(op.getOffsetDims(), dim)) {
      continue;
    }
    next += next == vector;
    own[dim] = sizeOf(indices, next++);
  }
  bind(op.getResult(), own);
  return success();
}

/// Makes dimension `dim` of the windows of the updates, which is dimension `target` of the
/// operands, one of the indices: each of its positions has an index of its own.
void DynamicPadder::unrollWindow(ScatterOp op, int64_t dim, int64_t target) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  unsigned count = op->getNumOperands() / 2;
  Value indices = op->getOperand(count);
  DynamicSizes own = sizesOf(indices);
  SmallVector<int64_t> shape(shapeOf(indices)), kept, windows;
  int64_t length = shapeOf(op->getOperand(count + 1))[dim], along = shape.size() - 1;
  for (int64_t i = 0; i < along; ++i) {
    kept.push_back(i);
  }
  kept.push_back(along + 1);
  shape.insert(shape.begin() + along, length);
  own.insert(own.begin() + along, Value());
  Value spread = b.broadcast(indices, shape, kept);
  SmallVector<int64_t> dims(op.getScatterDimsToOperandDims());
  auto component = llvm::find(dims, target) - dims.begin();
  SmallVector<int64_t> one(shape);
  one[along + 1] = 1;
  Value steps = b.iota(HloBuilder::array(one, elementTypeOf(indices)), along);
  SmallVector<Value> parts;
  for (int64_t i = 0, end = dims.size(); i < end; ++i) {
    Value part = b.sliceDim(spread, along + 1, i, i + 1);
    parts.push_back(i == component ? b.binary<AddOp>(part, steps) : part);
  }
  if (component == int64_t(dims.size())) {
    dims.push_back(target);
    parts.push_back(steps);
  }
  Value made = parts.size() == 1 ? parts[0] : b.concatenate(parts, along + 1);
  op->setOperand(count, made);
  bind(made, own);
  // Dimensions of the updates: those of the indices, `dim`, the windows.
  SmallVector<int64_t> order;
  int64_t rank = rankOf(op->getOperand(count + 1));
  for (int64_t i = 0; i < rank; ++i) {
    if (!llvm::is_contained(op.getUpdateWindowDims(), i)) {
      order.push_back(i);
    }
  }
  order.push_back(dim);
  for (int64_t i : op.getUpdateWindowDims()) {
    if (i != dim) {
      windows.push_back(order.size());
      order.push_back(i);
    }
  }
  for (unsigned i = count + 1; i < op->getNumOperands(); ++i) {
    Value update = op->getOperand(i);
    DynamicSizes sizes = sizesOf(update), moved;
    for (int64_t from : order) {
      moved.push_back(sizes[from]);
    }
    Value turned = b.transpose(update, order);
    op->setOperand(i, turned);
    bind(turned, moved);
  }
  SmallVector<int64_t> inserted(op.getInsertedWindowDims());
  inserted.insert(llvm::lower_bound(inserted, target), target);
  op.setUpdateWindowDims(windows);
  op.setInsertedWindowDims(inserted);
  op.setScatterDimsToOperandDims(dims);
  op.setIndexVectorDim(along + 1);
  op->removeAttr("indices_are_sorted");
}

/// The dimension of the operands that each dimension of the updates' windows is.
static SmallVector<int64_t> windowTargets(ScatterOp op) {
  SmallVector<int64_t> covered;
  for (int64_t dim = 0, end = rankOf(op->getOperand(0)); dim < end; ++dim) {
    bool isBatching =
        op.getInputBatchingDims() && llvm::is_contained(*op.getInputBatchingDims(), dim);
    if (!llvm::is_contained(op.getInsertedWindowDims(), dim) && !isBatching) {
      covered.push_back(dim);
    }
  }
  return covered;
}

/// A window that is not within the sizes of the operands is left out as a whole: its index is
/// beyond everything. Then each position of a window whose own size is dynamic gets an index.
LogicalResult DynamicPadder::visitWindows(ScatterOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  unsigned count = op->getNumOperands() / 2;
  auto sizeIn = [&](unsigned first, int64_t dim) {
    Value size;
    for (unsigned i = 0; i < count && !size; ++i) {
      size = sizeOf(op->getOperand(first + i), dim);
    }
    return size;
  };
  struct Window {
    int64_t target;
    Value size, within;
  };
  SmallVector<Window> checked;
  SmallVector<int64_t> unrolled; // dimensions of the operands
  for (auto [dim, target] : llvm::zip(op.getUpdateWindowDims(), windowTargets(op))) {
    Value size = sizeIn(count + 1, dim), within = sizeIn(0, target);
    int64_t length = shapeOf(op->getOperand(count + 1))[dim];
    bool isWhole = length == shapeOf(op->getOperand(0))[target];
    bool isMoved = llvm::is_contained(op.getScatterDimsToOperandDims(), target);
    if (size && !(isWhole && within && sameSize(size, within))) {
      unrolled.push_back(target);
      if (isMoved) {
        checked.push_back(
            {target, size, within ? within : b.index(shapeOf(op->getOperand(0))[target])});
      }
    } else if (!size && within && isMoved && length > 1) {
      checked.push_back({target, b.index(length), within});
    }
  }
  if (checked.empty() && unrolled.empty()) {
    return success();
  }
  Value indices = op->getOperand(count);
  int64_t vector = op.getIndexVectorDim(), rank = rankOf(indices);
  if (vector + 1 < rank) {
    return refuse(op, "windows of dynamic size, and index vectors in dimension " + Twine(vector));
  }
  DynamicSizes own = sizesOf(indices);
  auto type = cast<IntegerType>(elementTypeOf(indices));
  if (type.getWidth() < 32 || type.isUnsigned()) {
    indices = b.convert(indices, builder.getIntegerType(type.getWidth() < 32 ? 32 : 64, true));
  }
  SmallVector<int64_t> shape(shapeOf(indices));
  if (vector == rank) {
    shape.push_back(1);
    own.push_back(Value());
    indices = b.reshape(indices, shape);
  }
  Type index = elementTypeOf(indices);
  SmallVector<int64_t> rows(ArrayRef(shape).drop_back()), kept;
  for (int64_t i = 0, end = rows.size(); i < end; ++i) {
    kept.push_back(i);
  }
  Value beyond = b.broadcastScalar(b.constant(extremeOf(index, /*least=*/false)), shape),
        given = indices;
  for (const Window &window : checked) {
    auto component = llvm::find(op.getScatterDimsToOperandDims(), window.target) -
                     op.getScatterDimsToOperandDims().begin();
    Value start = b.reshape(b.sliceDim(given, rows.size(), component, component + 1), rows);
    Value last = b.convert(b.binary<SubtractOp>(window.within, window.size), index);
    Value fits = b.compare(start, b.broadcastScalar(last, rows), "LE");
    indices = b.select(b.broadcast(fits, shape, kept), indices, beyond);
  }
  op->setOperand(count, indices);
  op.setIndexVectorDim(shape.size() - 1);
  bind(indices, own);
  for (int64_t target : unrolled) {
    SmallVector<int64_t> targets = windowTargets(op);
    unrollWindow(op, op.getUpdateWindowDims()[llvm::find(targets, target) - targets.begin()],
                 target);
  }
  return success();
}

LogicalResult DynamicPadder::visitScatter(ScatterOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  unsigned count = op->getNumOperands() / 2;
  if (int64_t vector = op.getIndexVectorDim();
      vector < rankOf(op->getOperand(count)) && sizeOf(op->getOperand(count), vector)) {
    return refuse(op, "the dimension of the index vectors");
  }
  if (failed(visitWindows(op))) {
    return failure();
  }
  Value indices = op->getOperand(count);
  int64_t vector = op.getIndexVectorDim(), rank = rankOf(indices);
  // Determines which indices are valid, from the sizes of the indices or the updates.
  DynamicSizes own = sizesOf(indices);
  for (unsigned i = 0; i < count; ++i) {
    Value update = op->getOperand(count + 1 + i);
    int64_t next = 0;
    for (int64_t dim = 0, end = rankOf(update); dim < end; ++dim) {
      if (llvm::is_contained(op.getUpdateWindowDims(), dim)) {
        continue;
      }
      next += next == vector;
      own[next] = own[next] ? own[next] : sizeOf(update, dim);
      ++next;
    }
  }
  if (llvm::any_of(own, [](Value size) { return bool(size); })) {
    if (op.getScatterDimsToOperandDims().empty()) {
      return refuse(op, "it has no indices");
    }
    // In a narrow index type the greatest number may be in bounds.
    auto type = cast<IntegerType>(elementTypeOf(indices));
    if (type.getWidth() < 32) {
      indices = b.convert(indices, builder.getIntegerType(32, true));
    }
    Value beyond = b.constant(extremeOf(elementTypeOf(indices), /*least=*/false));
    for (int64_t dim = 0; dim < rank; ++dim) {
      if (own[dim]) {
        indices = maskedBeyond(b, indices, dim, own[dim], beyond);
      }
    }
    op->setOperand(count, indices);
  }
  for (unsigned i = 0; i < count; ++i) {
    bind(op->getResult(i), sizesOf(op->getOperand(i)));
  }
  return success();
}
