/*===- hints.h - What a CPU is told beside its work -----------------------------===*\
 *
 * A pause in a loop that waits, and stores that leave the caches alone. None changes a result.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef RUNTIME_CORE_HINTS_H
#define RUNTIME_CORE_HINTS_H

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

/** Gives the core's other threads, and its power, a break of some 10 to 100 cycles. */
static inline void hlo_pause(void) {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  /* `yield` does nothing on most cores; `isb` drains the pipeline. */
  __asm__ volatile("isb");
#endif
}

/** memcpy for data that is not read again soon: on x86-64 with non-temporal stores where alignment
 * allows. Before another thread reads them, hlo_stream_end(). */
static inline void hlo_stream(char *to, const char *from, uint64_t bytes) {
  uint64_t i = 0;
#if defined(__x86_64__)
  if ((uintptr_t)to % 16 == 0) {
    for (; i + 16 <= bytes; i += 16) {
      _mm_stream_si128((__m128i *)(void *)(to + i), _mm_loadu_si128((const __m128i *)(from + i)));
    }
  }
#endif
  memcpy(to + i, from + i, bytes - i);
}

/** Orders non-temporal stores before what follows, as other stores are. */
static inline void hlo_stream_end(void) {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

#endif
