//===- Lanes.h - Vector width and tasks of a kernel -----------------------===//
#ifndef COMPILER_CODEGEN_LOOPS_LANES_H
#define COMPILER_CODEGEN_LOOPS_LANES_H

#include "compiler/codegen/Kernel.h"

namespace hlo::codegen {

/// Elements that one task should have: enough to hide the cost of scheduling it.
inline constexpr int64_t kElementsPerTask = 16 << 10;

/// Splits `total` units of work into tasks of `perTask` units, sets kernel.tasks, and returns the
/// bounds (lo, hi) of the units in this call of the kernel.
std::pair<mlir::Value, mlir::Value> splitTasks(KernelBuilder &kernel, int64_t total,
                                               int64_t perTask);

/// Lanes of one vector register of the widest element type that the region computes with, among the
/// values selected by `counts` (default: all); 1 if it applies loops or branches to scalars.
int64_t kernelLanes(KernelBuilder &kernel, llvm::function_ref<bool(mlir::Value)> counts = {});
/// Shuffle masks for vectors a and b (lanes of b are counted from `lanes`) that exchange the
/// off-diagonal blocks of `step` lanes: {a0 b0 a2 b2 ...} and {a1 b1 a3 b3 ...}.
std::pair<llvm::SmallVector<int64_t>, llvm::SmallVector<int64_t>> exchangedBlocks(int64_t lanes,
                                                                                  int64_t step);
/// Transposes a square: as many vectors as each has lanes, a power of two.
llvm::SmallVector<mlir::Value> transposeSquare(Emission &e, llvm::ArrayRef<mlir::Value> rows);
/// Runs body(index, emitter, mask) over [0, n) of a minor dimension: full vectors, then the
/// remainder under a mask, or as scalars if the target has no masks and the bounds are not known.
/// `vectors` must have the desired lanes; `scalars` one. `lo` is a multiple of `align`, if that is
/// smaller than the number of lanes.
void emitVectorLoop(Emission &e, mlir::Value lo, mlir::Value hi, ElementEmitter &vectors,
                    ElementEmitter &scalars,
                    llvm::function_ref<void(Index, ElementEmitter &, mlir::Value mask)> body,
                    int64_t align = 0);
/// The same with `together` vectors at a time, each with code of its own, so that the index's base
/// is known modulo all their lanes: `lo` is a multiple of those lanes from `origin`.
void emitPeriodicLoop(Emission &e, int64_t origin, int64_t together, mlir::Value lo, mlir::Value hi,
                      ElementEmitter &vectors, ElementEmitter &scalars,
                      llvm::function_ref<void(Index, ElementEmitter &, mlir::Value mask)> body);

} // namespace hlo::codegen

#endif
