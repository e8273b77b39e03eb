//===- IndexRules.cpp - Parts of slices, gather, scatter ------------------===//
//
// Where an index is clamped so that a window stays inside an array, the window's and the array's
// size count: only a dimension that a window covers whole, whose start is always 0, is shortened,
// on both.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Reduction.h"
#include "compiler/transforms/expanders/sizes/Live.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::sizes;

static ArrayRef<int64_t> list(std::optional<ArrayRef<int64_t>> dims) {
  return dims.value_or(ArrayRef<int64_t>());
}

/// The dimensions of an array that are in none of the lists, in order.
static SmallVector<int64_t> others(int64_t rank, ArrayRef<int64_t> first,
                                   ArrayRef<int64_t> second = {}) {
  SmallVector<int64_t> result;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (!llvm::is_contained(first, dim) && !llvm::is_contained(second, dim)) {
      result.push_back(dim);
    }
  }
  return result;
}

static void gatherPart(GatherOp op, const Extents &needed, Part &part) {
  Extents &made = part.results[0];
  ArrayRef<int64_t> offsets = op.getOffsetDims();
  ArrayRef<int64_t> batching = list(op.getOperandBatchingDims());
  SmallVector<int64_t> windows =
      others(rankOf(op.getOperand()), op.getCollapsedSliceDims(), batching);
  for (auto [dim, target] : llvm::zip(windows, offsets)) {
    if (op.getSliceSizes()[dim] == shapeOf(op.getOperand())[dim]) {
      made[target] = (*part.operands[0])[dim] = needed[target];
    }
  }
  // The other dimensions of the result count the indices. Batching dimensions are left whole.
  SmallVector<int64_t> counts = others(rankOf(op.getResult()), offsets);
  int64_t vector = op.getIndexVectorDim();
  ArrayRef<int64_t> whole = list(op.getStartIndicesBatchingDims());
  for (auto [dim, target] : llvm::zip(others(rankOf(op.getStartIndices()), vector), counts)) {
    if (!llvm::is_contained(whole, dim)) {
      made[target] = (*part.operands[1])[dim] = needed[target];
    }
  }
}

/// True if an index of this value is outside of every dimension.
static bool isBeyond(Value scalar) {
  auto constant = scalar ? scalar.getDefiningOp<ConstantOp>() : ConstantOp();
  return constant && constant.getValue() == extremeOf(elementTypeOf(scalar), /*least=*/false);
}

static void scatterPart(ScatterOp op, ArrayRef<Extents> needed, const Facts &facts, Part &part) {
  unsigned count = op->getNumOperands() / 2;
  Value indices = op->getOperand(count);
  int64_t vector = op.getIndexVectorDim();
  ArrayRef<int64_t> batching = list(op.getInputBatchingDims());
  // Dimensions of the operands that are covered whole, and those of the updates that cover them.
  SmallVector<int64_t> windows =
      others(rankOf(op->getOperand(0)), op.getInsertedWindowDims(), batching);
  for (auto [target, dim] : llvm::zip(windows, op.getUpdateWindowDims())) {
    int64_t most = 0;
    bool covered = !llvm::is_contained(op.getScatterDimsToOperandDims(), target);
    for (unsigned i = 0; i < count; ++i) {
      covered &= shapeOf(op->getOperand(i))[target] == shapeOf(op->getOperand(count + 1 + i))[dim];
      most = std::max(most, needed[i][target]);
    }
    for (unsigned i = 0; i < count && covered; ++i) {
      part.results[i][target] = (*part.operands[i])[target] = most;
      (*part.operands[count + 1 + i])[dim] = most;
    }
  }
  // Indices that the padder has put outside of every array write nothing.
  ArrayRef<int64_t> whole = list(op.getScatterIndicesBatchingDims());
  SmallVector<int64_t> counts = others(rankOf(op->getOperand(count + 1)), op.getUpdateWindowDims());
  for (auto [dim, target] : llvm::zip(others(rankOf(indices), vector), counts)) {
    std::optional<Fill> fill = facts.fillOf(indices, dim);
    if (!fill || !isBeyond(fill->scalar) || llvm::is_contained(whole, dim)) {
      continue;
    }
    int64_t extent = limitedTo(fill->from, shapeOf(indices)[dim]);
    (*part.operands[count])[dim] = extent;
    for (unsigned i = 0; i < count; ++i) {
      (*part.operands[count + 1 + i])[target] = extent;
    }
  }
}

void Rule::index() {
  Extents &made = part.results[0];
  if (auto slice = dyn_cast<SliceOp>(op)) {
    made = needed[0];
    for (size_t dim = 0; dim < made.size(); ++dim) {
      if (made[dim] > 0) {
        (*part.operands[0])[dim] =
            slice.getStartIndices()[dim] + (made[dim] - 1) * slice.getStrides()[dim] + 1;
      }
    }
  } else if (auto slice = dyn_cast<DynamicSliceOp>(op)) {
    for (size_t dim = 0; dim < made.size(); ++dim) {
      if (slice.getDynamicSliceSizes()[dim] == shapeOf(slice.getOperand())[dim]) {
        made[dim] = (*part.operands[0])[dim] = needed[0][dim];
      }
    }
  } else if (auto update = dyn_cast<DynamicUpdateSliceOp>(op)) {
    for (size_t dim = 0; dim < made.size(); ++dim) {
      if (shapeOf(update.getUpdate())[dim] == shapeOf(update.getOperand())[dim]) {
        made[dim] = (*part.operands[0])[dim] = (*part.operands[1])[dim] = needed[0][dim];
      }
    }
  } else if (auto gather = dyn_cast<GatherOp>(op)) {
    gatherPart(gather, needed[0], part);
  } else if (auto scatter = dyn_cast<ScatterOp>(op)) {
    scatterPart(scatter, needed, facts, part);
  }
}

void sizes::applyIndexPart(Operation *op, const Part &part) {
  const Extents &made = part.results[0];
  if (auto slice = dyn_cast<SliceOp>(op)) {
    SmallVector<int64_t> limits;
    for (auto [dim, extent] : llvm::enumerate(made)) {
      int64_t start = slice.getStartIndices()[dim];
      limits.push_back(extent == 0 ? start : start + (extent - 1) * slice.getStrides()[dim] + 1);
    }
    slice.setLimitIndices(limits);
  } else if (auto slice = dyn_cast<DynamicSliceOp>(op)) {
    slice.setDynamicSliceSizes(made);
  } else if (auto gather = dyn_cast<GatherOp>(op)) {
    SmallVector<int64_t> windows =
        others(rankOf(gather.getOperand()), gather.getCollapsedSliceDims(),
               list(gather.getOperandBatchingDims()));
    SmallVector<int64_t> sizes(gather.getSliceSizes());
    for (auto [dim, target] : llvm::zip(windows, gather.getOffsetDims())) {
      sizes[dim] = made[target];
    }
    gather.setSliceSizes(sizes);
  }
}
