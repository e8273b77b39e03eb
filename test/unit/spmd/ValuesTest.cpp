//===- ValuesTest.cpp - Shards of iotas and constants ---------------------===//
#include "Ranks.h"
#include "compiler/transforms/spmd/Partitioner.h"
#include "mlir/IR/OwningOpRef.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

namespace {

/// Random shapes, meshes and axes; elements beyond the end are undefined.
TEST(Values, OfShardsAreThoseOfTheWhole) {
  MLIRContext context;
  context.loadDialect<HloDialect>();
  OpBuilder builder(&context);
  std::mt19937 random(1);
  auto pick = [&](int64_t below) { return static_cast<int64_t>(random() % below); };
  int split = 0;
  for (int round = 0; round < 2000; ++round) {
    SmallVector<int64_t> sizes, shape;
    for (int64_t n = 1 + pick(3); n > 0; --n) {
      sizes.push_back(ArrayRef<int64_t>{2, 2, 3}[pick(3)]);
    }
    for (int64_t n = 1 + pick(3); n > 0; --n) {
      shape.push_back(1 + pick(9));
    }
    Mesh mesh(sizes);
    OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
    Emitter e(*module, mesh, 1);
    Block whole, shards;
    e.builder.setInsertionPointToEnd(&whole);
    auto type = RankedTensorType::get(shape, builder.getIntegerType(32, true));
    int64_t dim = pick(shape.size());
    Elements expected;
    std::vector<int32_t> literal;
    forEachIndex(shape, [&](int64_t i, ArrayRef<int64_t> index) {
      literal.push_back(static_cast<int32_t>(7 * i + 1));
      expected.push_back(index[dim]);
    });
    bool isIota = pick(2);
    if (!isIota) {
      expected.assign(literal.begin(), literal.end());
    }
    SmallVector<APInt> elements;
    for (int32_t value : literal) {
      elements.push_back(APInt(32, value));
    }
    Value value =
        isIota ? e.b().iota(type, dim) : e.b().constant(DenseElementsAttr::get(type, elements));
    Operation *op = value.getDefiningOp();

    Rule rule = ruleOf(op);
    FactorAxes axes(rule.factors.size());
    for (unsigned axis = 0; axis < mesh.axes() && !axes.empty(); ++axis) {
      axes[pick(axes.size())].push_back(axis);
    }
    Site site{op, rule, axes, {}, e};
    e.builder.setInsertionPointToEnd(&shards);
    auto emitted = partitionerTable().find(op->getName().getStringRef())->second.emit(site);
    ASSERT_TRUE(succeeded(emitted));
    ASSERT_EQ(emitted->front().getType(), site.localResultType(0));
    Ranks ranks(mesh.partitions());
    ASSERT_TRUE(ranks.run(shards));
    for (int64_t position = 0; position < mesh.partitions(); ++position) {
      Sharding sharding = site.resultSharding(0);
      for (auto [i, offset] : llvm::enumerate(elementsOfShard(shape, sharding, mesh, position))) {
        if (offset >= 0) {
          ASSERT_EQ(ranks.get(emitted->front())[position][i], expected[offset])
              << text(shape) << " as " << toString(sharding, mesh);
        }
      }
      split += !sharding.isReplicated();
    }
    EXPECT_EQ(ranks.sent, 0);
  }
  EXPECT_GT(split, 1000);
}

} // namespace
