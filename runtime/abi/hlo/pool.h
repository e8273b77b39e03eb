/*===- hlo/pool.h - A thread pool to run modules on ---------------------------===*\
 *
 * The only part of the runtime that starts threads, and only if the program creates a pool. To use
 * another pool, fill in an hlo_executor.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef HLO_POOL_H
#define HLO_POOL_H

#include <hlo/rt.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A set of threads. One pool may serve any number of modules and of concurrent calls. If its
 * threads work for one call, other calls run on their own thread alone. */
typedef struct hlo_pool hlo_pool;

/** Number of CPUs that this process may use: the affinity mask and the cgroup's quota (rounded up);
 * at least 1. */
uint32_t hlo_pool_cpus(void);

/** Makes a pool of `num_threads` threads including the caller's (so N - 1 are started); 0 means
 * hlo_pool_cpus(). Idle threads spin for a short while, then sleep; all signals are blocked in
 * them. Null if memory or threads cannot be had. */
hlo_pool *hlo_pool_create(uint32_t num_threads);

/** Ends the threads and frees the pool; no call may be using it. Null is allowed. */
void hlo_pool_destroy(hlo_pool *pool);

/** The executor for hlo_call.exec; lives as long as the pool. */
const hlo_executor *hlo_pool_executor(const hlo_pool *pool);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HLO_POOL_H */
