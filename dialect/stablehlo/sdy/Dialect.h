//===- Dialect.h - The sdy dialect ----------------------------------------===//
//
// Shardy's attributes and ops, as JAX exports them for functions with shardings.
//
//===----------------------------------------------------------------------===//
#ifndef DIALECT_STABLEHLO_SDY_DIALECT_H
#define DIALECT_STABLEHLO_SDY_DIALECT_H

#include "dialect/stablehlo/Dialect.h"
#include "mlir/IR/SymbolTable.h"

#include "dialect/stablehlo/sdy/Dialect.h.inc"
#include "dialect/stablehlo/sdy/Enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/stablehlo/sdy/Attrs.h.inc"

namespace sdy {

/// Verifies any op of the dialect.
mlir::LogicalResult verifyOp(mlir::Operation *op);

/// Verifies the regions of any op: their arguments and what they return.
mlir::LogicalResult verifyRegionsOf(mlir::Operation *op);

void registerOps(mlir::Dialect &dialect);

namespace OpTrait {
template <typename ConcreteType>
class Checked : public mlir::OpTrait::TraitBase<ConcreteType, Checked> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return ::sdy::verifyOp(op); }
  static mlir::LogicalResult verifyRegionTrait(mlir::Operation *op) {
    return ::sdy::verifyRegionsOf(op);
  }
};
} // namespace OpTrait

} // namespace sdy

#define GET_OP_CLASSES
#include "dialect/stablehlo/sdy/Ops.h.inc"

#endif
