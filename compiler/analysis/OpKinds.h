//===- OpKinds.h - Classes of ops -----------------------------------------===//
//
// Classes of opcodes that more than one pass needs.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_ANALYSIS_OPKINDS_H
#define COMPILER_ANALYSIS_OPKINDS_H

#include "dialect/hlo/Dialect.h"

namespace hlo {

/// True if element i of the result depends only on element i of each operand, or on the single
/// element of a scalar operand (select, clamp).
bool isElementwiseOp(mlir::Operation *op);

/// True for element-wise ops that take tens of instructions or more per element.
bool isExpensiveElementwise(mlir::Operation *op);

/// True if the runtime executes the op: a custom call, a feed, a transfer or a collective.
bool isRuntimeOp(mlir::Operation *op);

/// True if the op's effect depends on the ranks that the program runs on.
bool isCollectiveOp(mlir::Operation *op);

} // namespace hlo

#endif
