//===- DotOrder.h - In which order memory holds a dot's operands ----------===//
#ifndef COMPILER_PLANS_DOTORDER_H
#define COMPILER_PLANS_DOTORDER_H

#include "compiler/machine/Machine.h"
#include "dialect/hlo/Dialect.h"

namespace hlo {

/// True if adjacent elements of `operand` belong to different batch indices and the dot does not
/// use the batch strategy, whose lanes run along the batch. Each product would then read the
/// operand with a stride: a transposed copy of it pays. Small operands never qualify. If a
/// transpose produces the operand, the order in memory is that of the transpose's own operand.
bool isStoredAcrossBatch(const Machine &machine, DotOp dot, unsigned operand);

} // namespace hlo

#endif
