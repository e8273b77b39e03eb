//===- Prepare.h - Passes for immutable parameters and constants ----------===//
//
// Passes of the fuse phase that do nothing unless the module has the attribute
// `hlo.immutable_leaves` (analysis/Prepared.h) or large constants, which are folded. In this order:
//
//   hlo-fold-scales    scales and offsets of dots and convolutions go into their weights (only with
//                      the attribute)
//   hlo-pack-operands  weights in the layout in which they are read: panels where the code
//                      generator wants them, the order of dimensions of other convolutions
//   hlo-split-prepare  values that depend only on immutable values and are worth their memory
//                      move to the prepare computation; before fusion, so that no kernel mixes
//                      both, ...
//   hlo-fusion
//   hlo-split-prepare  ... and after it, whole kernels
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_PREPARE_PREPARE_H
#define COMPILER_TRANSFORMS_PREPARE_PREPARE_H

#include "compiler/analysis/Prepared.h"
#include "mlir/Pass/Pass.h"
#include <functional>
#include <memory>

namespace hlo {

/// Called for each immutable operand of a dot or convolution; returns nothing to keep the layout.
using ChoosePanels =
    std::function<std::optional<PanelLayout>(mlir::Operation *hero, unsigned operand)>;

std::unique_ptr<mlir::Pass> createFoldScalesPass();
std::unique_ptr<mlir::Pass> createPackOperandsPass(ChoosePanels choose = {});
std::unique_ptr<mlir::Pass> createSplitPreparePass();

void registerPreparePasses();

} // namespace hlo

#endif
