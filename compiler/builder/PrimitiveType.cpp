//===- PrimitiveType.cpp - Element types and small floating formats -------===//
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include <cmath>
#include <hlo/primitive_type.h>
#include <limits>

namespace hlo::primitive_util {

namespace {
struct Name {
  PrimitiveType type;
  const char *text;
};
constexpr Name names[] = {
    {PRED, "pred"},
    {S1, "s1"},
    {S2, "s2"},
    {S4, "s4"},
    {S8, "s8"},
    {S16, "s16"},
    {S32, "s32"},
    {S64, "s64"},
    {U1, "u1"},
    {U2, "u2"},
    {U4, "u4"},
    {U8, "u8"},
    {U16, "u16"},
    {U32, "u32"},
    {U64, "u64"},
    {F16, "f16"},
    {BF16, "bf16"},
    {F32, "f32"},
    {F64, "f64"},
    {C64, "c64"},
    {C128, "c128"},
    {F8E5M2, "f8e5m2"},
    {F8E4M3, "f8e4m3"},
    {F8E4M3FN, "f8e4m3fn"},
    {F8E4M3B11FNUZ, "f8e4m3b11fnuz"},
    {F8E5M2FNUZ, "f8e5m2fnuz"},
    {F8E4M3FNUZ, "f8e4m3fnuz"},
    {F8E3M4, "f8e3m4"},
    {F8E8M0FNU, "f8e8m0fnu"},
    {F4E2M1FN, "f4e2m1fn"},
    {F6E2M3FN, "f6e2m3fn"},
    {F6E3M2FN, "f6e3m2fn"},
    {TUPLE, "tuple"},
    {OPAQUE_TYPE, "opaque"},
    {TOKEN, "token"},
};

/// What the largest codes of a format mean.
enum class Top {
  infinity,     ///< the largest exponent is infinity and NaN, as in IEEE 754
  nan,          ///< the largest code is NaN
  unsignedZero, ///< all are finite; the code of -0 is NaN
  finite        ///< all are finite; there is no NaN
};

struct Format {
  int exponentBits = 0, mantissaBits = 0, bias = 0;
  Top top = Top::infinity;

  int signShift() const { return exponentBits + mantissaBits; }
  unsigned allOnes() const { return (1u << signShift()) - 1; }
  unsigned largest() const {
    return top == Top::infinity ? ((((1u << exponentBits) - 1) << mantissaBits) - 1)
                                : allOnes() - (top == Top::nan);
  }
  unsigned nanCode() const {
    switch (top) {
    case Top::infinity:
      return (((1u << exponentBits) - 1) << mantissaBits) | (1u << (mantissaBits - 1));
    case Top::nan: return allOnes();
    default: return 1u << signShift(); // of finite formats: -0
    }
  }
};

Format formatOf(PrimitiveType type) {
  switch (type) {
  case F16: return {5, 10, 15, Top::infinity};
  case BF16: return {8, 7, 127, Top::infinity};
  case F8E5M2: return {5, 2, 15, Top::infinity};
  case F8E4M3: return {4, 3, 7, Top::infinity};
  case F8E3M4: return {3, 4, 3, Top::infinity};
  case F8E4M3FN: return {4, 3, 7, Top::nan};
  case F8E4M3B11FNUZ: return {4, 3, 11, Top::unsignedZero};
  case F8E5M2FNUZ: return {5, 2, 16, Top::unsignedZero};
  case F8E4M3FNUZ: return {4, 3, 8, Top::unsignedZero};
  case F6E3M2FN: return {3, 2, 3, Top::finite};
  case F6E2M3FN: return {2, 3, 1, Top::finite};
  case F4E2M1FN: return {2, 1, 1, Top::finite};
  default: return {};
  }
}

/// 2^-127 to 2^127; 255 is NaN.
std::uint16_t encodePowerOfTwo(double value) {
  if (!(value > 0) || std::isinf(value)) {
    return 255;
  }
  int exponent = 0;
  double fraction = std::frexp(value, &exponent); // in [0.5, 1)
  int code = exponent - 1 + 127;
  // A tie is 1.5 times a power of two, and goes to the even code.
  if (fraction > 0.75 || (fraction == 0.75 && (code & 1))) {
    ++code;
  }
  return static_cast<std::uint16_t>(code < 0 ? 0 : code > 254 ? 255 : code);
}
} // namespace

absl::string_view LowercasePrimitiveTypeName(PrimitiveType type) {
  for (const Name &name : names) {
    if (name.type == type) {
      return name.text;
    }
  }
  return "invalid";
}

absl::StatusOr<PrimitiveType> StringToPrimitiveType(absl::string_view text) {
  std::string lower = absl::AsciiStrToLower(text);
  for (const Name &name : names) {
    if (lower == name.text) {
      return name.type;
    }
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown element type '", text, "'"));
}

bool IsArrayType(PrimitiveType type) { return type > PRIMITIVE_TYPE_INVALID && type <= F6E3M2FN; }

bool IsFloatingPointType(PrimitiveType type) {
  return (type >= F16 && type <= F64) || (type >= F8E5M2 && type <= F6E3M2FN);
}

bool IsComplexType(PrimitiveType type) { return type == C64 || type == C128; }
bool IsSignedIntegralType(PrimitiveType type) { return type >= S1 && type <= S64; }
bool IsUnsignedIntegralType(PrimitiveType type) { return type >= U1 && type <= U64; }
bool IsIntegralType(PrimitiveType type) {
  return IsSignedIntegralType(type) || IsUnsignedIntegralType(type);
}

int BitWidth(PrimitiveType type) {
  switch (type) {
  case PRED:
  case S1:
  case U1: return 1;
  case S2:
  case U2: return 2;
  case S4:
  case U4:
  case F4E2M1FN: return 4;
  case F6E2M3FN:
  case F6E3M2FN: return 6;
  case S8:
  case U8: return 8;
  case S16:
  case U16:
  case F16:
  case BF16: return 16;
  case S32:
  case U32:
  case F32: return 32;
  case S64:
  case U64:
  case F64:
  case C64: return 64;
  case C128: return 128;
  default: return IsArrayType(type) ? 8 : 0;
  }
}

int ByteWidth(PrimitiveType type) { return (BitWidth(type) + 7) / 8; }

PrimitiveType ComplexComponentType(PrimitiveType type) {
  return type == C64 ? F32 : type == C128 ? F64 : PRIMITIVE_TYPE_INVALID;
}

float DecodeFloat(PrimitiveType type, std::uint16_t bits) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  if (type == F8E8M0FNU) {
    return (bits & 255) == 255 ? nan : std::ldexp(1.0f, (bits & 255) - 127);
  }
  Format format = formatOf(type);
  if (!format.exponentBits) {
    return nan;
  }
  unsigned magnitude = bits & format.allOnes();
  bool negative = bits >> format.signShift() & 1;
  if (format.top == Top::unsignedZero && negative && !magnitude) {
    return nan;
  }
  float value = 0;
  if (magnitude > format.largest() && format.top != Top::finite) {
    bool infinite = format.top == Top::infinity && magnitude == format.largest() + 1;
    value = infinite ? std::numeric_limits<float>::infinity() : nan;
  } else {
    int exponent = static_cast<int>(magnitude >> format.mantissaBits);
    unsigned mantissa = magnitude & ((1u << format.mantissaBits) - 1);
    if (exponent) {
      mantissa |= 1u << format.mantissaBits;
    } else {
      exponent = 1;
    }
    value = std::ldexp(static_cast<float>(mantissa), exponent - format.bias - format.mantissaBits);
  }
  return negative ? -value : value;
}

std::uint16_t EncodeFloat(PrimitiveType type, double value) {
  if (type == F8E8M0FNU) {
    return encodePowerOfTwo(value);
  }
  Format format = formatOf(type);
  if (!format.exponentBits) {
    return 0;
  }
  unsigned sign = std::signbit(value) ? 1u << format.signShift() : 0;
  if (std::isnan(value)) {
    bool hasSign = format.top == Top::infinity || format.top == Top::nan;
    return static_cast<std::uint16_t>(format.nanCode() | (hasSign ? sign : 0));
  }
  unsigned code = 0;
  if (std::isinf(value)) {
    code = format.largest() + 1;
  } else if (value != 0) {
    int exponent = 0;
    std::frexp(value, &exponent);
    exponent = std::max(exponent - 1, 1 - format.bias);
    // In units of the last place; below 2^(mantissaBits + 1), so exact.
    double units = std::ldexp(std::fabs(value), format.mantissaBits - exponent);
    double whole = std::floor(units);
    double rest = units - whole;
    bool isOdd = std::fmod(whole, 2) != 0;
    whole += rest > 0.5 || (rest == 0.5 && isOdd);
    // A carry into the next power of two is one into the exponent's bits.
    std::int64_t wide =
        (static_cast<std::int64_t>(exponent + format.bias - 1) << format.mantissaBits) +
        static_cast<std::int64_t>(whole);
    code = static_cast<unsigned>(std::min<std::int64_t>(wide, format.largest() + 1));
  }
  if (code > format.largest()) {
    switch (format.top) {
    case Top::infinity: return static_cast<std::uint16_t>((format.largest() + 1) | sign);
    case Top::nan: return static_cast<std::uint16_t>(format.nanCode() | sign);
    case Top::unsignedZero: return static_cast<std::uint16_t>(format.nanCode());
    case Top::finite: code = format.largest(); break;
    }
  }
  if (format.top == Top::unsignedZero && !code) {
    return 0;
  }
  return static_cast<std::uint16_t>(code | sign);
}

} // namespace hlo::primitive_util
