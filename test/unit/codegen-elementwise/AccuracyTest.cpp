//===- AccuracyTest.cpp - Errors of the elementary functions --------------===//
//
// Every float function over dense samples of its arguments, against the C library in long double,
// for several targets. Prints the worst error per function and type, in units of the last place.
//
//===----------------------------------------------------------------------===//
#include "test/unit/codegen-elementwise/OpRunner.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace hlo;
using namespace hlo::testing;

namespace {

using Real = long double;
using Reference = Real (*)(Real, Real);

struct Case {
  const char *opcode;
  Reference reference;
  int operands;
  double lowest, highest; ///< where most samples of the first operand are
  double ulps;            ///< bound on the error
};

Real logistic(Real x, Real) { return 1 / (1 + std::exp(-x)); }
Real cubeRoot(Real x, Real) { return std::cbrt(x); }

const Case cases[] = {
    {"exponential", [](Real x, Real) { return std::exp(x); }, 1, -110, 90, 1.1},
    {"exponential_minus_one", [](Real x, Real) { return std::expm1(x); }, 1, -50, 90, 2},
    {"log", [](Real x, Real) { return std::log(x); }, 1, 0.1, 10, 2},
    {"log_plus_one", [](Real x, Real) { return std::log1p(x); }, 1, -1, 10, 2},
    {"logistic", logistic, 1, -110, 30, 2},
    {"tanh", [](Real x, Real) { return std::tanh(x); }, 1, -12, 12, 2},
    {"sine", [](Real x, Real) { return std::sin(x); }, 1, -1000, 1000, 2},
    {"cosine", [](Real x, Real) { return std::cos(x); }, 1, -1000, 1000, 2},
    {"tan", [](Real x, Real) { return std::tan(x); }, 1, -1000, 1000, 2},
    {"sinh", [](Real x, Real) { return std::sinh(x); }, 1, -100, 100, 2},
    {"cosh", [](Real x, Real) { return std::cosh(x); }, 1, -100, 100, 2},
    {"asin", [](Real x, Real) { return std::asin(x); }, 1, -1, 1, 2},
    {"acos", [](Real x, Real) { return std::acos(x); }, 1, -1, 1, 2},
    {"asinh", [](Real x, Real) { return std::asinh(x); }, 1, -10, 10, 2},
    {"acosh", [](Real x, Real) { return std::acosh(x); }, 1, 1, 10, 2},
    {"atanh", [](Real x, Real) { return std::atanh(x); }, 1, -1, 1, 2},
    {"erf", [](Real x, Real) { return std::erf(x); }, 1, -6, 6, 2},
    {"cbrt", cubeRoot, 1, -100, 100, 1},
    {"sqrt", [](Real x, Real) { return std::sqrt(x); }, 1, 0, 100, 0.5001},
    {"rsqrt", [](Real x, Real) { return 1 / std::sqrt(x); }, 1, 0, 100, 1.5},
    {"power", [](Real x, Real y) { return std::pow(x, y); }, 2, 0, 10, 1},
    {"atan2", [](Real x, Real y) { return std::atan2(x, y); }, 2, -10, 10, 2},
    {"remainder", [](Real x, Real y) { return std::fmod(x, y); }, 2, -1000, 1000, 0},
};

/// Distance from `value` to the exact result in units of the last place of T.
template <typename T> double ulpError(T value, Real exact) {
  T nearest = static_cast<T>(exact);
  if (std::isnan(nearest) || std::isnan(value)) {
    return std::isnan(nearest) && std::isnan(value) ? 0 : 1e30;
  }
  if (std::isinf(nearest) || std::isinf(value)) {
    // A result next to the largest finite may round either way.
    Real limit = std::numeric_limits<T>::max();
    return nearest == value || (std::fabs(exact) > limit * 0.9999999L && value * exact > 0) ? 0
                                                                                            : 1e30;
  }
  int exponent = 0;
  std::frexp(exact, &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  Real ulp = std::ldexp(Real(1), exponent - std::numeric_limits<T>::digits);
  return static_cast<double>(std::fabs((value - exact) / ulp));
}

template <typename T> T ofBits(uint64_t bits) {
  T value;
  if constexpr (sizeof(T) == 4) {
    auto narrow = static_cast<uint32_t>(bits);
    std::memcpy(&value, &narrow, 4);
  } else {
    std::memcpy(&value, &bits, 8);
  }
  return value;
}

/// Special values, then dense ones in the case's range, then any bit patterns.
template <typename T> std::vector<T> samples(const Case &c, int operand, size_t count) {
  std::mt19937_64 random(17 + operand);
  using Limits = std::numeric_limits<T>;
  std::vector<T> special = {T(0),
                            -T(0),
                            T(1),
                            T(-1),
                            T(0.5),
                            T(-0.5),
                            T(2),
                            T(-2),
                            T(3),
                            T(-3),
                            Limits::infinity(),
                            -Limits::infinity(),
                            Limits::quiet_NaN(),
                            Limits::denorm_min(),
                            -Limits::denorm_min(),
                            Limits::min(),
                            -Limits::min(),
                            Limits::max(),
                            Limits::lowest(),
                            T(1e-10),
                            T(0.25),
                            T(1) + Limits::epsilon(),
                            T(1) - Limits::epsilon() / 2,
                            T(1.5707963267948966),
                            T(3.141592653589793),
                            T(6.02e23),
                            T(-6.02e23),
                            T(1e22),
                            T(100.5),
                            T(-7),
                            T(64),
                            T(1e-40)};
  std::vector<T> values;
  if (operand == 0) {
    for (T x : special) {
      values.insert(values.end(), special.size(), x);
    }
  } else {
    for (size_t i = 0; i < special.size(); ++i) {
      values.insert(values.end(), special.begin(), special.end());
    }
  }
  std::uniform_real_distribution<double> inRange(operand ? -10 : c.lowest,
                                                 operand ? 10 : c.highest);
  while (values.size() < count / 2) {
    values.push_back(static_cast<T>(inRange(random)));
  }
  while (values.size() < count) {
    values.push_back(ofBits<T>(random()));
  }
  return values;
}

template <typename T> void sweep(const Case &c, const Target &target, int64_t lanes, size_t count) {
  std::string type = sizeof(T) == 4 ? "f32" : "f64";
  std::vector<std::string> operands(c.operands, type);
  auto runner = OpRunner::compile(c.opcode, operands, type, lanes, target);
  ASSERT_TRUE(runner) << c.opcode;
  std::vector<T> x = samples<T>(c, 0, count), y = samples<T>(c, 1, count), result(count);
  runner->run({x.data(), y.data()}, result.data(), count);
  double worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < count; ++i) {
    Real exact = c.reference(x[i], y[i]);
    double error = ulpError(result[i], exact);
    if (exact == 0 && result[i] == 0 && std::signbit(exact) != std::signbit(result[i])) {
      error = 1e31;
    }
    if (error > worst) {
      worst = error;
      where = i;
    }
  }
  std::printf("%-22s %s x%-2d %-12s %8.3f ulp at %.17g, %.17g: %.17g, exact %.17Lg\n", c.opcode,
              type.c_str(), int(lanes), target.cpu.c_str(), worst, double(x[where]),
              double(y[where]), double(result[where]), c.reference(x[where], y[where]));
  EXPECT_LE(worst, c.ulps) << c.opcode << " " << type;
}

class Accuracy : public ::testing::TestWithParam<Case> {};

/// HLO_SAMPLES sets the number of arguments.
size_t sampleCount() {
  const char *text = std::getenv("HLO_SAMPLES");
  return (text ? std::strtoull(text, nullptr, 10) : 1 << 15) / 64 * 64;
}

TEST_P(Accuracy, Host) {
  Target host = targetOf("host");
  sweep<float>(GetParam(), host, host.machine.lanes(4), sampleCount());
  sweep<double>(GetParam(), host, host.machine.lanes(8), sampleCount());
}
TEST_P(Accuracy, Scalar) {
  sweep<float>(GetParam(), targetOf("host"), 1, sampleCount() / 8);
  sweep<double>(GetParam(), targetOf("host"), 1, sampleCount() / 8);
}
TEST_P(Accuracy, WithoutFma) {
  Target old = targetOf("x86-64-v2");
  sweep<float>(GetParam(), old, 4, sampleCount() / 4);
  sweep<double>(GetParam(), old, 2, sampleCount() / 4);
}

/// The result of an element does not depend on how many are computed together: one lane may branch
/// where a vector selects.
template <typename T> class OneAndMany {
public:
  OneAndMany(const Case &c, const Target &target) : name(c.opcode + (" on " + target.cpu)) {
    std::string type = sizeof(T) == 4 ? "f32" : "f64";
    std::vector<std::string> operands(c.operands, type);
    many = OpRunner::compile(c.opcode, operands, type, target.machine.lanes(sizeof(T)), target);
    one = OpRunner::compile(c.opcode, operands, type, 1, target);
  }
  void expectSameBits(const std::vector<T> &x, const std::vector<T> &y) const {
    ASSERT_TRUE(one && many) << name;
    std::vector<T> alone(x.size()), together(x.size());
    one->run({x.data(), y.data()}, alone.data(), x.size());
    many->run({x.data(), y.data()}, together.data(), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      bool same = std::memcmp(&together[i], &alone[i], sizeof(T)) == 0 ||
                  (std::isnan(together[i]) && std::isnan(alone[i]));
      ASSERT_TRUE(same) << name << " of " << std::hexfloat << x[i] << ", " << y[i] << ": "
                        << together[i] << ", alone " << alone[i];
    }
  }

private:
  std::string name;
  std::unique_ptr<OpRunner> one, many;
};

TEST_P(Accuracy, OneLaneAsMany) {
  for (const char *cpu : {"host", "x86-64-v3", "x86-64-v2"}) {
    Target target = targetOf(cpu);
    const Case &c = GetParam();
    OneAndMany<float>(c, target).expectSameBits(samples<float>(c, 0, sampleCount()),
                                                samples<float>(c, 1, sampleCount()));
    OneAndMany<double>(c, target).expectSameBits(samples<double>(c, 0, sampleCount()),
                                                 samples<double>(c, 1, sampleCount()));
  }
}

/// All floats; some minutes.
TEST_P(Accuracy, DISABLED_OneLaneAsManyOfAllFloats) {
  constexpr uint64_t block = 1 << 22;
  std::vector<float> x(block), y(block, 0.7F);
  OneAndMany<float> runners(GetParam(), targetOf("host"));
  for (uint64_t first = 0; first < uint64_t(1) << 32 && !HasFatalFailure(); first += block) {
    for (uint64_t i = 0; i < block; ++i) {
      x[i] = ofBits<float>(first + i);
    }
    runners.expectSameBits(x, y);
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, Accuracy, ::testing::ValuesIn(cases),
                         [](const auto &info) { return std::string(info.param.opcode); });

} // namespace
