//===- DotOrder.h - In which order memory holds a dot's operands ----------===//
#ifndef COMPILER_PLANS_DOTORDER_H
#define COMPILER_PLANS_DOTORDER_H

#include "compiler/machine/Machine.h"
#include "dialect/hlo/Dialect.h"

namespace hlo {

/// The batch strategy (codegen/dot/BatchLanes.cpp) has its lanes along the batch. It pays for two
/// operands whose innermost dimension is the batch if their copies for one vector of it fit
/// kMostCopied, and sums are long (kLeastBatchSum products) or the result is small
/// (kSmallBatchResult elements). A short sum does not pay for transposing a larger result: of sums
/// of 8 products, results of 128 x 128 take twice as long as blocked, of 8 x 8 half as long
/// (NOTES.md, "Forms for few rows, and small products"). The bounds lie between the two.
inline constexpr int64_t kLeastBatchSum = 16, kSmallBatchResult = 256;
/// Most bytes of a task's copy of a small operand, or of both: half of an L2 of 1 MiB, so that what
/// streams past the copy does not evict it.
inline constexpr int64_t kMostCopied = 512 << 10;

/// True if adjacent elements of `operand` belong to different batch indices and the dot does not
/// use the batch strategy, whose lanes run along the batch. Each product would then read the
/// operand with a stride: a transposed copy of it pays. Small operands never qualify. If a
/// transpose produces the operand, the order in memory is that of the transpose's own operand.
bool isStoredAcrossBatch(const Machine &machine, DotOp dot, unsigned operand);

} // namespace hlo

#endif
