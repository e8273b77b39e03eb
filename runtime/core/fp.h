/*===- fp.h - The CPU's floating-point mode ------------------------------------===*\
 *
 * Translates hlo_module_desc.fp_mode to the CPU's control word, with all exceptions masked: on
 * x86-64 MXCSR, on aarch64 FPCR, on riscv64 fcsr.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef RUNTIME_CORE_FP_H
#define RUNTIME_CORE_FP_H

#include <hlo/rt.h>

/** The bits of fp_mode that this runtime knows. */
#if defined(__riscv)
#define HLO_FP_KNOWN HLO_FP_ROUNDING /* subnormal numbers cannot be flushed */
#else
#define HLO_FP_KNOWN (HLO_FP_FLUSH_RESULTS | HLO_FP_ZERO_INPUTS | HLO_FP_ROUNDING)
#endif

#if defined(__x86_64__)

#include <xmmintrin.h>

static inline uint32_t hlo_fp_get(void) { return _mm_getcsr(); }
static inline void hlo_fp_set(uint32_t word) { _mm_setcsr(word); }

/** The control word of a mode. */
static inline uint32_t hlo_fp_word(uint32_t mode) {
  return 0x1f80 | (mode & HLO_FP_FLUSH_RESULTS ? 0x8000 : 0) |
         (mode & HLO_FP_ZERO_INPUTS ? 0x40 : 0) | (mode & HLO_FP_ROUNDING) << 11;
}

#elif defined(__aarch64__)

/* Written as asm: compilers do not take FPCR for an operand of arithmetic, and "memory" keeps calls
 * of the module's code, and what it stores, on their side of a change. */
static inline uint32_t hlo_fp_get(void) {
  uint64_t word;
  __asm__ volatile("mrs %0, fpcr" : "=r"(word) : : "memory");
  return (uint32_t)word;
}
static inline void hlo_fp_set(uint32_t word) {
  __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)word) : "memory");
}

/** The control word of a mode. FZ and FZ16 flush both subnormal operands and subnormal results, so
 * either bit of the mode sets them; FZ16 is 0 where there is no arithmetic of f16. RMode: 0 to
 * nearest, 1 up, 2 down, 3 to zero. */
static inline uint32_t hlo_fp_word(uint32_t mode) {
  const uint32_t flush = mode & (HLO_FP_FLUSH_RESULTS | HLO_FP_ZERO_INPUTS) ? 0x1080000 : 0;
  const uint32_t rounding = mode & HLO_FP_ROUNDING;
  return flush | (rounding == HLO_FP_ROUND_UP     ? 0x400000
                  : rounding == HLO_FP_ROUND_DOWN ? 0x800000
                  : rounding                      ? 0xc00000
                                                  : 0);
}

#elif defined(__riscv)

static inline uint32_t hlo_fp_get(void) {
  uint64_t word;
  __asm__ volatile("frcsr %0" : "=r"(word) : : "memory");
  return (uint32_t)word;
}
static inline void hlo_fp_set(uint32_t word) {
  __asm__ volatile("fscsr %0" : : "r"((uint64_t)word) : "memory");
}

/** The control word of a mode. frm, from bit 5 on: 0 to nearest, 1 to zero, 2 down, 3 up. */
static inline uint32_t hlo_fp_word(uint32_t mode) {
  const uint32_t rounding = mode & HLO_FP_ROUNDING;
  return rounding == HLO_FP_ROUND_UP     ? 3u << 5
         : rounding == HLO_FP_ROUND_DOWN ? 2u << 5
         : rounding                      ? 1u << 5
                                         : 0;
}

#else
#error "no floating-point control word for this architecture"
#endif

#endif
