/*===- hlo/executor_openmp.h - Modules on OpenMP's threads -------------------------===*\
 *
 * C99 or C++11, compiled with -fopenmp.
 *
 *   hlo_executor executor = hlo_openmp_executor(0);
 *   call.exec = &executor;
 *
 * A call from inside a parallel region runs on the calling thread alone, unless nested regions are
 * enabled.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef HLO_EXECUTOR_OPENMP_H
#define HLO_EXECUTOR_OPENMP_H

#include <hlo/rt.h>

#ifndef _OPENMP
#error "<hlo/executor_openmp.h> needs OpenMP: compile with -fopenmp"
#endif
#include <omp.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline void hlo_openmp_parallel_for(void *user, void (*fn)(void *arg, int64_t i), void *arg,
                                           int64_t n) {
  const int threads = (int)(intptr_t)user;
  int64_t i;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (i = 0; i < n; ++i) {
    fn(arg, i);
  }
}

/** The executor for hlo_call.exec. `num_threads`: threads of one loop, including the caller's; 0:
 * as many as OpenMP would use (OMP_NUM_THREADS). */
static inline hlo_executor hlo_openmp_executor(int num_threads) {
  const int threads = num_threads > 0 ? num_threads : omp_get_max_threads();
  hlo_executor executor;
  executor.struct_size = (uint32_t)sizeof(executor);
  executor.num_threads = (uint32_t)threads;
  executor.user = (void *)(intptr_t)threads;
  executor.parallel_for = hlo_openmp_parallel_for;
  return executor;
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HLO_EXECUTOR_OPENMP_H */
