//===- Layout.h - Layouts made explicit -----------------------------------===//
//
// From arrays with minor-to-major orders to dense row-major arrays and
// transposes: invariant 4 of compiler/README.md.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_LAYOUT_LAYOUT_H
#define COMPILER_TRANSFORMS_LAYOUT_LAYOUT_H

#include "dialect/hlo/Dialect.h"
#include "mlir/Pass/Pass.h"

#include <functional>

namespace mlir {
class OpPassManager;
}

namespace hlo {

/// What orders of dimensions cost, in cycles.
struct LayoutCosts {
  std::function<double(ConvolutionOp)> convolution;
  std::function<double(mlir::RankedTensorType)> transpose;
};

/// The layout phase.
void addLayoutPasses(mlir::OpPassManager &manager, LayoutCosts costs);

/// `hlo-layout-assignment`: chooses the order of dimensions around convolutions.
std::unique_ptr<mlir::Pass> createLayoutAssignmentPass(LayoutCosts costs);

/// `hlo-layout-normalization`: removes layouts from all types.
std::unique_ptr<mlir::Pass> createLayoutNormalizationPass();

/// `hlo-entry-packing`: types smaller than a byte are packed in the caller's buffers.
std::unique_ptr<mlir::Pass> createEntryPackingPass();

/// Registers the passes of this folder.
void registerLayoutPasses(const LayoutCosts &costs);

} // namespace hlo

#endif
