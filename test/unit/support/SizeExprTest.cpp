//===- SizeExprTest.cpp - Tests of sizes as expressions -------------------===//
#include "compiler/support/SizeExpr.h"
#include "compiler/support/SizeBound.h"
#include <gtest/gtest.h>

using namespace hlo;
using llvm::StringRef;

namespace {

const SizeExpr b = SizeExpr::symbol("b"), s = SizeExpr::symbol("s");

SizeRange oneTo64(StringRef) { return {1, 64}; }

TEST(SizeExprTest, SumsAndProductsHaveANormalForm) {
  EXPECT_EQ(((b + s) * (b - s)).text(), "b*b - s*s");
  EXPECT_EQ((b - b).text(), "0");
  EXPECT_TRUE(b * 2 + s == s + b + b);
  EXPECT_FALSE(b == s);
  EXPECT_EQ((SizeExpr(0) - b).text(), "-b");
}

TEST(SizeExprTest, QuotientsSplit) {
  EXPECT_EQ(SizeExpr::floorDiv(b * 4 + s + 5, 4).text(), "b + floordiv(s + 5, 4)");
  EXPECT_EQ(SizeExpr::floorDiv(b * s * 4, b).text(), "4*s");
  EXPECT_EQ(SizeExpr::floorDiv(SizeExpr(-7), 2).constant(), -4);
  EXPECT_EQ(SizeExpr::mod(b * 5 + 7, 4).text(), "mod(b + 3, 4)");
  EXPECT_EQ(SizeExpr::mod(b * 4, 4).constant(), 0);
  EXPECT_FALSE(SizeExpr::floorDiv(b, 0).isKnown());
}

TEST(SizeExprTest, MaximumOfNumbersApart) {
  EXPECT_TRUE(SizeExpr::max(b, b - 1) == b);
  EXPECT_TRUE(SizeExpr::min(b, b - 1) == b - 1);
  EXPECT_TRUE(SizeExpr::max(b, s) == SizeExpr::max(s, b));
}

TEST(SizeExprTest, Ranges) {
  EXPECT_EQ((b * 2 - 3).range(oneTo64), (SizeRange{-1, 125}));
  EXPECT_EQ((b * s).range(oneTo64), (SizeRange{1, 4096}));
  EXPECT_EQ(SizeExpr::floorDiv(b - 5, 2).range(oneTo64), (SizeRange{-2, 29}));
  EXPECT_EQ(SizeExpr::mod(b, 3).range(oneTo64), (SizeRange{0, 2}));
  EXPECT_EQ(SizeExpr::max(b, s * 2).range(oneTo64), (SizeRange{2, 128}));
}

TEST(SizeExprTest, ValuesSubstitutionsAndParts) {
  auto values = [](StringRef name) -> std::optional<int64_t> { return name == "b" ? 5 : 3; };
  EXPECT_EQ((b * s - 1).evaluate(values), 14);
  EXPECT_EQ(SizeExpr::floorDiv(SizeExpr(0) - b, 2).evaluate(values), -3);
  EXPECT_EQ(SizeExpr::mod(SizeExpr(0) - b, 3).evaluate(values), 1);
  EXPECT_EQ((b * INT64_MAX).evaluate(values), std::nullopt);
  SizeExpr half = SizeExpr::floorDiv(s, 2);
  auto replaced = (b + s).substitute(
      [&](StringRef name) -> const SizeExpr * { return name == "b" ? &half : nullptr; });
  EXPECT_EQ(replaced.text(), "floordiv(s, 2) + s");
  auto parts = (b * 3 + s - 1).linearIn("b");
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->first, 3);
  EXPECT_EQ(parts->second.text(), "s - 1");
  EXPECT_FALSE((b * b + b).linearIn("b"));
}

TEST(SizeExprTest, TextsAreRead) {
  for (const char *text : {"0", "-b", "2*b + 1", "b*s - 3", "floordiv(b + 1, 2) + mod(s, 4)",
                           "max(b, min(7, s))", "arg0:1"}) {
    std::optional<SizeExpr> read = SizeExpr::parse(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(read->text(), text);
  }
  for (const char *text : {"", "b +", "2**b", "max(b)", "b)", "(b)"}) {
    EXPECT_FALSE(SizeExpr::parse(text)) << text;
  }
}

TEST(SizeExprTest, GrowthIsLimited) {
  SizeExpr many = 1, deep = b;
  for (int i = 0; i < 200; ++i) {
    many = many * (SizeExpr::symbol("x" + std::to_string(i)) + 1);
    deep = SizeExpr::max(SizeExpr::floorDiv(deep, s), b);
  }
  EXPECT_FALSE(many.isKnown());
  EXPECT_FALSE(deep.isKnown());
  EXPECT_EQ(SizeExpr::parse(std::string(100000, '-')), std::nullopt);
  EXPECT_EQ(SizeExpr::parse("max(" + std::string(1000, 'b')), std::nullopt);
}

TEST(SizeBoundTest, FlagsAreRead) {
  SizeBound bound;
  EXPECT_EQ(parseSizeBound("b<=64", bound), "");
  EXPECT_EQ(bound.name, "b");
  EXPECT_EQ(bound.bound, 64);
  EXPECT_EQ(parseSizeBound("x:0<=1", bound), "");
  EXPECT_EQ(bound.name, "x:0");
  for (const char *text : {"b", "b<64", "<=4", "b<=0", "b<=-1", "b<=x", "b<=2147483648"}) {
    EXPECT_NE(parseSizeBound(text, bound), "") << text;
  }
}

} // namespace
