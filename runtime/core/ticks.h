/*===- ticks.h - A clock that is cheap to read ---------------------------------===*\
 *
 * The time stamp counter of x86-64, which takes a third of the time of clock_gettime, the virtual
 * counter of aarch64, the time of riscv64. They count at a constant rate; a call measures the rate
 * by reading both clocks at its begin and end.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef RUNTIME_CORE_TICKS_H
#define RUNTIME_CORE_TICKS_H

#include <stdint.h>

#if defined(__x86_64__)
#include <x86intrin.h>

static inline uint64_t hlo_ticks(void) { return __rdtsc(); }
#elif defined(__aarch64__)
static inline uint64_t hlo_ticks(void) {
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}
#elif defined(__riscv)
static inline uint64_t hlo_ticks(void) {
  uint64_t ticks;
  __asm__ volatile("rdtime %0" : "=r"(ticks));
  return ticks;
}
#else
#error "no counter for this architecture"
#endif

#endif
