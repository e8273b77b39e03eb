//===- Buffers.h - Parameters and results in the caller's buffers ---------===//
#ifndef COMPILER_TRANSFORMS_EXPANDERS_SIZES_BUFFERS_H
#define COMPILER_TRANSFORMS_EXPANDERS_SIZES_BUFFERS_H

#include "compiler/analysis/entry/EntryLayout.h"
#include "compiler/transforms/expanders/sizes/Live.h"
#include "dialect/hlo/Builder.h"

namespace hlo::sizes {

/// The sizes of an array leaf: dimensions of its physical shape, and the values.
struct LeafSizes {
  llvm::SmallVector<int64_t> dims;
  llvm::SmallVector<mlir::Value> values;
};

/// The sizes of each leaf; `value` gives that of a size leaf. Sizes that are functions of named
/// ones are computed.
llvm::SmallVector<LeafSizes> sizesOfLeaves(HloBuilder &b, llvm::ArrayRef<EntryLeaf> leaves,
                                           llvm::function_ref<mlir::Value(size_t)> value);

/// An array of the whole shape with `part` at its start and arbitrary elements elsewhere.
mlir::Value grown(HloBuilder &b, mlir::Value part, mlir::RankedTensorType whole);

/// Reads the dense buffers of the parameters of a version with these sizes, one for each leaf: in
/// place where it is for one size only, else through a copy with the strides of its largest size.
void unpackParameters(HloBuilder &b, mlir::Block &body, llvm::ArrayRef<LeafSizes> leaves,
                      const Facts &facts);

/// Result number `result` in its dense buffer of type `whole`: computed there if the version is for
/// one size only, else copied. A part of a parameter is always copied, because a move would be of
/// the whole buffer; so would be one from another result, which is why equal results stay apart.
mlir::Value packed(HloBuilder &b, mlir::Value part, mlir::RankedTensorType whole, size_t result,
                   const LeafSizes &sizes, const Facts &facts);

} // namespace hlo::sizes

#endif
