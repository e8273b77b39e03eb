//===- Array.cpp - Arrays of any HLO element type, for tests --------------===//
//
// Elements are read and written as complex<double>, which holds every value of every
// type that tests use; 64-bit integers are kept small.
//
//===----------------------------------------------------------------------===//
#include "test/unit/kernel-runner/Array.h"
#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <cstring>

namespace hlo::testing {

std::string mlirName(Type type) {
  switch (type) {
  case Type::Pred: return "i1";
  case Type::S8: return "si8";
  case Type::U8: return "ui8";
  case Type::S16: return "si16";
  case Type::S32: return "si32";
  case Type::U32: return "ui32";
  case Type::S64: return "si64";
  case Type::F16: return "f16";
  case Type::BF16: return "bf16";
  case Type::F8: return "f8E4M3FN";
  case Type::F32: return "f32";
  case Type::F64: return "f64";
  case Type::C64: return "complex<f32>";
  case Type::C128: return "complex<f64>";
  }
  return "";
}

int64_t bytesOf(Type type) {
  switch (type) {
  case Type::Pred:
  case Type::S8:
  case Type::U8:
  case Type::F8: return 1;
  case Type::S16:
  case Type::F16:
  case Type::BF16: return 2;
  case Type::S32:
  case Type::U32:
  case Type::F32: return 4;
  case Type::S64:
  case Type::F64:
  case Type::C64: return 8;
  case Type::C128: return 16;
  }
  return 0;
}

double epsilonOf(Type type) {
  switch (type) {
  case Type::F8: return 0x1p-3;
  case Type::BF16: return 0x1p-7;
  case Type::F16: return 0x1p-10;
  case Type::F32:
  case Type::C64: return 0x1p-23;
  case Type::F64:
  case Type::C128: return 0x1p-52;
  default: return 0;
  }
}

bool isInteger(Type type) { return epsilonOf(type) == 0; }

static const llvm::fltSemantics &semanticsOf(Type type) {
  return type == Type::F16    ? llvm::APFloat::IEEEhalf()
         : type == Type::BF16 ? llvm::APFloat::BFloat()
                              : llvm::APFloat::Float8E4M3FN();
}

Array::Array(Type type, std::vector<int64_t> shape) : elementType(type), dims(std::move(shape)) {
  count = 1;
  for (int64_t d : dims) {
    count *= d;
  }
  bytes.resize(count * bytesOf(type) + 192);
  offset = 64 - reinterpret_cast<uintptr_t>(bytes.data()) % 64;
}

template <typename T> static T load(const char *p) {
  T value;
  std::memcpy(&value, p, sizeof(T));
  return value;
}

Array::Value Array::get(int64_t index) const {
  const char *p = bytes.data() + offset + index * bytesOf(elementType);
  switch (elementType) {
  case Type::Pred:
  case Type::U8: return load<uint8_t>(p);
  case Type::S8: return load<int8_t>(p);
  case Type::S16: return load<int16_t>(p);
  case Type::S32: return load<int32_t>(p);
  case Type::U32: return load<uint32_t>(p);
  case Type::S64: return static_cast<double>(load<int64_t>(p));
  case Type::F32: return load<float>(p);
  case Type::F64: return load<double>(p);
  case Type::C64: return load<std::complex<float>>(p);
  case Type::C128: return load<std::complex<double>>(p);
  case Type::F16:
  case Type::BF16:
  case Type::F8: {
    unsigned bits = bytesOf(elementType) * 8;
    llvm::APInt raw(bits, bits == 8 ? load<uint8_t>(p) : load<uint16_t>(p));
    return llvm::APFloat(semanticsOf(elementType), raw).convertToDouble();
  }
  }
  return 0;
}

void Array::set(int64_t index, Value value) {
  char *p = bytes.data() + offset + index * bytesOf(elementType);
  auto store = [&](auto v) { std::memcpy(p, &v, sizeof(v)); };
  double re = value.real();
  int64_t whole = static_cast<int64_t>(std::fabs(re) < 0x1p62 ? re : 0);
  switch (elementType) {
  case Type::Pred: return store(static_cast<uint8_t>(re != 0));
  case Type::U8:
  case Type::S8: return store(static_cast<uint8_t>(whole));
  case Type::S16: return store(static_cast<int16_t>(whole));
  case Type::S32:
  case Type::U32: return store(static_cast<uint32_t>(whole));
  case Type::S64: return store(whole);
  case Type::F32: return store(static_cast<float>(re));
  case Type::F64: return store(re);
  case Type::C64: return store(std::complex<float>(value));
  case Type::C128: return store(value);
  case Type::F16:
  case Type::BF16:
  case Type::F8: {
    llvm::APFloat narrow(re);
    bool losesInfo;
    narrow.convert(semanticsOf(elementType), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    uint64_t raw = narrow.bitcastToAPInt().getZExtValue();
    return bytesOf(elementType) == 1 ? store(static_cast<uint8_t>(raw))
                                     : store(static_cast<uint16_t>(raw));
  }
  }
}

int64_t Array::linear(const std::vector<int64_t> &index) const {
  int64_t result = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    result = result * dims[d] + index[d];
  }
  return result;
}

void Array::fillRandom(std::mt19937 &random) {
  bool isUnsigned = elementType == Type::U8 || elementType == Type::U32;
  for (int64_t i = 0; i < count; ++i) {
    auto draw = [&]() -> double {
      if (elementType == Type::Pred) {
        return random() % 4 == 0;
      }
      int64_t whole = static_cast<int64_t>(random() % 17) - (isUnsigned ? 0 : 8);
      return isInteger(elementType) ? whole : elementType == Type::F8 ? whole / 8.0 : whole / 16.0;
    };
    double re = draw();
    set(i, Value(re, elementType == Type::C64 || elementType == Type::C128 ? draw() : 0));
  }
}

std::string Array::mlirType() const {
  std::string text = "tensor<";
  for (int64_t d : dims) {
    text += std::to_string(d) + "x";
  }
  return text + mlirName(elementType) + ">";
}

std::vector<Array::Value> Array::values() const {
  std::vector<Value> all(count);
  for (int64_t i = 0; i < count; ++i) {
    all[i] = get(i);
  }
  return all;
}

void forEachIndex(const std::vector<int64_t> &shape,
                  const std::function<void(const std::vector<int64_t> &)> &body) {
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t d : shape) {
    if (d == 0) {
      return;
    }
  }
  while (true) {
    body(index);
    size_t d = shape.size();
    while (d > 0 && ++index[d - 1] == shape[d - 1]) {
      index[--d] = 0;
    }
    if (d == 0) {
      return;
    }
  }
}

} // namespace hlo::testing
