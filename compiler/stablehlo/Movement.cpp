//===- Movement.cpp - Rules of ops that move data -------------------------===//
//
// HLO's broadcast is StableHLO's with two differences: operand dimensions of size 1 are not
// stretched, and result dimensions must be increasing.
//
//   broadcast_in_dim [1,n] -> [m,n]    reshape [1,n] -> [n], broadcast [n] -> [m,n]
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/Rules.h"
#include "dialect/stablehlo/Dialect.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::stable;

static LogicalResult convertBroadcastInDim(Converter &c, stablehlo::BroadcastInDimOp op) {
  RankedTensorType result = c.array(op.getResult());
  Value operand = c.get(op.getOperand());
  SmallVector<int64_t> dims(op.getBroadcastDimensions());
  auto shape = [&] { return HloBuilder::type(operand).getShape(); };
  SmallVector<int64_t> kept, sizes;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (shape()[i] == result.getDimSize(dim)) {
      kept.push_back(dim);
      sizes.push_back(shape()[i]);
    }
  }
  if (kept.size() != dims.size()) {
    operand = c.hlo().reshape(operand, sizes);
  }
  if (!llvm::is_sorted(kept)) {
    SmallVector<int64_t> order(llvm::to_vector(llvm::seq<int64_t>(0, kept.size())));
    llvm::sort(order, [&](int64_t a, int64_t b) { return kept[a] < kept[b]; });
    operand = c.hlo().transpose(operand, order);
    llvm::sort(kept);
  }
  return c.bind(op, c.create("hlo.broadcast", result, operand, c.dims("dimensions", kept)));
}

static LogicalResult convertBroadcast(Converter &c, stablehlo::BroadcastOp op) {
  RankedTensorType result = c.array(op.getResult());
  int64_t rank = cast<ShapedType>(op.getOperand().getType()).getRank();
  SmallVector<int64_t> dims;
  for (int64_t i = 0; i < rank; ++i) {
    dims.push_back(result.getRank() - rank + i);
  }
  return c.bind(
      op, c.create("hlo.broadcast", result, c.get(op.getOperand()), c.dims("dimensions", dims)));
}

static LogicalResult convertTranspose(Converter &c, stablehlo::TransposeOp op) {
  return c.bind(op, c.create("hlo.transpose", c.array(op.getResult()), c.get(op.getOperand()),
                             c.dims("dimensions", op.getPermutation())));
}

static LogicalResult convertReverse(Converter &c, stablehlo::ReverseOp op) {
  return c.bind(op, c.create("hlo.reverse", c.array(op.getResult()), c.get(op.getOperand()),
                             c.dims("dimensions", op.getDimensions())));
}

static LogicalResult convertSlice(Converter &c, stablehlo::SliceOp op) {
  return c.bind(op, c.create("hlo.slice", c.array(op.getResult()), c.get(op.getOperand()),
                             {c.dims("start_indices", op.getStartIndices()),
                              c.dims("limit_indices", op.getLimitIndices()),
                              c.dims("strides", op.getStrides())}));
}

static LogicalResult convertConcatenate(Converter &c, stablehlo::ConcatenateOp op) {
  return c.bind(op, c.create("hlo.concatenate", c.array(op.getResult()), c.get(op.getInputs()),
                             c.integer("dimension", op.getDimension())));
}

static LogicalResult convertPad(Converter &c, stablehlo::PadOp op) {
  return c.bind(op, c.create("hlo.pad", c.array(op.getResult()),
                             {c.get(op.getOperand()), c.get(op.getPaddingValue())},
                             {c.dims("padding_low", op.getEdgePaddingLow()),
                              c.dims("padding_high", op.getEdgePaddingHigh()),
                              c.dims("padding_interior", op.getInteriorPadding())}));
}

static LogicalResult convertDynamicSlice(Converter &c, stablehlo::DynamicSliceOp op) {
  return c.bind(op, c.create("hlo.dynamic_slice", c.array(op.getResult()), c.get(op->getOperands()),
                             c.dims("dynamic_slice_sizes", op.getSliceSizes())));
}

static LogicalResult convertGetDimensionSize(Converter &c, stablehlo::GetDimensionSizeOp op) {
  return c.bind(op, c.create("hlo.get_dimension_size", c.array(op.getResult()),
                             c.get(op.getOperand()), c.integer("dimension", op.getDimension())));
}

/// The sizes are scalars in HLO. The result's bounds were chosen for as many elements as the
/// operand's.
static LogicalResult convertDynamicReshape(Converter &c, stablehlo::DynamicReshapeOp op) {
  Values operands{c.get(op.getOperand())};
  Value sizes = c.get(op->getOperand(1));
  for (int64_t i = 0, rank = c.array(op.getResult()).getRank(); i < rank; ++i) {
    operands.push_back(c.hlo().reshape(c.hlo().sliceDim(sizes, 0, i, i + 1), {}));
  }
  return c.bind(op, c.create("hlo.dynamic_reshape", c.array(op.getResult()), operands));
}

static LogicalResult convertSetDimensionSize(Converter &c, stablehlo::SetDimensionSizeOp op) {
  return c.bind(op, c.create("hlo.set_dimension_size", c.array(op.getResult()),
                             {c.get(op.getOperand()), c.get(op.getSize())},
                             c.integer("dimension", op.getDimension())));
}

void hlo::stable::addMovementRules(Rules &rules) {
  rules.add<stablehlo::BroadcastInDimOp, convertBroadcastInDim>();
  rules.add<stablehlo::BroadcastOp, convertBroadcast>();
  rules.add<stablehlo::ConcatenateOp, convertConcatenate>();
  rules.add<stablehlo::DynamicReshapeOp, convertDynamicReshape>();
  rules.add<stablehlo::DynamicSliceOp, convertDynamicSlice>();
  rules.add<stablehlo::GetDimensionSizeOp, convertGetDimensionSize>();
  rules.add<stablehlo::PadOp, convertPad>();
  rules.add<stablehlo::ReverseOp, convertReverse>();
  rules.add<stablehlo::SetDimensionSizeOp, convertSetDimensionSize>();
  rules.add<stablehlo::SliceOp, convertSlice>();
  rules.add<stablehlo::TransposeOp, convertTranspose>();
  rules.add("stablehlo.dynamic_update_slice", convertSame);
  rules.add("stablehlo.reshape", convertSame);
}
