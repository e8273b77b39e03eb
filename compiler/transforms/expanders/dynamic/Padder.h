//===- Padder.h - Arrays of bounded size as arrays and sizes --------------===//
//
// What the files of the dynamic padder share: the walk over one computation,
// which keeps the true sizes of each array beside it, and small pieces of
// arithmetic on sizes. Padder.cpp has the pass and says how arrays of
// bounded size are held.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_EXPANDERS_DYNAMIC_PADDER_H
#define COMPILER_TRANSFORMS_EXPANDERS_DYNAMIC_PADDER_H

#include "compiler/analysis/Computations.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/expanders/OpExpander.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace hlo {

struct BatchedCall;

/// The true size of each dimension, an `s32[]`; null if it equals the bound.
using DynamicSizes = llvm::SmallVector<mlir::Value>;

/// A dimension of one of several arrays.
struct DynamicDim {
  unsigned array;
  int64_t dim;
  bool operator==(const DynamicDim &other) const {
    return array == other.array && dim == other.dim;
  }
};

/// State shared by all computations of a module.
struct DynamicContext {
  explicit DynamicContext(mlir::ModuleOp module) : symbols(module), scalars(module) {}
  ComputationOp lookup(mlir::FlatSymbolRefAttr name);
  /// A copy of the computation `name`, which its caller may change.
  ComputationOp clone(mlir::FlatSymbolRefAttr name);

  /// Notes that two sizes are equal in every call that makes sense. Of sizes that are not
  /// parameters of the entry nothing is noted.
  void agree(mlir::Value a, mlir::Value b);

  mlir::SymbolTable symbols;
  ScalarComputations scalars;
  /// The entry's size parameters, as s32; joined where they must agree.
  llvm::EquivalenceClasses<mlir::Value> sizes;
  struct Given {
    mlir::Value size;
    mlir::BlockArgument argument;
    int64_t bound;
    bool checked;
  };
  llvm::SmallVector<Given> given; ///< the same in the order in which they were found
  /// Adds `size`, if it is an argument of the entry or a convert of one.
  void addSize(mlir::Value size, int64_t bound, bool checked);
};

/// True if the type has dimensions `<=N`.
bool hasDynamicBit(mlir::Type type);
/// The type with all dimensions static.
mlir::Type withoutDynamicBits(mlir::Type type);
/// True if dimension `dim` of the type is `<=N`.
bool isDynamicDim(mlir::Type type, int64_t dim);

/// Removes the dynamic dimensions of one computation. Bind the sizes of its arguments first.
class DynamicPadder {
public:
  explicit DynamicPadder(DynamicContext &context) : context(context) {}

  /// Makes `value` static, with the true sizes `own`.
  void bind(mlir::Value value, DynamicSizes own);
  /// Rewrites all ops but the return; at the end no value has a dynamic type.
  mlir::LogicalResult run(ComputationOp computation);
  /// The true size of a dimension; null if it equals the bound.
  mlir::Value sizeOf(mlir::Value value, int64_t dim) const;
  /// The true size, or the bound as a constant.
  mlir::Value sizeOrBound(HloBuilder &b, mlir::Value value, int64_t dim) const;
  bool isDynamic(mlir::Value value) const { return sizes.contains(value); }
  /// The dynamic dimensions among `values`, in order.
  llvm::SmallVector<DynamicDim> dynamicDims(mlir::ValueRange values) const;

private:
  mlir::LogicalResult visit(mlir::Operation *op);
  mlir::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &why = {});
  DynamicSizes sizesOf(mlir::Value value) const;

  /// `x` with `fill` for the elements beyond `size` in dimension `dim`.
  mlir::Value maskedBeyond(HloBuilder &b, mlir::Value x, int64_t dim, mlir::Value size,
                           mlir::Value fill);
  /// The same in all of `dims`, with x's own sizes.
  mlir::Value masked(HloBuilder &b, mlir::Value x, llvm::ArrayRef<int64_t> dims, mlir::Value fill);

  /// The neutral element of a reduction for operand `i` of `op`: the computation's identity; if
  /// none is known, the initial value, as in XLA. `op` has as many operands as initial values.
  mlir::Value fillOf(HloBuilder &b, mlir::Operation *op, mlir::FlatSymbolRefAttr computation,
                     unsigned i);
  /// The size of `dim` in the first of `inputs` that has one.
  mlir::Value firstSizeOf(mlir::ValueRange inputs, int64_t dim);
  /// Masks each of the first `count` operands of a reduction beyond `size` in `dim`.
  void maskInputs(HloBuilder &b, mlir::Operation *op, unsigned count, int64_t dim, mlir::Value size,
                  mlir::FlatSymbolRefAttr computation);
  /// Gives results the sizes of operand 0, which has their shape.
  mlir::LogicalResult passOn(mlir::Operation *op);
  // Walk.cpp
  void visitSet(SetDimensionSizeOp op);
  void visitElementwise(mlir::Operation *op);
  // Calls.cpp
  mlir::LogicalResult visitCustomCall(CustomCallOp op);
  mlir::LogicalResult visitBatched(CustomCallOp op, const BatchedCall &call);
  // Compute.cpp
  mlir::LogicalResult visitReduce(ReduceOp op);
  mlir::LogicalResult visitDot(DotOp op);
  mlir::LogicalResult visitBatchNorm(mlir::Operation *op);
  mlir::LogicalResult visitCollective(mlir::Operation *op);
  mlir::LogicalResult visitLinalg(mlir::Operation *op);
  mlir::LogicalResult visitTopk(TopkOp op);
  mlir::LogicalResult replaceBy(mlir::Operation *op, llvm::ArrayRef<mlir::Value> values,
                                mlir::Operation *before);
  mlir::Value withIdentityBeyond(HloBuilder &b, mlir::Value x);
  mlir::LogicalResult visitSort(SortOp op);
  // Shape.cpp
  mlir::LogicalResult visitShape(mlir::Operation *op);
  mlir::LogicalResult visitPad(PadOp op);
  mlir::LogicalResult visitConcatenate(ConcatenateOp op);
  mlir::LogicalResult visitSlice(SliceOp op);
  mlir::LogicalResult visitReverse(ReverseOp op);
  mlir::LogicalResult visitReshape(ReshapeOp op);
  mlir::LogicalResult visitDynamicReshape(DynamicReshapeOp op);
  mlir::Value moveElements(HloBuilder &b, mlir::Value x, llvm::ArrayRef<int64_t> to,
                           const DynamicSizes &own, std::pair<int64_t, int64_t> inDims,
                           std::pair<int64_t, int64_t> outDims);
  // Index.cpp
  mlir::LogicalResult visitDynamicSlice(DynamicSliceOp op);
  mlir::LogicalResult visitDynamicUpdateSlice(DynamicUpdateSliceOp op);
  mlir::LogicalResult visitGather(GatherOp op);
  mlir::LogicalResult visitScatter(ScatterOp op);
  mlir::LogicalResult visitWindows(ScatterOp op);
  void unrollWindow(ScatterOp op, int64_t dim, int64_t target);
  // Windows.cpp
  mlir::LogicalResult visitReduceWindow(ReduceWindowOp op);
  mlir::LogicalResult visitSelectAndScatter(SelectAndScatterOp op);
  mlir::LogicalResult visitConvolution(ConvolutionOp op);
  // Control.cpp
  mlir::LogicalResult visitWhile(WhileOp op);
  mlir::LogicalResult visitConditional(ConditionalOp op);

  DynamicContext &context;
  llvm::DenseMap<mlir::Value, DynamicSizes> sizes;
};

/// The value that a reduction by `root`'s opcode ignores; null if none is known: 0 for add, ...
mlir::Value ignoredBy(HloBuilder &b, mlir::Operation *root, mlir::Type element);
/// Whether two sizes are known to be equal: constants, or the same arithmetic on the same values.
bool sameSize(mlir::Value a, mlir::Value b);

} // namespace hlo

#endif
