//===- Format.h - Element types as bits -----------------------------------===//
//
// Real formats in memory <-> double and __float128, and errors in units of the last place.
//
//===----------------------------------------------------------------------===//
#ifndef TEST_ACCURACY_FORMAT_H
#define TEST_ACCURACY_FORMAT_H

#include "Reference.h"
#include <cstdint>
#include <cstring>

namespace accuracy {

/// A binary format of reals.
struct Format {
  const char *name;
  int bytes;
  int precision;   ///< bits of the mantissa with the hidden one
  int maxExponent; ///< finite values are below 2^maxExponent
  int minExponent; ///< normal values are at least 2^minExponent
};

inline constexpr Format f16{"f16", 2, 11, 16, -14};
inline constexpr Format bf16{"bf16", 2, 8, 128, -126};
inline constexpr Format f32{"f32", 4, 24, 128, -126};
inline constexpr Format f64{"f64", 8, 53, 1024, -1022};

inline uint64_t loadBits(const Format &format, const char *from) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, format.bytes);
  return bits;
}

inline void storeBits(const Format &format, uint64_t bits, char *to) {
  std::memcpy(to, &bits, format.bytes);
}

/// Every value of every format here is one of f64.
double fromBits(const Format &format, uint64_t bits);
/// The nearest value, ties to even.
uint64_t toBits(const Format &format, Quad value);

/// Distance of `value` from `exact` in units of the last place of `scale`'s binade. Infinity counts
/// as the power of two after the largest finite value. The distance is infinite for differences
/// that rounding cannot explain: only one of the two is NaN, or zeros differ in sign.
double ulpError(const Format &format, double value, Quad exact, Quad scale);
/// The same where `exact` has an error of 2^-52.
double ulpErrorQuick(const Format &format, double value, double exact);

} // namespace accuracy

#endif
