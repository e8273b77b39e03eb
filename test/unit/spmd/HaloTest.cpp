//===- HaloTest.cpp - Plans of exchanges ------------------------------------===//
#include "compiler/transforms/spmd/HaloPlan.h"
#include "compiler/transforms/spmd/HaloWindow.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

namespace {

/// An exchange of a split dimension in which shard t reads `reads[t]`.
Exchange exchangeOf(int64_t size, ArrayRef<Span> reads) {
  Exchange x;
  for (Span span : reads) {
    x.origin.push_back(span.begin);
    x.reads.push_back(span);
    x.length = std::max(x.length, span.end - span.begin);
  }
  x.domain = {0, size};
  x.held = shardSize(size, reads.size());
  x.addShards(size);
  return x;
}

struct Known {
  const char *name;
  int64_t size;
  std::vector<Span> reads;
  Plan::Kind kind;
  double elements;
  size_t rounds; ///< between shards
};

const Known kKnown[] = {
    {"edges of both sides", 16, {{-1, 5}, {3, 9}, {7, 13}, {11, 17}}, Plan::Kind::Permutes, 2, 2},
    {"one neighbour", 8, {{-1, 5}, {3, 9}}, Plan::Kind::Permutes, 1, 1},
    {"past the neighbour", 16, {{-6, 4}, {-2, 8}, {2, 12}, {6, 16}}, Plan::Kind::Permutes, 6, 2},
    {"another order", 16, {{12, 16}, {8, 12}, {4, 8}, {0, 4}}, Plan::Kind::Permutes, 4, 1},
    {"half", 16, {{0, 2}, {2, 4}, {4, 6}, {6, 8}}, Plan::Kind::Permutes, 4, 2},
    {"all", 16, {{0, 16}, {0, 16}, {0, 16}, {0, 16}}, Plan::Kind::Gather, 12, 0},
    {"one element for all", 16, {{5, 6}, {5, 6}, {5, 6}, {5, 6}}, Plan::Kind::Sum, 1.5, 0},
    {"the first of each", 16, {{0, 13}, {0, 13}, {0, 13}, {0, 13}}, Plan::Kind::Gather, 12, 0},
    {"nothing of others", 16, {{0, 4}, {5, 8}, {8, 8}, {12, 18}}, Plan::Kind::Permutes, 0, 0},
};

TEST(Halo, SendsWhatIsKnown) {
  for (const Known &known : kKnown) {
    SCOPED_TRACE(known.name);
    Plan plan = planExchange(exchangeOf(known.size, known.reads));
    EXPECT_EQ(plan.kind, known.kind);
    EXPECT_EQ(plan.elements, known.elements);
    if (plan.kind == Plan::Kind::Permutes) {
      size_t rounds =
          llvm::count_if(plan.rounds, [](const Round &round) { return !round.isLocal; });
      EXPECT_EQ(rounds, known.rounds);
    }
  }
}

/// Each element that is read in the dimension arrives once, and rounds are permutations.
void checkRounds(const Exchange &x, const Plan &plan) {
  std::vector<std::vector<int>> arrived(x.shards(), std::vector<int>(x.length));
  double elements = 0;
  for (const Round &round : plan.rounds) {
    std::vector<bool> sends(x.shards()), receives(x.shards());
    int64_t width = 0;
    for (const Move &move : round.moves) {
      EXPECT_EQ(move.source == move.target, round.isLocal);
      EXPECT_FALSE(sends[move.source] || receives[move.target]);
      sends[move.source] = receives[move.target] = true;
      width = std::max(width, move.width());
      for (int64_t i = move.span.begin; i < move.span.end; ++i) {
        EXPECT_EQ(i, move.source * x.held + move.at + (i - move.span.begin));
        ++arrived[move.target][i - x.origin[move.target]];
      }
    }
    EXPECT_EQ(round.width, width);
    elements += round.isLocal ? 0 : width;
  }
  EXPECT_EQ(plan.elements, elements);
  for (int64_t t = 0; t < x.shards(); ++t) {
    for (int64_t i = 0; i < x.length; ++i) {
      int64_t element = x.origin[t] + i;
      bool isRead = element >= x.reads[t].begin && element < x.reads[t].end && element >= 0 &&
                    element < x.domain.end;
      EXPECT_EQ(arrived[t][i], isRead) << "element " << element << " of shard " << t;
    }
  }
}

TEST(Halo, RoundsBringWhatIsRead) {
  std::mt19937 random(1);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  int permutes = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    int64_t size = pick(1, 40), shards = pick(2, 8);
    std::vector<Span> reads;
    for (int64_t t = 0; t < shards; ++t) {
      int64_t begin = pick(-4, size);
      reads.push_back({begin, begin + pick(0, size / 2 + 2)});
    }
    Exchange x = exchangeOf(size, reads);
    Plan plan = planExchange(x);
    EXPECT_LE(plan.elements, double(shards - 1) * x.held);
    if (plan.kind == Plan::Kind::Permutes) {
      ++permutes;
      checkRounds(x, plan);
    }
    if (HasFailure()) {
      FAIL() << "trial " << trial;
    }
  }
  EXPECT_GT(permutes, 500);
}

TEST(Halo, ManyShardsGather) {
  // The plan of all with all would have 16 million moves.
  int64_t shards = 4096;
  std::vector<Span> reads(shards, Span{0, shards * 2 - 1});
  Plan plan = planExchange(exchangeOf(shards * 2 - 1, reads));
  EXPECT_EQ(plan.kind, Plan::Kind::Gather);
  EXPECT_EQ(plan.elements, double(shards - 1) * 2);
}

TEST(Halo, ResultsOfWindows) {
  // 16 elements on 4 shards, windows of 3 that start one before their result.
  WindowHalo halo = haloOfResults({.size = 3, .low = 1, .high = 1}, 16, 16, 4);
  EXPECT_EQ(halo.exchange.origin, (SmallVector<int64_t>{-1, 3, 7, 11}));
  EXPECT_EQ(halo.exchange.length, 6);
  EXPECT_FALSE(halo.isDilatedBefore);
  EXPECT_EQ(halo.local.low, 0);
  // Elements 2 apart: shards of 4 results start at elements, those of 5 do not.
  halo = haloOfResults({.size = 3, .low = 1, .high = 2, .baseDilation = 2}, 8, 16, 4);
  EXPECT_FALSE(halo.isDilatedBefore);
  EXPECT_EQ(halo.local.baseDilation, 2);
  halo = haloOfResults({.size = 3, .low = 1, .high = 1, .baseDilation = 2}, 9, 17, 4);
  EXPECT_TRUE(halo.isDilatedBefore);
  EXPECT_EQ(halo.dilatedLength, 7);
  // Without a fill value the first and the last shard keep the padding.
  SmallVector<Span> needed{{0, 4}, {4, 8}, {8, 12}, {12, 16}};
  ClampedHalo clamped = clampedHalo({.size = 3, .low = 1, .high = 1}, 16, 16, needed);
  EXPECT_EQ(clamped.exchange.origin.front(), 0);
  EXPECT_EQ(clamped.exchange.origin.back() + clamped.exchange.length, 16);
  EXPECT_EQ(clamped.local.low, 1);
}

} // namespace
