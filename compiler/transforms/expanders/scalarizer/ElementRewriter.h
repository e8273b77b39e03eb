//===- ElementRewriter.h - Arrays of a computation as their elements ------===//
#ifndef COMPILER_TRANSFORMS_EXPANDERS_SCALARIZER_ELEMENTREWRITER_H
#define COMPILER_TRANSFORMS_EXPANDERS_SCALARIZER_ELEMENTREWRITER_H

#include "compiler/analysis/Computations.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/expanders/OpExpander.h"

namespace hlo {

/// Rewrites a scalar computation that holds small arrays: each op on arrays becomes ops on their
/// elements (see Scalarizer.cpp). A computation with an unsupported op, or with a large array, is
/// left as it is.
class ElementRewriter {
public:
  ElementRewriter(ComputationOp computation, const ComputationGraph &graph)
      : block(computation.getBody().front()), graph(graph), builder(computation.getContext()) {}

  void run();

private:
  using Elements = llvm::SmallVector<mlir::Value>; ///< the elements of an array, row-major
  using Position = llvm::SmallVector<int64_t>;

  /// Most elements of an array, and most start positions of one dynamic slice.
  static constexpr int64_t maxElements = 1024;

  /// The positions of an array of this shape, row-major.
  static llvm::SmallVector<Position> positionsOf(llvm::ArrayRef<int64_t> shape);
  static int64_t numberOf(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> position);

  // Each emitter records the elements of the op's results; false if it does not support the op.
  bool emit(mlir::Operation *op);
  bool emitMove(mlir::Operation *op);
  bool emitDynamicSlice(DynamicSliceOp op);
  bool emitUpdate(DynamicUpdateSliceOp op);
  bool emitGather(GatherOp op);
  bool emitReduce(ReduceOp op);
  bool emitMap(MapOp op);
  bool emitDot(DotOp op);
  bool emitSort(SortOp op);

  /// The results of `callee` applied to the arguments.
  Elements applied(mlir::FlatSymbolRefAttr callee, mlir::ValueRange arguments);
  /// The window of `sizes` at `starts` (clamped; null: at 0) of an array.
  std::optional<Elements> sliceAt(Elements elements, llvm::ArrayRef<int64_t> shape,
                                  llvm::ArrayRef<mlir::Value> starts,
                                  llvm::ArrayRef<int64_t> sizes);
  const Elements &of(mlir::Value value) { return elements.find(value)->second; }
  mlir::Value scalarIndex(mlir::Value like, int64_t value) {
    return HloBuilder{builder, like.getLoc()}.scalar(elementTypeOf(like), value);
  }

  mlir::Block &block;
  const ComputationGraph &graph;
  mlir::OpBuilder builder;
  llvm::DenseMap<mlir::Value, Elements> elements;
};

} // namespace hlo

#endif
