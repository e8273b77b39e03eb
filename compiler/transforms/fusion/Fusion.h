//===- Fusion.h - Passes that form kernels --------------------------------===//
#ifndef COMPILER_TRANSFORMS_FUSION_FUSION_H
#define COMPILER_TRANSFORMS_FUSION_FUSION_H

#include "compiler/machine/Machine.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace hlo {

// Rewrites before ops are gathered; each is a file of its name.

/// `hlo-narrow-reduce`: makes sums of integers that are widened for it in as few bits as hold them.
std::unique_ptr<mlir::Pass> createNarrowReducePass();
/// `hlo-reduce-parts`: reduces each array of a concatenate by itself.
std::unique_ptr<mlir::Pass> createReducePartsPass();
/// `hlo-split-reduce`: writes reduces as two where that makes better kernels.
std::unique_ptr<mlir::Pass> createSplitReducePass();
/// `hlo-turn-columns`: puts columns that are stacked and then transposed to rows of columns
/// together as those.
std::unique_ptr<mlir::Pass> createTurnColumnsPass();
/// `hlo-split-columns`: computes arrays of few columns that concatenates make, and what is made of
/// them, column by column. Where one is needed as a whole there is a `paired` concatenate.
std::unique_ptr<mlir::Pass> createSplitColumnsPass();
/// `hlo-paired-concatenate`: marks concatenates whose parts share their work as `paired`, behind
/// the element-wise ops that follow them: each is the root of a kernel that walks the parts.
std::unique_ptr<mlir::Pass> createPairedConcatenatePass();

/// `hlo-fusion`: gathers the ops of every computation that runs at top level into
/// `hlo.fusion` regions with a strategy (phase 4 of compiler/README.md).
std::unique_ptr<mlir::Pass> createHloFusionPass(const Machine &machine);

/// `hlo-multi-output-fusion`: makes one kernel of kernels that read the same arrays in step.
std::unique_ptr<mlir::Pass> createHloMultiOutputFusionPass();

void registerFusionPasses();

} // namespace hlo

#endif
