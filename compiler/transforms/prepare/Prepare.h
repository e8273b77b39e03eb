//===- Prepare.h - What depends on immutable parameters only --------------===//
//
// Passes of the fuse phase that do nothing unless the module has the attribute
// `hlo.immutable_leaves` (analysis/Prepared.h). In this order:
//
//   hlo-fold-scales    scales and offsets of dots and convolutions go into their weights
//   hlo-pack-operands  weights are laid out as they are read: kernels of convolutions by order of
//                      dimensions, those of dots as panels where the code generator says so
//   hlo-split-prepare  what depends on immutable values only and is worth its memory moves to
//                      the prepare computation; before fusion, so that no kernel mixes both, ...
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

/// How a dot's right side is laid out best: panels of `width` columns of `element`.
struct PanelForm {
  int64_t width = 0;
  mlir::Type element;
};
/// Asked for each dot whose right side is immutable; nothing: as it is.
using ChoosePanels = std::function<std::optional<PanelForm>(DotOp)>;

std::unique_ptr<mlir::Pass> createFoldScalesPass();
std::unique_ptr<mlir::Pass> createPackOperandsPass(ChoosePanels choose = {});
std::unique_ptr<mlir::Pass> createSplitPreparePass();

void registerPreparePasses();

} // namespace hlo

#endif
