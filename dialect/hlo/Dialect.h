//===- Dialect.h - The hlo dialect ----------------------------------------===//
//
// Types, attributes and ops of HLO (see Base.td for the types of shapes), and common queries on
// shapes.
//
//===----------------------------------------------------------------------===//
#ifndef DIALECT_HLO_DIALECT_H
#define DIALECT_HLO_DIALECT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/hlo/Dialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/hlo/Types.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/hlo/Attrs.h.inc"

namespace hlo {

/// Verifies any op of the dialect: operand counts and types, attributes, and that the written
/// result shapes equal the inferred ones. Reports all violations as errors at the op, with notes at
/// the other op involved.
mlir::LogicalResult verifyOp(mlir::Operation *op);

namespace OpTrait {
/// Trait of every op that represents an instruction.
template <typename ConcreteType>
class HloOp : public mlir::OpTrait::TraitBase<ConcreteType, HloOp> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return ::hlo::verifyOp(op); }
};
} // namespace OpTrait

} // namespace hlo

#define GET_OP_CLASSES
#include "dialect/hlo/ops/ElementwiseOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/hlo/ops/ShapeOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/hlo/ops/ReduceOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/hlo/ops/LinalgOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/hlo/ops/ControlOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/hlo/ops/CommunicationOps.h.inc"

#endif
