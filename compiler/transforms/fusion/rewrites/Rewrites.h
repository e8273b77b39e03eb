//===- Rewrites.h - Passes before hlo-fusion ------------------------------===//
#ifndef COMPILER_TRANSFORMS_FUSION_REWRITES_REWRITES_H
#define COMPILER_TRANSFORMS_FUSION_REWRITES_REWRITES_H

#include "mlir/Pass/Pass.h"

#include <memory>

namespace hlo {

// Rewrites that run before hlo-fusion; each has a file of its name.

/// `hlo-quantize-activations`: marks the dots whose rows may be quantized.
std::unique_ptr<mlir::Pass> createQuantizeActivationsPass();
/// `hlo-narrow-reduce`: computes sums of widened integers in the narrowest type that holds the sum.
std::unique_ptr<mlir::Pass> createNarrowReducePass();
/// `hlo-reduce-parts`: rewrites a reduce of a concatenate as a reduce of each of its arrays.
std::unique_ptr<mlir::Pass> createReducePartsPass();
/// `hlo-split-reduce`: rewrites a reduce as two if one kernel of it would have too few tasks or too
/// short rows.
std::unique_ptr<mlir::Pass> createSplitReducePass();
/// `hlo-turn-columns`: replaces a transposed stack of columns, [C, rows] -> [rows, C], by a
/// concatenate along the minor dimension.
std::unique_ptr<mlir::Pass> createTurnColumnsPass();
/// `hlo-split-columns`: replaces arrays [rows, C] of few columns by C arrays [rows], from the
/// concatenate that makes them to where one is needed as a whole. There it puts a stack.
std::unique_ptr<mlir::Pass> createSplitColumnsPass();
/// `hlo-paired-concatenate`: replaces a concatenate of two parts that share most of their work by a
/// stack of them, and moves element-wise users before it. A stack is the root of a kernel that
/// computes element i of all parts at once.
std::unique_ptr<mlir::Pass> createPairedConcatenatePass();
/// `hlo-split-concatenate`: writes a concatenate of very many arrays as a tree of concatenates.
/// Those in the tree are `stored`: no kernel of another op computes them.
std::unique_ptr<mlir::Pass> createSplitConcatenatePass();

void registerKernelRewrites();

} // namespace hlo

#endif
