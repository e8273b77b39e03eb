//===- Prologue.h - What a dot computes while it reads its operands -------===//
#ifndef COMPILER_TRANSFORMS_FUSION_PROLOGUE_H
#define COMPILER_TRANSFORMS_FUSION_PROLOGUE_H

#include "compiler/transforms/fusion/Groups.h"

namespace hlo::fusion {

/// Whether a user of `op` in the group is its dot or convolution, or a producer of one of its
/// operands.
bool isBeforeHero(const Group &group, mlir::Operation *op);
/// What `op` would be among the producers of the hero's operands; none if it should be computed
/// before.
std::optional<Prologue> prologueOf(const Group &group, mlir::Operation *op);

} // namespace hlo::fusion

#endif
