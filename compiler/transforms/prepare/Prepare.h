//===- Prepare.h - Passes for immutable parameters ------------------------===//
//
// Passes of the fuse phase that do nothing unless the module has the attribute
// `hlo.immutable_leaves` (analysis/Prepared.h). In this order:
//
//   hlo-fold-scales    scales and offsets of dots and convolutions go into their weights
//   hlo-pack-operands  weights in the layout in which they are read: dimension order for
//                      convolution kernels, panels for dots if the code generator wants them
//   hlo-split-prepare  values that depend only on immutable values and are worth their memory
//                      move to the prepare computation; before fusion, so that no kernel mixes
//                      both, ...
//   hlo-fusion
//   hlo-split-prepare  ... and after it, whole kernels
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_PREPARE_PREPARE_H
#define COMPILER_TRANSFORMS_PREPARE_PREPARE_H

#include "dialect/hlo/Dialect.h"
#include "mlir/Pass/Pass.h"
#include <functional>
#include <memory>

namespace hlo {

/// The layout of a dot's right side: panels of `width` columns of `element`.
struct PanelForm {
  int64_t width = 0;
  mlir::Type element;
};
/// Called for each dot whose right side is immutable; returns nothing to keep the layout.
using ChoosePanels = std::function<std::optional<PanelForm>(DotOp)>;

std::unique_ptr<mlir::Pass> createFoldScalesPass();
std::unique_ptr<mlir::Pass> createPackOperandsPass(ChoosePanels choose = {});
std::unique_ptr<mlir::Pass> createSplitPreparePass();

void registerPreparePasses();

} // namespace hlo

#endif
