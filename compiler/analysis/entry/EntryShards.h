//===- EntryShards.h - The entry's arrays as shards -----------------------===//
//
// A partitioned module's parameters and results are shards of the arrays of the text. How each is
// split is a module attribute that the phase `partition` writes and no later pass changes:
//
//   hlo.entry_shards = {
//     mesh_sizes = array<i64: 2, 4>, mesh_names = ["x", "y"],
//     params  = [{global = array<i64: 16, 32>, axes = [array<i64: 0>, array<i64>],
//                 devices = array<i64: ...>}, unit, ...],
//     results = [...]}
//
// There is one entry for each leaf of EntryLayout that was an array of the text, in order: `unit`
// for a whole array, `devices` only if partition p is not at place p of the mesh. Leaves that later
// passes append (sizes of bounded dimensions) have none. See hlo/shard.h for the meaning.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_ANALYSIS_ENTRY_ENTRYSHARDS_H
#define COMPILER_ANALYSIS_ENTRY_ENTRYSHARDS_H

#include "dialect/hlo/Dialect.h"
#include <optional>
#include <string>
#include <vector>

namespace hlo {

/// The partitions as a grid of named axes, the slowest varying first.
struct MeshAxes {
  std::vector<int64_t> sizes;
  std::vector<std::string> names;
};

/// How one array is split.
struct LeafSharding {
  std::vector<int64_t> dims;              ///< of the global array
  std::vector<std::vector<int64_t>> axes; ///< of each dimension, numbers of axes of the mesh
  std::vector<int64_t> devices; ///< the partition at each place of the mesh; empty: place p has p

  /// The size of every shard: ceil(size / parts) in each dimension.
  std::vector<int64_t> shardDims(const MeshAxes &mesh) const;
};

struct EntryShards {
  MeshAxes mesh;
  /// For each leaf its sharding; none: every partition has the whole array.
  std::vector<std::optional<LeafSharding>> params, results;

  /// Reads the attribute; empty lists if the module has none. An error at the module if it
  /// contradicts itself or `hlo.num_partitions`.
  static mlir::FailureOr<EntryShards> get(mlir::ModuleOp module);
};

/// "x=2, y=4". Axes that are parts of one axis of the text ("y:(1)2", "y:(2)2") are named as that.
std::string meshText(const MeshAxes &mesh);
/// "[{x}, {}, {y:(1)2}]": the axes that split each dimension.
std::string axesText(const LeafSharding &sharding, const MeshAxes &mesh);

} // namespace hlo

#endif
