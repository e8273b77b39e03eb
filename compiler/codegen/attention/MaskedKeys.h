//===- MaskedKeys.h - Keys whose weights are zero in a block --------------===//
#ifndef COMPILER_CODEGEN_ATTENTION_MASKEDKEYS_H
#define COMPILER_CODEGEN_ATTENTION_MASKEDKEYS_H

#include "compiler/codegen/Kernel.h"
#include "compiler/plans/AttentionPlan.h"

namespace hlo::codegen {

/// Scores that a mask of positions replaces by a constant before a plain softmax.
struct MaskedSoftmax {
  mlir::Value mask; ///< false where a score is `masked`
  double masked;
  hlo::ReduceOp maximum, sum;

  /// If the maximum of a row's other scores is greater than this, or a NaN, the weights of its
  /// masked scores are zero, or all its weights are NaN. Negative infinity: that holds anyway.
  double leastMaximum() const;
};
/// The softmax between the dots; `scores` is the value that it starts from. Nothing if it has
/// another form, or its weights could be other than zero for each row.
std::optional<MaskedSoftmax> findMaskedSoftmax(KernelBuilder &kernel, Attention &attention,
                                               mlir::Value scores);

/// Positions from `first` to `last` of each axis.
using AxisRanges = llvm::SmallVector<std::pair<int64_t, int64_t>>;
/// Whether the mask is known to be false at all positions in the ranges.
bool isFalseWithin(Attention &attention, mlir::Value mask, const AxisRanges &ranges);

} // namespace hlo::codegen

#endif
