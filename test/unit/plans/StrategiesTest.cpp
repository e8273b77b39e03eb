//===- StrategiesTest.cpp - The table of strategies -----------------------===//
#include "compiler/plans/Strategies.h"
#include <gtest/gtest.h>
#include <set>

using namespace hlo;

namespace {

template <typename Check> void forEachStrategy(Check check) {
  for (unsigned n = 0; n <= getMaxEnumValForStrategy(); ++n) {
    auto strategy = static_cast<Strategy>(n);
    SCOPED_TRACE(stringifyStrategy(strategy).str());
    check(strategy, propertiesOf(strategy));
  }
}

TEST(Strategies, NamesAreTextOfTheirOwn) {
  std::set<std::string> names;
  forEachStrategy([&](Strategy strategy, const StrategyProperties &properties) {
    llvm::StringRef name = stringifyStrategy(strategy);
    EXPECT_FALSE(name.empty());
    EXPECT_TRUE(names.insert(name.str()).second);
    EXPECT_EQ(symbolizeStrategy(name), strategy);
    EXPECT_EQ(properties.strategy, strategy);
  });
  EXPECT_EQ(symbolizeStrategy("no-such-strategy"), std::nullopt);
}

// What is overwritten is not computed in the kernel, so such a kernel cannot share operands in
// other ways, nor be joined with others.
TEST(Strategies, KernelsInPlaceWalkTheirOwnSpace) {
  forEachStrategy([&](Strategy, const StrategyProperties &properties) {
    if (properties.sharing == Sharing::InPlace) {
      EXPECT_EQ(properties.walk, Walk::Own);
      EXPECT_FALSE(properties.takesReduces);
    }
  });
}

// A kernel's results may lie over operands only where their elements are known to be in step.
TEST(Strategies, SharingFollowsTheSpace) {
  forEachStrategy([&](Strategy, const StrategyProperties &properties) {
    if (properties.sharing == Sharing::PerElement || properties.sharing == Sharing::PerSpace) {
      EXPECT_NE(properties.walk, Walk::Own);
    }
    if (properties.canBecomeRow || properties.isProduct) {
      EXPECT_EQ(properties.takes, Takes::Producers);
    }
  });
}

} // namespace
