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

LogicalResult DynamicPadder::visitScatter(ScatterOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  unsigned count = op->getNumOperands() / 2;
  Value indices = op->getOperand(count);
  int64_t vector = op.getIndexVectorDim(), rank = rankOf(indices);
  if (vector < rank && sizeOf(indices, vector)) {
    return refuse(op, "the dimension of the index vectors");
  }
  // A window of an update may have a dynamic size only in the dimension that it covers.
  auto isBatching = [&](int64_t dim) {
    return op.getInputBatchingDims() && llvm::is_contained(*op.getInputBatchingDims(), dim);
  };
  SmallVector<int64_t> covered;
  for (int64_t dim = 0, end = rankOf(op->getOperand(0)); dim < end; ++dim) {
    if (!llvm::is_contained(op.getInsertedWindowDims(), dim) && !isBatching(dim)) {
      covered.push_back(dim);
    }
  }
  for (unsigned i = 0; i < count; ++i) {
    Value operand = op->getOperand(i), update = op->getOperand(count + 1 + i);
    for (auto [dim, target] : llvm::zip(op.getUpdateWindowDims(), covered)) {
      if (sizeOf(update, dim) &&
          (shapeOf(update)[dim] != shapeOf(operand)[target] || !sizeOf(operand, target))) {
        return refuse(op, "dimension " + Twine(dim) +
                              " of the updates is part of the windows, whose dimension " +
                              Twine(target) + " of the operand is another");
      }
    }
  }
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
