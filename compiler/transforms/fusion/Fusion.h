//===- Fusion.h - Passes that form kernels --------------------------------===//
#ifndef COMPILER_TRANSFORMS_FUSION_FUSION_H
#define COMPILER_TRANSFORMS_FUSION_FUSION_H

#include "compiler/machine/Machine.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace hlo {

/// `hlo-attention-fusion`: moves two dots with a softmax of rows between them into one kernel.
std::unique_ptr<mlir::Pass> createHloAttentionFusionPass(const Machine &machine);

/// `hlo-fusion`: moves the ops of every computation that runs at top level into `hlo.fusion`
/// regions with a strategy (phase 5 of compiler/README.md).
std::unique_ptr<mlir::Pass> createHloFusionPass(const Machine &machine);

/// `hlo-multi-output-fusion`: merges kernels that walk the same iteration space and read the same
/// arrays.
std::unique_ptr<mlir::Pass> createHloMultiOutputFusionPass(const Machine &machine);

/// Registers the passes of this folder. A pass copies `machine` when it is made.
void registerFusionPasses(const Machine &machine);

} // namespace hlo

#endif
