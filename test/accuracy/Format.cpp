//===- Format.cpp - Element types as bits ---------------------------------===//
//
// In: bits and reals. Out: reals, bits, errors. Assumes round-to-nearest.
//
//===----------------------------------------------------------------------===//
#include "Format.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace accuracy {

double fromBits(const Format &format, uint64_t bits) {
  if (format.bytes == 8) {
    double value;
    std::memcpy(&value, &bits, 8);
    return value;
  }
  if (format.bytes == 4 || format.precision == 8) {
    auto word = static_cast<uint32_t>(format.bytes == 4 ? bits : bits << 16);
    float value;
    std::memcpy(&value, &word, 4);
    return value;
  }
  int exponent = static_cast<int>(bits >> 10 & 31);
  double fraction = static_cast<double>(bits & 1023);
  double magnitude = exponent == 0   ? std::ldexp(fraction, -24)
                     : exponent < 31 ? std::ldexp(fraction + 1024, exponent - 25)
                                     : (fraction == 0 ? std::numeric_limits<double>::infinity()
                                                      : std::numeric_limits<double>::quiet_NaN());
  return (bits >> 15 & 1) != 0 ? -magnitude : magnitude;
}

uint64_t toBits(const Format &format, Quad value) {
  if (format.bytes == 8) {
    auto rounded = static_cast<double>(value);
    return loadBits(format, reinterpret_cast<const char *>(&rounded));
  }
  if (format.bytes == 4) {
    auto rounded = static_cast<float>(value);
    return loadBits(format, reinterpret_cast<const char *>(&rounded));
  }
  int mantissaBits = format.precision - 1;
  uint64_t infinity = static_cast<uint64_t>(2 * format.maxExponent - 1) << mantissaBits;
  uint64_t sign = signbitq(value) ? 0x8000 : 0;
  if (isnanq(value)) {
    return infinity | uint64_t(1) << (mantissaBits - 1);
  }
  Quad magnitude = fabsq(value);
  if (isinfq(value) || value == 0) {
    return sign | (value == 0 ? 0 : infinity);
  }
  int exponent = 0;
  frexpq(magnitude, &exponent);
  int binade = std::max(exponent - 1, format.minExponent);
  // Multiples of the last place in this binade; carries run into the exponent's bits.
  auto steps = static_cast<uint64_t>(rintq(ldexpq(magnitude, mantissaBits - binade)));
  uint64_t bits = (static_cast<uint64_t>(binade - format.minExponent) << mantissaBits) + steps;
  return sign | std::min(bits, infinity);
}

static constexpr double infinite = std::numeric_limits<double>::infinity();

template <typename T>
static double errorOf(const Format &format, double value, T exact, int exponent) {
  bool valueNaN = std::isnan(value), exactNaN = exact != exact;
  if (valueNaN || exactNaN) {
    return valueNaN && exactNaN ? 0 : infinite;
  }
  T limit = std::ldexp(1.0, format.maxExponent - 1);
  bool exactInfinite = exact - exact != 0;
  T got = value;
  if (std::isinf(value)) {
    // Beyond the largest finite value every result is rounded to infinity.
    if (exactInfinite || exact >= 2 * limit || exact <= -2 * limit) {
      return (value > 0) == (exact > 0) ? 0 : infinite;
    }
    got = value > 0 ? 2 * limit : -2 * limit;
  } else if (exactInfinite) {
    return infinite;
  }
  if (value == 0 && std::signbit(value) !=
                        (exact == 0 ? __builtin_signbit(static_cast<double>(exact)) : exact < 0)) {
    return infinite;
  }
  exponent = std::max(exponent - 1, format.minExponent);
  T distance = got < exact ? exact - got : got - exact;
  int last = exponent - (format.precision - 1);
  // In two steps, as 2^-last may be beyond f64.
  return static_cast<double>(distance * T(std::ldexp(1.0, -last / 2)) *
                             T(std::ldexp(1.0, -last - -last / 2)));
}

double ulpError(const Format &format, double value, Quad exact, Quad scale) {
  int exponent = format.minExponent;
  if (finiteq(scale) && scale != 0) {
    frexpq(scale, &exponent);
  } else if (isinfq(scale)) {
    exponent = format.maxExponent;
  }
  return errorOf<Quad>(format, value, exact, exponent);
}

double ulpErrorQuick(const Format &format, double value, double exact) {
  int exponent = format.minExponent;
  if (std::isfinite(exact) && exact != 0) {
    std::frexp(exact, &exponent);
  } else if (std::isinf(exact)) {
    exponent = format.maxExponent;
  }
  return errorOf<double>(format, value, exact, exponent);
}

} // namespace accuracy
