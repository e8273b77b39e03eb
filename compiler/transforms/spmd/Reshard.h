//===- Reshard.h - From one sharding of an array to another ---------------===//
//
// Finds the sequence of steps that sends the fewest bytes. Emitter::reshard emits it.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_SPMD_RESHARD_H
#define COMPILER_TRANSFORMS_SPMD_RESHARD_H

#include "compiler/transforms/spmd/Sharding.h"
#include <map>

namespace hlo::spmd {

/// One step; `after` is the sharding that it leads to.
struct Step {
  enum class Kind : uint8_t {
    Slice,    ///< each partition keeps a part of dimension `to`, split over `axes` more: no bytes
    Gather,   ///< all-gather: dimension `from` loses its last axes, `axes`
    Sum,      ///< the same by an all-reduce of shards among zeros, where most shards are padding
    Exchange, ///< all-to-all: `axes`, the last of dimension `from`, become the last of `to`
    Permute   ///< collective-permute: as many shards per dimension, split over other axes
  };
  Kind kind;
  int64_t from = 0, to = 0;
  AxisList axes;
  Sharding before, after;
  int64_t bytes = 0; ///< that a partition sends
};

/// The steps found so far, by shape and shardings.
class ReshardPlans {
public:
  explicit ReshardPlans(const Mesh &mesh) : mesh(mesh) {}

  struct Plan {
    std::vector<Step> steps;
    int64_t bytes = 0;
  };
  /// `elementBytes` are those of one element.
  const Plan &find(llvm::ArrayRef<int64_t> shape, int64_t elementBytes, const Sharding &from,
                   const Sharding &to);

private:
  const Mesh &mesh;
  std::map<std::string, Plan> known;
};

} // namespace hlo::spmd

#endif
