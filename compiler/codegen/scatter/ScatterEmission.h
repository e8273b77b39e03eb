//===- ScatterEmission.h - What the loops of a scatter share --------------===//
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
  size_t count; ///< arrays
  mlir::Value indices;
  mlir::ValueRange updates;
  ComputationOp computation;
  llvm::ArrayRef<int64_t> shape;      ///< of the arrays
  llvm::SmallVector<int64_t> strides; ///< of the arrays, in elements
  llvm::SmallVector<int64_t> positionDims,
      positionShape; ///< update dimensions that walk the indices
  llvm::SmallVector<int64_t> windowDims,
      windowShape;                          ///< update dimensions inside the window, in order
  llvm::SmallVector<int64_t> windowToArray; ///< array dimension of each window dimension
  llvm::SmallVector<int64_t> windowSizes;   ///< for each array dimension
  int64_t positions = 1, windowElements = 1;
  ElementEmitter scalars;
  /// Where updates that do not fit read and write, if they do so without a branch: nowhere (zeros)
  /// and sink.
  mlir::Value nowhere, sink;

  ScatterEmission(KernelBuilder &kernel, ScatterOp op);

  /// Where the k-th component of the index vector of a position is.
  llvm::SmallVector<Index> componentAt(llvm::ArrayRef<Index> position, int64_t k);
  /// That component, as an i64: the sign is kept, unsigned types extend with zeros.
  mlir::Value startAt(llvm::ArrayRef<Index> position, int64_t k);
  /// How many numbers a window may start at along a dimension of the arrays.
  int64_t startsAlong(int64_t d) const { return shape[d] - windowSizes[d] + 1; }
  /// Whether the computation ignores what is in the arrays.
  bool replaces();
  /// For each batching dimension: body(array dimension, number in the position).
  void forEachBatching(llvm::function_ref<void(int64_t, int64_t)> body);
  /// Makes nowhere and sink, of `elements` elements each.
  void makeSink(int64_t elements);
  /// Where the arrays of an update are read and written.
  struct Places {
    llvm::SmallVector<mlir::Value, 2> from, to;
    mlir::Value base; ///< the element's number there
  };
  Places inArrays(mlir::Value base);
  /// The arrays at `base` where `fits`, nowhere and the sink elsewhere.
  Places inArraysOrSink(mlir::Value base, mlir::Value fits);
  /// computation(old, updates at `at`).
  llvm::SmallVector<Elem> computeUpdate(ElementEmitter &emitter, llvm::ArrayRef<Elem> old,
                                        llvm::ArrayRef<Index> at, mlir::Value mask = {});
  llvm::SmallVector<Elem> load(const Places &places, mlir::Value target, int64_t lanes,
                               mlir::Value mask = {});
  void store(llvm::ArrayRef<Elem> values, const Places &places, mlir::Value target,
             mlir::Value mask = {});
  /// array = computation(array, update) for the elements from `target` on.
  void combine(ElementEmitter &emitter, const Places &places, mlir::Value target,
               llvm::ArrayRef<Index> at, mlir::Value mask = {});
};

/// What is done at positions, which are numbers along each dimension of the indices.
struct ScatterBody {
  /// One position, whether it fits or not.
  std::function<void(llvm::ArrayRef<mlir::Value>)> single;
  /// The window of one position, at places that are known.
  std::function<void(llvm::ArrayRef<mlir::Value>, const ScatterEmission::Places &)> update;
  /// Several positions in turn, whose windows are all at one element of the arrays; may be null.
  std::function<void(llvm::ArrayRef<llvm::SmallVector<mlir::Value>>, mlir::Value)> run;
};

/// Whether the indices of several positions may be looked at together.
bool scattersInBlocks(ScatterEmission &scatter);
/// Applies the updates at positions prefix..., lo <= last < hi, of a scatter of single elements or
/// short rows.
void emitScatterBlocks(ScatterEmission &scatter, llvm::ArrayRef<mlir::Value> prefix, mlir::Value lo,
                       mlir::Value hi, const ScatterBody &body);

} // namespace hlo::codegen

#endif
