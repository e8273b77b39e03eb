/*===- ticks.h - A clock that is cheap to read ---------------------------------===*\
 *
 * On x86-64 the time stamp counter, which takes a third of the time of clock_gettime. It counts at
 * a constant rate; a call measures the rate by reading both clocks at its begin and end.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef RUNTIME_CORE_TICKS_H
#define RUNTIME_CORE_TICKS_H

#include <stdint.h>
#include <x86intrin.h>

static inline uint64_t hlo_ticks(void) { return __rdtsc(); }

#endif
