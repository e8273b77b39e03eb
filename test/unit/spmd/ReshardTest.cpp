//===- ReshardTest.cpp - From one sharding to another ---------------------===//
#include "Ranks.h"
#include "mlir/IR/OwningOpRef.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

namespace {

class Reshard : public testing::Test {
protected:
  Reshard() : builder(&context) { context.loadDialect<HloDialect>(); }

  int64_t pick(int64_t below) { return static_cast<int64_t>(random() % below); }

  Sharding anySharding(int64_t rank, const Mesh &mesh) {
    Sharding sharding(rank);
    SmallVector<Axis> axes;
    for (unsigned axis = 0; axis < mesh.axes(); ++axis) {
      axes.push_back(axis);
    }
    std::shuffle(axes.begin(), axes.end(), random);
    for (Axis axis : axes) {
      if (rank > 0 && pick(4)) {
        sharding.dims[pick(rank)].push_back(axis);
      }
    }
    return sharding;
  }

  MLIRContext context;
  OpBuilder builder;
  std::mt19937 random{1};
};

/// Random shapes (uneven, smaller than the count), meshes (also with another order of devices) and
/// shardings: all elements of all shards of the target are right, and the bytes are as planned.
TEST_F(Reshard, BringsEachElementToItsPlace) {
  int moved = 0;
  for (int round = 0; round < 3000; ++round) {
    SmallVector<int64_t> sizes, shape, order;
    for (int64_t n = 1 + pick(4); n > 0; --n) {
      sizes.push_back(ArrayRef<int64_t>{2, 2, 2, 3}[pick(4)]);
    }
    for (int64_t n = pick(4); n > 0; --n) {
      shape.push_back(1 + pick(pick(2) ? 4 : 13));
    }
    if (pick(3) == 0) {
      for (int64_t p = 0; p < Mesh(sizes).partitions(); ++p) {
        order.push_back(p);
      }
      std::shuffle(order.begin(), order.end(), random);
    }
    Mesh mesh(sizes, order);
    Sharding from = anySharding(shape.size(), mesh), to = anySharding(shape.size(), mesh);
    std::string what = text(shape) + ": " + toString(from, mesh) + " to " + toString(to, mesh) +
                       " on " + text(sizes);

    OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
    Emitter e(*module, mesh, 1);
    Block block;
    e.builder.setInsertionPointToEnd(&block);
    auto global = RankedTensorType::get(shape, builder.getIntegerType(32, true));
    Value operand = block.addArgument(shardType(global, from, mesh), builder.getUnknownLoc());
    Value result = e.reshard(operand, global, from, to);
    ASSERT_EQ(result.getType(), shardType(global, to, mesh)) << what;

    // Elements of the whole array are 1, 2, ...; padding is -1.
    std::vector<Elements> shards(mesh.partitions());
    for (int64_t position = 0; position < mesh.partitions(); ++position) {
      Elements &shard = shards[mesh.partitionAt(position)];
      shard = elementsOfShard(shape, from, mesh, position);
      for (int64_t &element : shard) {
        element = element < 0 ? -1 : element + 1;
      }
    }
    Ranks ranks(mesh.partitions());
    ranks.set(operand, shards);
    ASSERT_TRUE(ranks.run(block)) << what;
    for (int64_t position = 0; position < mesh.partitions(); ++position) {
      const Elements &shard = ranks.get(result)[mesh.partitionAt(position)];
      for (auto [i, offset] : llvm::enumerate(elementsOfShard(shape, to, mesh, position))) {
        if (offset >= 0) {
          ASSERT_EQ(shard[i], offset + 1) << what << ", position " << position;
        }
      }
    }
    EXPECT_EQ(ranks.sent, e.reshardBytes(global, from, to) * mesh.partitions()) << what;
    moved += ranks.sent > 0;
  }
  EXPECT_GT(moved, 500);
}

} // namespace
