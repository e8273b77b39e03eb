//===- Shapes.h - Questions about the types of values ---------------------===//
//
// Small inline queries on array types; nothing here looks at ops.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_ANALYSIS_SHAPES_H
#define COMPILER_ANALYSIS_SHAPES_H

#include "dialect/hlo/Dialect.h"
#include "dialect/hlo/Shapes.h"

namespace hlo {

inline mlir::RankedTensorType arrayType(mlir::Type type) {
  return llvm::dyn_cast<mlir::RankedTensorType>(type);
}
inline mlir::RankedTensorType arrayType(mlir::Value value) { return arrayType(value.getType()); }

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
}
inline mlir::Type elementTypeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getElementType();
}
inline int64_t rankOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getRank();
}
inline int64_t elementsOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getNumElements();
}
/// Bytes of a whole array; 0 for values that are not arrays.
inline int64_t bytesOf(mlir::Value value) {
  mlir::RankedTensorType type = arrayType(value);
  return type ? type.getNumElements() * elementBytes(type.getElementType()) : 0;
}
inline bool isScalar(mlir::Type type) {
  mlir::RankedTensorType array = arrayType(type);
  return array && array.getRank() == 0;
}
inline bool isScalar(mlir::Value value) { return isScalar(value.getType()); }

/// The layout of an array, null when it is the default and static.
inline hlo::LayoutAttr layoutOf(mlir::Type type) {
  mlir::RankedTensorType array = arrayType(type);
  return array ? llvm::dyn_cast_or_null<hlo::LayoutAttr>(array.getEncoding()) : hlo::LayoutAttr();
}

/// The array type of the same shape with no layout.
inline mlir::RankedTensorType withoutLayout(mlir::RankedTensorType type) {
  return mlir::RankedTensorType::get(type.getShape(), type.getElementType());
}

/// True if the order is the default one, last dimension fastest; an empty order is the default.
inline bool isDefaultOrder(llvm::ArrayRef<int64_t> minorToMajor) {
  for (auto [i, dim] : llvm::enumerate(minorToMajor)) {
    if (dim != static_cast<int64_t>(minorToMajor.size() - 1 - i)) {
      return false;
    }
  }
  return true;
}

} // namespace hlo

#endif
