//===- Simplifiers.h - hlo -> smaller hlo ---------------------------------===//
//
// Passes over the whole module that establish the invariants of the
// canonicalize phase (see compiler/README.md) and then shrink the program.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_SIMPLIFIERS_SIMPLIFIERS_H
#define COMPILER_TRANSFORMS_SIMPLIFIERS_SIMPLIFIERS_H

#include "compiler/machine/Machine.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
}

namespace hlo {

/// Adds the canonicalize phase, from the parsed module to invariant 3 of compiler/README.md.
void addCanonicalizePasses(mlir::OpPassManager &manager, const Machine &machine);
/// Adds the first part of that phase: no calls, no tuples, no tokens, no layouts, no bounded
/// dimensions. A module that is so already stays as it is.
void addFlattenPasses(mlir::OpPassManager &manager);
/// Adds the second half of that phase, which may run again after any pass that keeps the invariant:
/// folds, simplifies, merges equal ops, removes unused ones.
void addSimplifyPasses(mlir::OpPassManager &manager, const Machine &machine);

/// `hlo-flatten-calls`: inlines calls, composites, parsed fusions and
/// asynchronous wrappers; gives each loop and branch computations of its own.
std::unique_ptr<mlir::Pass> createFlattenCallsPass();
/// `hlo-refuse-unpartitioned`: reports custom calls between arrays and their shards in a module of
/// one partition.
std::unique_ptr<mlir::Pass> createRefuseUnpartitionedPass();
/// `hlo-elided-constants`: placeholder values, with a warning, for literals `{...}`.
std::unique_ptr<mlir::Pass> createElidedConstantsPass();
/// `hlo-flatten-tuples`: replaces tuples by their leaves, removes tokens and
/// records the entry's layout.
std::unique_ptr<mlir::Pass> createFlattenTuplesPass();
/// `hlo-dce`: removes unused ops, computations and loop carries.
std::unique_ptr<mlir::Pass> createDcePass();
/// `hlo-computation-dedup`: equal computations become one.
std::unique_ptr<mlir::Pass> createComputationDedupPass();
/// `hlo-merge-equal`: equal pure ops of a computation become one.
std::unique_ptr<mlir::Pass> createMergeEqualPass();
/// `hlo-algebraic-simplifier`: local rewrites that are exact in every bit.
std::unique_ptr<mlir::Pass> createAlgebraicSimplifierPass(const Machine &machine);
/// `hlo-integer-products`: products of operands that are scaled bytes multiply the bytes.
std::unique_ptr<mlir::Pass> createIntegerProductsPass(const Machine &machine);
/// `hlo-constant-folding`: evaluates ops of small constant operands.
std::unique_ptr<mlir::Pass> createConstantFoldingPass();
/// `hlo-while-loop-simplifier`: trip counts, loops that run zero times or
/// once, constant and invariant carries.
std::unique_ptr<mlir::Pass> createWhileLoopSimplifierPass();
/// `hlo-while-loop-invariant-code-motion`: costly ops of invariant operands leave their loops.
std::unique_ptr<mlir::Pass> createWhileLoopInvariantCodeMotionPass(const Machine &machine);
/// `hlo-conditional-simplifier`: inlines the branch of a constant selector.
std::unique_ptr<mlir::Pass> createConditionalSimplifierPass();
/// `hlo-verify-flat`: reports what invariants 3 and 4 exclude.
std::unique_ptr<mlir::Pass> createVerifyFlatPass();

/// Registers the passes of this folder. A pass copies `machine` when it is made.
void registerSimplifierPasses(const Machine &machine);

} // namespace hlo

#endif
