//===- ScatterEmission.h - State of a scatter kernel ----------------------===//
#ifndef COMPILER_CODEGEN_SCATTER_SCATTEREMISSION_H
#define COMPILER_CODEGEN_SCATTER_SCATTEREMISSION_H

#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/loops/Lanes.h"
#include <functional>

namespace hlo::codegen {

/// A scatter's dimensions and operands, and one update of one window element.
struct ScatterEmission {
  KernelBuilder &kernel;
  Emission &e;
  ScatterOp op;
  size_t count; ///< number of arrays
  mlir::Value indices;
  mlir::ValueRange updates;
  ComputationOp computation;
  llvm::ArrayRef<int64_t> shape;      ///< of the arrays
  llvm::SmallVector<int64_t> strides; ///< of the arrays, in elements
  llvm::SmallVector<int64_t> positionDims,
      positionShape; ///< update dimensions that correspond to the indices
  llvm::SmallVector<int64_t> windowDims,
      windowShape;                          ///< update dimensions inside the window, in order
  llvm::SmallVector<int64_t> windowToArray; ///< array dimension of each window dimension
  llvm::SmallVector<int64_t> windowSizes;   ///< for each array dimension
  int64_t positions = 1, windowElements = 1;
  ElementEmitter scalars;
  /// Memory for updates that do not fit, if they are not skipped by a branch: they read `nowhere`
  /// (zeros) and write `sink`.
  mlir::Value nowhere, sink;

  ScatterEmission(KernelBuilder &kernel, ScatterOp op);

  /// Index, in `indices`, of component k of a position's index vector.
  llvm::SmallVector<Index> componentAt(llvm::ArrayRef<Index> position, int64_t k);
  /// That component, as an i64: sign-extended, or zero-extended if unsigned.
  mlir::Value startAt(llvm::ArrayRef<Index> position, int64_t k);
  /// Number of valid starts of a window along a dimension of the arrays.
  int64_t startsAlong(int64_t d) const { return shape[d] - windowSizes[d] + 1; }
  /// True if the computation ignores the old value.
  bool replaces();
  /// Runs body(array dimension, dimension of the position) for each batching dimension.
  void forEachBatching(llvm::function_ref<void(int64_t, int64_t)> body);
  /// Allocates nowhere and sink, of `elements` elements each.
  void makeSink(int64_t elements);
  /// Where an update reads and writes the arrays.
  struct Places {
    llvm::SmallVector<mlir::Value, 2> from, to;
    mlir::Value base; ///< offset of the element in both
  };
  Places inArrays(mlir::Value base);
  /// The arrays at `base` if `fits`, otherwise nowhere and the sink.
  Places inArraysOrSink(mlir::Value base, mlir::Value fits);
  /// computation(old, updates at `at`).
  llvm::SmallVector<Elem> computeUpdate(ElementEmitter &emitter, llvm::ArrayRef<Elem> old,
                                        llvm::ArrayRef<Index> at, mlir::Value mask = {});
  llvm::SmallVector<Elem> load(const Places &places, mlir::Value target, int64_t lanes,
                               mlir::Value mask = {});
  void store(llvm::ArrayRef<Elem> values, const Places &places, mlir::Value target,
             mlir::Value mask = {});
  /// Applies array = computation(array, update) to the elements from `target` on.
  void combine(ElementEmitter &emitter, const Places &places, mlir::Value target,
               llvm::ArrayRef<Index> at, mlir::Value mask = {});
};

/// Code for positions, which are given by one index per dimension of the indices.
struct ScatterBody {
  /// Handles one position, whether it fits or not.
  std::function<void(llvm::ArrayRef<mlir::Value>)> single;
  /// Handles the window of one position, at known places.
  std::function<void(llvm::ArrayRef<mlir::Value>, const ScatterEmission::Places &)> update;
  /// Handles several positions in turn, whose windows are all at one offset of the arrays; may be
  /// null.
  std::function<void(llvm::ArrayRef<llvm::SmallVector<mlir::Value>>, mlir::Value)> run;
};

/// True if the indices of several positions may be loaded together.
bool scattersInBlocks(ScatterEmission &scatter);
/// Applies the updates at positions prefix..., lo <= last < hi, of a scatter of single elements or
/// short rows.
void emitScatterBlocks(ScatterEmission &scatter, llvm::ArrayRef<mlir::Value> prefix, mlir::Value lo,
                       mlir::Value hi, const ScatterBody &body);

} // namespace hlo::codegen

#endif
