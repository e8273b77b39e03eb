//===- Ranks.h - Runs ops of integers on all partitions -------------------===//
//
// An interpreter of what the partitioner emits to move data: every partition's value of every op,
// as integers. Ops that it does not know fail the test.
//
//===----------------------------------------------------------------------===//
#ifndef TEST_UNIT_SPMD_RANKS_H
#define TEST_UNIT_SPMD_RANKS_H

#include "compiler/transforms/spmd/Emitter.h"

/// The elements of one array in row-major order.
using Elements = std::vector<int64_t>;

class Ranks {
public:
  explicit Ranks(int64_t partitions) : partitions(partitions) {}

  /// The value on each partition.
  void set(mlir::Value value, std::vector<Elements> onPartitions) {
    values[value] = std::move(onPartitions);
  }
  const std::vector<Elements> &get(mlir::Value value) { return values[value]; }
  /// Runs the ops of a block in order; false at the first unknown op.
  bool run(mlir::Block &block);
  /// Bytes that a partition has sent, elements of 4 bytes.
  int64_t sent = 0;

private:
  bool run(mlir::Operation *op);
  int64_t partitions;
  llvm::DenseMap<mlir::Value, std::vector<Elements>> values;
};

/// Calls `body(i, index)` for the indices of a shape in row-major order.
void forEachIndex(llvm::ArrayRef<int64_t> shape,
                  llvm::function_ref<void(int64_t, llvm::ArrayRef<int64_t>)> body);

/// The offset in the whole array of each element of the shard at a position; -1 for padding.
Elements elementsOfShard(llvm::ArrayRef<int64_t> shape, const hlo::spmd::Sharding &sharding,
                         const hlo::spmd::Mesh &mesh, int64_t position);

/// "[2,3]".
std::string text(llvm::ArrayRef<int64_t> shape);

#endif
