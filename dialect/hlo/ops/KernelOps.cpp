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
  auto from = cast<RankedTensorType>(getOperand().getType());
  auto to = cast<RankedTensorType>(getResult().getType());
  if (from.getElementType() != to.getElementType() || from.getRank() != to.getRank()) {
    return emitOpError("types differ in more than their sizes: ") << from << " and " << to;
  }
  if (from.getNumElements() == 0) {
    return success();
  }
  bool slowest = true;
  for (auto [before, after] : llvm::zip(from.getShape(), to.getShape())) {
    if (!slowest && before != after) {
      return emitOpError("resizes a dimension that is not the slowest: ") << from << " to " << to;
    }
    slowest &= before == 1 && after == 1;
  }
  return success();
}
