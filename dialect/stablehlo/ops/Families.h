//===- Families.h - Registration of each family of ops --------------------===//
#ifndef DIALECT_STABLEHLO_OPS_FAMILIES_H
#define DIALECT_STABLEHLO_OPS_FAMILIES_H

#include "dialect/stablehlo/Dialect.h"

namespace stablehlo {
/// A dialect's addOperations is protected; each family's file adds its ops through this.
struct FamilyRegistrar {
  template <typename... Ops> static void add(mlir::Dialect &dialect) {
    (mlir::RegisteredOperationName::insert<Ops>(dialect), ...);
  }
};
void registerUnaryOps(mlir::Dialect &dialect);
void registerBinaryOps(mlir::Dialect &dialect);
void registerShapeOps(mlir::Dialect &dialect);
void registerLinalgOps(mlir::Dialect &dialect);
void registerReduceOps(mlir::Dialect &dialect);
void registerControlOps(mlir::Dialect &dialect);
void registerCommunicationOps(mlir::Dialect &dialect);
} // namespace stablehlo

#endif
