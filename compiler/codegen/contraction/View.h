//===- View.h - A value as a strided view of a kernel's argument ----------===//
#ifndef COMPILER_CODEGEN_CONTRACTION_VIEW_H
#define COMPILER_CODEGEN_CONTRACTION_VIEW_H

#include "compiler/codegen/Kernel.h"

#include <optional>

namespace hlo::codegen {

/// The start index of a dynamic-slice along one dimension.
struct DynamicStart {
  mlir::Value start;
  int64_t last;   ///< the largest start index that keeps the slice in bounds
  int64_t stride; ///< of the sliced dimension, in elements
};

/// A value as a strided view of one of the kernel's arguments.
struct View {
  unsigned argument;
  int64_t offset = 0; ///< of element {0, ..., 0} of the value, in elements
  llvm::SmallVector<int64_t> strides;
  mlir::Type storage;                        ///< the element type in memory
  llvm::SmallVector<mlir::Type> conversions; ///< the types that a loaded element is converted to,
                                             ///< in order
  llvm::SmallVector<DynamicStart> starts;
  int64_t elements = 0; ///< of the argument
};

/// Whether type `to` represents every value of type `from`.
bool isExactConvert(mlir::Type from, mlir::Type to);

/// Makes `view`, which describes the first operand of `op`, describe its result, if `op` relabels
/// elements (transpose, reverse, slice, dynamic-slice, broadcast, copy, reshape). False for other
/// ops, and for a reshape whose result has no strides. With `nearest` every reshape has some: a
/// dimension without one gets the innermost stride of the source dimensions that it is made of.
bool relabel(mlir::Operation *op, View &view, bool nearest = false);

/// Makes `view` count parts of its elements, `parts` each, along an added last dimension.
void splitElements(View &view, int64_t parts);

/// `v` as a view of an argument, if only ops that relabel elements or convert them exactly stand
/// between the two. With `nearest`: a view of the largest argument that `v` is computed from,
/// whose strides say by how many of its elements one step of an index of `v` moves.
std::optional<View> viewOf(mlir::Value v, bool nearest = false);

/// The start index of a dynamic-slice, clamped to [0, last] as HLO requires.
mlir::Value clampedStart(KernelBuilder &kernel, const DynamicStart &start);

} // namespace hlo::codegen

#endif
