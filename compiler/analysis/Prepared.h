//===- Prepared.h - A module in two functions: prepare and run ------------===//
//
// With immutable parameters a module has two computations that run at top level:
//
//   entry     Its arguments are the leaves of the parameters, followed by one prepared array
//             per result of the prepare computation.
//   prepare   Marked `hlo.prepare`. Its arguments are the same leaves; it reads only the
//             immutable ones.
//
// The module attribute `hlo.immutable_leaves`, an array<i64: ...>, lists the immutable leaves from
// the end of the canonicalize phase on; it may be empty.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_ANALYSIS_PREPARED_H
#define COMPILER_ANALYSIS_PREPARED_H

#include "dialect/hlo/Dialect.h"

namespace hlo {

inline constexpr llvm::StringLiteral kImmutableLeaves = "hlo.immutable_leaves";
inline constexpr llvm::StringLiteral kPrepare = "hlo.prepare";
/// Attributes of a planned module: bytes of the block, and for each leaf a set of HLO_READ_BY_*
/// (runtime/abi/hlo/rt.h).
inline constexpr llvm::StringLiteral kPreparedBytes = "hlo.prepared_bytes";
inline constexpr llvm::StringLiteral kInputUse = "hlo.input_use";

/// On the ops that make an operand of a dot or convolution of an array of panels (see PanelLayout):
/// its kernel takes them in and reads the panels.
inline constexpr llvm::StringLiteral kPanels = "hlo.panels";

/// How a kernel wants to read weights: as panels of `width` columns, whose rows hold groups of
/// `group` neighbours along k,
///
///   w[batch, taps, k, n]  ->  p[batch, n / width, taps, k / group, width, group]
///
/// with zeros after k, up to a multiple of `kUnit`, and after n, up to whole panels. A dot has one
/// tap; k are the channels of a convolution.
struct PanelLayout {
  int64_t width = 0, group = 1, kUnit = 1;
};
/// The array of panels that an op with kPanels reads. Null if a pass has changed the ops between.
mlir::Value panelsBehind(mlir::Operation *op);

/// The prepare computation, or null.
ComputationOp findPrepare(mlir::ModuleOp module);
/// True if the caller of the object calls the computation: the entry and the prepare computation.
bool isRoot(ComputationOp computation);

/// The places of the prepare computation's results in the block.
struct PreparedBlock {
  llvm::SmallVector<int64_t> offsets; ///< of each result, multiples of 64
  int64_t bytes = 0;                  ///< of the whole block, its header included
};
/// Fails if the block's size does not fit into 63 bits.
mlir::FailureOr<PreparedBlock> layOutBlock(ComputationOp prepare);

} // namespace hlo

#endif
