//===- Fusion.h - Passes that form kernels --------------------------------===//
#ifndef COMPILER_TRANSFORMS_FUSION_FUSION_H
#define COMPILER_TRANSFORMS_FUSION_FUSION_H

#include "compiler/support/Target.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace hlo {

/// `hlo-fusion`: gathers the ops of every computation that runs at top level into
/// `hlo.fusion` regions with a strategy (phase 4 of compiler/README.md).
std::unique_ptr<mlir::Pass> createHloFusionPass(const Target &target);

/// `hlo-multi-output-fusion`: makes one kernel of kernels that read the same arrays in step.
std::unique_ptr<mlir::Pass> createHloMultiOutputFusionPass();

void registerFusionPasses();

} // namespace hlo

#endif
