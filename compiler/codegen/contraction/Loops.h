//===- Loops.h - Tasks, pieces and prefetches -----------------------------===//
#ifndef COMPILER_CODEGEN_CONTRACTION_LOOPS_H
#define COMPILER_CODEGEN_CONTRACTION_LOOPS_H

#include "compiler/codegen/IndexMath.h"

#include <optional>

namespace hlo::codegen {

/// Runs body(task) for the tasks of this call of the kernel, which has `tasks` of them.
void emitTasks(KernelBuilder &kernel, int64_t tasks, llvm::function_ref<void(mlir::Value)> body);
/// Runs body(item) for `items` items of `work` operations each, in tasks of about `workPerTask`
/// operations, but at least one item.
void emitItems(KernelBuilder &kernel, int64_t items, int64_t work, int64_t workPerTask,
               llvm::function_ref<void(mlir::Value)> body);
/// The bounds of piece `number` of [0, size), cut into pieces of `step`.
std::pair<mlir::Value, mlir::Value> pieceAt(Emission &e, mlir::Value number, int64_t size,
                                            int64_t step);

/// body(at, count) for the pieces of [lo, hi), a part of [0, size): `step` elements each, but for
/// the remainder at the end of `size`, which has code of its own. lo is a multiple of `step`, and
/// hi is one or `size`.
void forEachPiece(Emission &e, mlir::Value lo, mlir::Value hi, int64_t size, int64_t step,
                  llvm::function_ref<void(mlir::Value at, int64_t count)> body);
/// The same for all of [0, size).
void forEachPiece(Emission &e, int64_t size, int64_t step,
                  llvm::function_ref<void(mlir::Value at, int64_t count)> body);
/// body(at, mask) for the vectors that cover [0, size). The mask is null but for a last vector that
/// is not full.
void forEachVector(Emission &e, int64_t size, int64_t lanes,
                   llvm::function_ref<void(mlir::Value at, mlir::Value mask)> body);

/// Runs `then` if `condition` (i1) holds, else `otherwise`.
void emitIfElse(Emission &e, mlir::Value condition, llvm::function_ref<void()> then,
                llvm::function_ref<void()> otherwise);

/// The mask of the lanes l < limit. With one lane, or none: whether there is an element.
mlir::Value lanesBelow(Emission &e, mlir::Value limit, int64_t lanes);
/// The mask of the lanes whose index is below `limit`.
mlir::Value lanesBelow(Emission &e, const Index &index, mlir::Value limit, int64_t lanes);
/// The mask of the lanes at `first`, `first` + 1, ... that lie below `size`; null if `size` is a
/// multiple of `lanes`, as `first` then is too.
mlir::Value lanesInside(Emission &e, mlir::Value first, int64_t lanes, int64_t size);

/// A linear index over dimensions of these sizes, as one index per dimension; lanes go along the
/// last.
llvm::SmallVector<Index> splitIndex(Emission &e, const Index &linear, llvm::ArrayRef<int64_t> sizes,
                                    int64_t lanes);

/// The stride of a linear index over the dimensions, if it has one.
std::optional<int64_t> linearStride(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides);

/// The sum of the indices' bases times the strides: the distance of an element in memory.
mlir::Value offsetOf(Emission &e, llvm::ArrayRef<Index> index, llvm::ArrayRef<int64_t> strides);

/// Bytes that one prefetch brings.
inline constexpr int64_t kLineBytes = 64;
/// Prefetches the cache line at `address`, which need not be valid: into L1, or with `level` 2 into
/// L2 alone.
void emitPrefetch(Emission &e, mlir::Value address, int level = 1);
/// Prefetches `bytes` bytes from `address` on into L1.
void prefetchRun(Emission &e, mlir::Value address, int64_t bytes);

} // namespace hlo::codegen

#endif
