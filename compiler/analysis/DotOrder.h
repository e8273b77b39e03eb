//===- DotOrder.h - Operands of a dot that are stored across its batch ----===//
#ifndef COMPILER_ANALYSIS_DOTORDER_H
#define COMPILER_ANALYSIS_DOTORDER_H

#include "dialect/hlo/Dialect.h"

namespace hlo {

/// True if the elements of `operand` that are adjacent in memory (a transpose that produces it is
/// looked through) belong to different batch indices, so that each product would read it with a
/// stride, and the dot does not use the batch strategy, whose lanes run along the batch. A
/// transposed copy of such an operand pays.
bool isStoredAcrossBatch(DotOp dot, unsigned operand);

} // namespace hlo

#endif
