/*===- fp.h - The CPU's floating-point mode ------------------------------------===*\
 *
 * Translates hlo_module_desc.fp_mode to the CPU's control word: on x86-64 MXCSR, with all
 * exceptions masked.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef RUNTIME_CORE_FP_H
#define RUNTIME_CORE_FP_H

#include <hlo/rt.h>
#include <xmmintrin.h>

/** The bits of fp_mode that this runtime knows. */
#define HLO_FP_KNOWN (HLO_FP_FLUSH_RESULTS | HLO_FP_ZERO_INPUTS | HLO_FP_ROUNDING)

static inline uint32_t hlo_fp_get(void) { return _mm_getcsr(); }
static inline void hlo_fp_set(uint32_t word) { _mm_setcsr(word); }

/** The control word of a mode. */
static inline uint32_t hlo_fp_word(uint32_t mode) {
  return 0x1f80 | (mode & HLO_FP_FLUSH_RESULTS ? 0x8000 : 0) |
         (mode & HLO_FP_ZERO_INPUTS ? 0x40 : 0) | (mode & HLO_FP_ROUNDING) << 11;
}

#endif
