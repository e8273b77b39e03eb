//===- Halo.h - Exchange of parts of a dimension between shards -----------===//
//
// Ops that move or slide over a dimension need, on each shard, a run of elements that other shards
// hold: the neighbours' edges for a window, another part of the array for a slice or a reversal.
//
//   holds    shard s has elements [begin, end) of the dimension at [at, ...) of its array (runs)
//   needs    shard t reads elements [begin, end) of the dimension (reads)
//   buffer   `length` elements from element origin[t] on, on every shard
//
// All numbers are known when the program is compiled, so the exchange is a list of
// collective-permutes, each of a slab of one width from some shards to others. Only what is read is
// sent; where gathering the dimension sends less, it is gathered.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_SPMD_HALO_H
#define COMPILER_TRANSFORMS_SPMD_HALO_H

#include "compiler/transforms/spmd/Partitioner.h"

namespace hlo::spmd {

/// Elements [begin, end).
struct Span {
  int64_t begin = 0, end = 0;
  bool isEmpty() const { return begin >= end; }
  Span operator&(Span other) const {
    return {std::max(begin, other.begin), std::min(end, other.end)};
  }
};

/// Elements [begin, end) that a shard holds from index `at` of its array on. `part` tells the runs
/// of one shard apart.
struct Run {
  int64_t shard = 0;
  Span span;
  int64_t at = 0;
  int64_t part = 0;
};

/// What is held and what is read along one dimension.
struct Exchange {
  /// Size of the dimension in each shard's array, and in its buffer.
  int64_t held = 0, length = 0;
  /// Runs of different shards are disjoint or equal.
  llvm::SmallVector<Run> runs;
  /// The dimension: reads outside it give the fill value.
  Span domain;
  /// Of each shard: the element at index 0 of its buffer, and what is read, within the buffer.
  llvm::SmallVector<int64_t> origin;
  llvm::SmallVector<Span> reads;

  int64_t shards() const { return origin.size(); }
  /// Whether some shard reads outside the domain.
  bool readsOutside() const;
  /// Makes every shard hold the dimension of `size` elements whole.
  void holdWhole(int64_t size);
  /// Adds the runs of a dimension of `size` elements whose first one is element `first` of the
  /// exchange, split into shards() parts that start at index `at` of the shards' arrays.
  void addShards(int64_t size, int64_t first = 0, int64_t at = 0, int64_t part = 0);
};

/// Bytes that shards send in exchanges of one array after the other.
class SentBytes {
public:
  /// An array of this type under a sharding.
  SentBytes(mlir::RankedTensorType global, const Sharding &sharding, const Mesh &mesh);
  /// Dimension `dim` becomes the buffer of the exchange.
  void add(int64_t dim, const Exchange &x);
  /// Dimension `dim` becomes one of this size without an exchange.
  void resize(int64_t dim, int64_t size) { shape[dim] = size; }
  int64_t total() const { return bytes; }

private:
  llvm::SmallVector<int64_t> shape;
  int64_t elementSize;
  int64_t bytes = 0;
};

/// The buffer: dimension `dim` of `array`, split over `axes`, as `x` says. Elements that are not
/// read are undefined. `fill`, a scalar, stands for what is read outside the domain; it may be null
/// if nothing is.
mlir::Value exchange(Emitter &e, mlir::Value array, int64_t dim, llvm::ArrayRef<Axis> axes,
                     const Exchange &x, mlir::Value fill = {});

/// The s32[] that is table[t] on shard t.
mlir::Value perShard(Emitter &e, llvm::ArrayRef<Axis> axes, llvm::ArrayRef<int64_t> table);

/// On shard t: `array` where the index in dimension `dim` plus start[t] lies in spans[t], `fill` (a
/// scalar) elsewhere.
mlir::Value maskSpans(Emitter &e, mlir::Value array, int64_t dim, llvm::ArrayRef<Axis> axes,
                      llvm::ArrayRef<int64_t> start, llvm::ArrayRef<Span> spans, mlir::Value fill);

/// Pads dimension `dim` with `fill` (zeros, if null), or cuts it where a number is negative.
mlir::Value padDim(Emitter &e, mlir::Value array, int64_t dim, int64_t low, int64_t high,
                   int64_t interior, mlir::Value fill);

/// `size` elements of dimension `dim` from start[t] on; elements before or behind the array are
/// `fill`, or undefined without it.
mlir::Value sliceAt(Emitter &e, mlir::Value array, int64_t dim, llvm::ArrayRef<Axis> axes,
                    llvm::ArrayRef<int64_t> start, int64_t size, mlir::Value fill = {});

/// Whether the value is the constant 0, +0 or false.
bool isZero(mlir::Value scalar);

} // namespace hlo::spmd

#endif
