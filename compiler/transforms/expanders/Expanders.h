//===- Expanders.h - Composite ops to core ops ----------------------------===//
//
// Passes that replace ops by combinations of others, so that later phases know
// fewer opcodes. All of them assume flat tuples and no layouts.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_EXPANDERS_EXPANDERS_H
#define COMPILER_TRANSFORMS_EXPANDERS_EXPANDERS_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
}

namespace hlo {

/// All expanders, in an order in which each meets only ops it knows.
void addExpanderPasses(mlir::OpPassManager &manager);

/// `hlo-batch-norm-expander`: batch normalization as reductions and arithmetic.
std::unique_ptr<mlir::Pass> createBatchNormExpanderPass();
/// `hlo-topk-expander`: topk as a stable sort and a slice.
std::unique_ptr<mlir::Pass> createTopkExpanderPass();
/// `hlo-rng-expander`: rng as rng-bit-generator and a transformation.
std::unique_ptr<mlir::Pass> createRngExpanderPass();
/// `hlo-scalarizer`: arrays inside scalar computations as their elements.
std::unique_ptr<mlir::Pass> createScalarizerPass();
/// `hlo-map-inliner`: map as the element-wise ops of its computation.
std::unique_ptr<mlir::Pass> createMapInlinerPass();
/// `hlo-reducer-expander`: moves a reduction's element-wise part in front of it.
std::unique_ptr<mlir::Pass> createReducerExpanderPass();
/// `hlo-extremum-expander`: maxima and minima of half precision as integers.
std::unique_ptr<mlir::Pass> createExtremumExpanderPass();
/// `hlo-index-expander`: index vectors as scalars, sizes of static dimensions as constants.
std::unique_ptr<mlir::Pass> createIndexExpanderPass();
/// `hlo-dynamic-padder`: bounded dynamic dimensions as sizes and masks; needs the layouts' dynamic
/// bits, so it runs before hlo-layout-normalization.
std::unique_ptr<mlir::Pass> createDynamicPadderPass();
/// `hlo-size-versions`: the program for several sizes of its dynamic dimensions, and a choice; runs
/// after hlo-layout-normalization and before the other expanders.
std::unique_ptr<mlir::Pass> createSizeVersionsPass();
/// `hlo-scan-expander`: scan as a counted loop.
std::unique_ptr<mlir::Pass> createScanExpanderPass();
/// `hlo-ragged-dot-expander`: ragged-dot as a dot of masked operands.
std::unique_ptr<mlir::Pass> createRaggedDotExpanderPass();
/// `hlo-scaled-dot-expander`: scaled-dot as a dot of scaled operands.
std::unique_ptr<mlir::Pass> createScaledDotExpanderPass();
/// `hlo-product-type-expander`: dots and convolutions of any result type by those that hold their
/// products.
std::unique_ptr<mlir::Pass> createProductTypeExpanderPass();
/// `hlo-cholesky-expander`: large choleskys as small ones, solves and dots.
std::unique_ptr<mlir::Pass> createCholeskyExpanderPass();
/// `hlo-triangular-solve-expander`: large triangular solves as small ones and dots.
std::unique_ptr<mlir::Pass> createTriangularSolveExpanderPass();
/// `hlo-implicit-broadcast-expander`: scalar operands of clamp and select as broadcasts.
std::unique_ptr<mlir::Pass> createImplicitBroadcastExpanderPass();
/// `hlo-single-rank-collectives`: collectives of a module of one rank as local ops.
std::unique_ptr<mlir::Pass> createSingleRankCollectivesPass();
/// `hlo-host-transfer-expander`: send and recv between program and host without their -done forms;
/// runs before hlo-layout-normalization.
std::unique_ptr<mlir::Pass> createHostTransferExpanderPass();
/// `hlo-device-transfer-expander`: a send and the recv of its channel in one computation become a
/// collective-permute.
std::unique_ptr<mlir::Pass> createDeviceTransferExpanderPass();

/// Registers the passes of this folder.
void registerExpanderPasses();

} // namespace hlo

#endif
