//===- Indices.cpp - Indices clamped to the true sizes --------------------===//
//
// HLO clamps the starts of slices and of gather's windows to an array's bound, JAX to its size. An
// index into a dimension of size n is clamped to n here, before the op:
//
//   dynamic_slice %x, %i    ->    dynamic_slice %x, max(0, min(%i, n - slice size))
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/refine/Refiner.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::refine;

/// Clamps the starts of dynamic_slice and dynamic_update_slice to the true sizes.
void Refiner::clampIndices(Operation *op) {
  bool isUpdate = isa<stablehlo::DynamicUpdateSliceOp>(op);
  unsigned first = isUpdate ? 2 : 1;
  Sizes own = sizesOf(op->getOperand(0));
  Sizes part;
  if (isUpdate) {
    part = sizesOf(op->getOperand(1));
  } else {
    for (int64_t size : listAttr(op, "slice_sizes")) {
      part.push_back(size);
    }
  }
  builder.setInsertionPoint(op);
  for (auto [dim, size] : llvm::enumerate(own)) {
    Value start = op->getOperand(first + dim);
    SizeExpr last = size - part[dim];
    if (size.constant() || !canTrack(start) || rangeOf(last - elementsOf(start).front()).low >= 0) {
      continue;
    }
    auto type = cast<RankedTensorType>(start.getType());
    Value most = sizeValue(SizeExpr::max(last, 0));
    if (type.getElementType() != builder.getI32Type()) {
      most = make("stablehlo.convert", most, type);
    }
    op->setOperand(first + dim, binary("stablehlo.maximum", constantInt(type.getElementType(), 0),
                                       binary("stablehlo.minimum", start, most)));
  }
}

/// Clamps the indices of a gather to the true sizes of its operand.
void Refiner::clampGather(Operation *op) {
  auto numbers = op->getAttrOfType<stablehlo::GatherDimensionNumbersAttr>("dimension_numbers");
  Sizes own = sizesOf(op->getOperand(0));
  SmallVector<int64_t> slices = listAttr(op, "slice_sizes");
  Value indices = op->getOperand(1);
  RankedTensorType type = arrayType(indices);
  bool isNeeded =
      llvm::any_of(numbers.getStartIndexMap(), [&](int64_t dim) { return !own[dim].constant(); });
  if (!isNeeded || type.getElementTypeBitWidth() < 32) {
    return;
  }
  builder.setInsertionPoint(op);
  // One limit for each element of an index vector.
  int64_t vector = numbers.getIndexVectorDim();
  SmallVector<Value> limits;
  for (int64_t dim : numbers.getStartIndexMap()) {
    Value most = sizeValue(SizeExpr::max(own[dim] - slices[dim], 0));
    if (type.getElementType() != builder.getI32Type()) {
      most = make("stablehlo.convert", most, withShape(indices, {}));
    }
    limits.push_back(most);
  }
  SmallVector<int64_t> shape = boundsOf(sizesOf(indices));
  Value limit;
  if (vector == type.getRank() || shape[vector] == 1) {
    limit = broadcastScalar(limits.front(), shape);
  } else {
    SmallVector<Value> ones;
    for (Value each : limits) {
      ones.push_back(make("stablehlo.reshape", each, withShape(indices, {1})));
    }
    Value all =
        make("stablehlo.concatenate", ones, withShape(indices, {static_cast<int64_t>(ones.size())}),
             builder.getNamedAttr("dimension", builder.getI64IntegerAttr(0)));
    limit =
        make("stablehlo.broadcast_in_dim", all, withShape(indices, shape),
             builder.getNamedAttr("broadcast_dimensions", builder.getDenseI64ArrayAttr({vector})));
  }
  Value zero = broadcastScalar(constantInt(type.getElementType(), 0), shape);
  Sizes sizes = sizesOf(indices);
  Value clamped =
      binary("stablehlo.maximum", zero, binary("stablehlo.minimum", forgotten(indices), limit));
  op->setOperand(1, sized(clamped, sizes));
}
