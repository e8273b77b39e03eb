//===- Regions.h - A kernel's region, rewritten before it is emitted ------===//
#ifndef COMPILER_CODEGEN_LOOPS_REGIONS_H
#define COMPILER_CODEGEN_LOOPS_REGIONS_H

#include "compiler/codegen/Kernel.h"

namespace hlo::codegen {

/// Merges adjacent dimensions that every op of the region keeps together: [8,56,56,64] ->
/// [8,64,56,56] becomes [8,3136,64] -> [8,64,3136], with longer rows and fewer loops. Changes types
/// and dimension attributes in place; values of equal shapes keep equal shapes.
void collapseDims(mlir::Block &body);

/// Replaces narrow floats that the region does not compute with by unsigned integers of their size,
/// in place.
void moveAsBits(mlir::Block &body);

/// For each dimension of a value, the dimension of the region's results that it follows; kNoRootDim
/// if there is none.
using RootDims = llvm::SmallVector<int64_t>;
inline constexpr int64_t kNoRootDim = -1;

/// The RootDims of the values of a region whose roots all have one shape. Values that are read in
/// two ways (x and its transpose) are duplicated first, with their producers, up to a limit; values
/// that are still read in two ways get kNoRootDim.
llvm::DenseMap<mlir::Value, RootDims> separateReads(KernelBuilder &kernel);

/// to[c * toStride + r] = from[r * fromStride + c] for r < rows, c < columns, for elements of
/// `bytes` bytes (1, 2, 4, 8 or 16); strides count elements. Transposes squares of vectors in
/// registers; some elements are written twice.
void emitTransposedCopy(Emission &e, int64_t bytes, mlir::Value from, int64_t fromStride,
                        mlir::Value to, int64_t toStride, int64_t rows, int64_t columns);

/// An operand, or a slice of one, whose minor dimension is not read along the results' minor
/// dimension.
struct TransposedRead {
  mlir::Value value; ///< the argument, or the slice of it
  mlir::BlockArgument argument;
  int64_t offset;      ///< offset of the value in the argument, in elements
  int64_t minorStride; ///< stride of the dimension that follows the results' minor one
  llvm::SmallVector<int64_t> rootStride; ///< for each dimension of the results
  int64_t tileMinor = 0, tileRow = 0;    ///< dimensions of the value that follow those of a tile
};

/// Tiling of a loop over `shape` with transposed reads, whose minor dimension is dimension `row` of
/// the results.
struct TilePlan {
  int64_t row = 0;
  llvm::SmallVector<TransposedRead> reads;
};
std::optional<TilePlan> planTiles(KernelBuilder &kernel, llvm::ArrayRef<int64_t> shape);

/// Writes the results at an index; `base` is the linear index of its first lane.
using StoreRoots = llvm::function_ref<void(ElementEmitter &, llvm::ArrayRef<Index>,
                                           mlir::Value base, mlir::Value mask)>;

/// Emits the loop kernel of a region with transposed reads: blocks of rows and columns.
void emitTiledLoop(KernelBuilder &kernel, const TilePlan &plan, ElementEmitter &vectors,
                   ElementEmitter &scalars, StoreRoots store);

/// Vectors that cover rows shorter than a vector: `rows` rows fill a whole number of vectors.
struct ShortRowPlan {
  int64_t rows, vectors;
};
/// reduce-windows with at most this many positions (4 x 4) are unrolled if the lanes of a vector
/// belong to several rows. Every position is code in each vector of a block, and counts as four ops
/// of at most kMostBlockOps (ShortRows.cpp): 16 positions leave room for blocks of four vectors. A
/// bound on code, not a measured optimum.
inline constexpr int64_t kMostUnrolledTaps = 16;
/// True if an op is as cheap at indices in several rows as in one.
bool keepsLanesNear(mlir::Operation &op);
/// The plan for `rows` rows of `columns` elements, if the body's code is small enough for it; its
/// ops must keep lanes near.
std::optional<ShortRowPlan> planRowBlocks(mlir::Block &body, int64_t rows, int64_t columns,
                                          int64_t lanes);
/// The row of each lane of a block's vector; and its column. `first` is the block's first row, a
/// multiple of `align`.
Index rowOfVector(Emission &e, int64_t vector, int64_t columns, int64_t lanes, mlir::Value first,
                  int64_t align);
Index columnOfVector(Emission &e, int64_t vector, int64_t columns, int64_t lanes);
std::optional<ShortRowPlan> planShortRows(KernelBuilder &kernel, llvm::ArrayRef<int64_t> shape,
                                          int64_t lanes);
/// Emits the loop kernel of a region with short rows.
void emitShortRows(KernelBuilder &kernel, const ShortRowPlan &plan, ElementEmitter &vectors,
                   ElementEmitter &scalars, StoreRoots store);

/// Concatenates and pads that are read at the results' index, the bounds of their parts along one
/// dimension, and all bounds in order. No ops: the dimension is one part.
struct SegmentPlan {
  struct Parts {
    mlir::Operation *op;
    llvm::SmallVector<int64_t> bounds;
  };
  llvm::SmallVector<Parts> ops;
  llvm::SmallVector<int64_t> cuts;
  size_t dimension = 0;
};
/// In a row kernel (`ofRows`), reduces count as results: they read at the index.
SegmentPlan planSegments(KernelBuilder &kernel, llvm::ArrayRef<int64_t> shape, size_t dimension,
                         bool ofRows = false);
/// Splits the plan into groups of a few segments, each with a loop nest of its own, because LLVM
/// takes time quadratic in a block of loads and stores. Returns the plan itself if it has no
/// segments.
llvm::SmallVector<SegmentPlan> groupSegments(const SegmentPlan &plan);
/// Tells the emitters that the index is in segment n of the plan; leaveSegments ends that.
void enterSegment(const SegmentPlan &plan, size_t n, llvm::ArrayRef<ElementEmitter *> emitters);
void leaveSegments(llvm::ArrayRef<ElementEmitter *> emitters);
/// Calls the body for each segment in turn, with the emitters inside it.
void emitSegments(const SegmentPlan &plan, llvm::ArrayRef<ElementEmitter *> emitters,
                  llvm::function_ref<void(int64_t from, int64_t to)> body);

/// Emits the loop kernel of a region whose tiles would each be one small matrix of a few vectors.
/// Returns false, without emitting code, for others.
bool emitSmallMatrices(KernelBuilder &kernel, const TilePlan &tiles, llvm::ArrayRef<int64_t> shape,
                       ElementEmitter &vectors, StoreRoots store);

/// Emits the loop kernel of a region that reduces over other dimensions than the minor one. Gives
/// false, having emitted nothing, if the region is not of that form.
using EmitColumnReduces = bool (*)(KernelBuilder &kernel, ElementEmitter &vectors,
                                   ElementEmitter &scalars);
bool emitColumnReduces(KernelBuilder &kernel, ElementEmitter &vectors,
                       ElementEmitter &scalars); // reduce/ColumnReduces.cpp

/// Strategy `loop`, with the emitter of such regions.
mlir::LogicalResult emitLoops(KernelBuilder &kernel, EmitColumnReduces emitColumnReduces);

} // namespace hlo::codegen

#endif
