//===- HaloWindow.h - Windows over a dimension that is split ---------------===//
//
// What a shard reads of a dimension over which a window slides, and the window of the op that it
// runs on what it has received (Halo.h).
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_SPMD_HALOWINDOW_H
#define COMPILER_TRANSFORMS_SPMD_HALOWINDOW_H

#include "compiler/transforms/spmd/Halo.h"

namespace hlo::spmd {

/// One dimension of a window: result j reads the elements
///
///   j * stride - low + k * windowDilation,  0 <= k < size
///
/// of the operand with baseDilation - 1 holes between elements.
struct WindowDim {
  int64_t size = 1, stride = 1, low = 0, high = 0, baseDilation = 1, windowDilation = 1;
  bool isReversed = false;

  int64_t extent() const { return (size - 1) * windowDilation + 1; }
  bool isTrivial() const {
    return size == 1 && stride == 1 && low == 0 && high == 0 && baseDilation == 1;
  }
};

/// Whether all positions of the window over a dimension of `size` elements are far from the limits
/// of s32, in which the partitioned program computes them.
bool hasSmallPositions(const WindowDim &window, int64_t size);

WindowDim windowDim(hlo::WindowAttr window, int64_t dim);
/// The window with one dimension replaced.
hlo::WindowAttr withDim(hlo::WindowAttr window, int64_t dim, const WindowDim &value);

/// A window over a dimension of which each shard computes a part.
struct WindowHalo {
  Exchange exchange;
  /// Holes of the operand are made before the op, because windows start at different places
  /// between elements on different shards: the buffer is dilated and cut to `dilatedLength` from
  /// index skip[t] on.
  bool isDilatedBefore = false;
  int64_t dilation = 1, dilatedLength = 0;
  llvm::SmallVector<int64_t> skip;
  /// The window of the local op.
  WindowDim local;
};

/// The results [t * ceil(results / shards), ...) of shard t, or all results on every shard.
WindowHalo haloOfResults(const WindowDim &window, int64_t size, int64_t results, int64_t shards,
                         bool allResults = false);
/// The same without a fill value: the local op pads, so its buffer starts and ends where the
/// operand does on all shards that read padding.
struct ClampedHalo {
  Exchange exchange;
  /// The first result of the local op on each shard, and how many there are.
  llvm::SmallVector<int64_t> first;
  int64_t results = 0;
  /// The window of the local op.
  WindowDim local;
};

/// Shard t computes the results `needed[t]` at least; those at or past `results` do not exist. The
/// base dilation must be 1.
ClampedHalo clampedHalo(const WindowDim &window, int64_t size, int64_t results,
                        llvm::ArrayRef<Span> needed);

/// All results, of which shard t adds up the part that its taps [t * ceil(taps / shards), ...) of
/// the window contribute.
WindowHalo haloOfTaps(const WindowDim &window, int64_t size, int64_t results, int64_t shards);

/// The operand of the local op; `fill` (a scalar) is what padding and holes hold, and if `masks`,
/// whatever the shard does not read.
mlir::Value exchangeHalo(Emitter &e, mlir::Value array, int64_t dim, llvm::ArrayRef<Axis> axes,
                         const WindowHalo &halo, mlir::Value fill, bool masks = false);

} // namespace hlo::spmd

#endif
