//===- Dialect.h - The stablehlo dialect ----------------------------------===//
//
// Types, attributes and ops of the StableHLO specification. Names of classes and accessors follow
// the specification and the reference implementation: `AddOp::getLhs`, `ReduceOp::getInitValues`.
//
//===----------------------------------------------------------------------===//
#ifndef DIALECT_STABLEHLO_DIALECT_H
#define DIALECT_STABLEHLO_DIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/stablehlo/Dialect.h.inc"
#include "dialect/stablehlo/Enums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/stablehlo/Types.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/stablehlo/Attrs.h.inc"

namespace stablehlo {

/// More axes than any mesh has: checks of shardings compare each axis with all others.
constexpr size_t kMostMeshAxes = 256;

/// Reads `[1, ?, 3]`; `?` is ShapedType::kDynamic.
mlir::FailureOr<llvm::SmallVector<int64_t>> parseDimSizes(mlir::AsmParser &parser);
void printDimSizes(mlir::AsmPrinter &printer, llvm::ArrayRef<int64_t> sizes);

/// The accuracy of an op whose text names none.
ResultAccuracyAttr defaultAccuracy(mlir::MLIRContext *context);

/// The bounds in the encoding of an array, one for each dimension (`?` where the size is static or
/// unbounded); empty if it has no such encoding.
llvm::ArrayRef<int64_t> boundsOf(mlir::RankedTensorType array);

/// Verifies any op against the constraints of the specification, reporting all violations.
mlir::LogicalResult verifyOp(mlir::Operation *op);

/// Verifies the regions of any op: their arguments and what they return.
mlir::LogicalResult verifyRegionsOf(mlir::Operation *op);

namespace OpTrait {
template <typename ConcreteType>
class Checked : public mlir::OpTrait::TraitBase<ConcreteType, Checked> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return ::stablehlo::verifyOp(op); }
  static mlir::LogicalResult verifyRegionTrait(mlir::Operation *op) {
    return ::stablehlo::verifyRegionsOf(op);
  }
};
} // namespace OpTrait

} // namespace stablehlo

#define GET_OP_CLASSES
#include "dialect/stablehlo/ops/UnaryOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/stablehlo/ops/BinaryOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/stablehlo/ops/ShapeOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/stablehlo/ops/LinalgOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/stablehlo/ops/ReduceOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/stablehlo/ops/ControlOps.h.inc"
#define GET_OP_CLASSES
#include "dialect/stablehlo/ops/CommunicationOps.h.inc"

#endif
