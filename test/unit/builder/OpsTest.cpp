//===- OpsTest.cpp - Every operation, built and run -----------------------===//
#include "Support.h"
#include <hlo/feed.h>
#include <hlo/ranks.h>
#include <thread>

using namespace hlo;
using namespace hlo::test;

namespace {
Shape f32(absl::Span<const std::int64_t> sizes) { return ShapeUtil::MakeShape(F32, sizes); }
Literal floats(std::initializer_list<float> values) { return LiteralUtil::CreateR1<float>(values); }
Literal matrix(std::initializer_list<std::initializer_list<float>> values) {
  return LiteralUtil::CreateR2<float>(values);
}

/// A builder with constants of the literals; runs what `f` makes of them.
template <typename... L>
std::string eval(XlaOp (*f)(XlaBuilder *b, std::vector<XlaOp> x), L... literals) {
  XlaBuilder b("f");
  std::vector<XlaOp> operands;
  std::vector<Literal> arguments{literals...};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    operands.push_back(
        Parameter(&b, std::int64_t(i), arguments[i].shape(), "x" + std::to_string(i)));
  }
  return runText(b, f(&b, operands), arguments);
}
#define EVAL(expression, ...)                                                                      \
  eval(                                                                                            \
      []([[maybe_unused]] XlaBuilder *b, std::vector<XlaOp> x) -> XlaOp {                          \
        (void)x;                                                                                   \
        return expression;                                                                         \
      },                                                                                           \
      ##__VA_ARGS__)
} // namespace

TEST(Ops, Broadcasting) {
  Literal row = floats({10, 20}), both = matrix({{1, 2}, {3, 4}, {5, 6}});
  EXPECT_EQ(EVAL(Add(x[0], x[1], {1}), both, row), "f32[3,2] {{11, 22}, {13, 24}, {15, 26}}");
  EXPECT_EQ(EVAL(Sub(x[1], x[0], {1}), both, row), "f32[3,2] {{9, 18}, {7, 16}, {5, 14}}");
  EXPECT_EQ(EVAL(Add(x[0], x[1], {0}), both, floats({1, 2, 3})),
            "f32[3,2] {{2, 3}, {5, 6}, {8, 9}}");
  EXPECT_EQ(EVAL(x[0] + x[1], both, LiteralUtil::CreateR0<float>(1)),
            "f32[3,2] {{2, 3}, {4, 5}, {6, 7}}");
  EXPECT_EQ(EVAL(x[0] + x[1], matrix({{1}, {2}}), matrix({{10, 20, 30}})),
            "f32[2,3] {{11, 21, 31}, {12, 22, 32}}");
  EXPECT_EQ(EVAL(Mul(x[0], x[1], {0, 1}), both, matrix({{1, 2}})),
            "f32[3,2] {{1, 4}, {3, 8}, {5, 12}}");
  EXPECT_EQ(EVAL(Add(x[0], x[1], {0}), both, floats({5})), "f32[3,2] {{6, 7}, {8, 9}, {10, 11}}");
  EXPECT_EQ(EVAL(Broadcast(x[0], {2}), row), "f32[2,2] {{10, 20}, {10, 20}}");
  EXPECT_EQ(EVAL(BroadcastInDim(x[0], {2, 2}, {0}), row), "f32[2,2] {{10, 10}, {20, 20}}");
  EXPECT_EQ(EVAL(BroadcastInDim(x[0], {2, 2}, {1, 0}), matrix({{1, 2}, {3, 4}})),
            "f32[2,2] {{1, 3}, {2, 4}}");
  EXPECT_EQ(EVAL(BroadcastInDim(x[0], {2, 3}, {0, 1}), matrix({{1}, {2}})),
            "f32[2,3] {{1, 1, 1}, {2, 2, 2}}");
}

TEST(Ops, StaticAndBoundedOperands) {
  XlaBuilder b("f");
  XlaOp x = Parameter(&b, 0, ShapeUtil::MakeShape(F32, {4}, {true}), "x");
  XlaOp y = Parameter(&b, 1, f32({4}), "y");
  EXPECT_EQ(b.GetShape(y - x)->ToString(), "f32[<=4]");
  EXPECT_EQ(runText(b, y - x, {floats({1, 2, 3}), floats({10, 20, 30, 40})}), "f32[3] {9, 18, 27}");
}

TEST(Ops, Unary) {
  Literal v = floats({-1.5f, 2.5f});
  EXPECT_EQ(EVAL(Abs(x[0]), v), "f32[2] {1.5, 2.5}");
  EXPECT_EQ(EVAL(Ceil(x[0]), v), "f32[2] {-1, 3}");
  EXPECT_EQ(EVAL(Floor(x[0]), v), "f32[2] {-2, 2}");
  EXPECT_EQ(EVAL(Round(x[0]), v), "f32[2] {-2, 3}");
  EXPECT_EQ(EVAL(RoundNearestAfz(x[0]), v), "f32[2] {-2, 3}");
  EXPECT_EQ(EVAL(RoundNearestEven(x[0]), v), "f32[2] {-2, 2}");
  EXPECT_EQ(EVAL(Sign(x[0]), v), "f32[2] {-1, 1}");
  EXPECT_EQ(EVAL(IsFinite(x[0]), floats({1, INFINITY})), "pred[2] {1, 0}");
  EXPECT_EQ(EVAL(Real(x[0]), v), "f32[2] {-1.5, 2.5}");
  EXPECT_EQ(EVAL(Imag(x[0]), v), "f32[2] {0, 0}");
  EXPECT_EQ(EVAL(Conj(Complex(x[0], x[0])), v), "c64[2] {(-1.5, 1.5), (2.5, -2.5)}");
  EXPECT_EQ(EVAL(Conj(x[0]), v), "f32[2] {-1.5, 2.5}");
  EXPECT_EQ(EVAL(Copy(x[0]), v), "f32[2] {-1.5, 2.5}");
  Literal n = LiteralUtil::CreateR1<std::uint8_t>({1, 255});
  EXPECT_EQ(EVAL(Tuple({Clz(x[0]), PopulationCount(x[0]), Not(x[0])}), n),
            "u8[2] {7, 0} u8[2] {1, 8} u8[2] {254, 0}");
  EXPECT_EQ(EVAL(LogicalNot(x[0]), LiteralUtil::CreateR1<bool>({true, false})), "pred[2] {0, 1}");
}

TEST(Ops, Functions) {
  using Function = XlaOp (*)(XlaOp, const std::optional<ResultAccuracy> &, SourceLocation);
  const std::pair<Function, double (*)(double)> functions[] = {
      {Acos, std::acos},
      {Acosh, [](double x) { return std::acosh(x + 1); }},
      {Asin, std::asin},
      {Asinh, std::asinh},
      {Atanh, std::atanh},
      {Cbrt, std::cbrt},
      {Cos, std::cos},
      {Cosh, std::cosh},
      {Erf, std::erf},
      {Exp, std::exp},
      {Expm1, std::expm1},
      {Log, std::log},
      {Log1p, std::log1p},
      {Logistic, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {Rsqrt, [](double x) { return 1 / std::sqrt(x); }},
      {Sin, std::sin},
      {Sinh, std::sinh},
      {Sqrt, std::sqrt},
      {Tan, std::tan},
      {Tanh, std::tanh}};
  for (const auto &[function, wanted] : functions) {
    XlaBuilder b("f");
    XlaOp x = Parameter(&b, 0, ShapeUtil::MakeShape(F64, {}), "x");
    bool shifts = function == static_cast<Function>(Acosh);
    XlaOp argument = shifts ? x + ConstantR0<double>(&b, 1) : x;
    auto at = SourceLocation::current();
    XlaOp root = Tuple({function(argument, std::nullopt, at),
                        function(argument, ResultAccuracy::HIGHEST, at),
                        function(argument, ResultAccuracy::Tolerance(0, 1e-3, 2), at)});
    std::vector<Literal> results = run(b, root, {LiteralUtil::CreateR0<double>(0.3)});
    ASSERT_EQ(results.size(), 3u);
    for (const Literal &result : results) {
      EXPECT_NEAR(result.Get<double>({}), wanted(0.3), 1e-9);
    }
  }
}

TEST(Ops, Binary) {
  Literal a = floats({7, -7}), c = floats({2, 2});
  EXPECT_EQ(EVAL(Tuple({x[0] + x[1], x[0] - x[1], x[0] * x[1], x[0] / x[1], x[0] % x[1]}), a, c),
            "f32[2] {9, -5} f32[2] {5, -9} f32[2] {14, -14} f32[2] {3.5, -3.5} f32[2] {1, -1}");
  EXPECT_EQ(EVAL(Tuple({Max(x[0], x[1]), Min(x[0], x[1]), Pow(x[1], x[1])}), a, c),
            "f32[2] {7, 2} f32[2] {2, -7} f32[2] {4, 4}");
  EXPECT_EQ(EVAL(Atan2(x[0], x[1]), floats({0, 0}), floats({1, 2})), "f32[2] {0, 0}");
  Literal s = LiteralUtil::CreateR1<std::int32_t>({-8, 12}),
          t = LiteralUtil::CreateR1<std::int32_t>({1, 2});
  EXPECT_EQ(EVAL(Tuple({x[0] & x[1], x[0] | x[1], x[0] ^ x[1], ~x[0]}), s, t),
            "s32[2] {0, 0} s32[2] {-7, 14} s32[2] {-7, 14} s32[2] {7, -13}");
  EXPECT_EQ(EVAL(Tuple({x[0] << x[1], x[0] >> x[1], ShiftRightLogical(x[0], x[1]),
                        ShiftRightArithmetic(x[0], x[1])}),
                 s, t),
            "s32[2] {-16, 48} s32[2] {-4, 3} s32[2] {2147483644, 3} s32[2] {-4, 3}");
  EXPECT_EQ(EVAL(x[0] >> x[0], LiteralUtil::CreateR1<std::uint8_t>({1})), "u8[1] {0}");
  EXPECT_EQ(EVAL(MulHi(x[0], x[0]), LiteralUtil::CreateR1<std::uint32_t>({1u << 31})),
            "u32[1] {1073741824}");
  Literal p = LiteralUtil::CreateR1<bool>({true, false});
  EXPECT_EQ(EVAL(Tuple({LogicalAnd(x[0], x[0]), LogicalOr(x[0], Not(x[0])), Xor(x[0], x[0])}), p),
            "pred[2] {1, 0} pred[2] {1, 1} pred[2] {0, 0}");
}

TEST(Ops, Comparisons) {
  Literal a = floats({1, 2, NAN, -0.0f}), c = floats({1, 3, NAN, 0.0f});
  EXPECT_EQ(EVAL(Tuple({Eq(x[0], x[1]), Ne(x[0], x[1]), Ge(x[0], x[1]), Gt(x[0], x[1]),
                        Le(x[0], x[1]), Lt(x[0], x[1])}),
                 a, c),
            "pred[4] {1, 0, 0, 1} pred[4] {0, 1, 1, 0} pred[4] {1, 0, 0, 1} pred[4] {0, 0, 0, 0} "
            "pred[4] {1, 1, 0, 1} pred[4] {0, 1, 0, 0}");
  EXPECT_EQ(
      EVAL(Tuple({EqTotalOrder(x[0], x[1]), NeTotalOrder(x[0], x[1]), GeTotalOrder(x[0], x[1]),
                  GtTotalOrder(x[0], x[1]), LeTotalOrder(x[0], x[1]), LtTotalOrder(x[0], x[1])}),
           a, c),
      "pred[4] {1, 0, 1, 0} pred[4] {0, 1, 0, 1} pred[4] {1, 0, 1, 0} pred[4] {0, 0, 0, 0} "
      "pred[4] {1, 1, 1, 1} pred[4] {0, 1, 0, 1}");
  Literal n = LiteralUtil::CreateR1<std::int64_t>({1, -2});
  EXPECT_EQ(
      EVAL(Tuple({LtTotalOrder(x[0], Neg(x[0])), Compare(x[0], x[0], ComparisonDirection::kGe)}),
           n),
      "pred[2] {0, 1} pred[2] {1, 1}");
}

TEST(Ops, SelectAndClamp) {
  Literal p = LiteralUtil::CreateR1<bool>({true, false, false, true});
  Literal a = LiteralUtil::CreateR1<std::int32_t>({1, 2, 3, 4}),
          c = LiteralUtil::CreateR1<std::int32_t>({100, 200, 300, 400});
  EXPECT_EQ(EVAL(Select(x[0], x[1], x[2]), p, a, c), "s32[4] {1, 200, 300, 4}");
  Literal yes = LiteralUtil::CreateR0<bool>(true);
  EXPECT_EQ(EVAL(Select(x[0], x[1], x[2]), yes, a, c), "s32[4] {1, 2, 3, 4}");
  EXPECT_EQ(EVAL(Select(x[0], Tuple({x[1], x[2]}), Tuple({x[2], x[1]})), yes, a, c),
            "s32[4] {1, 2, 3, 4} s32[4] {100, 200, 300, 400}");
  EXPECT_EQ(EVAL(Select(x[0], ConstantR0<std::int32_t>(b, 0), x[1]), p, a), "s32[4] {0, 2, 3, 0}");
  EXPECT_EQ(EVAL(Clamp(ConstantR0<std::int32_t>(b, 0), x[0], ConstantR0<std::int32_t>(b, 6)),
                 LiteralUtil::CreateR1<std::int32_t>({-1, 5, 9})),
            "s32[3] {0, 5, 6}");
}

TEST(Ops, Conversions) {
  Literal a = LiteralUtil::CreateR1<std::int32_t>({0, 1, -2});
  EXPECT_EQ(EVAL(ConvertElementType(x[0], F32), a), "f32[3] {0, 1, -2}");
  EXPECT_EQ(EVAL(BitcastConvertType(x[0], S16), LiteralUtil::CreateR1<std::int32_t>({65538})),
            "s16[1,2] {{2, 1}}");
  EXPECT_EQ(EVAL(BitcastConvert(x[0], S32), LiteralUtil::CreateR2<std::int16_t>({{2, 1}})),
            "s32[1] {65538}");
  EXPECT_EQ(EVAL(BitcastConvertType(x[0], U32), floats({1})), "u32[1] {1065353216}");
  EXPECT_EQ(EVAL(Bitcast(x[0], f32({2, 1})), floats({1, 2})), "f32[2,1] {{1}, {2}}");
  EXPECT_EQ(EVAL(ReducePrecision(x[0], 5, 2), floats({1.1f, 1e9f})), "f32[2] {1, inf}");
  EXPECT_EQ(EVAL(StochasticConvertType(x[0], x[1], S8), floats({1, -2}),
                 LiteralUtil::CreateR1<std::uint32_t>({0, 0})),
            "s8[2] {1, -2}");
}

TEST(Ops, ConstantsOfAllTypes) {
  for (int t = PRED; t <= F6E3M2FN; ++t) {
    auto type = static_cast<PrimitiveType>(t);
    for (double value : {0.0, 1.0}) {
      if (type == F8E8M0FNU && value == 0) {
        continue; // it has no zero
      }
      XlaBuilder b("f");
      Literal scalar = LiteralUtil::Scalar(type, value);
      XlaOp constant = ConstantLiteral(&b, scalar);
      std::vector<Literal> results = run(b, Tuple({constant, Broadcast(constant, {5})}));
      ASSERT_EQ(results.size(), 2u) << primitive_util::LowercasePrimitiveTypeName(type);
      EXPECT_EQ(results[0], scalar) << results[0];
      EXPECT_EQ(results[1].shape().dimensions(0), 5);
    }
  }
  EXPECT_EQ(EVAL(ConstantLiteral(
                b, Literal::MakeTuple({floats({1, 2}), LiteralUtil::CreateR0<bool>(true)}))),
            "f32[2] {1, 2} pred[] true");
  EXPECT_EQ(EVAL(Tuple({ConstantR1<float>(b, 2, 3), ConstantR2<float>(b, {{1}, {2}}), Zero(b, S8),
                        One(b, C64)})),
            "f32[2] {3, 3} f32[2,1] {{1}, {2}} s8[] 0 c64[] (1, 0)");
  EXPECT_EQ(EVAL(ConstantLiteral(b, LiteralUtil::CreateR1<s4>({s4(-8), s4(7), s4(1)}))),
            "s4[3] {-8, 7, 1}");
}

TEST(Ops, Shapes) {
  Literal m = matrix({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(EVAL(Reshape(x[0], {3, 2}), m), "f32[3,2] {{1, 2}, {3, 4}, {5, 6}}");
  EXPECT_EQ(EVAL(Reshape(x[0], {1, 0}, {6}), m), "f32[6] {1, 4, 2, 5, 3, 6}");
  EXPECT_EQ(EVAL(Reshape(ShapeUtil::MakeShape(F32, {6}), x[0]), m), "f32[6] {1, 2, 3, 4, 5, 6}");
  EXPECT_EQ(EVAL(Reshape(x[0], {}), floats({5})), "f32[] 5");
  EXPECT_EQ(EVAL(Reshape(x[0], {}, {1, 1}), LiteralUtil::CreateR0<float>(5)), "f32[1,1] {{5}}");
  EXPECT_EQ(EVAL(Collapse(x[0], {0, 1}), m), "f32[6] {1, 2, 3, 4, 5, 6}");
  EXPECT_EQ(EVAL(Transpose(x[0], {1, 0}), m), "f32[3,2] {{1, 4}, {2, 5}, {3, 6}}");
  EXPECT_EQ(EVAL(Rev(x[0], {1}), m), "f32[2,3] {{3, 2, 1}, {6, 5, 4}}");
  EXPECT_EQ(EVAL(Iota(b, ShapeUtil::MakeShape(S32, {2, 3}), 1)), "s32[2,3] {{0, 1, 2}, {0, 1, 2}}");
  EXPECT_EQ(EVAL(Iota(b, F32, 3)), "f32[3] {0, 1, 2}");
  EXPECT_EQ(EVAL(GetDimensionSize(x[0], 1), m), "s32[] 3");
  EXPECT_EQ(EVAL(Reduce(SetDimensionSize(x[0], ConstantR0<std::int32_t>(b, 2), 1), Zero(b, F32),
                        scalarAdd(), {1}),
                 m),
            "f32[2] {3, 9}");
  EXPECT_EQ(EVAL(SetDimensionSize(x[0], ConstantR0<std::int32_t>(b, 2), 1), m),
            "f32[2,2] {{1, 2}, {4, 5}}");
  EXPECT_EQ(
      EVAL(DynamicReshape(x[0], {ConstantR0<std::int32_t>(b, 3), ConstantR0<std::int32_t>(b, 2)},
                          {3, 2}, {false, false}),
           m),
      "f32[3,2] {{1, 2}, {3, 4}, {5, 6}}");
}

TEST(Ops, Slices) {
  Literal a = floats({0, 1, 2, 3, 4}), two = LiteralUtil::CreateR0<std::int32_t>(2);
  EXPECT_EQ(EVAL(Slice(x[0], {2}, {4}), a), "f32[2] {2, 3}");
  EXPECT_EQ(EVAL(Slice(x[0], {0}, {5}, {2}), a), "f32[3] {0, 2, 4}");
  EXPECT_EQ(EVAL(SliceInDim(x[0], 1, 2, 1, 1), matrix({{1, 2}, {3, 4}})), "f32[2,1] {{2}, {4}}");
  EXPECT_EQ(
      EVAL(Tuple({DynamicSlice(x[0], {x[1]}, {2}), DynamicSlice(x[0], Reshape(x[1], {1}), {2}),
                  DynamicSlice(x[0], x[1], {4})}),
           a, two),
      "f32[2] {2, 3} f32[2] {2, 3} f32[4] {1, 2, 3, 4}");
  EXPECT_EQ(EVAL(Tuple({DynamicUpdateSlice(x[0], x[2], {x[1]}),
                        DynamicUpdateSlice(x[0], x[2], Reshape(x[1], {1}))}),
                 a, two, floats({5, 6})),
            "f32[5] {0, 1, 5, 6, 4} f32[5] {0, 1, 5, 6, 4}");
  EXPECT_EQ(EVAL(Tuple({PadInDim(x[0], Zero(b, F32), 0, 1, -4),
                        Pad(x[0], One(b, F32), MakeNoPaddingConfig(1))}),
                 a),
            "f32[2] {0, 0} f32[5] {0, 1, 2, 3, 4}");
  EXPECT_EQ(EVAL(
                [&] {
                  PaddingConfig c;
                  c.add_dimensions()->set_interior_padding(1).set_edge_padding_low(1);
                  return Pad(x[0], One(b, F32), c);
                }(),
                floats({5, 6})),
            "f32[4] {1, 5, 1, 6}");
  EXPECT_EQ(EVAL(Tuple({Concat({x[0], x[1]}, 0), Concatenate({x[1]}, 0),
                        ConcatInDim(b, {x[1], x[1]}, 0)}),
                 floats({1}), floats({2, 3})),
            "f32[3] {1, 2, 3} f32[2] {2, 3} f32[4] {2, 3, 2, 3}");
}

TEST(Ops, GatherAndScatter) {
  Literal m = matrix({{1, 2}, {3, 4}, {5, 6}}),
          rows = LiteralUtil::CreateR2<std::int32_t>({{2}, {0}});
  EXPECT_EQ(EVAL(Gather(x[0], x[1],
                        GatherDimensionNumbers()
                            .add_offset_dims(1)
                            .add_collapsed_slice_dims(0)
                            .add_start_index_map(0)
                            .set_index_vector_dim(1),
                        {1, 2}, false),
                 m, rows),
            "f32[2,2] {{5, 6}, {1, 2}}");
  EXPECT_EQ(EVAL(Gather(x[0], x[1], {1}, {0}, {1, 2}, {0}), m, rows), "f32[2,2] {{5, 6}, {1, 2}}");
  EXPECT_EQ(EVAL(Scatter(x[0], x[1], x[2], scalarAdd(),
                         ScatterDimensionNumbers()
                             .add_update_window_dims(1)
                             .add_inserted_window_dims(0)
                             .add_scatter_dims_to_operand_dims(0)
                             .set_index_vector_dim(1),
                         true, true),
                 m, rows, matrix({{10, 20}, {30, 40}})),
            "f32[3,2] {{31, 42}, {3, 4}, {15, 26}}");
  EXPECT_EQ(EVAL(Scatter(x[0], x[1], x[2], scalarAdd(), 1, {1}, {0}, {0}), m, rows,
                 matrix({{10, 20}, {30, 40}})),
            "f32[3,2] {{31, 42}, {3, 4}, {15, 26}}");
}

TEST(Ops, Products) {
  Literal a = matrix({{1, 2, 3}, {4, 5, 6}}), c = matrix({{1, 1, 1}, {2, 2, 2}}),
          v = floats({1, 2, 3});
  EXPECT_EQ(
      EVAL(Tuple({Dot(x[2], x[2]), Dot(x[0], x[2]), Dot(x[0], Transpose(x[1], {1, 0}))}), a, c, v),
      "f32[] 14 f32[2] {14, 32} f32[2,2] {{6, 12}, {15, 30}}");
  EXPECT_EQ(EVAL(DotGeneral(x[0], x[1],
                            DotDimensionNumbers()
                                .add_lhs_contracting_dimensions(1)
                                .add_rhs_contracting_dimensions(1)),
                 a, c),
            "f32[2,2] {{6, 12}, {15, 30}}");
  EXPECT_EQ(EVAL(
                [&] {
                  PrecisionConfig p(PrecisionConfig::HIGHEST);
                  p.set_algorithm(PrecisionConfig::ALG_DOT_F32_F32_F32);
                  return DotGeneral(x[0], x[1],
                                    DotDimensionNumbers()
                                        .add_lhs_batch_dimensions(0)
                                        .add_rhs_batch_dimensions(0)
                                        .add_lhs_contracting_dimensions(1)
                                        .add_rhs_contracting_dimensions(1),
                                    &p, F64);
                }(),
                a, c),
            "f64[2] {6, 30}");
  EXPECT_EQ(EVAL(Dot(x[0], x[0], nullptr, S32), LiteralUtil::CreateR1<std::int8_t>({100, 100})),
            "s32[] 20000");
  EXPECT_EQ(EVAL(
                [&] {
                  RaggedDotDimensionNumbers n;
                  n.mutable_dot_dimension_numbers()
                      ->add_lhs_contracting_dimensions(1)
                      .add_rhs_contracting_dimensions(1);
                  n.add_lhs_ragged_dimensions(0).add_rhs_group_dimensions(0);
                  return RaggedDot(x[0], x[1], x[2], n, nullptr, F32);
                }(),
                matrix({{1, 2}, {3, 4}, {5, 6}}),
                LiteralUtil::CreateR3<float>({{{1}, {1}}, {{10}, {10}}}),
                LiteralUtil::CreateR1<std::int32_t>({1, 2})),
            "f32[3,1] {{3}, {70}, {110}}");
  EXPECT_EQ(EVAL(
                [&] {
                  RaggedDotDimensionNumbers n;
                  n.mutable_dot_dimension_numbers()
                      ->add_lhs_contracting_dimensions(0)
                      .add_rhs_contracting_dimensions(0);
                  n.add_lhs_ragged_dimensions(0);
                  return RaggedDot(x[0], x[0], x[1], n, nullptr, F32);
                }(),
                matrix({{1}, {2}, {3}}), LiteralUtil::CreateR1<std::int32_t>({1, 2})),
            "f32[2,1,1] {{{1}}, {{13}}}");
  EXPECT_EQ(EVAL(ScaledDot(x[0], x[2], x[1], x[2],
                           DotDimensionNumbers()
                               .add_lhs_contracting_dimensions(1)
                               .add_rhs_contracting_dimensions(1),
                           nullptr, F32),
                 a, c, matrix({{2}})),
            "f32[2,2] {{24, 48}, {60, 120}}");
}

TEST(Ops, Convolutions) {
  Literal in = LiteralUtil::CreateR3<float>({{{1, 2, 3, 4}}}),
          k = LiteralUtil::CreateR3<float>({{{1, 10}}});
  EXPECT_EQ(EVAL(Conv(x[0], x[1], {1}, Padding::kValid), in, k), "f32[1,1,3] {{{21, 32, 43}}}");
  EXPECT_EQ(EVAL(Conv(x[0], x[1], {1}, Padding::kSame), in, k), "f32[1,1,4] {{{21, 32, 43, 4}}}");
  EXPECT_EQ(EVAL(Conv(x[0], x[1], {2}, Padding::kValid, 1, 1, nullptr, F64), in, k),
            "f64[1,1,2] {{{21, 43}}}");
  EXPECT_EQ(EVAL(ConvWithGeneralPadding(x[0], x[1], {1}, {{1, 0}}), in, k),
            "f32[1,1,4] {{{10, 21, 32, 43}}}");
  EXPECT_EQ(EVAL(ConvWithGeneralDimensions(x[0], x[1], {1}, Padding::kSame,
                                           XlaBuilder::CreateDefaultConvDimensionNumbers(1)),
                 in, k),
            "f32[1,1,4] {{{21, 32, 43, 4}}}");
  EXPECT_EQ(
      EVAL(ConvGeneral(x[0], x[1], {1}, {{0, 0}}, XlaBuilder::CreateDefaultConvDimensionNumbers(1)),
           in, k),
      "f32[1,1,3] {{{21, 32, 43}}}");
  EXPECT_EQ(EVAL(ConvGeneralDilated(x[0], x[1], {1}, {{0, 0}}, {1}, {2},
                                    XlaBuilder::CreateDefaultConvDimensionNumbers(1), 1, 1, nullptr,
                                    F64, std::vector<bool>{true}),
                 in, k),
            "f64[1,1,2] {{{13, 24}}}");
}

TEST(Ops, NormalizationAndLinearAlgebra) {
  Literal m = matrix({{1, 2}, {3, 6}}), ones = floats({1, 1}), zeros = floats({0, 0});
  EXPECT_EQ(EVAL(Tuple({GetTupleElement(BatchNormTraining(x[0], x[1], x[2], 0.001f, 1), 1),
                        GetTupleElement(BatchNormTraining(x[0], x[1], x[2], 0.001f, 1), 2)}),
                 m, ones, zeros),
            "f32[2] {2, 4} f32[2] {1, 4}");
  EXPECT_EQ(EVAL(BatchNormInference(x[0], x[1], x[2], x[2], x[1], 0, 1), m, ones, zeros),
            "f32[2,2] {{1, 2}, {3, 6}}");
  EXPECT_EQ(
      EVAL(GetTupleElement(BatchNormGrad(x[0], x[1], x[2], x[1], x[0], 0, 1), 2), m, ones, zeros),
      "f32[2] {4, 8}");
  EXPECT_EQ(EVAL(Cholesky(x[0], true), matrix({{4, 0}, {2, 2}})).substr(0, 16), "f32[2,2] {{2, 0}");
  EXPECT_EQ(
      EVAL(TriangularSolve(x[0], x[1], true, true, false, TriangularSolveOptions::NO_TRANSPOSE),
           matrix({{2, 0}, {1, 1}}), matrix({{4}, {5}})),
      "f32[2,1] {{2}, {3}}");
  EXPECT_EQ(EVAL(Fft(x[0], FftType::RFFT, {2}), floats({1, 2})), "c64[2] {(3, 0), (-1, -0)}");
  EXPECT_EQ(EVAL(Fft(Fft(x[0], FftType::RFFT, {2}), FftType::IRFFT, {2}), floats({1, 2})),
            "f32[2] {1, 2}");
}

TEST(Ops, Reductions) {
  Literal m = matrix({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(EVAL(Tuple({Reduce(x[0], Zero(b, F32), scalarAdd(), {1}),
                        Reduce(x[0], Zero(b, F32), scalarAdd(), {0, 1}),
                        ReduceAll(x[0], Zero(b, F32), scalarAdd())}),
                 m),
            "f32[2] {6, 15} f32[] 21 f32[] 21");
  XlaBuilder two("two");
  std::vector<XlaOp> p;
  for (int i = 0; i < 4; ++i) {
    p.push_back(Parameter(&two, i, f32({}), "p"));
  }
  static XlaComputation pairwise;
  pairwise = two.Build(Tuple({p[0] + p[2], Max(p[1], p[3])})).value();
  EXPECT_EQ(EVAL(Reduce({x[0], x[0]}, {Zero(b, F32), Zero(b, F32)}, pairwise, {1}), m),
            "f32[2] {6, 15} f32[2] {3, 6}");
  EXPECT_EQ(EVAL(ReduceWindow(absl::Span<const XlaOp>({x[0], x[0]}), {Zero(b, F32), Zero(b, F32)},
                              pairwise, {1, 2}, {1, 1}, Padding::kValid),
                 m),
            "f32[2,2] {{3, 5}, {9, 11}} f32[2,2] {{2, 3}, {5, 6}}");
  EXPECT_EQ(EVAL(ReduceWindow(x[0], Zero(b, F32), scalarAdd(), {1, 2}, {1, 2}, Padding::kSame), m),
            "f32[2,2] {{3, 3}, {9, 6}}");
  EXPECT_EQ(EVAL(ReduceWindow(x[0], Zero(b, F32), scalarAdd(), {1, 2}, {}, {1, 1}, {1, 2},
                              Padding::kValid),
                 m),
            "f32[2,1] {{4}, {10}}");
  EXPECT_EQ(EVAL(ReduceWindowWithGeneralPadding(x[0], Zero(b, S32), scalarAdd(S32), {2, 1}, {4, 1},
                                                {2, 1}, {3, 1}, {{2, 1}, {0, 0}}),
                 LiteralUtil::CreateR2<std::int32_t>({{1, 2}, {3, 4}, {5, 6}})),
            "s32[2,2] {{0, 0}, {3, 4}}");
  static XlaComputation ge;
  ge = scalarFunction(F32, [](XlaOp a, XlaOp c) { return Ge(a, c); });
  EXPECT_EQ(
      EVAL(SelectAndScatter(x[0], ge, {2}, {2}, Padding::kValid, x[1], Zero(b, F32), scalarAdd()),
           floats({7, 2, 5, 3}), floats({2, 6})),
      "f32[4] {2, 0, 6, 0}");
  EXPECT_EQ(EVAL(SelectAndScatterWithGeneralPadding(x[0], ge, {2}, {2}, {{0, 0}}, x[1],
                                                    Zero(b, F32), scalarAdd()),
                 floats({7, 2, 5, 3}), floats({2, 6})),
            "f32[4] {2, 0, 6, 0}");
  static XlaComputation step;
  XlaBuilder sb("step");
  XlaOp in = Parameter(&sb, 0, f32({}), "in"), carry = Parameter(&sb, 1, f32({}), "carry");
  step = sb.Build(Tuple({in + carry, in + carry})).value();
  EXPECT_EQ(EVAL(Scan({x[0]}, {Zero(b, F32)}, step, 0), floats({1, 2, 3})),
            "f32[3] {1, 3, 6} f32[] 6");
  EXPECT_EQ(EVAL(Scan({x[0]}, {Zero(b, F32)}, step, 0, true, true), floats({1, 2, 3})),
            "f32[3] {6, 5, 3} f32[] 6");
}

TEST(Ops, Sorting) {
  EXPECT_EQ(EVAL(Sort(x[0]), matrix({{3, 1}, {2, 5}})), "f32[2,2] {{1, 3}, {2, 5}}");
  EXPECT_EQ(EVAL(Sort(x[0], 0), matrix({{3, 1}, {2, 5}})), "f32[2,2] {{2, 1}, {3, 5}}");
  EXPECT_EQ(EVAL(Sort(x[0], x[1]), LiteralUtil::CreateR1<std::int32_t>({3, 1}), floats({42, 50})),
            "s32[2] {1, 3} f32[2] {50, 42}");
  static XlaComputation greater;
  greater = scalarFunction(F32, [](XlaOp a, XlaOp c) { return Gt(a, c); });
  EXPECT_EQ(EVAL(Sort({x[0]}, greater, 0, true), floats({1, 3, 2})), "f32[3] {3, 2, 1}");
  EXPECT_EQ(EVAL(TopK(x[0], 2), floats({1, 3, 2})), "f32[2] {3, 2} s32[2] {1, 2}");
  EXPECT_EQ(EVAL(TopK(x[0], 1, false), floats({1, 3, 2})), "f32[1] {1} s32[1] {0}");
}

TEST(Ops, Random) {
  XlaBuilder b("f");
  XlaOp zero = Zero(&b, F32), one = One(&b, F32);
  Shape many = f32({1000});
  XlaOp state = ConstantLiteral(&b, LiteralUtil::CreateR1<std::uint64_t>({1, 2}));
  Shape bits = ShapeUtil::MakeShape(U32, {4});
  XlaOp root =
      Tuple({RngUniform(zero, one, many), RngNormal(zero, one, many),
             RngBernoulli(ConstantR0<float>(&b, 0.25f), ShapeUtil::MakeShape(U32, {1000})),
             GetTupleElement(RngBitGenerator(RandomAlgorithm::RNG_THREE_FRY, state, bits), 1),
             GetTupleElement(RngBitGenerator(RandomAlgorithm::RNG_PHILOX, state, bits), 1),
             RngGetAndUpdateState(&b, 1)});
  std::vector<Literal> results = run(b, root);
  ASSERT_EQ(results.size(), 6u);
  double uniform = 0, normal = 0;
  std::uint32_t ones = 0;
  for (int i = 0; i < 1000; ++i) {
    uniform += results[0].data<float>()[i];
    normal += results[1].data<float>()[i];
    ones += results[2].data<std::uint32_t>()[i];
  }
  EXPECT_NEAR(uniform / 1000, 0.5, 0.05);
  EXPECT_NEAR(normal / 1000, 0, 0.15);
  EXPECT_NEAR(ones / 1000.0, 0.25, 0.06);
  EXPECT_NE(results[3], results[4]);
}

TEST(Ops, Control) {
  static XlaComputation negate, less;
  XlaBuilder nb("negate");
  Neg(Parameter(&nb, 0, f32({}), "x"));
  negate = nb.Build().value();
  XlaBuilder lb("less");
  Lt(Parameter(&lb, 0, f32({}), "x"), ConstantR0<float>(&lb, 10));
  less = lb.Build().value();
  static XlaComputation twice;
  XlaBuilder tb("twice");
  XlaOp t = Parameter(&tb, 0, f32({}), "x");
  twice = tb.Build(t + t).value();
  Literal one = LiteralUtil::CreateR0<float>(1);
  EXPECT_EQ(EVAL(While(less, twice, x[0]), one), "f32[] 16");
  EXPECT_EQ(
      EVAL(Tuple({Call(b, twice, {x[0]}),
                  CompositeCall(twice, {x[0]}, "foo.bar", "{n = 1 : i32}", 1),
                  CompositeCall(b, twice, {x[0]}, "foo.bar"), Fusion(b, {x[0]}, "kLoop", twice)}),
           one),
      "f32[] 2 f32[] 2 f32[] 2 f32[] 2");
  EXPECT_EQ(EVAL(Map({x[0]}, negate, {0}), floats({1, 2})), "f32[2] {-1, -2}");
  EXPECT_EQ(EVAL(Map(b, {x[0]}, scalarAdd(), {0}, {One(b, F32)}), floats({1, 2})), "f32[2] {2, 3}");
  EXPECT_EQ(EVAL(AsyncDone(AsyncUpdate(AsyncStart(b, {x[0]}, "", twice))), one), "f32[] 2");
  EXPECT_EQ(EVAL(Tuple({CopyDone(CopyStart(x[0])), OptimizationBarrier(x[0]),
                        AddDependency(x[0], AfterAll({CreateToken(b), CreateToken(b)})),
                        Domain(x[0], "sharding", "{replicated}", "{maximal device=0}")}),
                 one),
            "f32[] 1 f32[] 1 f32[] 1 f32[] 1");
}

static void scale(void *out, const void **in) {
  const auto *x = static_cast<const float *>(in[0]);
  for (int i = 0; i < 3; ++i) {
    static_cast<float *>(out)[i] = 10 * x[i];
  }
}

TEST(Ops, CustomCalls) {
  XlaBuilder b("f");
  XlaOp x = Parameter(&b, 0, f32({3}), "x");
  Literal literal = floats({1, 2});
  XlaOp root =
      Tuple({CustomCall("scale", {x}, f32({3})),
             CustomCall(&b, "scale", {x}, f32({3}), "opaque \"text\"", false, {}, &literal),
             CustomCallWithComputation(&b, "scale", {x}, scalarAdd(), f32({3})),
             CustomCallWithLayout(&b, "scale", {x}, f32({3}), {f32({3})}, "", true, {}, nullptr,
                                  CustomCallSchedule::SCHEDULE_LATEST)});
  hlo_custom_call call = {};
  call.name = "scale";
  call.api = HLO_API_ORIGINAL;
  call.fn = reinterpret_cast<void (*)()>(scale);
  hlo_custom_calls calls = {};
  calls.struct_size = sizeof calls;
  calls.entries = &call;
  calls.count = 1;
  calls.entry_stride = sizeof call;
  RunOptions options;
  options.call.custom_calls = &calls;
  std::vector<Literal> results = run(b, root, {floats({1, 2, 3})}, options);
  ASSERT_EQ(results.size(), 4u);
  for (const Literal &result : results) {
    EXPECT_EQ(result.ToString(), "f32[3] {10, 20, 30}");
  }
}

/// The queues of a call's feeds and transfers, of items of two numbers.
struct Queues {
  Queues() {
    for (hlo_feed_queue *&queue : all) {
      queue = hlo_feed_queue_create(8);
    }
    options.call.infeed = hlo_feed_queue_source(in);
    options.call.outfeed = hlo_feed_queue_sink(out);
    options.call.host_send = hlo_feed_queue_sink(to);
    options.call.host_recv = hlo_feed_queue_source(from);
  }
  ~Queues() {
    for (hlo_feed_queue *queue : all) {
      hlo_feed_queue_destroy(queue);
    }
  }
  void push(hlo_feed_queue *queue, float x) {
    float item[2] = {x, -x};
    const void *leaf = item;
    std::uint64_t bytes = sizeof item;
    EXPECT_EQ(hlo_feed_queue_push(queue, &leaf, &bytes, 1, 0), HLO_OK);
  }
  float pop(hlo_feed_queue *queue) {
    float item[2] = {0, 0};
    void *leaf = item;
    std::uint64_t bytes = sizeof item;
    if (!hlo_feed_queue_size(queue)) {
      ADD_FAILURE() << "the queue is empty";
    } else {
      EXPECT_EQ(hlo_feed_queue_pop(queue, &leaf, &bytes, 1, 0), HLO_OK);
    }
    return item[0];
  }
  hlo_feed_queue *all[4];
  hlo_feed_queue *&in = all[0], *&out = all[1], *&to = all[2], *&from = all[3];
  RunOptions options;
};

TEST(Ops, FeedsInTheOrderOfCalls) {
  XlaBuilder b("f");
  Shape pair = f32({2});
  XlaOp first = Infeed(&b, pair), second = Infeed(&b, pair, "config");
  Outfeed(second, pair);
  XlaOp nothing = Outfeed(first - second, pair, "config");
  EXPECT_EQ(b.GetShape(nothing)->ToString(), "()");
  Queues queues;
  queues.push(queues.in, 1), queues.push(queues.in, 5);
  EXPECT_EQ(run(b, first, {}, queues.options).at(0).ToString(), "f32[2] {1, -1}");
  EXPECT_EQ(queues.pop(queues.out), 5);
  EXPECT_EQ(queues.pop(queues.out), -4);
}

TEST(Ops, FeedsAndTransfersWithTokens) {
  XlaBuilder b("f");
  Shape pair = f32({2});
  XlaOp fed = InfeedWithToken(CreateToken(&b), pair);
  XlaOp token = OutfeedWithToken(GetTupleElement(fed, 0), GetTupleElement(fed, 1), pair);
  XlaOp sent = SendToHost(GetTupleElement(fed, 0), token, pair,
                          ChannelHandle(1, ChannelHandle::DEVICE_TO_HOST));
  XlaOp received = RecvToHost(sent, pair, ChannelHandle(2, ChannelHandle::HOST_TO_DEVICE));
  Queues queues;
  queues.push(queues.in, 3), queues.push(queues.from, 4);
  EXPECT_EQ(run(b, GetTupleElement(received, 0), {}, queues.options).at(0).ToString(),
            "f32[2] {4, -4}");
  EXPECT_EQ(queues.pop(queues.out), 3);
  EXPECT_EQ(queues.pop(queues.to), 3);
}

/// Runs `f` on two replicas, whose parameter is {1, 2, 3, 4}, ten times that on the second.
static std::string onTwoReplicas(XlaOp (*f)(XlaBuilder *b, XlaOp x)) {
  XlaBuilder b("f");
  b.SetReplicaCount(2);
  XlaOp x = Parameter(&b, 0, f32({4}), "x");
  XlaComputation computation = finish(b, f(&b, x));
  if (computation.IsNull()) {
    return "";
  }
  auto executable = Jit(computation);
  EXPECT_TRUE(executable.ok()) << executable.status() << computation.ToString();
  if (!executable.ok()) {
    return "";
  }
  hlo_ranks *ranks = hlo_ranks_create(2, 1, std::int64_t(20e9));
  std::string texts[2];
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      RunOptions options;
      options.call.comm = hlo_ranks_comm(ranks, rank);
      float k = rank ? 10 : 1;
      auto results = executable->Run({floats({k, 2 * k, 3 * k, 4 * k})}, options);
      EXPECT_TRUE(results.ok()) << results.status() << computation.ToString();
      for (std::size_t i = 0; results.ok() && i < results->size(); ++i) {
        texts[rank] += (i ? " " : "") + (*results)[i].ToString();
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  hlo_ranks_destroy(ranks);
  return texts[0] + "; " + texts[1];
}
#define ON_TWO(expression)                                                                         \
  onTwoReplicas([]([[maybe_unused]] XlaBuilder *b, [[maybe_unused]] XlaOp x) -> XlaOp {            \
    return expression;                                                                             \
  })

TEST(Ops, Collectives) {
  EXPECT_EQ(ON_TWO(ReplicaId(b)), "u32[] 0; u32[] 1");
  EXPECT_EQ(ON_TWO(Tuple({PartitionId(b), PartitionID(b, ShapeUtil::MakeShape(U32, {}))})),
            "u32[] 0 u32[] 0; u32[] 0 u32[] 0");
  EXPECT_EQ(ON_TWO(CrossReplicaSum(x)), "f32[4] {11, 22, 33, 44}; f32[4] {11, 22, 33, 44}");
  EXPECT_EQ(ON_TWO(CrossReplicaSum(x, {{0}, {1}})), "f32[4] {1, 2, 3, 4}; f32[4] {10, 20, 30, 40}");
  EXPECT_EQ(ON_TWO(CrossReplicaSum(Gt(x, ConstantR0<float>(b, 25)))),
            "pred[4] {0, 0, 1, 1}; pred[4] {0, 0, 1, 1}");
  EXPECT_EQ(ON_TWO(AllReduce(x, scalarAdd(), {{0, 1}}, ChannelHandle(1),
                             ShapeUtil::MakeShapeWithLayout(F32, {4}, {0}), true)),
            "f32[4] {11, 22, 33, 44}; f32[4] {11, 22, 33, 44}");
  EXPECT_EQ(ON_TWO(AllReduce(Tuple({x, SliceInDim(x, 0, 1, 1, 0)}), scalarAdd())),
            "f32[4] {11, 22, 33, 44} f32[1] {11}; f32[4] {11, 22, 33, 44} f32[1] {11}");
  EXPECT_EQ(ON_TWO(AllReduceTuple({x}, scalarAdd())),
            "f32[4] {11, 22, 33, 44}; f32[4] {11, 22, 33, 44}");
  EXPECT_EQ(ON_TWO(AllReduceDone(AllReduceStart(x, scalarAdd()))),
            "f32[4] {11, 22, 33, 44}; f32[4] {11, 22, 33, 44}");
  EXPECT_EQ(ON_TWO(AllGather(SliceInDim(x, 0, 2, 1, 0), 0, 2)),
            "f32[4] {1, 2, 10, 20}; f32[4] {1, 2, 10, 20}");
  EXPECT_EQ(ON_TWO(AllGather(Tuple({SliceInDim(x, 0, 1, 1, 0), SliceInDim(x, 1, 2, 1, 0)}), 0, 2,
                             {{1, 0}})),
            "f32[2] {10, 1} f32[2] {20, 2}; f32[2] {10, 1} f32[2] {20, 2}");
  EXPECT_EQ(ON_TWO(AllGatherTuple({SliceInDim(x, 0, 1, 1, 0)}, 0, 2, {}, {},
                                  LayoutUtil::MakeLayout({0}))),
            "f32[2] {1, 10}; f32[2] {1, 10}");
  EXPECT_EQ(ON_TWO(AllGatherDone(AllGatherStart(SliceInDim(x, 0, 1, 1, 0), 0, 2))),
            "f32[2] {1, 10}; f32[2] {1, 10}");
  EXPECT_EQ(ON_TWO(ReduceScatter(x, scalarAdd(), 0, 2)), "f32[2] {11, 22}; f32[2] {33, 44}");
  EXPECT_EQ(ON_TWO(ReduceScatter(Tuple({x}), scalarAdd(), 0, 2, {{0, 1}}, {},
                                 LayoutUtil::MakeLayout({0}))),
            "f32[2] {11, 22}; f32[2] {33, 44}");
  EXPECT_EQ(ON_TWO(AllToAll(x, 0, 0, 2)), "f32[4] {1, 2, 10, 20}; f32[4] {3, 4, 30, 40}");
  EXPECT_EQ(ON_TWO(AllToAll(Reshape(x, {2, 2}), 1, 0, 2, {{0, 1}})),
            "f32[4,1] {{1}, {3}, {10}, {30}}; f32[4,1] {{2}, {4}, {20}, {40}}");
  EXPECT_EQ(ON_TWO(AllToAll(Reshape(x, {2, 2}), 0, 1, 2, {}, LayoutUtil::MakeLayout({1, 0}))),
            "f32[1,4] {{1, 2, 10, 20}}; f32[1,4] {{3, 4, 30, 40}}");
  EXPECT_EQ(ON_TWO(AllToAllTuple({SliceInDim(x, 0, 1, 1, 0), SliceInDim(x, 1, 2, 1, 0)})),
            "f32[1] {1} f32[1] {10}; f32[1] {2} f32[1] {20}");
  EXPECT_EQ(ON_TWO(CollectivePermute(x, {{0, 1}})), "f32[4] {0, 0, 0, 0}; f32[4] {1, 2, 3, 4}");
  EXPECT_EQ(ON_TWO(CollectivePermute(x, {{0, 1}, {1, 0}}, std::nullopt, true)),
            "f32[4] {10, 20, 30, 40}; f32[4] {1, 2, 3, 4}");
  EXPECT_EQ(ON_TWO(CollectivePermuteDone(CollectivePermuteStart(x, {{0, 1}, {1, 0}}))),
            "f32[4] {10, 20, 30, 40}; f32[4] {1, 2, 3, 4}");
  EXPECT_EQ(ON_TWO(CollectiveBroadcast(x, {{1, 0}})),
            "f32[4] {10, 20, 30, 40}; f32[4] {10, 20, 30, 40}");
  EXPECT_EQ(ON_TWO(RaggedAllToAll(x, ConstantR1<std::int64_t>(b, {0, 1}),
                                  ConstantR1<std::int64_t>(b, {1, 1}), Broadcast(Zero(b, F32), {4}),
                                  Convert(Broadcast(ReplicaId(b), {2}), S64),
                                  ConstantR1<std::int64_t>(b, {1, 1}))),
            "f32[4] {1, 10, 0, 0}; f32[4] {2, 20, 0, 0}");
}

TEST(Ops, TransfersBetweenReplicas) {
  EXPECT_EQ(ON_TWO([&] {
              b->SetFrontendAttributes({{"_xla_send_recv_source_target_pairs", "{{0,1},{1,0}}"}});
              XlaOp received = RecvWithToken(CreateToken(b), f32({4}), ChannelHandle(1));
              SendWithTokens(x, CreateToken(b), ChannelHandle(1));
              return GetTupleElement(received, 0);
            }()),
            "f32[4] {10, 20, 30, 40}; f32[4] {1, 2, 3, 4}");
  EXPECT_EQ(ON_TWO([&] {
              b->SetFrontendAttributes({{"_xla_send_recv_source_target_pairs", "{{0,1},{1,0}}"}});
              XlaOp receive = Recv(b, f32({4}), 1);
              XlaOp send = Send(x, 1);
              XlaOp data = RecvDone(receive);
              SendDone(send);
              return data;
            }()),
            "f32[4] {10, 20, 30, 40}; f32[4] {1, 2, 3, 4}");
}
