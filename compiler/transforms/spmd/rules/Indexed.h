//===- Indexed.h - The dimensions of gather and scatter -------------------===//
//
// A scatter has the dimension numbers of the gather that would read its windows, under other names:
// the operand's windows are the slices, and the updates have the shape of the gather's result.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_SPMD_RULES_INDEXED_H
#define COMPILER_TRANSFORMS_SPMD_RULES_INDEXED_H

#include "compiler/transforms/spmd/Partitioner.h"

namespace hlo::spmd {

/// What corresponds to the dimensions of the operand and of the indices; -1: nothing does.
struct IndexedDims {
  /// Of each dimension of the operand: its size, and that of a window.
  llvm::SmallVector<int64_t> sizes, window;
  /// Of each dimension of the operand: the dimension of the result (of the updates) with the
  /// elements of a window, the component of the index vectors, the batching dimension of the
  /// indices.
  llvm::SmallVector<int64_t> windowDim, component, batching;
  /// Of each dimension of the indices: its size, and the dimension of the result (of the updates).
  llvm::SmallVector<int64_t> indexSizes, positionDim;
  /// The rank of the indices if they have no such dimension.
  int64_t indexVectorDim = 0;
  int64_t components = 0;

  static IndexedDims of(GatherOp op);
  static IndexedDims of(ScatterOp op);

  /// The dimension of the indices along which the windows go through dimension `dim` of the operand
  /// one by one, and the kind of their factor: a batching dimension (Pass), or one whose index
  /// components count, as an iota does (Special: they are offsets in the whole array). -1: none.
  std::pair<int64_t, FactorKind> countedAlong(int64_t dim, mlir::Value indices) const;

  bool hasVectorDim() const { return indexVectorDim < static_cast<int64_t>(indexSizes.size()); }
};

/// Whether a dimension of this size can be split by the rules here, whose offsets are s32.
inline bool isSplittable(int64_t size) { return size > 1 && size <= (int64_t(1) << 30); }

/// Whether partial results of this element type can be added up by a collective.
bool isSummable(mlir::Type element);

/// The dimension of `value` whose index is the value of each element; -1 if there is none. With
/// `vectorDim`, only elements at index `component` of that dimension are looked at.
int64_t countedDim(mlir::Value value, int64_t vectorDim, int64_t component);
inline int64_t countedDim(mlir::Value value) {
  return countedDim(value, llvm::cast<mlir::RankedTensorType>(value.getType()).getRank(), 0);
}

/// The integers as a signed type of 32 or 64 bits that holds their values; numbers that even s64
/// does not hold become large ones.
mlir::Value asSigned(HloBuilder b, mlir::Value indices);

/// Component k of the index vectors: an array of the shape of the indices without their vector
/// dimension.
mlir::Value componentOf(HloBuilder b, mlir::Value indices, const IndexedDims &dims, int64_t k);
/// The reverse: index vectors from their components, which have one type.
mlir::Value indexVectors(HloBuilder b, llvm::ArrayRef<mlir::Value> components,
                         const IndexedDims &dims);

/// max(0, min(value, last)) for a scalar or an array of a signed type.
mlir::Value clampTo(HloBuilder b, mlir::Value value, int64_t last);
/// `0 <= value < end` for a scalar or an array of a signed type.
mlir::Value isBelow(HloBuilder b, mlir::Value value, int64_t end);
/// The conjunction; null stands for true.
mlir::Value both(HloBuilder b, mlir::Value x, mlir::Value y);
/// value - offset + bias; `offset` is an s32[].
mlir::Value relativeTo(HloBuilder b, mlir::Value value, mlir::Value offset, int64_t bias);

/// Adds `amount` elements with the value `fill` at both ends of dimension `dim`.
mlir::Value padBothEnds(HloBuilder b, mlir::Value array, int64_t dim, int64_t amount,
                        mlir::Value fill);

/// The same op with other attributes, `site.operands`, and these results.
mlir::Operation *rebuild(Site &site, mlir::TypeRange results,
                         llvm::ArrayRef<mlir::NamedAttribute> changed);

/// The sum of a gather's or slice's partial results, all but one of which are the identity.
mlir::FlatSymbolRefAttr sumOfParts(Site &site);
/// The identity: -0 for floats, since x + -0 is x for every x.
mlir::Value identityOfParts(HloBuilder b, mlir::Type element);

// Rows of the table, by file.
void registerGather(PartitionerTable &table);  // rules/Gather.cpp
void registerScatter(PartitionerTable &table); // rules/Scatter.cpp

} // namespace hlo::spmd

#endif
