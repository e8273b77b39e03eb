//===- RowEmission.h - A row kernel being emitted -------------------------===//
#ifndef COMPILER_CODEGEN_REDUCE_ROWEMISSION_H
#define COMPILER_CODEGEN_REDUCE_ROWEMISSION_H

#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/loops/EmitterImpl.h"
#include "compiler/codegen/loops/Lanes.h"
#include "compiler/codegen/loops/Reducer.h"
#include "compiler/codegen/loops/Regions.h"

namespace hlo::codegen {

/// One kernel being emitted: its row and column shapes, and the emitters of each width.
struct RowEmission {
  KernelBuilder &kernel;
  Emission &e;
  llvm::SmallVector<hlo::ReduceOp> reduces;
  /// The reduces of each pass; the reduces of a pass share one walk over the row.
  llvm::SmallVector<llvm::SmallVector<hlo::ReduceOp>> passes;
  llvm::SmallVector<int64_t> rowShape, columnShape;
  /// Vectors that cover the last two dimensions of the columns, if the last is shorter than a
  /// vector.
  std::optional<ShortRowPlan> blocks;
  /// Concatenates and pads along the last dimension, processed part by part.
  SegmentPlan segments;
  int64_t lanes;
  ElementEmitter wide, vectors, scalars; ///< 4 registers, 1 register, 1 lane
  llvm::SmallVector<Index> row;
  /// First reduce of a pass -> values stored to scratch.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> saved;
  llvm::DenseMap<mlir::Value, mlir::Value> scratch; ///< value -> its row buffer

  RowEmission(KernelBuilder &kernel, int64_t lanes)
      : kernel(kernel), e(kernel.e), lanes(lanes), wide(kernel, 4 * lanes), vectors(kernel, lanes),
        scalars(kernel, 1) {}

  std::array<ElementEmitter *, 3> emitters() { return {&wide, &vectors, &scalars}; }
  void bindAll(mlir::Value v, const Elem &elem) {
    for (ElementEmitter *emitter : emitters()) {
      emitter->bind(v, elem);
    }
  }

  mlir::LogicalResult analyze();
  /// Groups reduces into passes: if `shared`, independent reduces share a pass.
  void planPasses(bool shared);
  void planScratch();
  void allocateScratch(int64_t columns);
  void emitRow(mlir::Value rowNumber);
  void emitPass(llvm::ArrayRef<hlo::ReduceOp> pass);
  /// True if a reduce selects the best element of a row and its position; and the vectorized form
  /// of it (PositionReduce.cpp).
  bool isPositionReduce(hlo::ReduceOp op);
  void emitPositionReduce(hlo::ReduceOp op);
  /// True if a reduce whose computation may be applied in any order gets an accumulator per lane
  /// (LaneReduce.cpp).
  bool isLaneReduce(hlo::ReduceOp op);
  void emitLaneReduce(hlo::ReduceOp op);
  void emitResults();
  /// Saves the values that the pass keeps to scratch; `at` is the place of lane 0 in a buffer of
  /// one row.
  void saveIntermediates(mlir::Operation *stage, ElementEmitter &emitter,
                         llvm::ArrayRef<Index> index, mlir::Value at, mlir::Value mask);
  void readSaved(mlir::Operation *stage);
  /// Decides how the columns are covered: in blocks, or segments.
  void planParts();
  /// Calls the body for each vector of the block at `first`, with the last two entries of `index`
  /// set, and the vector's place in the block.
  void forEachVector(llvm::SmallVectorImpl<Index> &index, mlir::Value first,
                     llvm::function_ref<void(int64_t vector, mlir::Value place)> body);
  /// The place of the index's columns in a buffer of one row.
  mlir::Value placeInRow(llvm::ArrayRef<Index> index);
  /// True if v has shape [rows..., columns...]; false for [rows..., 1] or [columns...], which are
  /// broadcast.
  bool overColumns(mlir::Value v) const {
    llvm::ArrayRef<int64_t> shape = shapeOf(v);
    return shape.size() == rowShape.size() + columnShape.size() &&
           shape.take_front(rowShape.size()) == llvm::ArrayRef<int64_t>(rowShape) &&
           shape.drop_front(rowShape.size()) == llvm::ArrayRef<int64_t>(columnShape);
  }
};

/// Rows of at most this many elements are computed several at a time, one row per lane
/// (ShortRows.cpp). Longer rows fill at least two vectors of 16 lanes, and the transposed copies no
/// longer pay.
inline constexpr int64_t kShortRow = 32;
/// Merges the row dimensions of short rows, as ShortRows needs it (FlattenRows.cpp). The inserted
/// reshapes have the attribute.
void flattenShortRows(mlir::Block &body, int64_t lanes);
inline constexpr llvm::StringLiteral kFlattenedRows = "flattened_rows";
/// True if rows are short, and there are enough for one row per lane.
bool canUseShortRows(RowEmission &emission);
/// How a row kernel goes through its rows (RowCosts.cpp).
enum class RowForm { Rows, Walks, Lanes };
/// The form of the kernel: the best candidate, or the one that is asked for.
RowForm chooseRowForm(RowEmission &rows);
/// Emits rows `lo` to `hi` of such a kernel; `hi - lo` need not be a multiple of the lanes.
void emitShortRows(RowEmission &emission, mlir::Value lo, mlir::Value hi);

} // namespace hlo::codegen

#endif
