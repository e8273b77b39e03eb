//===- Sharding.h - How an array is split over the partitions -------------===//
//
// Each dimension lists the axes of the mesh that split it, the most significant first; no axis
// occurs twice. The array is replicated along all other axes. A dimension of size d split over n
// shards has ceil(d / n) elements in each: shard t holds elements from t * ceil(d / n) on, and what
// a shard holds beyond d is undefined. So "uneven" dimensions need no other representation.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_SPMD_SHARDING_H
#define COMPILER_TRANSFORMS_SPMD_SHARDING_H

#include "compiler/transforms/spmd/Mesh.h"
#include "mlir/IR/BuiltinTypes.h"

namespace hlo::spmd {

struct Sharding {
  llvm::SmallVector<AxisList, 4> dims;

  Sharding() = default;
  explicit Sharding(int64_t rank) : dims(rank) {}

  bool operator==(const Sharding &other) const { return dims == other.dims; }
  bool operator!=(const Sharding &other) const { return dims != other.dims; }
  int64_t rank() const { return dims.size(); }
  /// The axes that split some dimension.
  AxisSet used() const {
    AxisSet set = 0;
    for (const AxisList &axes : dims) {
      set |= setOf(axes);
    }
    return set;
  }
  bool isReplicated() const { return used() == 0; }
  /// This sharding without the axes of a set: every list is cut before the first of them.
  Sharding without(AxisSet removed) const;
};

/// Elements of one shard of a dimension of `size` elements in `count` shards.
inline int64_t shardSize(int64_t size, int64_t count) { return (size + count - 1) / count; }

/// The shape of one shard.
llvm::SmallVector<int64_t> shardShape(llvm::ArrayRef<int64_t> shape, const Sharding &sharding,
                                      const Mesh &mesh);
/// The type of one shard of an array without a layout; other types (tokens) are unchanged.
mlir::Type shardType(mlir::Type global, const Sharding &sharding, const Mesh &mesh);
/// Bytes of one shard.
int64_t shardBytes(mlir::Type global, const Sharding &sharding, const Mesh &mesh);

/// `[{x},{},{y,z}]`, for reports and messages.
std::string toString(const Sharding &sharding, const Mesh &mesh);

} // namespace hlo::spmd

#endif
