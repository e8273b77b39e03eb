//===- Constants.h - The constants that arrays are made of ----------------===//
#ifndef COMPILER_ANALYSIS_CONSTANTS_H
#define COMPILER_ANALYSIS_CONSTANTS_H

#include "dialect/hlo/Dialect.h"

namespace hlo {

/// The constant that all elements of `value` are, directly or by broadcasts; null if there is none.
inline mlir::DenseElementsAttr splatConstant(mlir::Value value) {
  while (auto broadcast = value.getDefiningOp<BroadcastOp>()) {
    value = broadcast.getOperand();
  }
  auto constant = value.getDefiningOp<ConstantOp>();
  auto attr = constant ? llvm::dyn_cast<mlir::DenseElementsAttr>(constant.getValue())
                       : mlir::DenseElementsAttr();
  return attr && attr.isSplat() && attr.getNumElements() > 0 ? attr : mlir::DenseElementsAttr();
}

} // namespace hlo

#endif
