//===- Inlining.h - The ops of a computation put into a block -------------===//
#ifndef COMPILER_TRANSFORMS_SIMPLIFIERS_INLINING_H
#define COMPILER_TRANSFORMS_SIMPLIFIERS_INLINING_H

#include "dialect/hlo/Dialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace hlo {

/// Copies the ops of `computation` to the builder's position, with `arguments` for its parameters,
/// and returns its results.
inline llvm::SmallVector<mlir::Value>
inlineCopy(mlir::OpBuilder &builder, ComputationOp computation, mlir::ValueRange arguments) {
  mlir::Block &body = computation.getBody().front();
  mlir::IRMapping mapping;
  mapping.map(body.getArguments(), arguments);
  for (mlir::Operation &op : body.without_terminator()) {
    builder.clone(op, mapping);
  }
  return llvm::map_to_vector(body.getTerminator()->getOperands(),
                             [&](mlir::Value value) { return mapping.lookupOrDefault(value); });
}

} // namespace hlo

#endif
