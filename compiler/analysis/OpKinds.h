//===- OpKinds.h - What kind of op an op is -------------------------------===//
//
// Classes of opcodes that more than one pass asks for.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_ANALYSIS_OPKINDS_H
#define COMPILER_ANALYSIS_OPKINDS_H

#include "dialect/hlo/Dialect.h"

namespace hlo {

/// Whether element i of the result depends on element i of each operand alone (or on
/// the one element of a scalar operand of select and clamp).
bool isElementwiseOp(mlir::Operation *op);

/// Element-wise, and costs tens of instructions or more per element.
bool isExpensiveElementwise(mlir::Operation *op);

/// Whether the runtime executes the op: a custom call, a feed, a transfer, a collective.
bool isRuntimeOp(mlir::Operation *op);

/// Whether what the op does depends on the ranks that the program runs on.
bool isCollectiveOp(mlir::Operation *op);

} // namespace hlo

#endif
