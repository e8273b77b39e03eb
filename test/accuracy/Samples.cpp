//===- Samples.cpp - Arguments to try -------------------------------------===//
//
// In: a format, a function, the number of samples. Out: bit patterns of arguments, the same in
// every run: special values and their neighbours, values near thresholds, uniform values in the
// function's range, and random patterns of every exponent.
//
//===----------------------------------------------------------------------===//
#include "Samples.h"
#include <cmath>
#include <limits>
#include <string_view>

namespace accuracy {

namespace {
/// splitmix64.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t bits() {
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  double unit() { return std::ldexp(static_cast<double>(bits() >> 11), -53); }
  double between(double low, double high) { return low + (high - low) * unit(); }
  double between(Range range) { return between(range.low, range.high); }
  int below(int count) { return static_cast<int>(bits() % static_cast<uint64_t>(count)); }

private:
  uint64_t state;
};

/// Thresholds: ends of domains, overflow and underflow of either format, and arguments at which
/// implementations change the formula.
// clang-format off
constexpr double critical[] = {
    0x1p-54, 0x1p-30, 0x1p-27, 0x1p-24, 0x1p-14, 0x1p-12, 0.25, 0.35, 0.41421356237309503, 0.5,
    0.55, 0.625, 0.65, 0.6931471805599453, 0.70710678118654757, 0.75, 0.785398163397448, 0.9375,
    1, 1.25, 1.3, 1.4142135623730951, 1.5, 1.5707963267948966, 2, 2.356194490192345, 2.5,
    2.718281828459045, 3, 3.141592653589793, 4, 4.71238898038469, 5.9, 6, 6.2831853, 8, 9, 10,
    11.09035, 16.6355, 17.3286795, 19.06, 20, 36.7368, 40, 44.3614195, 64, 87.3365, 88.02969,
    88.722839, 89.415985, 103.27893, 103.972077, 127, 128, 149, 150, 255, 256, 345, 354.8913, 512,
    700, 708.3964185, 709.436139, 709.782712893384, 710.4758600739439, 745.1332191, 745.13322,
    1023, 1024, 1074, 1075, 32767, 32768, 65504, 65519, 65520, 65535, 65536, 102943.7, 131072,
    1048576, 2097152, 4194304, 8388607.5, 8388608, 16777216, 0x1p28, 0x1p30, 0x1p31, 0x1p32,
    0x1p51, 0x1p52, 0x1p53, 0x1p63, 0x1p64, 1e22, 6.02e23, 0x1p100, 0x1p127, 1e300};
// clang-format on

/// The values of each magnitude that are nearest to multiples of pi/2, found by continued
/// fractions.
// clang-format off
constexpr double nearQuarterTurns[] = {
    0x1.6ac5b262ca1ffp+849, 0x1.6c6cbc45dc8dep+5, 0x1.6ac5b262ca1ffp+850, 0x1.6c6cbc45dc8dep+6,
    0x1.b951f1572eba5p+23, 0x1.504cac51f1eafp+131, 0x1.6ac5b262ca1ffp+851, 0x1.e009c53148be1p+991,
    0x1.6c6cbc45dc8dep+7, 0x1.4c96c11134d36p+577, 0x1.cfe482285f8edp+860, 0x1.db41f3cb71d7bp+680,
    0x1.e7e44a78ac18cp+197, 0x1.b951f1572eba5p+24, 0x1.c45cd11154dfdp+295, 0x1.504cac51f1eafp+132,
    0x1.83009e2e9e2ebp+614, 0x1.b2196364d750bp+253, 0x1.69eab0985179bp+246, 0x1.782b7a20df6d4p+67,
    0x1.66bd5424e5655p+90, 0x1.4117573397d42p+939, 0x1.61a3db8c8d129p+1021,
    0x1.8b28676cdcc5bp+555, 0x1.5ad5a62cb1cc9p+143, 0x1.dfa8d18f2b3eep+689, 16367173.0 * 0x1p72,
    0x1.f8b7c6p+62, 0x1.0p+120};
// clang-format on

uint64_t signOf(const Format &format) { return uint64_t(1) << (8 * format.bytes - 1); }

/// Zero, infinity, NaN, the ends of normal and subnormal numbers, small integers: both signs.
std::vector<uint64_t> specials(const Format &format) {
  int mantissaBits = format.precision - 1;
  uint64_t normal = uint64_t(1) << mantissaBits;
  uint64_t infinity = toBits(format, std::numeric_limits<double>::infinity());
  std::vector<uint64_t> values = {0, 1, 2, 3};
  values.insert(values.end(), {normal / 2, normal - 1, normal, normal + 1});
  values.insert(values.end(), {infinity - 1, infinity, infinity | normal / 2});
  for (double x : {0x1p-10, 0.1,   0.25, 1.0 / 3,
                   0.5,     1.0,   1.5,  1.5707963267948966,
                   2.0,     2.5,   3.0,  3.141592653589793,
                   4.0,     5.0,   7.0,  10.0,
                   16.0,    63.0,  64.0, 100.5,
                   1000.0,  1023.0}) {
    values.push_back(toBits(format, x));
  }
  uint64_t one = toBits(format, 1.0);
  values.insert(values.end(), {one - 1, one + 1});
  for (size_t i = 0, count = values.size(); i < count; ++i) {
    values.push_back(values[i] | signOf(format));
  }
  return values;
}

uint64_t randomBits(const Format &format, Random &random) {
  return random.bits() >> (64 - 8 * format.bytes);
}

/// A value with a random exponent within 2^-range ... 2^range.
double wideRange(Random &random, int range) {
  double magnitude = std::ldexp(1 + random.unit(), random.below(2 * range) - range);
  return (random.bits() & 1) != 0 ? -magnitude : magnitude;
}
} // namespace

std::vector<uint64_t> hardArguments(const Format &format, const RealFunction &function) {
  std::vector<uint64_t> values = specials(format);
  auto around = [&](double x, int reach) {
    auto bits = static_cast<int64_t>(toBits(format, x));
    for (int64_t i = -reach; i <= reach; ++i) {
      uint64_t near = static_cast<uint64_t>(bits + i) & (signOf(format) - 1);
      values.insert(values.end(), {near, near | signOf(format)});
    }
  };
  for (double x : critical) {
    around(x, 3);
  }
  for (double x : nearQuarterTurns) {
    around(x, 1);
  }
  for (int i = 1; i <= 64; ++i) {
    around(i * 1.5707963267948966, 2);
  }
  for (double end : {function.x.low, function.x.high}) {
    around(std::fabs(end), 3);
  }
  return values;
}

/// Pairs for functions of two operands.
static void addPairs(Samples &samples, const Format &format, const RealFunction &function,
                     const Effort &effort) {
  auto add = [&](Quad x, Quad y) {
    samples.x.push_back(toBits(format, x));
    samples.y.push_back(toBits(format, y));
  };
  std::vector<uint64_t> special = specials(format);
  for (uint64_t x : special) {
    for (uint64_t y : special) {
      samples.x.push_back(x);
      samples.y.push_back(y);
    }
  }
  Random random(2);
  double largeLog = format.maxExponent * 0.7;
  for (uint64_t i = 0; i < effort.pairs; ++i) {
    samples.x.push_back(randomBits(format, random));
    samples.y.push_back(randomBits(format, random));
    add(random.between(function.x), random.between(function.y));
    // Operands of similar size; quotients near integers and near one.
    double x = wideRange(random, 40);
    add(x, x * (1 + (random.unit() - 0.5) * std::ldexp(1.0, -random.below(30))));
    add(x * (1 + random.below(1000)), x);
    add(x, wideRange(random, format.maxExponent));
    // A base and exponents that use the whole range of the power; integers and halves.
    double base = 1 + (random.unit() - 0.5) * std::ldexp(1.0, -random.below(format.precision));
    add(base, (random.unit() * 2.1 - 1.05) * largeLog / std::fabs(std::log(base)));
    base = std::fabs(wideRange(random, format.maxExponent - 1));
    add(base, (random.unit() * 2.1 - 1.05) * largeLog / std::fabs(std::log(base)));
    add(random.between(-20, 20), random.below(41) - 20);
    add(random.between(0, 20), (random.below(41) - 20) * 0.5);
  }
}

Samples realSamples(const Format &format, const RealFunction &function, const Effort &effort) {
  Samples samples;
  if (function.operands == 2) {
    addPairs(samples, format, function, effort);
    return samples;
  }
  if (format.bytes == 2) {
    for (uint64_t bits = 0; bits < 65536; ++bits) {
      samples.x.push_back(bits);
    }
    return samples;
  }
  samples.x = hardArguments(format, function);
  Random random(1);
  for (uint64_t i = 0; i < effort.dense; ++i) {
    samples.x.push_back(toBits(format, random.between(function.x)));
    samples.x.push_back(toBits(format, random.between(-1, 1)));
    samples.x.push_back(toBits(format, random.between(1 - 0x1p-8, 1 + 0x1p-8)));
    samples.x.push_back(toBits(format, wideRange(random, 10)));
    samples.x.push_back(toBits(format, wideRange(random, format.maxExponent - 1)));
  }
  if (format.bytes == 8) {
    for (uint64_t exponent = 0; exponent < 4096; ++exponent) {
      for (uint64_t i = 0; i < effort.perExponent; ++i) {
        samples.x.push_back(exponent << 52 | random.bits() >> 12);
      }
    }
  }
  return samples;
}

Samples complexSamples(const Format &format, const ComplexFunction &function,
                       const Effort &effort) {
  Samples samples;
  Random random(3);
  std::vector<uint64_t> special = specials(format);
  // The second operand of binary functions: ordinary and special values in turn.
  uint64_t turn = 0;
  auto second = [&]() {
    for (int part = 0; part < 2; ++part) {
      turn += 1;
      bool ordinary = turn % 5 < 3;
      samples.y.push_back(
          ordinary ? toBits(format, random.between(-4, 4))
                   : special[static_cast<size_t>(random.below(static_cast<int>(special.size())))]);
    }
  };
  auto addBits = [&](uint64_t re, uint64_t im) {
    samples.x.insert(samples.x.end(), {re, im});
    second();
  };
  auto add = [&](double re, double im) { addBits(toBits(format, re), toBits(format, im)); };
  for (uint64_t re : special) {
    for (uint64_t im : special) {
      addBits(re, im);
    }
  }
  int range = format.maxExponent - 1;
  auto small = [&]() { return wideRange(random, 1) * std::ldexp(1.0, -random.below(60)); };
  for (uint64_t i = 0; i < effort.complexPairs; ++i) {
    add(random.between(-function.radius, function.radius),
        random.between(-function.radius, function.radius));
    add(random.between(-1.5, 1.5), random.between(-1.5, 1.5));
    add(wideRange(random, range), wideRange(random, range));
    // Near the axes, on the unit circle, and around the points 1, -1, i, -i.
    add(random.between(-4, 4), small());
    add(small(), random.between(-4, 4));
    double angle = random.between(-3.2, 3.2);
    double modulus = 1 + small();
    add(modulus * std::cos(angle), modulus * std::sin(angle));
    double sign = (random.bits() & 1) != 0 ? -1 : 1;
    add(sign + small(), small());
    add(small(), sign + small());
    double magnitude = wideRange(random, range);
    add(magnitude, magnitude * random.between(-2, 2));
  }
  return samples;
}

} // namespace accuracy
