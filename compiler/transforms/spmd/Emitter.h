//===- Emitter.h - Ops of the program of one partition --------------------===//
//
// Builds what partitioners need: the number of a shard, masks of padding, collectives over axes,
// and changes of sharding. All values here are shards (of local shape).
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_SPMD_EMITTER_H
#define COMPILER_TRANSFORMS_SPMD_EMITTER_H

#include "compiler/transforms/spmd/Rule.h"
#include "dialect/hlo/Builder.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <memory>
#include <utility>

namespace hlo::spmd {

/// Attributes of a collective that the partitioner adds, until the report is written: what it is
/// for ("operand 0 of dot as [{x},{}]"), and the bytes that a partition sends in one execution.
inline constexpr llvm::StringRef kWhy = "hlo.spmd_why", kBytes = "hlo.spmd_bytes";

/// The computations of sums that the partitioner adds to the module.
enum class SumKind : uint8_t { Add, Multiply, Minimum, Maximum, And, Or };

struct Step;
class ReshardPlans;

class Emitter {
public:
  Emitter(mlir::ModuleOp module, const Mesh &mesh, int64_t replicas);
  ~Emitter();

  const Mesh &mesh;
  mlir::ModuleOp module;
  mlir::OpBuilder builder;
  mlir::Location loc;
  /// What the next collectives are for.
  std::string why;

  HloBuilder b() { return HloBuilder(builder, loc); }

  //===--- Where this partition is ------------------------------------------===//

  /// The number of this partition's shard along `axes`: s32[], 0 if there are none.
  mlir::Value shardIndex(llvm::ArrayRef<Axis> axes);
  /// shardIndex(axes) * step, an s32[].
  mlir::Value shardOffset(llvm::ArrayRef<Axis> axes, int64_t step);
  /// A table indexed by the partition's position in the mesh: the s32[] element for this partition.
  mlir::Value perPosition(llvm::ArrayRef<int64_t> values);

  //===--- Local data movement ----------------------------------------------===//

  /// `size` elements of dimension `dim` from `start` (s32[], within bounds) on.
  mlir::Value dynamicSliceDim(mlir::Value array, int64_t dim, mlir::Value start, int64_t size);
  mlir::Value dynamicUpdateDim(mlir::Value array, mlir::Value update, int64_t dim,
                               mlir::Value start);
  /// Pads dimension `dim` at its end (or cuts it) to `size` elements; `fill` is a scalar, null for
  /// zeros.
  mlir::Value resizeDim(mlir::Value array, int64_t dim, int64_t size, mlir::Value fill = {});
  /// The array with `fill` (scalar) wherever the index in dimension `dim` of the whole array is not
  /// in [0, size): the padding of an uneven dimension split over `axes`. Returns `array` itself if
  /// there is no padding.
  mlir::Value maskPadding(mlir::Value array, int64_t dim, llvm::ArrayRef<Axis> axes, int64_t size,
                          mlir::Value fill);
  /// Wherever `low <= start + i < high` fails for index i of dimension `dim`, `fill`. `start` is
  /// an s32[].
  mlir::Value maskRange(mlir::Value array, int64_t dim, mlir::Value start, int64_t low,
                        int64_t high, mlir::Value fill);
  /// 0 of the element type, and the identity of a sum.
  mlir::Value zero(mlir::Type element) { return b().scalar(element, 0); }
  mlir::Value identity(SumKind kind, mlir::Type element);

  //===--- Collectives -------------------------------------------------------===//

  /// The computation of a sum, made once.
  mlir::FlatSymbolRefAttr sumComputation(SumKind kind, mlir::Type element);
  /// The element-wise sum over all partitions that differ along `axes`.
  mlir::Value allReduce(mlir::Value value, llvm::ArrayRef<Axis> axes,
                        mlir::FlatSymbolRefAttr computation);
  mlir::Value allReduce(mlir::Value value, llvm::ArrayRef<Axis> axes, SumKind kind = SumKind::Add);
  /// The sum, of which each partition keeps its part of dimension `dim` (whose size must be a
  /// multiple of the count of `axes`).
  mlir::Value reduceScatter(mlir::Value value, int64_t dim, llvm::ArrayRef<Axis> axes,
                            mlir::FlatSymbolRefAttr computation);
  /// Dimension `dim` of all partitions along `axes`, one after the other.
  mlir::Value allGather(mlir::Value value, int64_t dim, llvm::ArrayRef<Axis> axes);
  /// Cuts dimension `split` into a part for each partition along `axes`, and puts the parts
  /// received one after the other along dimension `concat`.
  mlir::Value allToAll(mlir::Value value, int64_t split, int64_t concat, llvm::ArrayRef<Axis> axes);
  /// Pairs of *positions*. Partitions that are no target receive zeros.
  mlir::Value permute(mlir::Value value, llvm::ArrayRef<std::pair<int64_t, int64_t>> sourceTargets);
  /// The value of the partition `distance` shards further along `axes` (negative: before); zeros
  /// where there is none, or, with `wraps`, modulo the count.
  mlir::Value shift(mlir::Value value, llvm::ArrayRef<Axis> axes, int64_t distance,
                    bool wraps = false);

  //===--- Sharding ----------------------------------------------------------===//

  /// The shard of `global` under `to`, from the shard `value` under `from`, by the cheapest
  /// sequence of steps (Reshard.cpp). The same change of the same value at the same place in a
  /// block is made once.
  mlir::Value reshard(mlir::Value value, mlir::RankedTensorType global, const Sharding &from,
                      const Sharding &to);
  /// Bytes that a partition sends for it.
  int64_t reshardBytes(mlir::RankedTensorType global, const Sharding &from, const Sharding &to);

  /// What has been made in a block, and may be used again there.
  struct BlockState {
    mlir::Value position; ///< this partition's position in the mesh
    std::map<std::pair<const void *, std::string>, mlir::Value> made;
  };
  /// Starts a block; the result is to be given back when the block around it goes on.
  BlockState enterBlock() { return std::exchange(block, BlockState()); }
  void leaveBlock(BlockState outer) { block = std::move(outer); }

private:
  mlir::Value applyStep(mlir::Value value, llvm::ArrayRef<int64_t> shape, const Step &step);
  mlir::StringAttr groupsAttr(llvm::ArrayRef<Axis> axes);
  mlir::IntegerAttr nextChannel();
  void note(mlir::Operation *op, int64_t bytes);

  int64_t replicas;
  int64_t channels = 0;
  BlockState block;
  llvm::StringMap<mlir::FlatSymbolRefAttr> sums;
  std::unique_ptr<ReshardPlans> plans;
};

} // namespace hlo::spmd

#endif
