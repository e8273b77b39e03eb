//===- Regions.h - A kernel's region, rewritten before it is emitted ------===//
#ifndef COMPILER_CODEGEN_LOOPS_REGIONS_H
#define COMPILER_CODEGEN_LOOPS_REGIONS_H

#include "compiler/codegen/Kernel.h"

namespace hlo::codegen {

/// Merges neighbouring dimensions that every op of the region keeps together, so that [8,56,56,64]
/// -> [8,64,56,56] becomes [8,3136,64] -> [8,64,3136]: longer rows, fewer loops. Types and
/// dimension attributes are changed in place; values of equal shapes keep equal shapes.
void collapseDims(mlir::Block &body);

/// Replaces narrow floats that the region does not compute with by unsigned integers of their size,
/// in place.
void moveAsBits(mlir::Block &body);

/// Which dimension of the region's results each dimension of a value follows; kNoRootDim for
/// anything else.
using RootDims = llvm::SmallVector<int64_t>;
inline constexpr int64_t kNoRootDim = -1;

/// The RootDims of the values of a region whose roots all have one shape. Values that are read in
/// two ways (x and its transpose) are duplicated first, producers included, up to a bound; what
/// still is read in two ways has kNoRootDim.
llvm::DenseMap<mlir::Value, RootDims> separateReads(KernelBuilder &kernel);

/// to[c * toStride + r] = from[r * fromStride + c] for r < rows, c < columns, for elements of
/// `bytes` bytes (1, 2, 4, 8 or 16); strides count elements. Goes through registers, a square of
/// vectors at a time; some elements are written twice.
void emitTransposedCopy(Emission &e, int64_t bytes, mlir::Value from, int64_t fromStride,
                        mlir::Value to, int64_t toStride, int64_t rows, int64_t columns);

/// An operand, or a slice of one, that is read along another dimension than its own minor one.
struct TransposedRead {
  mlir::Value value; ///< the argument, or the slice of it
  mlir::BlockArgument argument;
  int64_t offset;                        ///< where the value begins in the argument, in elements
  int64_t minorStride;                   ///< of the dimension that follows the results' minor one
  llvm::SmallVector<int64_t> rootStride; ///< for each dimension of the results
  int64_t tileMinor = 0, tileRow = 0;    ///< the value's dimensions that follow those of a tile
};

/// How a loop over `shape` is tiled, if operands are read transposed: they step by one in memory
/// along dimension `row` of the results.
struct TilePlan {
  int64_t row = 0;
  llvm::SmallVector<TransposedRead> reads;
};
std::optional<TilePlan> planTiles(KernelBuilder &kernel, llvm::ArrayRef<int64_t> shape);

/// Writes the results at an index; `base` is the place of its first lane in them.
using StoreRoots = llvm::function_ref<void(ElementEmitter &, llvm::ArrayRef<Index>,
                                           mlir::Value base, mlir::Value mask)>;

/// The loop kernel of a region with transposed reads: blocks of rows and columns.
void emitTiledLoop(KernelBuilder &kernel, const TilePlan &plan, ElementEmitter &vectors,
                   ElementEmitter &scalars, StoreRoots store);

/// How vectors cover rows that are shorter than they are: so many rows are so many vectors.
struct ShortRowPlan {
  int64_t rows, vectors;
};
/// Windows of reduce-windows with at most so many positions are unrolled where the lanes of a
/// vector are of several rows.
inline constexpr int64_t kMostUnrolledTaps = 16;
/// Whether an op is as cheap at indices of several rows as at those of one.
bool keepsLanesNear(mlir::Operation &op);
/// The plan for `rows` rows of `columns` elements, if the body's code is small enough for it; its
/// ops must keep lanes near.
std::optional<ShortRowPlan> planRowBlocks(mlir::Block &body, int64_t rows, int64_t columns,
                                          int64_t lanes);
/// Where the lanes of a block's vector are: the row, `first` being that of the block, a multiple of
/// `align`; the column.
Index rowOfVector(Emission &e, int64_t vector, int64_t columns, int64_t lanes, mlir::Value first,
                  int64_t align);
Index columnOfVector(Emission &e, int64_t vector, int64_t columns, int64_t lanes);
std::optional<ShortRowPlan> planShortRows(KernelBuilder &kernel, llvm::ArrayRef<int64_t> shape,
                                          int64_t lanes);
/// The loop kernel of a region with short rows.
void emitShortRows(KernelBuilder &kernel, const ShortRowPlan &plan, ElementEmitter &vectors,
                   ElementEmitter &scalars, StoreRoots store);

/// Concatenates and pads that are read at the results' index, with the bounds of their parts along
/// one dimension, and all such bounds in order. No ops: the dimension is one part.
struct SegmentPlan {
  struct Parts {
    mlir::Operation *op;
    llvm::SmallVector<int64_t> bounds;
  };
  llvm::SmallVector<Parts> ops;
  llvm::SmallVector<int64_t> cuts;
  size_t dimension = 0;
};
/// In a kernel by rows (`ofRows`), reduces read at the index as results do.
SegmentPlan planSegments(KernelBuilder &kernel, llvm::ArrayRef<int64_t> shape, size_t dimension,
                         bool ofRows = false);
/// The plan in groups of a few segments, each for a loop nest of its own: what LLVM does with a
/// block of loads and stores takes time that grows with its square (1000 parts in one nest took 5 s
/// to compile). The plan itself if it has no segments.
llvm::SmallVector<SegmentPlan> groupSegments(const SegmentPlan &plan);
/// From now on the emitters know that they are in segment n of the plan; leaveSegments: in any
/// again.
void enterSegment(const SegmentPlan &plan, size_t n, llvm::ArrayRef<ElementEmitter *> emitters);
void leaveSegments(llvm::ArrayRef<ElementEmitter *> emitters);
/// Calls the body for each segment in turn, in which the emitters know the parts that they are in.
void emitSegments(const SegmentPlan &plan, llvm::ArrayRef<ElementEmitter *> emitters,
                  llvm::function_ref<void(int64_t from, int64_t to)> body);

/// The loop kernel of a region whose tiles would be all of a small matrix: a few vectors each.
/// Gives false, having emitted nothing, if they are not.
bool emitSmallMatrices(KernelBuilder &kernel, const TilePlan &tiles, llvm::ArrayRef<int64_t> shape,
                       ElementEmitter &vectors, StoreRoots store);

/// The loop kernel of a region that reduces over other dimensions than the minor one
/// (reduce/ColumnReduces.cpp). Gives false, having emitted nothing, if the region is not of that
/// form.
bool emitColumnReduces(KernelBuilder &kernel, ElementEmitter &vectors, ElementEmitter &scalars);

} // namespace hlo::codegen

#endif
