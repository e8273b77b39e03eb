//===- Prologue.h - What a dot computes while it reads its operands -------===//
#ifndef COMPILER_TRANSFORMS_FUSION_PROLOGUE_H
#define COMPILER_TRANSFORMS_FUSION_PROLOGUE_H

#include "compiler/transforms/fusion/Groups.h"

namespace hlo::fusion {

/// Whether a user of `op` in the group is its dot or convolution, or is evaluated while that reads
/// an operand.
bool isBeforeHero(const Group &group, mlir::Operation *op);
/// The ops from `op` to the dot if the dot's kernel should evaluate `op` while it reads its
/// operand; nullopt if `op` should be computed and stored before.
std::optional<Prologue> prologueOf(const Machine &machine, const Group &group, mlir::Operation *op);

} // namespace hlo::fusion

#endif
