//===- Regions.h - A kernel's region, rewritten before it is emitted ------===//
#ifndef COMPILER_CODEGEN_LOOPS_REGIONS_H
#define COMPILER_CODEGEN_LOOPS_REGIONS_H

#include "compiler/codegen/Kernel.h"

namespace hlo::codegen {

/// Merges neighbouring dimensions that every op of the region keeps together, so that [8,56,56,64] -> [8,64,56,56]
/// becomes [8,3136,64] -> [8,64,3136]: longer rows, fewer loops. Types and dimension attributes are changed in place;
/// values of equal shapes keep equal shapes.
void collapseDims(mlir::Block &body);

/// Replaces narrow floats that the region does not compute with by unsigned integers of their size, in place.
void moveAsBits(mlir::Block &body);

/// Which dimension of the region's results each dimension of a value follows; kNoRootDim for anything else.
using RootDims = llvm::SmallVector<int64_t>;
inline constexpr int64_t kNoRootDim = -1;

/// The RootDims of the values of a region whose roots all have one shape. Values that are read in two ways (x and its
/// transpose) are duplicated first, producers included, up to a bound; what still is read in two ways has kNoRootDim.
llvm::DenseMap<mlir::Value, RootDims> separateReads(KernelBuilder &kernel);

/// to[c * toStride + r] = from[r * fromStride + c] for r < rows, c < columns, for elements of `bytes` bytes (1, 2, 4, 8 or 16);
/// strides count elements. Goes through registers, a square of vectors at a time; some elements are written
/// twice.
void emitTransposedCopy(Emission &e, int64_t bytes, mlir::Value from, int64_t fromStride,
                        mlir::Value to, int64_t toStride, int64_t rows, int64_t columns);

/// An operand that is read along another dimension than its own minor one.
struct TransposedRead {
  mlir::BlockArgument argument;
  int64_t minorStride;                   ///< of the dimension that follows the results' minor one
  llvm::SmallVector<int64_t> rootStride; ///< for each dimension of the results
  int64_t tileMinor = 0, tileRow = 0;    ///< the argument's dimensions that follow those of a tile
};

/// How a loop over `shape` is tiled, if operands are read transposed: they step by one in memory along
/// dimension `row` of the results.
struct TilePlan {
  int64_t row = 0;
  llvm::SmallVector<TransposedRead> reads;
};
std::optional<TilePlan> planTiles(KernelBuilder &kernel, llvm::ArrayRef<int64_t> shape);

/// Writes the results at an index; `base` is the place of its first lane in them.
using StoreRoots = llvm::function_ref<void(ElementEmitter &, llvm::ArrayRef<Index>, mlir::Value base,
                                           mlir::Value mask)>;

/// The loop kernel of a region with transposed reads: blocks of rows and columns.
void emitTiledLoop(KernelBuilder &kernel, const TilePlan &plan, ElementEmitter &vectors,
                   ElementEmitter &scalars, StoreRoots store);

/// How vectors cover rows that are shorter than they are: so many rows are so many vectors.
struct ShortRowPlan {
  int64_t rows, vectors;
};
std::optional<ShortRowPlan> planShortRows(KernelBuilder &kernel, llvm::ArrayRef<int64_t> shape,
                                          int64_t lanes);
/// The loop kernel of a region with short rows.
void emitShortRows(KernelBuilder &kernel, const ShortRowPlan &plan, ElementEmitter &vectors,
                   ElementEmitter &scalars, StoreRoots store);

/// Concatenates and pads that are read at the results' index, with the bounds of their parts along the minor
/// dimension, and all such bounds in order. No ops: the row is one part.
struct SegmentPlan {
  struct Parts {
    mlir::Operation *op;
    llvm::SmallVector<int64_t> bounds;
  };
  llvm::SmallVector<Parts> ops;
  llvm::SmallVector<int64_t> cuts;
};
SegmentPlan planSegments(KernelBuilder &kernel, llvm::ArrayRef<int64_t> shape);
/// Calls the body for each segment in turn, in which the emitter knows the parts that it is in.
void emitSegments(const SegmentPlan &plan, ElementEmitter &emitter,
                  llvm::function_ref<void(int64_t from, int64_t to)> body);

/// The loop kernel of a region whose tiles would be all of a small matrix: a few vectors each. Gives false, having emitted
/// nothing, if they are not.
bool emitSmallMatrices(KernelBuilder &kernel, const TilePlan &tiles, llvm::ArrayRef<int64_t> shape,
                       ElementEmitter &vectors, StoreRoots store);

/// The loop kernel of a region that reduces over other dimensions than the minor one (reduce/ColumnReduces.cpp). Gives
/// false, having emitted nothing, if the region is not of that form.
bool emitColumnReduces(KernelBuilder &kernel, ElementEmitter &vectors, ElementEmitter &scalars);

} // namespace hlo::codegen

#endif
