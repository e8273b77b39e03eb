//===- Elements.cpp - Bits of one literal element -------------------------===//
//
// Converts between doubles and the bits of an element type. For types without infinities or NaN the
// format decides: f8*fn and *fnuz have one NaN; f6* and f4* saturate, and their NaN is -0;
// f8e8m0fnu has neither zero nor sign.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/Elements.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstdio>

using namespace hlo::parser;
using llvm::APFloat;
using mlir::DenseElementsAttr;
using mlir::RankedTensorType;

namespace {
enum class NonFinite { Ieee, NanOnly, None };

/// The non-finite values of a type.
NonFinite nonFiniteOf(const llvm::fltSemantics &semantics) {
  if (APFloat::semanticsHasInf(semantics)) {
    return NonFinite::Ieee;
  }
  return APFloat::semanticsHasNaN(semantics) ? NonFinite::NanOnly : NonFinite::None;
}

unsigned mantissaBits(const llvm::fltSemantics &semantics) {
  return APFloat::semanticsPrecision(semantics) - 1;
}

bool isExponentOnly(const llvm::fltSemantics &semantics) {
  return &semantics == &APFloat::Float8E8M0FNU();
}

/// True for fnuz types, which encode NaN as negative zero.
bool isNegativeZeroNan(const llvm::fltSemantics &semantics) {
  return &semantics == &APFloat::Float8E5M2FNUZ() || &semantics == &APFloat::Float8E4M3FNUZ() ||
         &semantics == &APFloat::Float8E4M3B11FNUZ();
}

APFloat fromBits(const ElementFormat &format, uint64_t bits) {
  return APFloat(*format.semantics, llvm::APInt(format.bits, bits, false, /*implicitTrunc=*/true));
}

double toDouble(const ElementFormat &format, uint64_t bits) {
  APFloat value = fromBits(format, bits);
  bool lossy;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
  return value.convertToDouble();
}
} // namespace

std::optional<ElementFormat> hlo::parser::getElementFormat(mlir::Type type) {
  if (auto integer = llvm::dyn_cast<mlir::IntegerType>(type)) {
    unsigned bits = integer.getWidth();
    unsigned bytes = std::max(1u, bits / 8);
    if (integer.isSignless() && bits == 1) {
      return ElementFormat{ElementFormat::Pred, 1, 1, nullptr};
    }
    return ElementFormat{integer.isUnsigned() ? ElementFormat::Unsigned : ElementFormat::Signed,
                         bits, bytes, nullptr};
  }
  if (auto number = llvm::dyn_cast<mlir::FloatType>(type)) {
    unsigned bits = number.getWidth();
    return ElementFormat{ElementFormat::Float, bits, std::max(1u, bits / 8),
                         &number.getFloatSemantics()};
  }
  if (auto complex = llvm::dyn_cast<mlir::ComplexType>(type)) {
    auto part = getElementFormat(complex.getElementType());
    if (part && part->kind == ElementFormat::Float) {
      part->kind = ElementFormat::Complex;
      return part;
    }
  }
  return std::nullopt;
}

bool hlo::parser::encodeFinite(const ElementFormat &format, double value, uint64_t &bits) {
  const llvm::fltSemantics &semantics = *format.semantics;
  if (&semantics == &APFloat::IEEEdouble()) {
    bits = llvm::bit_cast<uint64_t>(value);
    return true;
  }
  if (&semantics == &APFloat::IEEEsingle()) {
    float narrow = static_cast<float>(value);
    bits = llvm::bit_cast<uint32_t>(narrow);
    return std::isfinite(narrow);
  }
  if (isExponentOnly(semantics) && !(value > 0)) {
    return false;
  }
  APFloat number(value);
  bool lossy;
  APFloat::opStatus status = number.convert(semantics, APFloat::rmNearestTiesToEven, &lossy);
  bits = number.bitcastToAPInt().getZExtValue();
  return nonFiniteOf(semantics) == NonFinite::None || !(status & APFloat::opOverflow);
}

uint64_t hlo::parser::encodeInfinity(const ElementFormat &format, bool negative) {
  uint64_t sign = uint64_t(negative) << (format.bits - 1);
  switch (nonFiniteOf(*format.semantics)) {
  case NonFinite::Ieee:
    return APFloat::getInf(*format.semantics, negative).bitcastToAPInt().getZExtValue();
  case NonFinite::NanOnly: {
    uint64_t bits, maxPayload;
    encodeNan(format, negative, std::nullopt, bits, maxPayload);
    return bits;
  }
  case NonFinite::None: break;
  }
  return sign | llvm::maskTrailingOnes<uint64_t>(format.bits - 1);
}

bool hlo::parser::encodeNan(const ElementFormat &format, bool negative,
                            std::optional<uint64_t> payload, uint64_t &bits, uint64_t &maxPayload) {
  const llvm::fltSemantics &semantics = *format.semantics;
  uint64_t sign = uint64_t(negative) << (format.bits - 1);
  maxPayload = 0;
  if (nonFiniteOf(semantics) == NonFinite::Ieee) {
    unsigned mantissa = mantissaBits(semantics);
    maxPayload = llvm::maskTrailingOnes<uint64_t>(mantissa);
    uint64_t infinity = APFloat::getInf(semantics, negative).bitcastToAPInt().getZExtValue();
    bits = infinity | payload.value_or(uint64_t(1) << (mantissa - 1));
    return !payload || (*payload > 0 && *payload <= maxPayload);
  }
  if (nonFiniteOf(semantics) == NonFinite::None) {
    bits = uint64_t(1) << (format.bits - 1);
  } else if (isExponentOnly(semantics)) {
    bits = 0xFF;
  } else if (isNegativeZeroNan(semantics)) {
    bits = 0x80;
  } else {
    bits = sign | llvm::maskTrailingOnes<uint64_t>(format.bits - 1);
  }
  return !payload;
}

void hlo::parser::printFloat(const ElementFormat &format, uint64_t bits, std::string &out) {
  const llvm::fltSemantics &semantics = *format.semantics;
  APFloat number = fromBits(format, bits);
  bool hasSign = !isExponentOnly(semantics);
  bool negative = hasSign && ((bits >> (format.bits - 1)) & 1);
  if (number.isInfinity()) {
    out += negative ? "-inf" : "inf";
    return;
  }
  if (number.isNaN()) {
    if (negative && !isNegativeZeroNan(semantics)) {
      out += '-';
    }
    out += "nan";
    if (nonFiniteOf(semantics) == NonFinite::Ieee) {
      unsigned mantissa = mantissaBits(semantics);
      uint64_t payload = bits & llvm::maskTrailingOnes<uint64_t>(mantissa);
      if (payload != uint64_t(1) << (mantissa - 1)) {
        char text[32];
        std::snprintf(text, sizeof text, "(0x%llx)", static_cast<unsigned long long>(payload));
        out += text;
      }
    }
    return;
  }
  double value = toDouble(format, bits);
  if (value == 0 && negative) {
    out += "-0.0"; // `-0` would be read as the integer 0
    return;
  }
  // The first of these precisions that parses back to the same bits; small integers always do.
  char text[40];
  if (std::fabs(value) < 1000000 && value == std::trunc(value)) {
    std::snprintf(text, sizeof text, "%d", static_cast<int>(value));
    out += text;
    return;
  }
  int digits = format.bits >= 64 ? 15 : format.bits >= 32 ? 6 : 3;
  for (; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    uint64_t again = 0;
    if (encodeFinite(format, std::strtod(text, nullptr), again) && again == bits) {
      break;
    }
  }
  out += text;
}

/// Packs one byte per element into bits, lowest first. A splat stays one byte.
static std::vector<char> packBits(llvm::ArrayRef<char> bytes) {
  if (llvm::all_of(bytes, [&](char c) { return (c & 1) == (bytes.front() & 1); })) {
    return bytes.empty() ? std::vector<char>()
                         : std::vector<char>(1, bytes.front() & 1 ? char(0xFF) : 0);
  }
  std::vector<char> packed((bytes.size() + 7) / 8);
  for (auto [i, byte] : llvm::enumerate(bytes)) {
    packed[i / 8] |= (byte & 1) << (i % 8);
  }
  return packed;
}

DenseElementsAttr hlo::parser::denseElements(RankedTensorType type, const ElementFormat &format,
                                             llvm::ArrayRef<char> bytes) {
  return format.isOneBit() ? DenseElementsAttr::getFromRawBuffer(type, packBits(bytes))
                           : DenseElementsAttr::getFromRawBuffer(type, bytes);
}
