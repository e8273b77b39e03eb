//===- Peak.cpp - What this core does from registers alone ----------------===//
//
// In: an instruction. Out: its rate in twelve independent chains, enough to hide the latency of a
// multiply-add or dot instruction. The best of several short runs.
//
//===----------------------------------------------------------------------===//
#include "test/unit/kernel-runner/Peak.h"
#include "test/unit/kernel-runner/Stopwatch.h"

#include <algorithm>
#include <immintrin.h>

using namespace hlo::testing;

namespace {

constexpr long kIterations = 500000;
constexpr int kChains = 12;

// `instruction` is text with %0 the sum, %1 and %2 the factors.
#define HLO_PEAK_LOOP(name, isa, vector, instruction)                                              \
  __attribute__((target(isa), noinline)) void name() {                                             \
    vector s0{}, s1{}, s2{}, s3{}, s4{}, s5{}, s6{}, s7{}, s8{}, s9{}, s10{}, s11{}, a{}, b{};     \
    for (long i = 0; i < kIterations; ++i) {                                                       \
      HLO_PEAK_FOUR(instruction, s0, s1, s2, s3)                                                   \
      HLO_PEAK_FOUR(instruction, s4, s5, s6, s7)                                                   \
      HLO_PEAK_FOUR(instruction, s8, s9, s10, s11)                                                 \
    }                                                                                              \
  }
#define HLO_PEAK_ONE(instruction, s) asm volatile(instruction : "+v"(s) : "v"(a), "v"(b));
#define HLO_PEAK_FOUR(instruction, s, t, u, v)                                                     \
  HLO_PEAK_ONE(instruction, s)                                                                     \
  HLO_PEAK_ONE(instruction, t)                                                                     \
  HLO_PEAK_ONE(instruction, u)                                                                     \
  HLO_PEAK_ONE(instruction, v)

HLO_PEAK_LOOP(f32Wide, "avx512f", __m512, "vfmadd231ps %2, %1, %0")
HLO_PEAK_LOOP(f32Half, "avx2,fma", __m256, "vfmadd231ps %2, %1, %0")
HLO_PEAK_LOOP(f64Wide, "avx512f", __m512, "vfmadd231pd %2, %1, %0")
HLO_PEAK_LOOP(f64Half, "avx2,fma", __m256, "vfmadd231pd %2, %1, %0")
HLO_PEAK_LOOP(bf16Wide, "avx512f,avx512bf16", __m512, "vdpbf16ps %2, %1, %0")
HLO_PEAK_LOOP(s8Wide, "avx512f,avx512vnni", __m512, "vpdpbusd %2, %1, %0")
HLO_PEAK_LOOP(s32Wide, "avx512f", __m512, "vpmulld %2, %1, %0")
HLO_PEAK_LOOP(s32Half, "avx2", __m256, "vpmulld %2, %1, %0")

double rate(void (*loop)(), double operations) {
  double best = 1e9;
  for (int i = 0; i < 6; ++i) {
    double start = threadSeconds();
    loop();
    best = std::min(best, threadSeconds() - start);
  }
  return 1e-9 * operations * kChains * kIterations / best;
}

} // namespace

double hlo::testing::measurePeak(PeakOf what) {
  bool wide = __builtin_cpu_supports("avx512f");
  if (!wide && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))) {
    return 0;
  }
  switch (what) {
  case PeakOf::F32: return wide ? rate(f32Wide, 32) : rate(f32Half, 16);
  case PeakOf::F64: return wide ? rate(f64Wide, 16) : rate(f64Half, 8);
  case PeakOf::BF16: return __builtin_cpu_supports("avx512bf16") ? rate(bf16Wide, 64) : 0;
  case PeakOf::S8: return __builtin_cpu_supports("avx512vnni") ? rate(s8Wide, 128) : 0;
  case PeakOf::S32: return wide ? rate(s32Wide, 32) : rate(s32Half, 16);
  }
  return 0;
}
