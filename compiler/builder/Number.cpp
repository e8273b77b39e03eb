//===- Number.cpp - One element of any type -------------------------------===//
#include "compiler/builder/Number.h"
#include "absl/strings/str_cat.h"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace hlo::detail {

using namespace primitive_util;

Number Number::Real(double value) {
  Number number;
  number.kind = isFloating;
  number.re = value;
  return number;
}

Number Number::Least(PrimitiveType type) {
  Number number;
  if (IsSignedIntegralType(type)) {
    number.integer = std::numeric_limits<std::int64_t>::min() >> (64 - BitWidth(type));
  } else if (type == F8E8M0FNU) {
    return Real(std::ldexp(1.0, -127));
  } else if (IsFloatingPointType(type) || IsComplexType(type)) {
    number = Greatest(type);
    number.re = -number.re;
  }
  return number;
}

Number Number::Greatest(PrimitiveType type) {
  Number number;
  if (type == PRED) {
    number.integer = 1;
  } else if (IsSignedIntegralType(type)) {
    number.integer = ~(std::numeric_limits<std::int64_t>::min() >> (64 - BitWidth(type)));
  } else if (IsUnsignedIntegralType(type)) {
    number.kind = isUnsigned;
    number.integer = static_cast<std::int64_t>(~std::uint64_t(0) >> (64 - BitWidth(type)));
  } else {
    number = Real(std::numeric_limits<double>::infinity());
    if (IsFloatingPointType(type) && BitWidth(type) <= 8) {
      // Formats without infinity: the largest code that is a number.
      std::uint16_t infinity = EncodeFloat(type, number.re);
      float value = DecodeFloat(type, infinity);
      for (int code = (1 << (BitWidth(type) - (type != F8E8M0FNU))) - 1; std::isnan(value);
           --code) {
        value = DecodeFloat(type, static_cast<std::uint16_t>(code));
      }
      number.re = value;
    }
  }
  return number;
}

template <typename T> static T load(const char *data) {
  T value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

template <typename T> static void store(char *data, T value) {
  std::memcpy(data, &value, sizeof value);
}

Number Number::Read(PrimitiveType type, const char *data) {
  Number number;
  int width = ByteWidth(type);
  if (type == F32 || type == F64) {
    return Real(type == F32 ? load<float>(data) : load<double>(data));
  }
  if (IsComplexType(type)) {
    int half = width / 2;
    number.kind = isFloating;
    number.re = half == 4 ? load<float>(data) : load<double>(data);
    number.im = half == 4 ? load<float>(data + half) : load<double>(data + half);
    return number;
  }
  if (IsFloatingPointType(type)) {
    return Real(
        DecodeFloat(type, width == 2 ? load<std::uint16_t>(data) : load<std::uint8_t>(data)));
  }
  std::uint64_t bits = 0;
  switch (width) {
  case 1: bits = load<std::uint8_t>(data); break;
  case 2: bits = load<std::uint16_t>(data); break;
  case 4: bits = load<std::uint32_t>(data); break;
  default: bits = load<std::uint64_t>(data); break;
  }
  if (type == PRED) {
    number.integer = bits != 0;
    return number;
  }
  int unused = 64 - BitWidth(type);
  if (IsSignedIntegralType(type)) {
    number.integer = static_cast<std::int64_t>(bits << unused) >> unused;
  } else {
    number.kind = isUnsigned;
    number.integer = static_cast<std::int64_t>(bits << unused >> unused);
  }
  return number;
}

double Number::AsDouble() const {
  return kind == isFloating   ? re
         : kind == isUnsigned ? static_cast<double>(static_cast<std::uint64_t>(integer))
                              : static_cast<double>(integer);
}

/// The integer of `bits` bits that is nearest to `value` towards zero.
static std::uint64_t truncated(double value, int bits, bool isSigned) {
  if (std::isnan(value)) {
    return 0;
  }
  value = std::trunc(value);
  double limit = std::ldexp(1.0, isSigned ? bits - 1 : bits);
  if (isSigned) {
    std::int64_t least = std::numeric_limits<std::int64_t>::min() >> (64 - bits);
    return static_cast<std::uint64_t>(value >= limit   ? ~least
                                      : value < -limit ? least
                                                       : static_cast<std::int64_t>(value));
  }
  return value >= limit ? ~std::uint64_t(0) >> (64 - bits)
         : value <= 0   ? 0
                        : static_cast<std::uint64_t>(value);
}

void Number::Write(PrimitiveType type, char *data) const {
  int width = ByteWidth(type);
  if (type == F32) {
    return store(data, static_cast<float>(AsDouble()));
  }
  if (type == F64) {
    return store(data, AsDouble());
  }
  if (type == C64) {
    store(data, static_cast<float>(AsDouble()));
    return store(data + 4, static_cast<float>(im));
  }
  if (type == C128) {
    store(data, AsDouble());
    return store(data + 8, im);
  }
  if (IsFloatingPointType(type)) {
    std::uint16_t bits = EncodeFloat(type, AsDouble());
    return width == 2 ? store(data, bits) : store(data, static_cast<std::uint8_t>(bits));
  }
  if (type == PRED) {
    bool isSet = kind == isFloating ? re != 0 || im != 0 : integer != 0;
    return store(data, static_cast<std::uint8_t>(isSet));
  }
  std::uint64_t bits = kind == isFloating
                           ? truncated(re, BitWidth(type), IsSignedIntegralType(type))
                           : static_cast<std::uint64_t>(integer);
  switch (width) {
  case 1: return store(data, static_cast<std::uint8_t>(bits & (~0u >> (32 - BitWidth(type)))));
  case 2: return store(data, static_cast<std::uint16_t>(bits));
  case 4: return store(data, static_cast<std::uint32_t>(bits));
  default: return store(data, bits);
  }
}

/// The shortest text that gives the value again.
template <typename T> static std::string shortest(T value) {
  if (std::isnan(value)) {
    return std::signbit(value) ? "-nan" : "nan";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-inf" : "inf";
  }
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return std::string(buffer, end);
}

std::string Number::ToString(PrimitiveType type, bool isScalar) const {
  if (type == PRED) {
    return isScalar ? (integer ? "true" : "false") : (integer ? "1" : "0");
  }
  if (kind != isFloating) {
    return kind == isUnsigned ? absl::StrCat(static_cast<std::uint64_t>(integer))
                              : absl::StrCat(integer);
  }
  auto part = [&](double value) {
    return type == F64 || type == C128 ? shortest(value) : shortest(static_cast<float>(value));
  };
  return IsComplexType(type) ? absl::StrCat("(", part(re), ", ", part(im), ")") : part(re);
}

} // namespace hlo::detail
