//===- NarrowTest.cpp - Floats of fewer than 32 bits, and conversions -----===//
//
// All codes of every narrow float, and rounding to them from f32, f64 and integers, against
// LLVM's APFloat; overflow and NaN against a table of what ml_dtypes does.
//
//===----------------------------------------------------------------------===//
#include "test/unit/codegen-elementwise/OpRunner.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace hlo;
using namespace hlo::testing;
using llvm::APFloat;
using llvm::APInt;

namespace {

struct Narrow {
  const char *name;
  const llvm::fltSemantics &semantics;
  int bits;
  uint32_t ofNaN, ofMinusNaN, ofInf, ofMinusInf;
  int bytes() const { return bits > 8 ? 2 : 1; }
};
const Narrow narrows[] = {
    {"f16", APFloat::IEEEhalf(), 16, 0x7e00, 0xfe00, 0x7c00, 0xfc00},
    {"bf16", APFloat::BFloat(), 16, 0x7fc0, 0xffc0, 0x7f80, 0xff80},
    {"f8E5M2", APFloat::Float8E5M2(), 8, 0x7e, 0xfe, 0x7c, 0xfc},
    {"f8E4M3", APFloat::Float8E4M3(), 8, 0x7c, 0xfc, 0x78, 0xf8},
    {"f8E4M3FN", APFloat::Float8E4M3FN(), 8, 0x7f, 0xff, 0x7f, 0xff},
    {"f8E4M3B11FNUZ", APFloat::Float8E4M3B11FNUZ(), 8, 0x80, 0x80, 0x80, 0x80},
    {"f8E5M2FNUZ", APFloat::Float8E5M2FNUZ(), 8, 0x80, 0x80, 0x80, 0x80},
    {"f8E4M3FNUZ", APFloat::Float8E4M3FNUZ(), 8, 0x80, 0x80, 0x80, 0x80},
    {"f8E3M4", APFloat::Float8E3M4(), 8, 0x78, 0xf8, 0x70, 0xf0},
    {"f8E8M0FNU", APFloat::Float8E8M0FNU(), 8, 0xff, 0xff, 0xff, 0xff},
    {"f6E2M3FN", APFloat::Float6E2M3FN(), 6, 0x20, 0x20, 0x1f, 0x3f},
    {"f6E3M2FN", APFloat::Float6E3M2FN(), 6, 0x20, 0x20, 0x1f, 0x3f},
    {"f4E2M1FN", APFloat::Float4E2M1FN(), 4, 0x8, 0x8, 0x7, 0xf},
};

bool isExponentOnly(const Narrow &type) { return std::string(type.name) == "f8E8M0FNU"; }

double valueOf(const Narrow &type, uint32_t code) {
  if (isExponentOnly(type) && code == 0xff) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return APFloat(type.semantics, APInt(type.bits, code)).convertToDouble();
}

/// The code of a finite value rounded to nearest even; `above` for values beyond the largest.
uint32_t codeOf(const Narrow &type, double value) {
  if (std::isnan(value)) {
    return std::signbit(value) ? type.ofMinusNaN : type.ofNaN;
  }
  if (std::isinf(value)) {
    return value > 0 ? type.ofInf : type.ofMinusInf;
  }
  if (isExponentOnly(type)) {
    // Ties round up.
    if (value <= 0) {
      return 0xff;
    }
    int exponent;
    double mantissa = std::frexp(value, &exponent);
    exponent += 126 + (mantissa >= 0.75);
    return exponent <= 0 ? 0 : std::min(exponent, 255);
  }
  APFloat narrow(value);
  bool losesInfo;
  narrow.convert(type.semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  if (narrow.isNaN() || narrow.isInfinity()) {
    return value > 0 ? type.ofInf : type.ofMinusInf;
  }
  return narrow.bitcastToAPInt().getZExtValue();
}

std::vector<char> codes(const Narrow &type, const std::vector<uint32_t> &list) {
  std::vector<char> bytes;
  for (uint32_t code : list) {
    const char *p = reinterpret_cast<const char *>(&code);
    bytes.insert(bytes.end(), p, p + type.bytes());
  }
  return bytes;
}
uint32_t codeAt(const Narrow &type, const std::vector<char> &bytes, size_t i) {
  uint32_t code = 0;
  std::memcpy(&code, &bytes[i * type.bytes()], type.bytes());
  return code;
}

/// Values of the type, midpoints between them, numbers next to those; then arbitrary ones.
template <typename T> std::vector<T> interesting(const Narrow &type) {
  std::vector<T> values;
  for (uint32_t code = 0; code < (1u << type.bits); code += type.bits > 8 ? 7 : 1) {
    double x = valueOf(type, code), y = valueOf(type, (code + 1) & ((1u << type.bits) - 1));
    double middle = (x + y) / 2;
    for (double v : {x, middle}) {
      auto t = static_cast<T>(v);
      values.insert(values.end(), {t, std::nextafter(t, T(1e30)), std::nextafter(t, T(-1e30))});
    }
  }
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> exponent(-160, 140), mantissa(-2, 2);
  for (int i = 0; i < 20000; ++i) {
    values.push_back(static_cast<T>(std::exp2(exponent(random) / (i % 4 + 1)) * mantissa(random)));
  }
  auto inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  values.insert(values.end(), {inf, -inf, nan, -nan, T(0), -T(0), std::numeric_limits<T>::max()});
  values.resize(values.size() / 16 * 16 + 16);
  return values;
}

template <typename T> void checkRounding(const Narrow &type, const Target &target) {
  std::vector<T> values = interesting<T>(type);
  std::vector<char> got(values.size() * type.bytes());
  auto runner =
      OpRunner::compile("convert", {sizeof(T) == 4 ? "f32" : "f64"}, type.name, 16, target);
  ASSERT_TRUE(runner) << type.name;
  runner->run({values.data()}, got.data(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    uint32_t code = codeAt(type, got, i);
    if (type.bits == 16 && std::isnan(values[i])) {
      // Payloads are kept.
      EXPECT_TRUE(std::isnan(valueOf(type, code)));
      continue;
    }
    ASSERT_EQ(code, codeOf(type, values[i])) << type.name << " of " << values[i] << " for "
                                             << target.cpu << " from " << sizeof(T) << " bytes";
  }
}

class NarrowFloats : public ::testing::TestWithParam<const char *> {};

TEST_P(NarrowFloats, Rounding) {
  for (const Narrow &type : narrows) {
    checkRounding<float>(type, targetOf(GetParam()));
    checkRounding<double>(type, targetOf(GetParam()));
  }
}

TEST_P(NarrowFloats, Widening) {
  for (const Narrow &type : narrows) {
    std::vector<uint32_t> list;
    for (uint32_t code = 0; code < (1u << type.bits); ++code) {
      list.push_back(code);
    }
    std::vector<float> got(list.size());
    auto runner = OpRunner::compile("convert", {type.name}, "f32", 16, targetOf(GetParam()));
    ASSERT_TRUE(runner);
    runner->run({codes(type, list).data()}, got.data(), list.size());
    for (uint32_t code : list) {
      double want = valueOf(type, code);
      ASSERT_TRUE((std::isnan(want) && std::isnan(got[code])) ||
                  (want == got[code] && std::signbit(want) == std::signbit(got[code])))
          << type.name << " code " << code << ": " << got[code];
    }
  }
}

TEST_P(NarrowFloats, SumsAndProducts) {
  std::mt19937 random(3);
  for (const Narrow &type : narrows) {
    if (isExponentOnly(type)) {
      continue;
    }
    std::vector<uint32_t> a, b;
    for (int i = 0; i < 1 << 16; ++i) {
      a.push_back(random() & ((1u << type.bits) - 1));
      b.push_back(random() & ((1u << type.bits) - 1));
    }
    for (const char *op : {"add", "multiply", "divide"}) {
      std::vector<char> got(a.size() * type.bytes());
      auto runner =
          OpRunner::compile(op, {type.name, type.name}, type.name, 16, targetOf(GetParam()));
      ASSERT_TRUE(runner);
      runner->run({codes(type, a).data(), codes(type, b).data()}, got.data(), a.size());
      for (size_t i = 0; i < a.size(); ++i) {
        float x = valueOf(type, a[i]), y = valueOf(type, b[i]);
        // With twice the precision and two bits more, rounding twice equals rounding once.
        float want = *op == 'a' ? x + y : *op == 'm' ? x * y : x / y;
        uint32_t code = codeOf(type, want), was = codeAt(type, got, i);
        ASSERT_TRUE(was == code || std::isnan(want))
            << type.name << " " << op << " " << x << ", " << y << ": " << was << ", not " << code;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, NarrowFloats,
                         ::testing::Values("host", "x86-64-v3", "x86-64-v2"));

template <typename T> void checkFromInteger(const char *from, const Narrow &to) {
  std::vector<T> values;
  std::mt19937_64 random(9);
  for (int shift = 0; shift < int(sizeof(T)) * 8; ++shift) {
    T one = T(1) << shift;
    for (int i = 0; i < 6; ++i) {
      T v = one + static_cast<T>(i % 3 - 1) + (i > 2 ? static_cast<T>(one >> 9) : T(0));
      values.insert(values.end(), {v, T(-v), static_cast<T>(random() >> shift),
                                   static_cast<T>((one >> 8) * 257 + i - 2)});
    }
  }
  values.resize(values.size() / 8 * 8);
  std::vector<char> got(values.size() * to.bytes());
  auto runner = OpRunner::compile("convert", {from}, to.name, 8, targetOf("host"));
  ASSERT_TRUE(runner);
  runner->run({values.data()}, got.data(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    APFloat want(to.semantics, APInt::getZero(to.bits));
    APInt integer(64, uint64_t(int64_t(values[i])), true);
    if (std::is_unsigned_v<T>) {
      integer = APInt(64, values[i]);
    }
    want.convertFromAPInt(integer, std::is_signed_v<T>, APFloat::rmNearestTiesToEven);
    ASSERT_EQ(codeAt(to, got, i), want.bitcastToAPInt().getZExtValue())
        << from << " " << +values[i] << " to " << to.name;
  }
}

TEST(Conversions, IntegersToNarrowFloats) {
  for (const Narrow &to : {narrows[0], narrows[1]}) {
    checkFromInteger<int64_t>("si64", to);
    checkFromInteger<uint64_t>("ui64", to);
    checkFromInteger<int32_t>("si32", to);
    checkFromInteger<uint32_t>("ui32", to);
    checkFromInteger<int16_t>("si16", to);
    checkFromInteger<uint8_t>("ui8", to);
  }
}

template <typename F, typename T> void checkToInteger(const char *from, const char *to, int width) {
  bool isUnsigned = to[0] == 'u';
  std::vector<F> values = {0,
                           -F(0),
                           F(0.9),
                           F(-0.9),
                           1,
                           -1,
                           F(1.5),
                           F(-1.5),
                           7,
                           8,
                           -8,
                           -9,
                           15,
                           16,
                           127,
                           128,
                           -128,
                           -129,
                           255,
                           256,
                           32767,
                           32768,
                           -32769,
                           65535,
                           65536,
                           F(1e9),
                           F(2147483648.0),
                           F(-2147483648.0),
                           F(4294967295.0),
                           F(4294967296.0),
                           F(9.2233720368547758e18),
                           F(-9.2233720368547758e18),
                           F(1.8446744073709552e19),
                           F(1e30),
                           F(-1e30),
                           std::numeric_limits<F>::infinity(),
                           -std::numeric_limits<F>::infinity(),
                           std::numeric_limits<F>::quiet_NaN(),
                           F(2147483520.0),
                           F(1.0e18)};
  std::vector<T> got(values.size());
  for (int64_t lanes : {1, 8}) {
    auto runner = OpRunner::compile("convert", {from}, to, lanes, targetOf("host"));
    ASSERT_TRUE(runner);
    runner->run({values.data()}, got.data(), values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      long double low = isUnsigned ? 0 : -std::ldexp(1.0L, width - 1);
      long double high = std::ldexp(1.0L, isUnsigned ? width : width - 1) - 1;
      long double whole = std::trunc(static_cast<long double>(values[i]));
      T want = std::isnan(values[i]) ? T(0)
               : whole <= low        ? static_cast<T>(low)
               : whole >= high       ? static_cast<T>(high)
                                     : static_cast<T>(whole);
      ASSERT_EQ(+got[i], +want) << from << " " << values[i] << " to " << to;
    }
  }
}

TEST(Conversions, FloatsToIntegersSaturate) {
  checkToInteger<float, int8_t>("f32", "si4", 4);
  checkToInteger<float, uint8_t>("f32", "ui4", 4);
  checkToInteger<float, int8_t>("f32", "si8", 8);
  checkToInteger<float, uint8_t>("f32", "ui8", 8);
  checkToInteger<float, int16_t>("f32", "si16", 16);
  checkToInteger<float, uint16_t>("f32", "ui16", 16);
  checkToInteger<float, int32_t>("f32", "si32", 32);
  checkToInteger<float, uint32_t>("f32", "ui32", 32);
  checkToInteger<float, int64_t>("f32", "si64", 64);
  checkToInteger<float, uint64_t>("f32", "ui64", 64);
  checkToInteger<double, int8_t>("f64", "si8", 8);
  checkToInteger<double, int32_t>("f64", "si32", 32);
  checkToInteger<double, uint32_t>("f64", "ui32", 32);
  checkToInteger<double, int64_t>("f64", "si64", 64);
  checkToInteger<double, uint64_t>("f64", "ui64", 64);
}

} // namespace
