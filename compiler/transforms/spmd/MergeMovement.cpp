//===- MergeMovement.cpp - One exchange for several movements --------------===//
//
// Each op that moves along a split dimension exchanges its elements, so two in a row send elements
// twice. Before propagation,
//
//   slice(pad(x))                        -> pad(x), perhaps with negative padding
//   concatenate(slice(x), slice(x), y)   -> concatenate(x, y), with the parts as an attribute
//
// A roll is of the second form. The slice or pad must have no other user, and no sharding of its
// own. Modules with manual regions stay as they are: ops in them are copied, not partitioned.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/spmd/MergeMovement.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/spmd/Annotation.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

/// Whether the op may go: nothing is said of its sharding, and `user` alone uses it.
static bool isMergeable(Operation *op, Operation *user) {
  return !op->hasAttr(kAnnotation) &&
         llvm::all_of(op->getUsers(), [&](Operation *each) { return each == user; });
}

static void mergeIntoPad(SliceOp slice) {
  auto pad = slice.getOperand().getDefiningOp<PadOp>();
  if (!pad || !isMergeable(pad, slice)) {
    return;
  }
  SmallVector<int64_t> low(pad.getPaddingLow()), high(pad.getPaddingHigh());
  ArrayRef<int64_t> padded = shapeOf(pad.getResult());
  for (int64_t dim = 0; dim < rankOf(pad.getResult()); ++dim) {
    int64_t before = slice.getStartIndices()[dim];
    int64_t after = padded[dim] - slice.getLimitIndices()[dim];
    bool isCut = before != 0 || after != 0;
    if (slice.getStrides()[dim] != 1 || (isCut && pad.getPaddingInterior()[dim] != 0)) {
      return;
    }
    low[dim] -= before;
    high[dim] -= after;
  }
  OpBuilder builder(slice);
  Operation *merged =
      PadOp::create(builder, pad.getLoc(), slice.getType(), pad.getOperand(), pad.getPaddingValue(),
                    builder.getDenseI64ArrayAttr(low), builder.getDenseI64ArrayAttr(high),
                    pad.getPaddingInteriorAttr());
  if (Attribute annotation = slice->getAttr(kAnnotation)) {
    merged->setAttr(kAnnotation, annotation);
  }
  slice->replaceAllUsesWith(merged);
  slice->erase();
  pad->erase();
}

/// The slice that cuts `value` along one dimension alone, if it can be merged into `user`.
static SliceOp mergeableSlice(Value value, int64_t dimension, Operation *user) {
  auto slice = value.getDefiningOp<SliceOp>();
  if (!slice || !isMergeable(slice, user)) {
    return {};
  }
  ArrayRef<int64_t> shape = shapeOf(slice.getOperand());
  for (auto [dim, size] : llvm::enumerate(shape)) {
    bool isWhole = slice.getStartIndices()[dim] == 0 && slice.getLimitIndices()[dim] == size;
    if (slice.getStrides()[dim] != 1 || (static_cast<int64_t>(dim) != dimension && !isWhole)) {
      return {};
    }
  }
  return slice;
}

static void mergeIntoConcatenate(ConcatenateOp concatenate) {
  int64_t dim = concatenate.getDimension();
  SmallVector<Value> operands;
  SmallVector<int64_t> segments;
  SmallVector<Operation *> merged;
  for (Value operand : concatenate->getOperands()) {
    int64_t start = 0, size = shapeOf(operand)[dim];
    if (SliceOp slice = mergeableSlice(operand, dim, concatenate)) {
      start = slice.getStartIndices()[dim];
      operand = slice.getOperand();
      if (!llvm::is_contained(merged, slice.getOperation())) {
        merged.push_back(slice);
      }
    }
    auto *place = llvm::find(operands, operand);
    segments.append({place - operands.begin(), start, size});
    if (place == operands.end()) {
      operands.push_back(operand);
    }
  }
  if (merged.empty()) {
    return;
  }
  concatenate->setOperands(operands);
  concatenate->setAttr(kSegments, DenseI64ArrayAttr::get(concatenate->getContext(), segments));
  for (Operation *slice : merged) {
    slice->erase();
  }
}

void hlo::spmd::mergeMovement(ModuleOp module) {
  SmallVector<SliceOp> slices;
  SmallVector<ConcatenateOp> concatenates;
  WalkResult result = module.walk([&](Operation *op) {
    StringRef marker = markerOf(op);
    if (marker == kMarkEnter || marker == kMarkExit) {
      return WalkResult::interrupt();
    }
    if (auto slice = dyn_cast<SliceOp>(op)) {
      slices.push_back(slice);
    } else if (auto concatenate = dyn_cast<ConcatenateOp>(op)) {
      concatenates.push_back(concatenate);
    }
    return WalkResult::advance();
  });
  if (!result.wasInterrupted()) {
    llvm::for_each(slices, mergeIntoPad);
    llvm::for_each(concatenates, mergeIntoConcatenate);
  }
}
