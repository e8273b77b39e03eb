/*===- ticks.h - A clock that is cheap to read ---------------------------------===*\
 *
 * On x86-64 the time stamp counter: a third of the time of clock_gettime. It counts at a
 * constant rate, which a call finds out by reading both clocks when it begins and ends.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef RUNTIME_CORE_TICKS_H
#define RUNTIME_CORE_TICKS_H

#include <stdint.h>
#include <x86intrin.h>

static inline uint64_t hlo_ticks(void) { return __rdtsc(); }

#endif
