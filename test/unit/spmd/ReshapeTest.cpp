//===- ReshapeTest.cpp - Shards of reshapes hold the same elements --------===//
//
// A reshape is partitioned as a reshape of shards. That is right if element k of the operand's
// shard and element k of the result's shard are the same element of the whole array, for all
// partitions and all k that are not padding. Random shapes, meshes and axes.
//
//===----------------------------------------------------------------------===//
#include "Ranks.h"
#include "compiler/transforms/spmd/Partitioner.h"
#include "mlir/IR/OwningOpRef.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

namespace {

class Reshape : public testing::Test {
protected:
  Reshape() : builder(&context) {
    context.loadDialect<HloDialect>();
    module = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToStart(module->getBody());
  }

  int64_t pick(int64_t below) { return static_cast<int64_t>(random() % below); }

  /// Prime factors put into dimensions at random, in an order of their own, some dimensions of 1.
  SmallVector<int64_t> shapeOf(SmallVector<int64_t> primes) {
    std::shuffle(primes.begin(), primes.end(), random);
    SmallVector<int64_t> shape;
    for (int64_t prime : primes) {
      if (shape.empty() || pick(2)) {
        shape.push_back(1);
      }
      shape.back() *= prime;
    }
    if (pick(3) == 0) {
      shape.insert(shape.begin() + pick(shape.size() + 1), 1);
    }
    return shape;
  }

  /// Whether each shard of the result is a reshape of the operand's shard.
  bool isLocal(ArrayRef<int64_t> from, const Sharding &operand, ArrayRef<int64_t> to,
               const Sharding &result, const Mesh &mesh) {
    for (int64_t position = 0; position < mesh.partitions(); ++position) {
      Elements have = elementsOfShard(from, operand, mesh, position);
      Elements want = elementsOfShard(to, result, mesh, position);
      if (have.size() != want.size()) {
        return false;
      }
      for (auto [a, b] : llvm::zip(have, want)) {
        if (b >= 0 && a != b) {
          return false;
        }
      }
    }
    return true;
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  std::mt19937 random{1};
};

TEST_F(Reshape, AcceptsTheAxesForWhichShardsAreReshapesOfShards) {
  const OpPartitioner &row = partitionerTable().find("hlo.reshape")->second;
  int split = 0, refused = 0;
  for (int round = 0; round < 20000; ++round) {
    SmallVector<int64_t> primes, sizes;
    for (int64_t n = 1 + pick(5); n > 0; --n) {
      primes.push_back(ArrayRef<int64_t>{2, 2, 3, 5, 7}[pick(5)]);
    }
    for (int64_t n = 1 + pick(3); n > 0; --n) {
      sizes.push_back(ArrayRef<int64_t>{2, 2, 2, 3, 5}[pick(5)]);
    }
    Mesh mesh(sizes);
    SmallVector<int64_t> from = shapeOf(primes), to = shapeOf(primes);
    Type element = builder.getF32Type();
    HloBuilder b(builder, builder.getUnknownLoc());
    Value operand = b.splat(HloBuilder::array(from, element), 0);
    auto op =
        ReshapeOp::create(builder, b.loc, HloBuilder::array(to, element), operand, IntegerAttr());
    Rule rule = ruleOf(op);

    // The factors of a dimension multiply to its size.
    for (auto [dims, shape] : {std::pair(ArrayRef(rule.operands[0]), ArrayRef(from)),
                               std::pair(ArrayRef(rule.results[0]), ArrayRef(to))}) {
      for (auto [factors, size] : llvm::zip(dims, shape)) {
        int64_t product = 1;
        for (unsigned factor : factors) {
          product *= rule.factors[factor].size;
        }
        ASSERT_EQ(product, size);
      }
    }

    FactorAxes axes(rule.factors.size());
    for (unsigned axis = 0; axis < mesh.axes(); ++axis) {
      unsigned factor = rule.factors.empty() ? 0 : pick(rule.factors.size());
      if (!rule.factors.empty() && rule.factors[factor].kind != FactorKind::Whole && pick(4)) {
        axes[factor].push_back(axis);
      }
    }
    bool expected = isLocal(from, shardingOf(rule.operands[0], axes), to,
                            shardingOf(rule.results[0], axes), mesh);
    ASSERT_EQ(row.accepts(op, rule, axes, mesh), expected)
        << "from " << text(from) << " to " << text(to) << ": "
        << toString(shardingOf(rule.operands[0], axes), mesh) << " to "
        << toString(shardingOf(rule.results[0], axes), mesh);
    split += expected && !shardingOf(rule.operands[0], axes).isReplicated();
    refused += !expected;
    op.erase();
  }
  EXPECT_GT(split, 2000);
  EXPECT_GT(refused, 1000);
}

TEST_F(Reshape, GivesFactorsToEachPartThatBothShapesHave) {
  struct Case {
    SmallVector<int64_t> from, to;
    SmallVector<int64_t> sizes; ///< of factors that can be split
  };
  for (const Case &c : std::initializer_list<Case>{{{6, 4}, {24}, {6, 4}},
                                                   {{24}, {2, 1, 12}, {2, 12}},
                                                   {{2, 12}, {6, 4}, {2, 3, 4}},
                                                   {{6, 4}, {8, 3}, {2}},
                                                   {{6, 4, 5}, {8, 3, 5}, {2, 5}},
                                                   {{3, 2}, {2, 3}, {}},
                                                   {{1, 1}, {1}, {}},
                                                   {{7, 0}, {0}, {}}}) {
    HloBuilder b(builder, builder.getUnknownLoc());
    Type element = builder.getF32Type();
    auto op = ReshapeOp::create(builder, b.loc, HloBuilder::array(c.to, element),
                                b.splat(HloBuilder::array(c.from, element), 0), IntegerAttr());
    SmallVector<int64_t> sizes;
    for (const Factor &factor : ruleOf(op).factors) {
      if (factor.kind != FactorKind::Whole) {
        sizes.push_back(factor.size);
      }
    }
    EXPECT_EQ(sizes, c.sizes) << "from " << text(c.from) << " to " << text(c.to);
  }
}

} // namespace
