//===- Dialect.h - The chlo dialect ---------------------------------------===//
//
// Ops that JAX exports beside stablehlo's: special functions, top_k, ragged products, and
// elementwise ops that broadcast.
//
//===----------------------------------------------------------------------===//
#ifndef DIALECT_STABLEHLO_CHLO_DIALECT_H
#define DIALECT_STABLEHLO_CHLO_DIALECT_H

#include "dialect/stablehlo/Dialect.h"

#include "dialect/stablehlo/chlo/Dialect.h.inc"
#include "dialect/stablehlo/chlo/Enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/stablehlo/chlo/Attrs.h.inc"

namespace chlo {

/// Verifies any op of the dialect.
mlir::LogicalResult verifyOp(mlir::Operation *op);

/// Verifies the regions of any op: their arguments and what they return.
mlir::LogicalResult verifyRegionsOf(mlir::Operation *op);

void registerBroadcastOps(mlir::Dialect &dialect);
void registerFunctionOps(mlir::Dialect &dialect);

namespace OpTrait {
template <typename ConcreteType>
class Checked : public mlir::OpTrait::TraitBase<ConcreteType, Checked> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return ::chlo::verifyOp(op); }
  static mlir::LogicalResult verifyRegionTrait(mlir::Operation *op) {
    return ::chlo::verifyRegionsOf(op);
  }
};
} // namespace OpTrait

} // namespace chlo

#define GET_OP_CLASSES
#include "dialect/stablehlo/chlo/BroadcastOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/stablehlo/chlo/FunctionOps.h.inc"

#endif
