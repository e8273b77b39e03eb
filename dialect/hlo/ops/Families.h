//===- Families.h - Registration of each family of ops --------------------===//
#ifndef DIALECT_HLO_OPS_FAMILIES_H
#define DIALECT_HLO_OPS_FAMILIES_H

#include "dialect/hlo/Dialect.h"

namespace hlo {
/// The dialect's addOperations is protected; each family's file calls it through this accessor.
struct FamilyRegistrar {
  template <typename... Ops> static void add(mlir::Dialect &dialect) {
    (mlir::RegisteredOperationName::insert<Ops>(dialect), ...);
  }
};
void registerElementwiseOps(mlir::Dialect &dialect);
void registerShapeOps(mlir::Dialect &dialect);
void registerReduceOps(mlir::Dialect &dialect);
void registerLinalgOps(mlir::Dialect &dialect);
void registerControlOps(mlir::Dialect &dialect);
void registerCommunicationOps(mlir::Dialect &dialect);
void registerKernelOps(mlir::Dialect &dialect);
} // namespace hlo

#endif
