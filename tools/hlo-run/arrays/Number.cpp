//===- Number.cpp - Elements of buffers as numbers ------------------------===//
//
// llvm::APFloat handles every float type of HLO. bf16 and f16, which come in large arrays, are
// rounded by faster code.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/arrays/Number.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>

using namespace llvm;
using namespace hlo::run;

namespace {
template <typename T> T load(const char *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

std::string formatFloat(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-inf" : "inf";
  }
  std::string out;
  raw_string_ostream(out) << format("%.6g", value);
  return out;
}

std::string formatComplex(double re, double im) {
  std::string imaginary = formatFloat(im);
  return formatFloat(re) + (imaginary[0] == '-' ? "" : "+") + imaginary + "j";
}

double decodeFloat(int32_t type, const char *at) {
  switch (type) {
  case HLO_F64: return load<double>(at);
  case HLO_F32: return load<float>(at);
  default: break;
  }
  const fltSemantics &semantics = *semanticsOf(type);
  unsigned bits = APFloat::getSizeInBits(semantics);
  uint64_t raw = hlo_type_bytes(type) == 2 ? load<uint16_t>(at) : load<uint8_t>(at);
  return APFloat(semantics, APInt(bits, raw & ((uint64_t(1) << bits) - 1))).convertToDouble();
}
} // namespace

const fltSemantics *hlo::run::semanticsOf(int32_t type) {
  switch (type) {
#define HLO_FLOAT(NAME, TYPE, SEMANTICS, CODE)                                                     \
  case HLO_##CODE: return &APFloat::SEMANTICS();
#include "dialect/hlo/FloatTypes.def"
  default: return nullptr;
  }
}

std::string hlo::run::formatElement(int32_t type, const char *at) {
  switch (type) {
  case HLO_PRED: return *at ? "true" : "false";
  case HLO_S1:
  case HLO_S2:
  case HLO_S4:
  case HLO_S8: return std::to_string(load<int8_t>(at));
  case HLO_S16: return std::to_string(load<int16_t>(at));
  case HLO_S32: return std::to_string(load<int32_t>(at));
  case HLO_S64: return std::to_string(load<int64_t>(at));
  case HLO_U1:
  case HLO_U2:
  case HLO_U4:
  case HLO_U8: return std::to_string(load<uint8_t>(at));
  case HLO_U16: return std::to_string(load<uint16_t>(at));
  case HLO_U32: return std::to_string(load<uint32_t>(at));
  case HLO_U64: return std::to_string(load<uint64_t>(at));
  case HLO_C64: return formatComplex(load<float>(at), load<float>(at + 4));
  case HLO_C128: return formatComplex(load<double>(at), load<double>(at + 8));
  default: return semanticsOf(type) ? formatFloat(decodeFloat(type, at)) : "?";
  }
}

NarrowEncoder::NarrowEncoder(int32_t type) : type(type), semantics(semanticsOf(type)) {}

uint32_t NarrowEncoder::operator()(float value) const {
  if (type == HLO_BF16 && !std::isnan(value)) {
    uint32_t bits = llvm::bit_cast<uint32_t>(value);
    return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  }
  if (type == HLO_F16 && std::fabs(value) < 65504.0f) {
    uint32_t sign = llvm::bit_cast<uint32_t>(value) >> 16 & 0x8000;
    float magnitude = std::fabs(value);
    // Below 2^-14 f16 is a fixed-point number: adding 0.5 makes f32 round at its last bit, 2^-24.
    if (magnitude < 0x1p-14f) {
      return sign | (llvm::bit_cast<uint32_t>(magnitude + 0.5f) - 0x3f000000);
    }
    uint32_t bits = llvm::bit_cast<uint32_t>(magnitude);
    return sign | ((bits + 0xfff + ((bits >> 13) & 1) - (112u << 23)) >> 13);
  }
  APFloat narrow(value);
  bool losesInfo;
  narrow.convert(*semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return static_cast<uint32_t>(narrow.bitcastToAPInt().getZExtValue());
}
