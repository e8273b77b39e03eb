//===- Layout.h - Layouts made explicit -----------------------------------===//
//
// From arrays with minor-to-major orders to dense row-major arrays and
// transposes: invariant 4 of compiler/README.md.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_LAYOUT_LAYOUT_H
#define COMPILER_TRANSFORMS_LAYOUT_LAYOUT_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
}

namespace hlo {

/// The layout phase.
void addLayoutPasses(mlir::OpPassManager &manager);

/// `hlo-layout-normalization`: removes layouts from all types.
std::unique_ptr<mlir::Pass> createLayoutNormalizationPass();

/// `hlo-entry-packing`: types smaller than a byte are packed in the caller's buffers.
std::unique_ptr<mlir::Pass> createEntryPackingPass();

/// Registers the passes of this folder.
void registerLayoutPasses();

} // namespace hlo

#endif
