//===- KernelOps.cpp - Definitions and verifiers of KernelOps.td ----------===//
#include "dialect/hlo/ops/KernelOps.h"
#include "dialect/hlo/ops/Families.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/hlo/ops/KernelOps.cpp.inc"

void hlo::registerKernelOps(Dialect &dialect) {
  FamilyRegistrar::add<
#define GET_OP_LIST
#include "dialect/hlo/ops/KernelOps.cpp.inc"
      >(dialect);
}

/// The type of `count` arrays along a new dimension.
static RankedTensorType stackedType(RankedTensorType part, int64_t count, int64_t dimension) {
  SmallVector<int64_t> shape(part.getShape());
  shape.insert(shape.begin() + dimension, count);
  return RankedTensorType::get(shape, part.getElementType());
}

void hlo::StackOp::build(OpBuilder &builder, OperationState &state, ValueRange parts,
                         int64_t dimension) {
  auto part = cast<RankedTensorType>(parts[0].getType());
  build(builder, state, stackedType(part, parts.size(), dimension), parts, dimension);
}

LogicalResult hlo::StackOp::verify() {
  if (getParts().size() < 2) {
    return emitOpError("needs at least 2 parts, has ") << getParts().size();
  }
  auto part = cast<RankedTensorType>(getParts()[0].getType());
  for (Type type : getParts().getTypes()) {
    if (type != part) {
      return emitOpError("parts differ: ") << part << " and " << type;
    }
  }
  int64_t dimension = getDimension();
  if (dimension != 0 && dimension != part.getRank()) {
    return emitOpError("the new dimension is ")
           << dimension << ", must be the first (0) or the minor one (" << part.getRank() << ")";
  }
  RankedTensorType stacked = stackedType(part, getParts().size(), dimension);
  if (getResult().getType() != stacked) {
    return emitOpError("the result is ") << getResult().getType() << ", must be " << stacked;
  }
  return success();
}

LogicalResult hlo::ResizeOp::verify() {
  if (getOperand().getType().getElementType() != getResult().getType().getElementType()) {
    return emitOpError("element types differ: ")
           << getOperand().getType() << " and " << getResult().getType();
  }
  return success();
}

/// Checks a pack or unpack between `box` and a dense array in a buffer of the other type.
static LogicalResult verifyPacking(Operation *op, RankedTensorType box, RankedTensorType other,
                                   OperandRange sizes, ArrayRef<int64_t> dims) {
  if (box.getElementType() != other.getElementType()) {
    return op->emitOpError("element types differ: ") << box << " and " << other;
  }
  if (sizes.size() != dims.size() || dims.empty()) {
    return op->emitOpError("has ") << sizes.size() << " sizes for " << dims.size() << " dimensions";
  }
  for (auto [size, dim] : llvm::zip(sizes, dims)) {
    auto type = cast<RankedTensorType>(size.getType());
    if (dim < 0 || dim >= box.getRank() || type.getRank() != 0 ||
        !type.getElementType().isSignedInteger(64)) {
      return op->emitOpError("has a size of type ") << type << " for dimension " << dim;
    }
  }
  return success();
}

LogicalResult hlo::UnpackOp::verify() {
  return verifyPacking(*this, getResult().getType(), getOperand().getType(), getSizes(), getDims());
}

LogicalResult hlo::PackOp::verify() {
  return verifyPacking(*this, getOperand().getType(), getResult().getType(), getSizes(), getDims());
}
