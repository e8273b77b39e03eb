//===- Target.h - What the compiler knows of the machine it compiles for --===//
#ifndef COMPILER_SUPPORT_TARGET_H
#define COMPILER_SUPPORT_TARGET_H

#include <cstdint>
#include <string>

namespace hlo {

/// A CPU, reduced to what kernel emitters decide by. Made by
/// `describeTarget`; a plain value, so that tests can make their own.
struct Target {
  std::string triple;   ///< e.g. x86_64-unknown-linux-gnu
  std::string cpu;      ///< LLVM's name, e.g. x86-64-v3, sapphirerapids
  std::string features; ///< LLVM's feature string, "+avx2,+fma,..."

  int vectorBytes = 16; ///< widest vector register that is worth using
  int vectorRegisters = 16;
  bool fma = false;
  bool f16c = false;
  bool avx512 = false;     ///< F, BW, DQ, VL: masked loads of every width
  bool avx512fp16 = false;
  bool avx512bf16 = false; ///< vdpbf16ps, vcvtneps2bf16
  bool avx512vnni = false; ///< vpdpbusd
  bool amxBf16 = false, amxInt8 = false;

  int64_t l1Bytes = 32 << 10;
  int64_t l2Bytes = 1 << 20;

  /// Lanes of a vector of elements of `bytes` bytes.
  int lanes(int bytes) const { return vectorBytes / bytes; }
};

} // namespace hlo

#endif
