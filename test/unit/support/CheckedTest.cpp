//===- CheckedTest.cpp - Arithmetic on sizes that a module chose ----------===//
//
// compiler/support/Checked.h at the ends of every type.
//
//===----------------------------------------------------------------------===//
#include "compiler/support/Checked.h"
#include <gtest/gtest.h>
#include <limits>

using namespace hlo;

namespace {
constexpr int64_t most = INT64_MAX, half = int64_t(1) << 62;

TEST(Checked, ProductsOfShapes) {
  EXPECT_EQ(checkedProduct({}), 1);
  EXPECT_EQ(checkedProduct({2, 3, 4}), 24);
  EXPECT_EQ(checkedProduct({2, 3}, 8), 48);
  EXPECT_EQ(checkedProduct({most, 1}), most);
  EXPECT_EQ(checkedProduct({half, 1}, 1), half);
  EXPECT_EQ(checkedProduct({half, 2}), std::nullopt);
  EXPECT_EQ(checkedProduct({half}, 2), std::nullopt);
  EXPECT_EQ(checkedProduct({int64_t(1) << 32, int64_t(1) << 32}), std::nullopt);
  EXPECT_EQ(checkedProduct({most, most, 0}), 0);
  EXPECT_EQ(checkedProduct({0, most, most}, 8), 0);
  EXPECT_EQ(checkedProduct({most, most}, 0), 0);
  EXPECT_EQ(checkedProduct({0, -1}), std::nullopt);
  EXPECT_EQ(checkedProduct({-1, -1}), std::nullopt);
  EXPECT_EQ(checkedProduct({INT64_MIN}), std::nullopt);
  EXPECT_EQ(checkedProduct({2}, -1), std::nullopt);
}

TEST(Checked, Times) {
  EXPECT_EQ(saturatingAdd(2, 3), 5);
  EXPECT_EQ(saturatingAdd(most, 1), most);
  EXPECT_EQ(saturatingAdd(INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(saturatingNanoseconds(0), 0);
  EXPECT_EQ(saturatingNanoseconds(1.5), 1500000000);
  EXPECT_EQ(saturatingNanoseconds(9.2e9), 9200000000000000000);
  for (double seconds : {9.3e9, 1e300, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(saturatingNanoseconds(seconds), most);
  }
}

TEST(Checked, Ranks) {
  EXPECT_EQ(checkedRanks(4, 2), 8);
  EXPECT_EQ(checkedRanks(INT32_MAX, 1), INT32_MAX);
  EXPECT_EQ(checkedRanks(1, int64_t(INT32_MAX) + 1), std::nullopt);
  EXPECT_EQ(checkedRanks(65536, 65536), std::nullopt);
  EXPECT_EQ(checkedRanks(half, 4), std::nullopt);
  EXPECT_EQ(checkedRanks(int64_t(1) << 32, int64_t(1) << 32), std::nullopt);
  EXPECT_EQ(checkedRanks(0, 5), std::nullopt);
  EXPECT_EQ(checkedRanks(-1, -1), std::nullopt);
}
} // namespace
