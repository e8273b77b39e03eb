//===- ShapeTest.cpp - Shapes, layouts, indices, element types ------------===//
#include <cmath>
#include <gtest/gtest.h>
#include <hlo/literal.h>

using namespace hlo;

TEST(Shape, TextAndBack) {
  for (const char *text :
       {"f32[]", "f32[2,3]", "s4[<=8,3]{0,1}", "()", "(f32[2], (s32[], token[]), pred[0])",
        "bf16[1,2,3]{0,2,1}", "opaque[]", "c128[7]{0}"}) {
    auto shape = ShapeUtil::ParseShapeString(text);
    ASSERT_TRUE(shape.ok()) << shape.status();
    EXPECT_EQ(shape->ToString(/*print_layout=*/true), text);
  }
}

TEST(Shape, BadText) {
  for (const char *text :
       {"", "f32", "f33[2]", "f32[2", "f32[-1]", "f32[2]{1}", "f32[2,2]{0,0}", "(f32[2]",
        "f32[2] x", "tuple[]", "token[2]", "f32[2,]", "f32[?]", "f32[99999999999999999999]"}) {
    EXPECT_FALSE(ShapeUtil::ParseShapeString(text).ok()) << text;
  }
  std::string deep(100000, '(');
  EXPECT_FALSE(ShapeUtil::ParseShapeString(deep).ok());
}

TEST(Shape, Sizes) {
  Shape shape = ShapeUtil::MakeShape(F32, {2, 1, 3});
  EXPECT_EQ(ShapeUtil::ElementsIn(shape), 6);
  EXPECT_EQ(ShapeUtil::ByteSizeOf(shape), 24);
  EXPECT_EQ(ShapeUtil::TrueRank(shape), 2);
  EXPECT_EQ(ShapeUtil::GetDimension(shape, -1), 3);
  EXPECT_EQ(ShapeUtil::GetDimension(shape, -3), 2);
  EXPECT_EQ(ShapeUtil::GetDimensionNumber(shape, -2), 1);
  EXPECT_EQ(ShapeUtil::ByteSizeOf(ShapeUtil::MakeShape(S4, {3})), 2);
  EXPECT_EQ(ShapeUtil::ByteSizeOf(ShapeUtil::MakeTupleShape({shape, shape})), 48);
  EXPECT_EQ(ShapeUtil::ElementsIn(ShapeUtil::MakeShape(F32, {0, INT64_MAX, INT64_MAX})), 0);
  EXPECT_FALSE(ShapeUtil::ValidateShape(ShapeUtil::MakeShape(F32, {INT64_MAX, 2})).ok());
  EXPECT_FALSE(ShapeUtil::ValidateShape(ShapeUtil::MakeShape(F32, {-1})).ok());
  EXPECT_EQ(ShapeUtil::PermuteDimensions({2, 0, 1}, shape).ToString(), "f32[3,2,1]");
}

// The arrays of the document on shapes and layout.
TEST(Layout, OrdersAndPadding) {
  Literal letters = LiteralUtil::CreateR2<std::uint8_t>({{'a', 'b', 'c'}, {'d', 'e', 'f'}});
  auto text = [&](const Layout &layout) {
    auto bytes = letters.ToLayout(layout);
    EXPECT_TRUE(bytes.ok()) << bytes.status();
    std::string result(bytes->begin(), bytes->end());
    for (char &c : result) {
      c = c ? c : '0';
    }
    return result;
  };
  EXPECT_EQ(text(LayoutUtil::MakeLayout({0, 1})), "adbecf");
  EXPECT_EQ(text(LayoutUtil::MakeLayout({1, 0})), "abcdef");
  Layout padded = LayoutUtil::MakeLayout({0, 1});
  padded.set_padded_dimensions({3, 5}).set_padding_value(ZERO_PAD);
  EXPECT_EQ(text(padded), "ad0be0cf0000000");
  EXPECT_FALSE(letters.ToLayout(LayoutUtil::MakeLayout({0, 0})).ok());
  EXPECT_FALSE(letters.ToLayout(Layout(padded).set_padded_dimensions({1, 5})).ok());
  EXPECT_TRUE(LayoutUtil::IsMonotonicWithDim0Minor(padded));
  EXPECT_TRUE(LayoutUtil::IsMonotonicWithDim0Major(LayoutUtil::GetDefaultLayoutForRank(3)));
}

TEST(Index, MultidimensionalAndLinear) {
  Shape shape = ShapeUtil::MakeShapeWithLayout(F32, {2, 3}, {0, 1});
  EXPECT_EQ(IndexUtil::MultidimensionalIndexToLinearIndex(shape, {1, 2}), 5);
  EXPECT_EQ(IndexUtil::MultidimensionalIndexToLinearIndex(shape, {0, 1}), 2);
  EXPECT_EQ(IndexUtil::LinearIndexToMultidimensionalIndex(shape, 3),
            (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(IndexUtil::GetDimensionStride(shape, 1), 2);
  EXPECT_FALSE(IndexUtil::IndexInBounds(shape, {2, 0}));
  std::vector<std::int64_t> index{0, 2};
  EXPECT_TRUE(IndexUtil::BumpIndices(shape, absl::MakeSpan(index)));
  EXPECT_EQ(index, (std::vector<std::int64_t>{1, 0}));
  EXPECT_LT(IndexUtil::CompareIndices({0, 2}, {1, 0}), 0);
}

TEST(PrimitiveType, SmallFloatsKeepTheirCodes) {
  for (int t = F16; t <= F6E3M2FN; ++t) {
    auto type = static_cast<PrimitiveType>(t);
    int bits = primitive_util::BitWidth(type);
    if (!primitive_util::IsFloatingPointType(type) || bits > 16) {
      continue;
    }
    for (int code = 0; code < 1 << bits; ++code) {
      auto wanted = static_cast<std::uint16_t>(code);
      float value = primitive_util::DecodeFloat(type, wanted);
      if (!std::isnan(value)) {
        EXPECT_EQ(primitive_util::EncodeFloat(type, value), wanted) << t << " " << value;
      }
    }
  }
}

TEST(PrimitiveType, Rounding) {
  EXPECT_EQ(bfloat16(1.00390625f).bits, 0x3f80); // a tie, to even
  EXPECT_EQ(bfloat16(1.01171875f).bits, 0x3f82); // a tie, to even
  EXPECT_EQ(half(65520.0f).bits, 0x7c00);        // infinity
  EXPECT_EQ(half(65519.0f).bits, 0x7bff);
  EXPECT_EQ(half(5.9604645e-8f).bits, 1); // the least subnormal
  EXPECT_EQ(float8_e4m3fn(448.0f).bits, 0x7e);
  EXPECT_EQ(float8_e4m3fn(1000.0f).bits, 0x7f); // NaN: it has no infinity
  EXPECT_EQ(float8_e4m3fnuz(-0.0f).bits, 0);
  EXPECT_EQ(float4_e2m1fn(100.0f).bits, 7);  // 6
  EXPECT_EQ(float8_e8m0fnu(3.0f).bits, 128); // a tie, to even
  EXPECT_EQ(float(float8_e5m2(-1.75f)), -1.75f);
  EXPECT_EQ(int(s4(-3)), -3);
  EXPECT_EQ(int(u4(13)), 13);
}

TEST(Literal, TextAndAccess) {
  Literal matrix = LiteralUtil::CreateR2<float>({{1, 2.5f}, {-3, 1e10f}});
  EXPECT_EQ(matrix.ToString(), "f32[2,2] {{1, 2.5}, {-3, 1e+10}}");
  EXPECT_EQ(matrix.Get<float>({1, 0}), -3);
  matrix.Set<float>({1, 0}, 7);
  EXPECT_EQ(matrix.data<float>()[2], 7);
  EXPECT_EQ(LiteralUtil::CreateR1<bool>({true, false}).ToString(), "pred[2] {1, 0}");
  EXPECT_EQ(LiteralUtil::CreateR0<complex64>({1, -2}).ToString(), "c64[] (1, -2)");
  EXPECT_EQ(LiteralUtil::MinValue(F32).ToString(), "f32[] -inf");
  EXPECT_EQ(LiteralUtil::MaxValue(F8E4M3FN).ToString(), "f8e4m3fn[] 448");
  EXPECT_EQ(LiteralUtil::MaxValue(F4E2M1FN).ToString(), "f4e2m1fn[] 6");
  EXPECT_EQ(LiteralUtil::MaxValue(F8E8M0FNU).ToString(), "f8e8m0fnu[] 1.7014118e+38");
  EXPECT_EQ(LiteralUtil::MinValue(S4).ToString(), "s4[] -8");
  EXPECT_EQ(LiteralUtil::MaxValue(U64).ToString(), "u64[] 18446744073709551615");
  EXPECT_EQ(LiteralUtil::MinValue(S64).ToString(), "s64[] -9223372036854775808");
  EXPECT_EQ(Literal::MakeTuple({LiteralUtil::CreateR0<int>(1), Literal()}).ToString(),
            "(s32[] 1, ())");
  EXPECT_TRUE(Literal::CreateFromBytes(ShapeUtil::MakeShape(S16, {2}), "abcd").ok());
  EXPECT_FALSE(Literal::CreateFromBytes(ShapeUtil::MakeShape(S16, {2}), "abc").ok());
}

TEST(Literal, Convert) {
  Literal values = LiteralUtil::CreateR1<float>({-1.5f, 2.75f, 300, NAN});
  EXPECT_EQ(values.Convert(S8)->ToString(), "s8[4] {-1, 2, 127, 0}");
  EXPECT_EQ(values.Convert(U8)->ToString(), "u8[4] {0, 2, 255, 0}");
  EXPECT_EQ(values.Convert(F16)->ToString(), "f16[4] {-1.5, 2.75, 300, nan}");
  EXPECT_EQ(values.Convert(PRED)->ToString(), "pred[4] {1, 1, 1, 1}");
  EXPECT_EQ(values.Convert(C128)->Reshape({2, 2})->ToString(),
            "c128[2,2] {{(-1.5, 0), (2.75, 0)}, {(300, 0), (nan, 0)}}");
  EXPECT_FALSE(values.Reshape({3}).ok());
}
