//===- FloatTest.cpp - Ops on floats that are exact -----------------------===//
//
// Comparisons, extrema, rounding, signs, and ops on representations, by tables.
//
//===----------------------------------------------------------------------===//
#include "test/unit/codegen-elementwise/OpRunner.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace hlo;
using namespace hlo::testing;

namespace {

template <typename T> const char *nameOf() {
  if constexpr (std::is_same_v<T, float>) {
    return "f32";
  } else if constexpr (std::is_same_v<T, double>) {
    return "f64";
  } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, uint8_t>) {
    return "i1";
  } else if constexpr (std::is_same_v<T, int32_t>) {
    return "si32";
  } else if constexpr (std::is_same_v<T, uint32_t>) {
    return "ui32";
  } else {
    static_assert(std::is_same_v<T, int8_t>);
    return "si8";
  }
}

/// Equal bit by bit, or both NaN: which NaN an operation returns is unspecified and depends on the
/// CPU.
template <typename T> bool isSame(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
  } else {
    return a == b;
  }
}

/// Applies an op as vectors where the count allows, and as scalars; both must agree.
template <typename R, typename... T>
std::vector<R> apply(const char *op, const char *attrs, const std::vector<T> &...operands) {
  size_t count = std::min({operands.size()...});
  std::vector<R> scalars(count), vectors(count);
  int64_t lanes = count % 8 == 0 ? 8 : count % 4 == 0 ? 4 : 2;
  for (auto [l, out] : {std::pair(int64_t(1), &scalars), std::pair(lanes, &vectors)}) {
    auto runner = OpRunner::compile(op, {nameOf<T>()...}, nameOf<R>(), l, targetOf("host"), attrs);
    EXPECT_TRUE(runner) << op;
    if (!runner) {
      return {};
    }
    runner->run({operands.data()...}, out->data(), count / l * l);
  }
  for (size_t i = 0; i < count / lanes * lanes; ++i) {
    EXPECT_TRUE(isSame(scalars[i], vectors[i]))
        << op << " at " << i << ": " << double(scalars[i]) << " alone, " << double(vectors[i])
        << " in a vector";
  }
  return scalars;
}

template <typename T> void expectSame(const std::vector<T> &got, const std::vector<T> &want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(isSame(got[i], want[i])) << "at " << i << ": " << got[i] << ", not " << want[i];
  }
}

template <typename T> constexpr T inf = std::numeric_limits<T>::infinity();
template <typename T> constexpr T nan = std::numeric_limits<T>::quiet_NaN();

template <typename T> class Floats : public ::testing::Test {};
using FloatTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Floats, FloatTypes);

TYPED_TEST(Floats, RoundingAndSign) {
  using T = TypeParam;
  T tiny = std::numeric_limits<T>::denorm_min();
  std::vector<T> x = {T(0),
                      -T(0),
                      T(0.5),
                      T(-0.5),
                      T(1.5),
                      T(-1.5),
                      T(2.5),
                      nan<T>,
                      tiny,
                      -tiny,
                      inf<T>,
                      -inf<T>,
                      std::nextafter(T(0.5), T(0)),
                      T(-2.5),
                      T(8388609),
                      T(4503599627370497.0)};
  std::vector<T> floors, ceils, evens, away, signs, magnitudes, negatives;
  for (T v : x) {
    floors.push_back(std::floor(v));
    ceils.push_back(std::ceil(v));
    evens.push_back(std::nearbyint(v));
    away.push_back(std::round(v));
    signs.push_back(v == 0 || std::isnan(v) ? v : std::copysign(T(1), v));
    magnitudes.push_back(std::fabs(v));
    negatives.push_back(-v);
  }
  expectSame(apply<T>("floor", "{}", x), floors);
  expectSame(apply<T>("ceil", "{}", x), ceils);
  expectSame(apply<T>("round_nearest_even", "{}", x), evens);
  expectSame(apply<T>("round_nearest_afz", "{}", x), away);
  expectSame(apply<T>("sign", "{}", x), signs);
  expectSame(apply<T>("abs", "{}", x), magnitudes);
  expectSame(apply<T>("negate", "{}", x), negatives);
}

TYPED_TEST(Floats, ExtremaPropagateNaN) {
  using T = TypeParam;
  std::vector<T> a = {1, nan<T>, 2, inf<T>, -inf<T>, nan<T>, -1, 3};
  std::vector<T> b = {2, 1, nan<T>, nan<T>, 5, nan<T>, -2, 3};
  expectSame(apply<T>("maximum", "{}", a, b), {2, nan<T>, nan<T>, nan<T>, 5, nan<T>, -1, 3});
  expectSame(apply<T>("minimum", "{}", a, b), {1, nan<T>, nan<T>, nan<T>, -inf<T>, nan<T>, -2, 3});
  std::vector<T> low = {0, 0, 0, nan<T>}, x = {-1, 5, nan<T>, 1}, high = {2, 2, 2, 2};
  expectSame(apply<T>("clamp", "{}", low, x, high), {0, 2, nan<T>, nan<T>});
}

TYPED_TEST(Floats, Compare) {
  using T = TypeParam;
  // In the total order.
  std::vector<T> order = {-nan<T>, -inf<T>, -1, -T(0), T(0), 1, inf<T>, nan<T>};
  std::vector<T> a, b;
  for (T x : order) {
    for (T y : order) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  auto compare = [&](const char *attrs) { return apply<uint8_t>("compare", attrs, a, b); };
  auto lt = compare("{direction = \"LT\"}"), ne = compare("{direction = \"NE\"}");
  auto ge = compare("{direction = \"GE\"}"), eq = compare("{direction = \"EQ\"}");
  auto total = compare("{direction = \"LT\", type = \"TOTALORDER\"}");
  auto same = compare("{direction = \"EQ\", type = \"TOTALORDER\"}");
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(lt[i], a[i] < b[i]);
    EXPECT_EQ(ne[i], a[i] != b[i]);
    EXPECT_EQ(ge[i], a[i] >= b[i]);
    EXPECT_EQ(eq[i], a[i] == b[i]);
    EXPECT_EQ(total[i], i / 8 < i % 8);
    EXPECT_EQ(same[i], i / 8 == i % 8);
  }
}

TYPED_TEST(Floats, IsFiniteAndPredicates) {
  using T = TypeParam;
  std::vector<T> x = {T(0), -T(0), 1, nan<T>, inf<T>, -inf<T>, T(0.1), -5};
  EXPECT_EQ(apply<uint8_t>("is_finite", "{}", x), std::vector<uint8_t>({1, 1, 1, 0, 0, 0, 1, 1}));
  EXPECT_EQ(apply<uint8_t>("convert", "{}", x), std::vector<uint8_t>({0, 0, 1, 1, 1, 1, 1, 1}));
}

TEST(Representations, ReducePrecision) {
  std::vector<float> x = {1.0f,   1.00390625f, 1.01171875f, 3.3e38f,    65520,       65519,
                          6e-5f,  6.2e-5f,     nan<float>,  inf<float>, -inf<float>, -0.0f,
                          -65520, 1e-40f,      0.1f,        -3.14159f};
  // As bf16: eight exponent bits, seven of mantissa.
  expectSame(
      apply<float>("reduce_precision", "{exponent_bits = 8 : i64, mantissa_bits = 7 : i64}", x),
      {1.0f, 1.0f, 1.015625f, 0x1.f0p127f, 65536, 65536, 0x1.f8p-15f, 0x1.04p-14f, nan<float>,
       inf<float>, -inf<float>, -0.0f, -65536, 0x1p-133f, 0x1.9ap-4f, -3.140625f});
  // As f16, whose subnormals are flushed.
  expectSame(
      apply<float>("reduce_precision", "{exponent_bits = 5 : i64, mantissa_bits = 10 : i64}", x),
      {1.0f, 1.00390625f, 1.01171875f, inf<float>, inf<float>, 65504, 0.0f, 0x1.04p-14f, nan<float>,
       inf<float>, -inf<float>, -0.0f, -inf<float>, 0.0f, 0x1.998p-4f, -3.140625f});
}

TEST(Representations, Bitcast) {
  std::vector<float> x = {1.0f, -0.0f, nan<float>, 3.5f};
  std::vector<int32_t> bits(4);
  std::memcpy(bits.data(), x.data(), 16);
  EXPECT_EQ(apply<int32_t>("bitcast_convert", "{}", x), bits);
  expectSame(apply<float>("bitcast_convert", "{}", bits), x);
  std::vector<uint8_t> codes(256), back(256);
  for (int i = 0; i < 256; ++i) {
    codes[i] = i;
  }
  // A NaN stays a NaN, but its code may change.
  auto runner = OpRunner::compile("bitcast_convert", {"ui8"}, "f8E4M3FN", 16, targetOf("host"));
  ASSERT_TRUE(runner);
  runner->run({codes.data()}, back.data(), 256);
  EXPECT_EQ(back, codes);
  runner = OpRunner::compile("bitcast_convert", {"f4E2M1FN"}, "ui4", 16, targetOf("host"));
  ASSERT_TRUE(runner);
  runner->run({codes.data()}, back.data(), 16);
  EXPECT_TRUE(std::equal(codes.begin(), codes.begin() + 16, back.begin()));
}

TEST(Representations, StochasticConvert) {
  std::vector<float> x = {1.25f, 1.25f, -1.25f, -1.25f, nan<float>, 300, -300, 2};
  std::vector<uint32_t> random = {0, 0x40000000, 0x3fffffff, 0x40000000, 0, 0, 0, 0};
  EXPECT_EQ(apply<int8_t>("stochastic_convert", "{}", x, random),
            std::vector<int8_t>({2, 1, -2, -1, 0, 127, -128, 2}));
}

TEST(Representations, Select) {
  std::vector<uint8_t> condition = {1, 0, 1, 0};
  std::vector<float> a = {1, 2, 3, 4}, b = {5, 6, 7, 8};
  expectSame(apply<float>("select", "{}", condition, a, b), {1, 6, 3, 8});
}

} // namespace
