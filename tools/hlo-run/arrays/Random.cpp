//===- Random.cpp - Inputs made up from a seed ----------------------------===//
//
// One stream of 64-bit numbers per leaf (splitmix64: a counter and a mixer; Steele, Lea and Flood
// 2014), and normal numbers from it by the ziggurat method (Marsaglia and Tsang 2000). The area
// under the density is divided into 128 layers of equal area; in 98 % of cases a random layer and a
// random abscissa are accepted at once. About 3 ns per number, because models have gigabytes of
// weights.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/arrays/Random.h"
#include "tools/hlo-run/arrays/Leaf.h"
#include "tools/hlo-run/arrays/Number.h"
#include <array>
#include <cmath>
#include <cstring>

using namespace hlo::run;

namespace {
class Bits {
public:
  explicit Bits(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// In (0, 1).
  double uniform() { return (static_cast<double>(next() >> 11) + 0.5) * 0x1p-53; }

private:
  uint64_t state;
};

/// Normal numbers, N(0,1).
class Normals {
public:
  Normals() {
    double x = start, previous = start;
    double density = std::exp(-0.5 * x * x), base = area / density;
    limit[0] = static_cast<uint32_t>(x / base * 0x1p31);
    limit[1] = 0;
    scale[0] = base * 0x1p-31;
    scale[layers - 1] = x * 0x1p-31;
    height[0] = 1;
    height[layers - 1] = density;
    for (int i = layers - 2; i >= 1; --i) {
      x = std::sqrt(-2 * std::log(area / x + density));
      limit[i + 1] = static_cast<uint32_t>(x / previous * 0x1p31);
      previous = x;
      density = std::exp(-0.5 * x * x);
      height[i] = density;
      scale[i] = x * 0x1p-31;
    }
  }

  float operator()(Bits &bits) const {
    while (true) {
      uint64_t random = bits.next();
      int layer = random & (layers - 1);
      int32_t abscissa = static_cast<int32_t>(random >> 32);
      double x = abscissa * scale[layer];
      if (static_cast<uint32_t>(std::abs(static_cast<int64_t>(abscissa))) < limit[layer]) {
        return static_cast<float>(x);
      }
      if (layer == 0) {
        return static_cast<float>(abscissa < 0 ? -tail(bits) : tail(bits));
      }
      double y = height[layer] + bits.uniform() * (height[layer - 1] - height[layer]);
      if (y < std::exp(-0.5 * x * x)) {
        return static_cast<float>(x);
      }
    }
  }

private:
  static double tail(Bits &bits) {
    while (true) {
      double x = -std::log(bits.uniform()) / start, y = -std::log(bits.uniform());
      if (2 * y > x * x) {
        return start + x;
      }
    }
  }

  static constexpr int layers = 128;
  static constexpr double start = 3.442619855899;     ///< where the bottom layer's tail begins
  static constexpr double area = 9.91256303526217e-3; ///< of each layer
  std::array<uint32_t, layers> limit;
  std::array<double, layers> scale, height;
};

template <typename T, typename Next> void fill(char *buffer, int64_t count, Next next) {
  for (int64_t i = 0; i < count; ++i) {
    T value = static_cast<T>(next());
    std::memcpy(buffer + i * sizeof(T), &value, sizeof(T));
  }
}
} // namespace

void hlo::run::fillRandom(uint64_t seed, uint32_t index, const hlo_buffer_desc &leaf,
                          char *buffer) {
  Bits bits(seed * 0x9e3779b97f4a7c15 + Bits(index).next());
  Normals normals;
  int64_t count = countOf(leaf);
  auto number = [&] { return 0.05f * normals(bits); };
  switch (leaf.type) {
  case HLO_F32: return fill<float>(buffer, count, number);
  case HLO_F64: return fill<double>(buffer, count, number);
  case HLO_C64: return fill<float>(buffer, 2 * count, number);
  case HLO_C128: return fill<double>(buffer, 2 * count, number);
  default: break;
  }
  size_t width = hlo_type_bytes(leaf.type);
  if (semanticsOf(leaf.type)) {
    NarrowEncoder encode(leaf.type);
    bool noSign = leaf.type == HLO_F8E8M0FNU;
    auto narrow = [&] { return encode(noSign ? std::fabs(number()) : number()); };
    return width == 2 ? fill<uint16_t>(buffer, count, narrow)
                      : fill<uint8_t>(buffer, count, narrow);
  }
  auto bit = [&] { return bits.next() >> 63; };
  switch (width) {
  case 1:
    fill<uint8_t>(buffer, count, bit);
    normalize(leaf.type, llvm::MutableArrayRef(buffer, static_cast<size_t>(count)));
    return;
  case 2: return fill<uint16_t>(buffer, count, bit);
  case 4: return fill<uint32_t>(buffer, count, bit);
  default: return fill<uint64_t>(buffer, count, bit);
  }
}
