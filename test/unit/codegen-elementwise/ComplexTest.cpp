//===- ComplexTest.cpp - Functions of complex numbers ---------------------===//
//
// Every function on random arguments against the C++ library in long double: the error as a
// fraction of the result's modulus. Special values against a table.
//
//===----------------------------------------------------------------------===//
#include "test/unit/codegen-elementwise/OpRunner.h"
#include <cmath>
#include <complex>
#include <gtest/gtest.h>
#include <random>

using namespace hlo;
using namespace hlo::testing;

namespace {

using Z = std::complex<long double>;

struct Case {
  const char *opcode;
  Z (*reference)(Z, Z);
  int operands;
  double range;    ///< of both parts
  double epsilons; ///< bound, in units of the type's epsilon
};

Z log1pOf(Z z, Z) {
  long double a = z.real(), b = z.imag();
  return {std::log1p(a * (2 + a) + b * b) / 2, std::atan2(b, 1 + a)};
}
Z expm1Of(Z z, Z) {
  long double a = z.real(), b = z.imag(), s = std::sin(b / 2);
  return {std::expm1(a) * std::cos(b) - 2 * s * s, std::exp(a) * std::sin(b)};
}

const Case cases[] = {
    {"multiply", [](Z a, Z b) { return a * b; }, 2, 100, 2},
    {"divide", [](Z a, Z b) { return a / b; }, 2, 100, 4},
    {"exponential", [](Z z, Z) { return std::exp(z); }, 1, 80, 2},
    {"exponential_minus_one", expm1Of, 1, 2, 3},
    {"log", [](Z z, Z) { return std::log(z); }, 1, 3, 2},
    {"log_plus_one", log1pOf, 1, 0.9, 2},
    {"logistic", [](Z z, Z) { return Z(1) / (Z(1) + std::exp(-z)); }, 1, 2, 6},
    {"sqrt", [](Z z, Z) { return std::sqrt(z); }, 1, 100, 2},
    {"rsqrt", [](Z z, Z) { return Z(1) / std::sqrt(z); }, 1, 100, 4},
    {"sine", [](Z z, Z) { return std::sin(z); }, 1, 20, 3},
    {"cosine", [](Z z, Z) { return std::cos(z); }, 1, 20, 3},
    {"tan", [](Z z, Z) { return std::tan(z); }, 1, 4, 8},
    {"tanh", [](Z z, Z) { return std::tanh(z); }, 1, 4, 8},
    {"sinh", [](Z z, Z) { return std::sinh(z); }, 1, 20, 3},
    {"cosh", [](Z z, Z) { return std::cosh(z); }, 1, 20, 3},
    {"asin", [](Z z, Z) { return std::asin(z); }, 1, 5, 6},
    {"acos", [](Z z, Z) { return std::acos(z); }, 1, 5, 6},
    {"asinh", [](Z z, Z) { return std::asinh(z); }, 1, 5, 6},
    {"acosh", [](Z z, Z) { return std::acosh(z); }, 1, 5, 6},
    {"atanh", [](Z z, Z) { return std::atanh(z); }, 1, 5, 6},
    {"power", [](Z a, Z b) { return std::pow(a, b); }, 2, 4, 40},
    {"sign", [](Z z, Z) { return z / std::abs(z); }, 1, 4, 2},
};

template <typename T> std::string typeName() {
  return sizeof(T) == 4 ? "complex<f32>" : "complex<f64>";
}

template <typename T> void sweep(const Case &c, const Target &target, int64_t lanes) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> part(-c.range, c.range);
  size_t count = 1 << 13;
  std::vector<std::complex<T>> a(count), b(count), got(count);
  for (size_t i = 0; i < count; ++i) {
    a[i] = {T(part(random)), T(part(random))};
    b[i] = {T(part(random)), T(part(random))};
  }
  std::vector<std::string> operands(c.operands, typeName<T>());
  auto runner = OpRunner::compile(c.opcode, operands, typeName<T>(), lanes, target);
  ASSERT_TRUE(runner) << c.opcode;
  runner->run({a.data(), b.data()}, got.data(), count);
  double worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < count; ++i) {
    Z want = c.reference(Z(a[i]), Z(b[i]));
    double error = std::abs(Z(got[i]) - want) / std::abs(want) / std::numeric_limits<T>::epsilon();
    if (!(error <= worst)) {
      worst = error;
      where = i;
    }
  }
  std::printf("%-22s %s x%-2d %8.3f epsilon at %.9g, %.9g\n", c.opcode, typeName<T>().c_str(),
              int(lanes), worst, double(a[where].real()), double(a[where].imag()));
  EXPECT_LE(worst, c.epsilons) << c.opcode;
}

class ComplexFunctions : public ::testing::TestWithParam<Case> {};
TEST_P(ComplexFunctions, AreClose) {
  sweep<float>(GetParam(), targetOf("host"), 8);
  sweep<double>(GetParam(), targetOf("x86-64-v3"), 4);
  sweep<double>(GetParam(), targetOf("x86-64-v2"), 1);
}
INSTANTIATE_TEST_SUITE_P(Functions, ComplexFunctions, ::testing::ValuesIn(cases),
                         [](const auto &info) { return std::string(info.param.opcode); });

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
using C = std::complex<float>;

struct Special {
  const char *opcode;
  C a, b, want;
};
const Special specials[] = {
    {"exponential", {-inf, 1}, {}, {0, 0}},
    {"exponential", {-inf, inf}, {}, {0, 0}},
    {"exponential", {inf, 0}, {}, {inf, 0}},
    {"exponential", {inf, 1}, {}, {inf, inf}},
    {"exponential", {1, 0}, {}, {std::exp(1.0f), 0}},
    {"exponential", {nan, 0}, {}, {nan, 0}},
    {"exponential_minus_one", {-inf, 1}, {}, {-1, 0}},
    {"exponential_minus_one", {1e-30f, 1e-30f}, {}, {1e-30f, 1e-30f}},
    {"log", {0, 0}, {}, {-inf, 0}},
    {"log", {-1, -0.0f}, {}, {0, -float(M_PI)}},
    {"log", {1e30f, 1e30f}, {}, {69.424126f, float(M_PI / 4)}},
    {"log", {-inf, inf}, {}, {inf, float(M_PI * 3 / 4)}},
    {"log_plus_one", {1e-30f, 1e-30f}, {}, {1e-30f, 1e-30f}},
    {"log_plus_one", {-1, 0}, {}, {-inf, 0}},
    {"sqrt", {-4, 0}, {}, {0, 2}},
    {"sqrt", {-4, -0.0f}, {}, {0, -2}},
    {"sqrt", {-inf, 1}, {}, {0, inf}},
    {"sqrt", {3e38f, 3e38f}, {}, {1.9029765e19f, 7.882387e18f}},
    {"sqrt", {nan, inf}, {}, {inf, inf}},
    {"rsqrt", {inf, 0}, {}, {0, 0}},
    {"rsqrt", {4, 0}, {}, {0.5f, 0}},
    {"sine", {0, inf}, {}, {0, inf}},
    {"cosine", {0, 0}, {}, {1, 0}},
    {"tan", {0, inf}, {}, {0, 1}},
    {"tanh", {inf, 1}, {}, {1, 0}},
    {"tanh", {-inf, 0}, {}, {-1, 0}},
    {"tanh", {500, 1}, {}, {1, 0}},
    {"logistic", {-inf, 0}, {}, {0, 0}},
    {"logistic", {inf, 0}, {}, {1, 0}},
    {"sign", {0, 0}, {}, {0, 0}},
    {"sign", {1e30f, 1e30f}, {}, {0.70710677f, 0.70710677f}},
    {"power", {0, 0}, {0, 0}, {1, 0}},
    {"power", {0, 0}, {1, 0}, {0, 0}},
    {"power", {0, 0}, {-1, 0}, {nan, nan}},
    {"power", {inf, 0}, {2, 0}, {inf, 0}},
    {"power", {1, 0}, {nan, 0}, {1, 0}},
    {"divide", {1, 1}, {0, 0}, {inf, inf}},
    {"divide", {1, 1}, {inf, 0}, {0, 0}},
    {"divide", {inf, 0}, {1, 1}, {inf, -inf}},
    {"divide", {1e38f, 1e38f}, {1e38f, 1e38f}, {1, 0}},
    {"divide", {1e-38f, 1e-38f}, {1e-38f, 1e-38f}, {1, 0}},
};

template <typename T> void checkSpecial(const Special &s) {
  bool binary = std::string(s.opcode) == "power" || std::string(s.opcode) == "divide";
  std::vector<std::string> operands(binary ? 2 : 1, typeName<T>());
  std::complex<T> a = s.a, b = s.b, got;
  auto runner = OpRunner::compile(s.opcode, operands, typeName<T>(), 1, targetOf("host"));
  ASSERT_TRUE(runner);
  runner->run({&a, &b}, &got, 1);
  auto same = [](double x, double want) {
    return std::isnan(want) ? std::isnan(x)
                            : x == want || std::abs(x - want) <= 1e-6 * std::abs(want) + 1e-200;
  };
  EXPECT_TRUE(same(got.real(), s.want.real()) && same(got.imag(), s.want.imag()))
      << s.opcode << " " << typeName<T>() << " of " << s.a << ", " << s.b << ": " << got << ", not "
      << s.want;
}

TEST(ComplexSpecials, AreAsInTheTable) {
  for (const Special &s : specials) {
    checkSpecial<float>(s);
    checkSpecial<double>(s);
  }
}

TEST(ComplexModulus, NeverOverflowsEarly) {
  std::vector<std::complex<double>> z = {{3, 4}, {1e300, 1e300}, {3e-320, 4e-320}, {inf, nan}};
  std::vector<double> got(4);
  auto runner = OpRunner::compile("abs", {"complex<f64>"}, "f64", 4, targetOf("host"));
  ASSERT_TRUE(runner);
  runner->run({z.data()}, got.data(), 4);
  EXPECT_EQ(got[0], 5);
  EXPECT_EQ(got[1], std::hypot(1e300, 1e300));
  EXPECT_EQ(got[2], std::hypot(3e-320, 4e-320));
  EXPECT_EQ(got[3], inf);
}

} // namespace
