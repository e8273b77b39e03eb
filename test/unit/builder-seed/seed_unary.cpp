//===- seed_unary.cpp - Element-wise functions of one operand -------------===//
//
// Rows of the table of the specification's sections: see SeedTable.h.
//
//===----------------------------------------------------------------------===//
#include "SeedTable.h"
#include <cmath>

using namespace seed;

#define UNARY                                                                                      \
  "zh: 逐个元素的一元函数", "en: Element-wise unary functions", "old: Element-wise unary functions"

static const float kInf = INFINITY;

ROW(Abs, "Abs(operand)", UNARY, "tr: Mutlak") {
  auto x = f32({4}, {-1.5, 0, 2, -kInf});
  RUNS(Abs(x(b)), f32({4}, {1.5, 0, 2, kInf}));
  auto i = s32({2}, {-3, 4});
  RUNS(Abs(i(b)), s32({2}, {3, 4}));
  auto c = c64({1}, {{3, -4}});
  RUNS(Abs(c(b)), f32({1}, {5}));
  auto p = pred({1}, {1});
  FAILS(Abs(p(b)), "its element type must be an integer, floating or complex");
  FAILS(Abs(Tuple(b, {x(b)})), "must be an array, is");
}

ROW(Cbrt, "Cbrt(operand, result_accuracy)", "tr: Cbrt") {
  auto x = f32({3}, {-8, 0, 27});
  RUNS_NEAR(Cbrt(x(b)), 1e-6, f32({3}, {-2, 0, 3}));
  RUNS_NEAR(Cbrt(x(b), ResultAccuracy::HIGHEST), 1e-6, f32({3}, {-2, 0, 3}));
  auto i = s32({1}, {8});
  FAILS(Cbrt(i(b)), "its element type must be floating");
}

ROW(Ceil, "Ceil(operand)", UNARY, "tr: Tavan") {
  auto x = f32({4}, {-1.5, -0.25, 2, 2.1});
  RUNS(Ceil(x(b)), f32({4}, {-1, -0.0, 2, 3}));
  auto i = s32({1}, {8});
  FAILS(Ceil(i(b)), "its element type must be floating");
}

ROW(Clz, "Clz(operand)", "tr: Clz") {
  auto x = u32({3}, {0, 1, 0x80000000});
  RUNS(Clz(x(b)), u32({3}, {32, 31, 0}));
  auto y = s8({2}, {1, -1});
  RUNS(Clz(y(b)), s8({2}, {7, 0}));
  auto f = f32({1}, {1});
  FAILS(Clz(f(b)), "its element type must be an integer");
}

ROW(Cos, "Cos(operand, result_accuracy)", "zh: 逐个元素的一元函数",
    "en: Element-wise unary functions", "tr: Cos") {
  auto x = f32({3}, {0, 1, -2});
  RUNS_NEAR(Cos(x(b)), 1e-6, f32({3}, {1, std::cos(1.0), std::cos(-2.0)}));
  RUNS_NEAR(Cos(x(b), ResultAccuracy::HIGHEST), 1e-6, f32({3}, {1, std::cos(1.0), std::cos(-2.0)}));
  auto i = s32({1}, {8});
  FAILS(Cos(i(b)), "its element type must be floating or complex");
}

ROW(Cosh, "Cosh(operand, result_accuracy)", "tr: Cosh") {
  auto x = f32({3}, {0, 1, -2});
  RUNS_NEAR(Cosh(x(b)), 1e-6, f32({3}, {1, std::cosh(1.0), std::cosh(2.0)}));
  RUNS_NEAR(Cosh(x(b), ResultAccuracy::HIGHEST), 1e-6,
            f32({3}, {1, std::cosh(1.0), std::cosh(2.0)}));
  auto i = s32({1}, {8});
  FAILS(Cosh(i(b)), "its element type must be floating or complex");
}

ROW(Erf, "Erf(operand, result_accuracy)", "tr: Erf") {
  auto x = f32({3}, {0, 0.5, -2});
  RUNS_NEAR(Erf(x(b)), 1e-6, f32({3}, {0, std::erf(0.5), std::erf(-2.0)}));
  RUNS_NEAR(Erf(x(b), ResultAccuracy::HIGHEST), 1e-6, f32({3}, {0, std::erf(0.5), std::erf(-2.0)}));
  auto i = s32({1}, {8});
  FAILS(Erf(i(b)), "its element type must be floating");
}

ROW(Exp, "Exp(operand, result_accuracy)", UNARY, "tr: Süre sonu") {
  auto x = f32({3}, {0, 1, -2});
  RUNS_NEAR(Exp(x(b)), 1e-6, f32({3}, {1, std::exp(1.0), std::exp(-2.0)}));
  RUNS_NEAR(Exp(x(b), ResultAccuracy::HIGHEST), 1e-6, f32({3}, {1, std::exp(1.0), std::exp(-2.0)}));
  auto i = s32({1}, {8});
  FAILS(Exp(i(b)), "its element type must be floating or complex");
}

ROW(Expm1, "Expm1(operand, result_accuracy)", "tr: Expm1") {
  auto x = f32({3}, {0, 1e-6f, 1});
  RUNS_NEAR(Expm1(x(b)), 1e-6, f32({3}, {0, std::expm1(1e-6f), std::expm1(1.0)}));
  RUNS_NEAR(Expm1(x(b), ResultAccuracy::HIGHEST), 1e-6,
            f32({3}, {0, std::expm1(1e-6f), std::expm1(1.0)}));
  auto i = s32({1}, {8});
  FAILS(Expm1(i(b)), "its element type must be floating or complex");
}

ROW(Floor, "Floor(operand)", UNARY, "tr: Kat") {
  auto x = f32({4}, {-1.5, 0.25, 2, 2.9});
  RUNS(Floor(x(b)), f32({4}, {-2, 0, 2, 2}));
  auto i = s32({1}, {8});
  FAILS(Floor(i(b)), "its element type must be floating");
}

ROW(Imag, "Imag(operand)", "tr: Imag") {
  auto c = c64({2}, {{1, -2}, {3, 4}});
  RUNS(Imag(c(b)), f32({2}, {-2, 4}));
  auto x = f32({2}, {1, 2}); // of a real operand: 0
  RUNS(Imag(x(b)), f32({2}, {0, 0}));
  auto i = s32({1}, {8});
  FAILS(Imag(i(b)), "its element type must be floating or complex");
}

ROW(IsFinite, "IsFinite(operand)", UNARY, "tr: IsFinite") {
  auto x = f32({4}, {1, kInf, -kInf, NAN});
  RUNS(IsFinite(x(b)), pred({4}, {1, 0, 0, 0}));
  auto i = s32({1}, {8});
  FAILS(IsFinite(i(b)), "its element type must be floating");
}

ROW(Log, "Log(operand, result_accuracy)", UNARY, "tr: Günlük") {
  auto x = f32({3}, {1, 2, 0});
  RUNS_NEAR(Log(x(b)), 1e-6, f32({3}, {0, std::log(2.0), -kInf}));
  RUNS_NEAR(Log(x(b), ResultAccuracy::HIGHEST), 1e-6, f32({3}, {0, std::log(2.0), -kInf}));
  auto i = s32({1}, {8});
  FAILS(Log(i(b)), "its element type must be floating or complex");
}

ROW(Log1p, "Log1p(operand, result_accuracy)", "tr: Log1p") {
  auto x = f32({3}, {0, 1e-6f, 1});
  RUNS_NEAR(Log1p(x(b)), 1e-6, f32({3}, {0, std::log1p(1e-6f), std::log(2.0)}));
  RUNS_NEAR(Log1p(x(b), ResultAccuracy::HIGHEST), 1e-6,
            f32({3}, {0, std::log1p(1e-6f), std::log(2.0)}));
  auto i = s32({1}, {8});
  FAILS(Log1p(i(b)), "its element type must be floating or complex");
}

ROW(Logistic, "Logistic(operand, result_accuracy)", "tr: Lojistik") {
  auto x = f32({3}, {0, 2, -2});
  RUNS_NEAR(Logistic(x(b)), 1e-6,
            f32({3}, {0.5, 1 / (1 + std::exp(-2.0)), 1 / (1 + std::exp(2.0))}));
  RUNS_NEAR(Logistic(x(b), ResultAccuracy::HIGHEST), 1e-6,
            f32({3}, {0.5, 1 / (1 + std::exp(-2.0)), 1 / (1 + std::exp(2.0))}));
  auto i = s32({1}, {8});
  FAILS(Logistic(i(b)), "its element type must be floating or complex");
}

ROW(Neg, "Neg(operand)", UNARY, "tr: Neg") {
  auto x = f32({3}, {1, -2, 0});
  RUNS(Neg(x(b)), f32({3}, {-1, 2, -0.0}));
  RUNS(-x(b), f32({3}, {-1, 2, -0.0}));
  auto p = pred({1}, {1});
  FAILS(Neg(p(b)), "its element type must be an integer, floating or complex");
}

ROW(Not, "Not(operand)", UNARY, "tr: Değil") { // LogicalNot in the older documents
  auto p = pred({2}, {1, 0});
  RUNS(Not(p(b)), pred({2}, {0, 1}));
  RUNS(LogicalNot(p(b)), pred({2}, {0, 1}));
  auto u = u8({2}, {0, 0xf0});
  RUNS(Not(u(b)), u8({2}, {0xff, 0x0f}));
  RUNS(~u(b), u8({2}, {0xff, 0x0f}));
  auto f = f32({1}, {1});
  FAILS(Not(f(b)), "its element type must be pred or an integer");
}

ROW(PopulationCount, "PopulationCount(operand)", "tr: PopulationCount") {
  auto x = u32({3}, {0, 7, 0xffffffff});
  RUNS(PopulationCount(x(b)), u32({3}, {0, 3, 32}));
  auto f = f32({1}, {1});
  FAILS(PopulationCount(f(b)), "its element type must be an integer");
}

ROW(Real, "Real(operand)", "tr: Real") {
  auto c = c64({2}, {{1, -2}, {3, 4}});
  RUNS(Real(c(b)), f32({2}, {1, 3}));
  auto x = f32({2}, {1, 2});
  RUNS(Real(x(b)), f32({2}, {1, 2}));
  auto i = s32({1}, {8});
  FAILS(Real(i(b)), "its element type must be floating or complex");
}

ROW(Round, "Round(operand)", "tr: Yuvarlak") {
  auto x = f32({5}, {-2.5, -0.5, 0.5, 1.4, 2.5});
  RUNS(Round(x(b)), f32({5}, {-3, -1, 1, 1, 3}));
  auto i = s32({1}, {8});
  FAILS(Round(i(b)), "its element type must be floating");
}

ROW(RoundNearestAfz, "RoundNearestAfz(operand)", "tr: RoundNearestAfz") {
  auto x = f32({5}, {-2.5, -0.5, 0.5, 1.4, 2.5});
  RUNS(RoundNearestAfz(x(b)), f32({5}, {-3, -1, 1, 1, 3}));
  auto i = s32({1}, {8});
  FAILS(RoundNearestAfz(i(b)), "its element type must be floating");
}

ROW(RoundNearestEven, "RoundNearestEven(operand)", "tr: RoundNearestEven") {
  auto x = f32({5}, {-2.5, -0.5, 0.5, 1.5, 2.5});
  RUNS(RoundNearestEven(x(b)), f32({5}, {-2, -0.0, 0, 2, 2}));
  auto i = s32({1}, {8});
  FAILS(RoundNearestEven(i(b)), "its element type must be floating");
}

ROW(Rsqrt, "Rsqrt(operand, result_accuracy)", "tr: Rsqrt") {
  auto x = f32({3}, {4, 0.25, 0});
  RUNS_NEAR(Rsqrt(x(b)), 1e-6, f32({3}, {0.5, 2, kInf}));
  RUNS_NEAR(Rsqrt(x(b), ResultAccuracy::HIGHEST), 1e-6, f32({3}, {0.5, 2, kInf}));
  auto i = s32({1}, {8});
  FAILS(Rsqrt(i(b)), "its element type must be floating or complex");
}

ROW(Sign, "Sign(operand)", UNARY, "tr: İmzala") {
  auto x = f32({5}, {-2, -0.0, 0, 3, NAN});
  RUNS(Sign(x(b)), f32({5}, {-1, -0.0, 0, 1, NAN}));
  auto i = s32({3}, {-5, 0, 5});
  RUNS(Sign(i(b)), s32({3}, {-1, 0, 1}));
  auto p = pred({1}, {1});
  FAILS(Sign(p(b)), "its element type must be an integer, floating or complex");
}

ROW(Sin, "Sin(operand, result_accuracy)", "tr: Sin") {
  auto x = f32({3}, {0, 1, -2});
  RUNS_NEAR(Sin(x(b)), 1e-6, f32({3}, {0, std::sin(1.0), std::sin(-2.0)}));
  RUNS_NEAR(Sin(x(b), ResultAccuracy::HIGHEST), 1e-6, f32({3}, {0, std::sin(1.0), std::sin(-2.0)}));
  auto i = s32({1}, {8});
  FAILS(Sin(i(b)), "its element type must be floating or complex");
}

ROW(Sqrt, "Sqrt(operand, result_accuracy)", "tr: Karekök") {
  auto x = f32({3}, {4, 2, 0});
  RUNS_NEAR(Sqrt(x(b)), 1e-6, f32({3}, {2, std::sqrt(2.0), 0}));
  RUNS_NEAR(Sqrt(x(b), ResultAccuracy::HIGHEST), 1e-6, f32({3}, {2, std::sqrt(2.0), 0}));
  auto i = s32({1}, {8});
  FAILS(Sqrt(i(b)), "its element type must be floating or complex");
}

ROW(Tan, "Tan(operand, result_accuracy)", "tr: Ten Rengi") {
  auto x = f32({3}, {0, 1, -0.5});
  RUNS_NEAR(Tan(x(b)), 1e-6, f32({3}, {0, std::tan(1.0), std::tan(-0.5)}));
  RUNS_NEAR(Tan(x(b), ResultAccuracy::HIGHEST), 1e-6, f32({3}, {0, std::tan(1.0), std::tan(-0.5)}));
  auto i = s32({1}, {8});
  FAILS(Tan(i(b)), "its element type must be floating or complex");
}

ROW(Tanh, "Tanh(operand, result_accuracy)", UNARY, "tr: Tanh") {
  auto x = f32({3}, {0, 1, -0.5});
  RUNS_NEAR(Tanh(x(b)), 1e-6, f32({3}, {0, std::tanh(1.0), std::tanh(-0.5)}));
  RUNS_NEAR(Tanh(x(b), ResultAccuracy::HIGHEST), 1e-6,
            f32({3}, {0, std::tanh(1.0), std::tanh(-0.5)}));
  auto i = s32({1}, {8});
  FAILS(Tanh(i(b)), "its element type must be floating or complex");
}

ROW(ReducePrecision, "ReducePrecision(operand, exponent_bits, mantissa_bits)",
    "zh: ReducePrecision", "en: ReducePrecision", "tr: ReducePrecision") {
  // As bf16 and back: 8 bits of exponent, 7 of mantissa; ties to even.
  auto x = f32({4}, {1.00390625f, 1.01171875f, 1.0078125f, NAN});
  RUNS(ReducePrecision(x(b), 8, 7), f32({4}, {1, 1.015625f, 1.0078125f, NAN}));
  // As f16: too large for 5 bits of exponent.
  auto large = f32({2}, {70000, -70000});
  RUNS(ReducePrecision(large(b), 5, 10), f32({2}, {kInf, -kInf}));
  FAILS(ReducePrecision(x(b), 0, 7), "exponent_bits is");
  FAILS(ReducePrecision(x(b), 8, -1), "mantissa_bits is");
  auto i = s32({1}, {8});
  FAILS(ReducePrecision(i(b), 8, 7), "its element type must be floating");
}

ROW(ConvertElementType, "ConvertElementType(operand, new_element_type)", "zh: ConvertElementType",
    "en: ConvertElementType", "old: ConvertElementType", "tr: ConvertElementType") {
  auto a = s32({3}, {0, 1, 2});
  RUNS(ConvertElementType(a(b), F32), f32({3}, {0, 1, 2}));
  auto odd = s32({2}, {16777217, 16777219}); // between two f32: to even
  RUNS(ConvertElementType(odd(b), F32), f32({2}, {16777216, 16777220}));
  FAILS(ConvertElementType(Tuple(b, {a(b)}), F32), "must be an array, is");
  FAILS(ConvertElementType(a(b), TUPLE), "the result must be an array, is");
}

ROW(BitcastConvertType, "BitcastConvertType(operand, new_element_type)", "zh: BitcastConvertType",
    "en: BitcastConvertType", "tr: BitcastConvertType") {
  auto x = f32({2}, {1, -2});
  RUNS(BitcastConvertType(x(b), U32), u32({2}, {0x3f800000, 0xc0000000}));
  FAILS(BitcastConvertType(Tuple(b, {x(b)}), U32), "must be an array, is");
  FAILS(BitcastConvertType(x(b), TUPLE), "the new element type must be one of arrays");
}

ROW(BitcastConvertOfAnotherWidth, "BitcastConvertType(operand, new_element_type)",
    "tr: Farklı genişlikteki temel türe bitcast dönüştürme") {
  auto x = f32({2}, {1, -2});
  RUNS(BitcastConvertType(x(b), U16), u16({2, 2}, {0, 0x3f80, 0, 0xc000}));
  auto scalar = f32(1);
  RUNS(BitcastConvertType(scalar(b), U16), u16({2}, {0, 0x3f80}));
  auto halves = u16({2, 2}, {0, 0x3f80, 0, 0xc000});
  RUNS(BitcastConvertType(halves(b), F32), f32({2}, {1, -2}));
  auto three = u16({2, 3}, {0, 0, 0, 0, 0, 0}); // the last dimension must be 2
  FAILS(BitcastConvertType(three(b), F32), "the last dimension of");
}
