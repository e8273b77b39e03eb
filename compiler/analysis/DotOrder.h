//===- DotOrder.h - In which order memory holds a dot's operands ----------===//
#ifndef COMPILER_ANALYSIS_DOTORDER_H
#define COMPILER_ANALYSIS_DOTORDER_H

#include "dialect/hlo/Dialect.h"

namespace hlo {

/// Whether neighbours in memory of an operand, behind a transpose or not, belong to different batch
/// indices, so that each product would read it element by element; and the dot is none of those
/// that go along the batch themselves. Such an operand is worth a transposed copy.
bool isStoredAcrossBatch(DotOp dot, unsigned operand);

} // namespace hlo

#endif
