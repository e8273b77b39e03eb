//===- ShapesTest.cpp - Element types, sizes, layouts, text ---------------===//
#include "dialect/hlo/Shapes.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace hlo;

namespace {

class ShapesTest : public ::testing::Test {
protected:
  ShapesTest() { context.loadDialect<HloDialect>(); }
  Type element(llvm::StringRef name) { return primitiveType(name, &context); }
  MLIRContext context;
};

TEST_F(ShapesTest, PrimitiveNamesAreInverse) {
  for (llvm::StringRef name :
       {"pred",       "s1",         "s2",        "s4",       "s8",       "s16",
        "s32",        "s64",        "u1",        "u2",       "u4",       "u8",
        "u16",        "u32",        "u64",       "f16",      "f32",      "f64",
        "bf16",       "f8e5m2",     "f8e4m3",    "f8e3m4",   "f8e4m3fn", "f8e4m3b11fnuz",
        "f8e5m2fnuz", "f8e4m3fnuz", "f8e8m0fnu", "f6e3m2fn", "f6e2m3fn", "f4e2m1fn",
        "c64",        "c128"}) {
    ASSERT_TRUE(element(name)) << name.str();
    EXPECT_EQ(primitiveName(element(name)), name);
  }
  for (llvm::StringRef name : {"", "s", "s3", "s08", "u128", "f8", "i32", "tuple", "token"}) {
    EXPECT_FALSE(element(name)) << name.str();
  }
  EXPECT_EQ(elementBits(element("c128")), 128);
  EXPECT_EQ(elementBytes(element("s4")), 1);
  EXPECT_EQ(elementBytes(element("pred")), 1);
}

TEST_F(ShapesTest, DefaultLayoutIsNotStored) {
  Type f32 = element("f32");
  EXPECT_EQ(arrayType({2, 3}, f32, {1, 0}), RankedTensorType::get({2, 3}, f32));
  RankedTensorType columns = arrayType({2, 3}, f32, {0, 1});
  EXPECT_FALSE(hasDefaultLayout(columns));
  EXPECT_EQ(minorToMajor(columns), (SmallVector<int64_t>{0, 1}));
  EXPECT_EQ(stripLayout(columns), RankedTensorType::get({2, 3}, f32));
  RankedTensorType bounded = arrayType({2, 3}, f32, {0, 1}, {1}, "S(1)");
  EXPECT_EQ(stripLayout(bounded), arrayType({2, 3}, f32, {}, {1}));
  EXPECT_EQ(stripEncoding(bounded), RankedTensorType::get({2, 3}, f32));
  EXPECT_TRUE(isBounded(bounded, 1));
}

TEST_F(ShapesTest, CountsAreCheckedForOverflow) {
  Type f32 = element("f32");
  EXPECT_EQ(elementCount(arrayType({2, 3}, f32)), 6);
  EXPECT_EQ(byteSize(arrayType({2, 3}, f32)), 24);
  EXPECT_EQ(elementCount(arrayType({}, f32)), 1);
  EXPECT_EQ(elementCount(arrayType({0, int64_t{1} << 62, 8}, f32)), std::nullopt);
  EXPECT_EQ(elementCount(arrayType({int64_t{1} << 62, 4}, f32)), std::nullopt);
  EXPECT_EQ(byteSize(arrayType({int64_t{1} << 62}, f32)), std::nullopt);
  EXPECT_EQ(elementCount(arrayType({ShapedType::kDynamic}, f32)), std::nullopt);
  EXPECT_EQ(elementCount(arrayType({-3}, f32)), std::nullopt);
  Type pair = TupleType::get(&context, {arrayType({4}, f32), TokenType::get(&context)});
  EXPECT_EQ(byteSize(pair), 16);
}

TEST_F(ShapesTest, ProblemsAreNamed) {
  Type f32 = element("f32");
  EXPECT_EQ(shapeProblem(arrayType({2, 3}, f32, {0, 1})), "");
  EXPECT_EQ(shapeProblem(arrayType({-2}, f32)), "a size of f32[-2] is negative");
  EXPECT_EQ(shapeProblem(arrayType({int64_t{1} << 62}, f32)),
            "the number of bytes of f32[4611686018427387904] overflows");
  // Code that places an array rounds its size up.
  mlir::Type s4 = primitiveType("s4", f32.getContext());
  EXPECT_EQ(shapeProblem(arrayType({INT64_MAX}, s4)),
            "the number of bytes of s4[9223372036854775807] overflows");
  EXPECT_EQ(shapeProblem(arrayType({INT64_MAX - 4094}, s4)),
            "the number of bytes of s4[9223372036854771713] overflows");
  EXPECT_EQ(shapeProblem(arrayType({INT64_MAX - 4095}, s4)), "");
  EXPECT_EQ(shapeProblem(arrayType({0, INT64_MAX - 4095}, s4)), "");
  EXPECT_EQ(shapeProblem(arrayType({2, 3}, f32, {0, 0})),
            "the layout of f32[2,3]{0,0} is no permutation of its dimensions");
  EXPECT_EQ(shapeProblem(arrayType({2}, f32, {}, {1})),
            "bounded dimension 1 of f32[2] does not exist");
  EXPECT_EQ(shapeProblem(arrayType({2}, IntegerType::get(&context, 7))),
            "element type i7 does not exist in HLO");
}

TEST_F(ShapesTest, TextIsHlo) {
  Type f32 = element("f32");
  EXPECT_EQ(hloText(arrayType({2, 3}, f32)), "f32[2,3]");
  EXPECT_EQ(hloText(arrayType({2, 3}, f32), LayoutText::always), "f32[2,3]{1,0}");
  EXPECT_EQ(hloText(arrayType({2, 3}, f32, {0, 1}, {}, "S(1)")), "f32[2,3]{0,1:S(1)}");
  EXPECT_EQ(hloText(arrayType({2, ShapedType::kDynamic}, f32, {}, {0})), "f32[<=2,?]");
  EXPECT_EQ(hloText(arrayType({}, f32)), "f32[]");
  Type nested = TupleType::get(&context, {TupleType::get(&context, {arrayType({}, f32)}),
                                          TokenType::get(&context),
                                          BufferType::get(&context, arrayType({4}, f32))});
  EXPECT_EQ(hloText(nested), "((f32[]), token[], b(f32[4]))");
}

TEST_F(ShapesTest, TuplesFlattenDepthFirst) {
  Type a = arrayType({1}, element("f32")), b = arrayType({2}, element("f32")),
       c = arrayType({3}, element("f32"));
  Type nested =
      TupleType::get(&context, {TupleType::get(&context, {a, TupleType::get(&context, {})}), b, c});
  EXPECT_EQ(leafTypes(nested), (SmallVector<Type>{a, b, c}));
  EXPECT_EQ(typeAtIndex(nested, {0, 0}), a);
  EXPECT_EQ(typeAtIndex(nested, {2}), c);
  EXPECT_FALSE(typeAtIndex(nested, {3}));
  EXPECT_FALSE(typeAtIndex(nested, {1, 0}));
}

TEST_F(ShapesTest, SameShapeIgnoresLayoutsAndBounds) {
  Type f32 = element("f32"), bf16 = element("bf16");
  EXPECT_TRUE(sameShape(arrayType({2, 3}, f32), arrayType({2, 3}, f32, {0, 1})));
  EXPECT_TRUE(sameShape(arrayType({2}, f32), arrayType({2}, f32, {}, {0})));
  EXPECT_TRUE(sameShape(arrayType({ShapedType::kDynamic}, f32), arrayType({5}, f32)));
  EXPECT_FALSE(sameShape(arrayType({2}, f32), arrayType({2}, bf16)));
  EXPECT_TRUE(sameShape(arrayType({2}, f32), arrayType({2}, bf16), Precision::anyFloat));
  EXPECT_FALSE(sameShape(arrayType({2}, f32), arrayType({2, 1}, f32)));
}

} // namespace
